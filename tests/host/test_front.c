// SPDX-License-Identifier: Apache-2.0
//
// Rule: whatever a device does wrong behind the host's back is found at that command, as that kind of difference, and the diagnosis names
// the stage; and reports that come late, or in an odd order, are no fault.
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "find.h"
#include "front.h"
#include "traces/wct_diff.h"

static const char net_yaml[] = "name: t\ninput: {height: 8, width: 7, channels: 5}\nnodes:\n"
			       "  - {name: c1, op: conv, channels: 9, kernel: 3, pad: 1}\n  - {name: r1, op: relu}\n"
			       "  - {name: c2, op: conv, channels: 6, kernel: 3, pad: 1, stride: 2}\n";

static void start(struct rig *rig, struct front *front)
{
	rig_start(rig, net_yaml, "mbs", 8, 4, 3, 65536, 16, 5);
	cr_assert(rig->planned);
	rig->options.device.overlap = false;
	front_put(front, &rig->options.device);
}

// What is to be spoiled, in the run and perhaps in the replay too, where the command is number 0.
struct spoil {
	uint32_t command;
	bool in_replay;
	int m, n;                     // of a tile
	enum wc_probe_kind probe;
	int wave, pe_row;
	bool has_address, in_memory;  // a byte of the buffer or of DRAM
	uint64_t address;
	int bit;
	bool (*shape)(struct wc_tile_row *row); // how to change a row; false: not reported
};

static bool spoil_row(struct front *front, struct wc_tile_row *row, uint32_t *bits)
{
	const struct spoil *spoil = front->context;
	const bool here = row->command_index == spoil->command || (spoil->in_replay && row->command_index == 0);

	if (!here || spoil->has_address)
		return true;
	if (spoil->shape)
		return spoil->shape(row);
	if (row->row == spoil->m)
		bits[spoil->n] ^= 0x2000;
	return true;
}

static void spoil_probe(struct front *front, const struct wc_probe *probe, uint32_t *bits)
{
	const struct spoil *spoil = front->context;
	const bool is_a = probe->kind == WC_PROBE_OPERAND_A;

	if (probe->kind == spoil->probe && probe->wave == spoil->wave && probe->index == (is_a ? spoil->m : spoil->pe_row))
		bits[is_a ? spoil->pe_row : spoil->n] ^= 0x2000;
}

static bool spoil_bytes(struct front *front, struct wc_backend *device, const struct wc_event *event)
{
	const struct spoil *spoil = front->context;
	uint8_t byte;

	if (event->kind != WC_EVENT_COMMAND_END || !spoil->has_address ||
	    (event->command_index != spoil->command && !(spoil->in_replay && device->memory->regions[WC_CLASS_IO].bytes == 0)))
		return true;
	if (spoil->in_memory) {
		*(uint8_t *)wc_memory_at(device->memory, spoil->address, 1) ^= (uint8_t)(1 << spoil->bit);
		return true;
	}
	device->ops->buffer_read(device, (uint32_t)spoil->address, &byte, 1);
	byte ^= (uint8_t)(1 << spoil->bit);
	device->ops->buffer_write(device, (uint32_t)spoil->address, &byte, 1);
	return true;
}

static void expect(const struct rig *rig, int status, uint32_t command, enum mismatch_kind kind, enum diagnosis_stage stage)
{
	cr_assert_eq(status, WC_ERR_MISMATCH, "%s", rig->err.text);
	cr_expect_eq(rig->result.mismatch.command, command, "command %" PRIu32 ", wanted %" PRIu32, rig->result.mismatch.command, command);
	cr_expect_eq(rig->result.mismatch.kind, kind, "kind %d, wanted %d", rig->result.mismatch.kind, kind);
	cr_expect_eq(rig->result.diagnosis.stage, stage, "stage %s, wanted %s: %s", diagnosis_stage_name(rig->result.diagnosis.stage),
		     diagnosis_stage_name(stage), rig->result.diagnosis.text[0]);
}

// The n-th GEMM of a kind that has more than one wave and column.
static void find_tile(struct found *found, struct rig *rig, enum op_kind kind)
{
	for (int n = 0;; n++) {
		find_command(found, rig, kind, n);
		if (op_waves(&found->op, 8) > 1 && found->op.n_count > 1 && found->op.m_count > 4 && found->index)
			return;
		find_release(found);
	}
}

