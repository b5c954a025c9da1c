// SPDX-License-Identifier: Apache-2.0
//
// Rule: wherever a fault strikes, under every planner and on arrays that are not square, the report names that command, layer,
// phase, wave, PE or address, or no result differs; and most faults in a high bit do change a result.
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "driver/host/random.h"
#include "find.h"
#include "tests/seed.h"

static const char net_yaml[] = "name: t\ninput: {height: 9, width: 7, channels: 5}\nnodes:\n"
			       "  - {name: c1, op: conv, channels: 9, kernel: 3, pad: 1}\n  - {name: r1, op: relu}\n"
			       "  - {name: c2, op: conv, channels: 10, kernel: [3, 2], pad: [1, 0], dilation: [1, 2]}\n  - {name: r2, op: relu}\n"
			       "  - {name: c3, op: conv, channels: 6, kernel: 3, pad: 1, stride: 2}\n";

// Two groups of several channels, a depthwise convolution, three groups with a stride.
static const char groups_yaml[] = "name: g\ninput: {height: 9, width: 7, channels: 6}\nnodes:\n"
				  "  - {name: c1, op: conv, channels: 12, kernel: 3, pad: 1, groups: 2}\n  - {name: r1, op: relu}\n"
				  "  - {name: c2, op: conv, channels: 12, kernel: [3, 2], pad: [1, 0], groups: 12}\n  - {name: r2, op: relu}\n"
				  "  - {name: c3, op: conv, channels: 18, kernel: 3, pad: 1, stride: 2, groups: 3}\n";

static const char *const planners[] = {"baseline", "mbs", "overl", "2ps"};
static const struct {
	int rows, cols;
} arrays[] = {{8, 4}, {4, 16}, {16, 8}};

enum { TILES_MAX = 4096 };

// The GEMM commands of a run, by index.
struct tiles {
	int count;
	uint32_t index[TILES_MAX];
	struct op op[TILES_MAX];
};

static void find_tiles(struct tiles *tiles, struct rig *rig)
{
	struct found found;

	tiles->count = 0;
	find_all(&found, rig);
	for (uint32_t i = 0; i < found.queue.end; i++) {
		const struct op *op = op_queue_at(&found.queue, i);

		if (!op_is_tile(op) || !op->k_total)
			continue;
		cr_assert_lt(tiles->count, TILES_MAX);
		tiles->index[tiles->count] = i;
		tiles->op[tiles->count++] = *op;
	}
	find_release(&found);
}

struct draw {
	uint64_t seed, stream, at;
};

static int pick(struct draw *draw, int64_t below)
{
	return (int)(random_bits(draw->seed, draw->stream, draw->at++) % (uint64_t)below);
}

// Depth of a wave: PE rows in use.
static int wave_depth(const struct op *op, int wave, int rows)
{
	const int64_t rest = op->k_total - (int64_t)wave * rows;

	return rest < rows ? (int)rest : rows;
}

static void expect_at(const struct rig *rig, const struct tiles *tiles, int tile, const char *what)
{
	const struct mismatch *mismatch = &rig->result.mismatch;
	const struct op *op = &tiles->op[tile];

	cr_expect_eq(mismatch->kind, MISMATCH_TILE, "%s", what);
	cr_expect_eq(mismatch->command, tiles->index[tile], "%s: command %" PRIu32, what, mismatch->command);
	cr_expect_eq(mismatch->op.node, op->node, "%s: layer %d", what, mismatch->op.node);
	cr_expect_eq(mismatch->op.kind, op->kind, "%s: %s", what, op_name(&mismatch->op));
	cr_expect(mismatch->m >= 0 && mismatch->m < op->m_count, "%s: row %d", what, mismatch->m);
	cr_expect_neq(mismatch->got, mismatch->expected, "%s", what);
}

// Run `round` of faults of one kind; 1 if it was found.
static int weight_or_accumulator(struct rig *rig, const struct tiles *tiles, enum wc_fault_kind kind, struct draw *draw, const char *planner)
{
	const struct diagnosis *diagnosis = &rig->result.diagnosis;
	const int rows = rig->device.params.rows;
	const int tile = pick(draw, tiles->count);
	const struct op *op = &tiles->op[tile];
	const int wave = pick(draw, op_waves(op, rows));
	const bool weight = kind == WC_FAULT_WEIGHT;
	const int row = pick(draw, weight ? wave_depth(op, wave, rows) : op->m_count);
	const struct wc_fault fault = {.kind = kind,
				       .command = tiles->index[tile],
				       .wave = wave,
				       .row = row,
				       .column = pick(draw, op->n_count),
				       .bit = weight ? 12 + pick(draw, 4) : 24 + pick(draw, 8)};
	char what[256];
	int status;

	snprintf(what, sizeof(what), "%s %dx%d seed %" PRIu64 ".%" PRIu64 ": %s:command=%" PRIu32 ",wave=%d,row=%d,column=%d,bit=%d (%s)", planner, rows,
		 rig->device.params.cols, draw->seed, draw->stream, weight ? "weight" : "accumulator", fault.command, fault.wave, fault.row, fault.column,
		 fault.bit, op_name(op));
	rig->options.fault.device = fault;
	status = rig_run(rig);
	if (!status)
		return 0;
	cr_assert_eq(status, WC_ERR_MISMATCH, "%s: %s", what, rig->err.text);
	expect_at(rig, tiles, tile, what);
	cr_expect_eq(rig->result.mismatch.n, fault.column, "%s: column %d", what, rig->result.mismatch.n);
	cr_expect_eq(diagnosis->stage, weight ? STAGE_PE : STAGE_ACCUMULATOR, "%s: %s", what, diagnosis->text[0]);
	cr_expect_eq(diagnosis->wave, wave, "%s: wave %d", what, diagnosis->wave);
	cr_expect_eq(diagnosis->column, fault.column, "%s: column %d", what, diagnosis->column);
	if (weight)
		cr_expect_eq(diagnosis->pe_row, row, "%s: row %d", what, diagnosis->pe_row);
	else
		cr_expect(rig->result.mismatch.m == row && rig->result.mismatch.different == 1, "%s: row %d", what, rig->result.mismatch.m);
	return 1;
}