Test(front, a_feed_that_is_wrong_is_named_with_its_side)
{
	static const enum op_kind kinds[] = {OP_FORWARD, OP_DATA_GRADIENT, OP_WEIGHT_GRADIENT};
	static const struct {
		enum wc_probe_kind probe;
		enum diagnosis_stage stage;
	} sides[] = {{WC_PROBE_OPERAND_A, STAGE_FEED_A}, {WC_PROBE_OPERAND_B, STAGE_FEED_B}};

	for (size_t k = 0; k < 3; k++)
		for (size_t i = 0; i < 2; i++) {
			struct spoil spoil = {.m = 3, .n = 1, .probe = sides[i].probe, .wave = 1, .pe_row = 2};
			struct front front = {.row = spoil_row, .probe = spoil_probe, .context = &spoil};
			struct found found;
			struct rig rig;

			start(&rig, &front);
			find_tile(&found, &rig, kinds[k]);
			spoil.command = found.index;
			expect(&rig, rig_run(&rig), found.index, MISMATCH_TILE, sides[i].stage);
			cr_expect_eq(rig.result.mismatch.m, 3);
			cr_expect_eq(rig.result.mismatch.n, 1);
			cr_expect_eq(rig.result.diagnosis.wave, 1);
			cr_expect_eq(rig.result.diagnosis.pe_row, 2);
			cr_expect_eq(rig.result.diagnosis.column, 1);
			find_release(&found);
			rig_stop(&rig);
		}
}

Test(front, a_drain_that_is_wrong_is_told_from_one_that_was_so_once)
{
	for (int again = 0; again < 2; again++) {
		struct spoil spoil = {.m = 2, .n = 1, .probe = (enum wc_probe_kind)-1, .in_replay = again};
		struct front front = {.row = spoil_row, .context = &spoil};
		struct found found;
		struct rig rig;

		start(&rig, &front);
		find_tile(&found, &rig, OP_FORWARD);
		spoil.command = found.index;
		expect(&rig, rig_run(&rig), found.index, MISMATCH_TILE, again ? STAGE_DRAIN : STAGE_NOT_REPRODUCED);
		cr_expect_eq(rig.result.mismatch.m, 2);
		cr_expect_eq(rig.result.mismatch.n, 1);
		cr_expect_eq(rig.result.mismatch.different, 1);
		if (again)
			cr_expect_eq(rig.result.diagnosis.column, 1);
		find_release(&found);
		rig_stop(&rig);
	}
}

// A byte that is wrong when the command has ended.
static void expect_bytes(enum op_kind kind, int n, bool mask, enum mismatch_kind mismatch, enum diagnosis_stage stage)
{
	struct spoil spoil = {.has_address = true, .in_replay = stage == STAGE_VECTOR, .in_memory = stage == STAGE_STORE, .bit = 6};
	struct front front = {.row = spoil_row, .event = spoil_bytes, .context = &spoil};
	struct found found;
	struct rig rig;

	start(&rig, &front);
	find_command(&found, &rig, kind, n);
	spoil.command = found.index;
	spoil.address = kind == OP_LOAD ? found.op.command.load.gbuf_addr
			: kind == OP_STORE ? found.op.command.load.dram_addr
			: mask ? found.op.command.vector.aux_base : found.op.command.vector.dst_base;
	mask |= found.op.value.kind == SLAB_MASK;
	spoil.address += !mask;
	expect(&rig, rig_run(&rig), found.index, mismatch, stage);
	cr_expect_eq(rig.result.mismatch.bits == 1, mask);
	cr_expect_eq(rig.result.mismatch.different, 1);
	cr_expect_gt(rig.result.mismatch.compared, 1);
	cr_expect_eq(rig.result.mismatch.element.value.node, found.op.value.node);
	if (mask)
		cr_expect_eq(rig.result.mismatch.element.c, 6);
	if (stage == STAGE_LOAD || stage == STAGE_STORE) {
		char where[128];

		cr_expect_eq(rig.result.diagnosis.address, spoil.address - !mask);
		// DRAM is spoken of as tensors.
		layout_store_name(&rig.net, found.op.store, found.op.value.node, where, sizeof(where));
		cr_expect(strstr(rig.result.diagnosis.text[0], where), "no '%s' in: %s", where, rig.result.diagnosis.text[0]);
	}
	find_release(&found);
	rig_stop(&rig);
}