// A bit of an element that some tile may read: the first tile to read it differs, and no element but that one is blamed.
static int operand(struct rig *rig, const struct tiles *tiles, struct draw *draw, const char *planner)
{
	const int tile = pick(draw, tiles->count);
	const struct op *op = &tiles->op[tile];
	const struct depend_access *access;
	const struct diagnosis *diagnosis = &rig->result.diagnosis;
	uint64_t element;
	char what[256];
	int status;

	do
		access = &op->accesses[pick(draw, op->access_count)];
	while (access->space != DEPEND_BUFFER || access->write);
	element = access->lo + 2 * (uint64_t)pick(draw, (int64_t)(access->hi - access->lo) / 2);
	rig->options.fault.device = (struct wc_fault){.kind = WC_FAULT_BUFFER, .command = tiles->index[tile], .address = element + 1, .bit = 5};
	snprintf(what, sizeof(what), "%s %dx%d seed %" PRIu64 ".%" PRIu64 ": buffer:command=%" PRIu32 ",address=%" PRIu64 ",bit=5 (%s)", planner,
		 rig->device.params.rows, rig->device.params.cols, draw->seed, draw->stream, tiles->index[tile], element + 1, op_name(op));
	status = rig_run(rig);
	if (!status)
		return 0;
	cr_assert_eq(status, WC_ERR_MISMATCH, "%s: %s", what, rig->err.text);
	cr_expect_geq(rig->result.mismatch.command, tiles->index[tile], "%s: before the fault", what);
	// A vector command that works in place has overwritten what it read; all others leave the evidence.
	if (rig->result.mismatch.kind == MISMATCH_VECTOR && diagnosis->stage == STAGE_NOT_REPRODUCED)
		return 1;
	cr_expect(diagnosis->stage == STAGE_BUFFER || diagnosis->stage == STAGE_PRELOAD, "%s: %s: %s", what, diagnosis_stage_name(diagnosis->stage),
		  diagnosis->text[0]);
	// Sums are fp32: their element begins at a multiple of four.
	cr_expect(diagnosis->has_address && diagnosis->address == (rig->result.mismatch.bits == 32 && diagnosis->address != element ? element & ~3ull : element),
		  "%s: address %" PRIu64, what, diagnosis->address);
	return 1;
}

enum strike { STRIKE_WEIGHT, STRIKE_ACCUMULATOR, STRIKE_OPERAND };

static void strike_everywhere(const char *yaml, enum strike strike, uint64_t otherwise)
{
	const uint64_t seed = tests_seed("tests/host/test_fault_random", otherwise);
	const int rounds = getenv("WC_LONG") ? 200 : 12;
	static struct tiles tiles;
	int struck = 0, found = 0;

	for (size_t p = 0; p < sizeof(planners) / sizeof(*planners); p++)
		for (size_t a = 0; a < sizeof(arrays) / sizeof(*arrays); a++) {
			struct rig rig;

			rig_start(&rig, yaml, planners[p], arrays[a].rows, arrays[a].cols, 3, 16384, 16, seed);
			cr_assert(rig.planned);
			rig.options.device.overlap = false;
			find_tiles(&tiles, &rig);
			for (int round = 0; round < rounds; round++, struck++) {
				struct draw draw = {.seed = seed, .stream = (uint64_t)struck};

				if (strike == STRIKE_OPERAND)
					found += operand(&rig, &tiles, &draw, planners[p]);
				else
					found += weight_or_accumulator(&rig, &tiles, strike == STRIKE_WEIGHT ? WC_FAULT_WEIGHT : WC_FAULT_ACCUMULATOR,
								       &draw, planners[p]);
			}
			rig_stop(&rig);
		}
	cr_expect_geq(2 * found, struck, "found %d of %d", found, struck);
}

Test(fault_random, weight_registers)
{
	strike_everywhere(net_yaml, STRIKE_WEIGHT, 1);
	strike_everywhere(groups_yaml, STRIKE_WEIGHT, 4);
}

Test(fault_random, accumulators)
{
	strike_everywhere(net_yaml, STRIKE_ACCUMULATOR, 2);
	strike_everywhere(groups_yaml, STRIKE_ACCUMULATOR, 5);
}

Test(fault_random, operands_in_the_buffer)
{
	strike_everywhere(net_yaml, STRIKE_OPERAND, 3);
	strike_everywhere(groups_yaml, STRIKE_OPERAND, 6);
}