Test(front, loads_are_compared)
{
	struct found found;
	struct rig rig;
	int loads = 0;

	rig_start(&rig, net_yaml, "mbs", 8, 4, 3, 65536, 16, 5);
	find_all(&found, &rig);
	for (uint32_t i = 0; i < found.queue.end; i++)
		loads += op_queue_at(&found.queue, i)->kind == OP_LOAD;
	find_release(&found);
	rig_stop(&rig);
	cr_assert_geq(loads, 3);
	for (int n = 0; n < loads; n++)
		expect_bytes(OP_LOAD, n, false, MISMATCH_LOAD, STAGE_LOAD);
}

Test(front, stores_are_compared)
{
	expect_bytes(OP_STORE, 0, false, MISMATCH_STORE, STAGE_STORE);
	expect_bytes(OP_STORE, 1, false, MISMATCH_STORE, STAGE_STORE);
}

Test(front, vectors_and_their_masks_are_compared)
{
	expect_bytes(OP_RELU, 0, false, MISMATCH_VECTOR, STAGE_VECTOR);
	expect_bytes(OP_RELU, 0, true, MISMATCH_VECTOR, STAGE_VECTOR);
	expect_bytes(OP_RELU_GRADIENT, 0, false, MISMATCH_VECTOR, STAGE_VECTOR);
}

Test(front, a_bit_behind_a_masks_last_element_is_compared_too)
{
	struct spoil spoil = {.has_address = true, .bit = 7};
	struct front front = {.row = spoil_row, .event = spoil_bytes, .context = &spoil};
	struct found found;
	struct rig rig;

	start(&rig, &front);
	find_command(&found, &rig, OP_RELU, 0);
	spoil.command = found.index;
	// A row has 63 elements.
	spoil.address = found.op.command.vector.aux_base + 7;
	cr_assert_eq(rig_run(&rig), WC_ERR_MISMATCH, "%s", rig.err.text);
	cr_expect_eq(rig.result.mismatch.kind, MISMATCH_VECTOR);
	cr_expect_eq(rig.result.mismatch.bits, 1);
	cr_expect_eq(rig.result.mismatch.command, found.index);
	find_release(&found);
	rig_stop(&rig);
}

static bool fewer_columns(struct wc_tile_row *row)
{
	row->count--;
	return true;
}

static bool other_type(struct wc_tile_row *row)
{
	row->is_fp32 = !row->is_fp32;
	return true;
}

static bool no_last_row(struct wc_tile_row *row)
{
	return row->row < 4;
}

static bool no_row(struct wc_tile_row *row)
{
	(void)row;
	return false;
}

static bool a_row_twice(struct wc_tile_row *row)
{
	row->row -= row->row == 3;
	return true;
}

static bool more_rows(struct wc_tile_row *row)
{
	row->row += 1000;
	return true;
}

Test(front, a_tile_of_another_shape_is_a_difference)
{
	static bool (*const shapes[])(struct wc_tile_row *) = {fewer_columns, other_type, no_last_row, no_row, a_row_twice, more_rows};
	static const enum op_kind kinds[] = {OP_FORWARD, OP_WEIGHT_GRADIENT};

	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
			struct spoil spoil = {.shape = shapes[i]};
			struct front front = {.row = spoil_row, .context = &spoil};
			struct found found;
			struct rig rig;

			start(&rig, &front);
			find_tile(&found, &rig, kinds[k]);
			spoil.command = found.index;
			expect(&rig, rig_run(&rig), found.index, MISMATCH_SHAPE, STAGE_NONE);
			cr_expect(strstr(rig.result.diagnosis.text[0], "is the one that was lowered"), "%s", rig.result.diagnosis.text[0]);
			find_release(&found);
			rig_stop(&rig);
		}
}

struct stop {
	uint32_t command, reads;
};

// A device that stops by itself once half of the ring is done.
static uint32_t stopped(struct front *front, uint32_t offset, uint32_t value)
{
	const struct stop *stop = front->context;

	if (offset == WC_CSR_STATUS)
		return 4 | 7 << 8;
	return offset == WC_CSR_ERROR_INDEX ? stop->command : value;
}

Test(front, a_device_that_stops_is_told_apart_from_a_wrong_command)
{
	struct stop stop = {.command = 5};
	struct front front = {.csr = stopped, .context = &stop};
	struct rig rig;

	start(&rig, &front);
	// Its first look at the status is behind some hundred commands: of those that are complete nothing is known any more.
	expect(&rig, rig_run(&rig), 5, MISMATCH_STOPPED, STAGE_NONE);
	cr_expect_eq(rig.result.mismatch.status, 7);
	cr_expect(strstr(rig.err.text, "stopped at command 5"), "%s", rig.err.text);
	cr_expect(strstr(rig.result.diagnosis.text[0], "is the one that was lowered"), "%s", rig.result.diagnosis.text[0]);
	stop.command = 1 << 20;
	expect(&rig, rig_run(&rig), 1 << 20, MISMATCH_STOPPED, STAGE_NONE);
	cr_expect(strstr(rig.result.diagnosis.text[0], "is not known"), "%s", rig.result.diagnosis.text[0]);
	rig_stop(&rig);
}

// The end of command `command` comes when `after` others have ended.
struct late {
	uint32_t command;
	int after, ended;
};

static bool delay(struct front *front, struct wc_backend *device, const struct wc_event *event)
{
	struct late *late = front->context;

	(void)device;
	if (event->kind != WC_EVENT_COMMAND_END)
		return true;
	if (event->command_index == late->command)
		return false;
	if (front->is_withheld && ++late->ended == late->after)
		cr_expect_eq(front_pass_on(front), 0);
	return true;
}

Test(front, hundreds_of_commands_may_pass_a_long_one)
{
	struct late late = {.after = 700};
	struct front front = {.event = delay, .context = &late};
	struct found found;
	struct rig rig;

	rig_start(&rig, net_yaml, "2ps", 8, 4, 60, 8192, 16, 5);
	cr_assert(rig.planned);
	rig.options.device.overlap = false;
	front_put(&front, &rig.options.device);
	find_command(&found, &rig, OP_STORE, 0);
	late.command = found.index;
	cr_assert_gt(found.queue.end, found.index + 1000);
	rig_expect_right(&rig, rig_run(&rig));
	cr_expect_eq(late.ended, 700);
	find_release(&found);
	rig_stop(&rig);
}

static void path_of(char *path, size_t size, const char *name)
{
	const char *build = getenv("WC_BUILD");

	snprintf(path, size, "%s/tests/host/%d-%s.wct", build ? build : "build", (int)getpid(), name);
}

Test(front, of_a_wrong_result_the_golden_trace_has_the_right_digest)
{
	static const enum op_kind kinds[] = {OP_LOAD, OP_STORE, OP_RELU};
	struct wct_diff_options options = {.timing = false};
	struct wct_diff_report report;
	char got[256], expected[256];

	path_of(got, sizeof(got), "front");
	path_of(expected, sizeof(expected), "front-golden");
	for (size_t i = 0; i < 3; i++) {
		struct spoil spoil = {.has_address = true, .in_memory = kinds[i] == OP_STORE, .bit = 6};
		struct front front = {.event = spoil_bytes, .context = &spoil};
		struct found found;
		struct rig rig;

		start(&rig, &front);
		find_command(&found, &rig, kinds[i], 0);
		spoil.command = found.index;
		spoil.address = kinds[i] == OP_LOAD ? found.op.command.load.gbuf_addr
				: kinds[i] == OP_STORE ? found.op.command.load.dram_addr : found.op.command.vector.dst_base;
		rig.options.trace = got;
		rig.options.golden_trace = expected;
		rig.options.trace_level = WCT_LEVEL_TILE;
		cr_assert_eq(rig_run(&rig), WC_ERR_MISMATCH, "%s", rig.err.text);
		cr_expect_eq(rig.result.mismatch.command, found.index);
		cr_assert_eq(wct_diff(got, expected, &options, &report, &rig.err), WC_ERR_MISMATCH, "%s", rig.err.text);
		cr_expect_eq(report.first.kind, WCT_RESULT);
		cr_expect_eq(report.first.command, found.index);
		find_release(&found);
		rig_stop(&rig);
	}
	remove(got);
	remove(expected);
}
