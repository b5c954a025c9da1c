// SPDX-License-Identifier: Apache-2.0
//
// Rule: a planted fault is found, at the first result it spoils, and the report names the stage that was hit: PE row, column and
// wave of a weight register, the accumulator, the address of an operand, the command's field.
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "find.h"

static const char net_yaml[] = "name: t\ninput: {height: 8, width: 8, channels: 5}\nnodes:\n"
			       "  - {name: c1, op: conv, channels: 9, kernel: 3, pad: 1}\n  - {name: r1, op: relu}\n"
			       "  - {name: c2, op: conv, channels: 6, kernel: 3, pad: 1, stride: 2}\n";

static void start_in(struct rig *rig, const char *planner, uint32_t buffer_bytes)
{
	rig_start(rig, net_yaml, planner, 8, 4, 3, buffer_bytes, 16, 5);
	cr_assert(rig->planned);
	rig->options.device.overlap = false;
}

static void start(struct rig *rig)
{
	start_in(rig, "mbs", 65536);
}

static void expect_stage(const struct rig *rig, int status, enum diagnosis_stage stage)
{
	cr_assert_eq(status, WC_ERR_MISMATCH, "%s", rig->err.text);
	cr_assert_eq(rig->result.diagnosis.stage, stage, "stage %s, wanted %s: %s", diagnosis_stage_name(rig->result.diagnosis.stage),
		     diagnosis_stage_name(stage), rig->result.diagnosis.text[0]);
	cr_assert_gt(rig->result.mismatch.different, 0);
}

Test(fault, weight_register_is_located_by_pe_and_wave)
{
	static const enum op_kind kinds[] = {OP_FORWARD, OP_DATA_GRADIENT, OP_WEIGHT_GRADIENT};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct found found;
		struct rig rig;

		start(&rig);
		for (int n = 0;; n++) {
			find_command(&found, &rig, kinds[i], n);
			if (op_waves(&found.op, 8) > 1 && found.op.n_count > 1)
				break;
			find_release(&found);
		}
		rig.options.fault.device = (struct wc_fault){.kind = WC_FAULT_WEIGHT, .command = found.index, .wave = 1, .row = 2, .column = 1, .bit = 13};
		expect_stage(&rig, rig_run(&rig), STAGE_PE);
		cr_expect_eq(rig.result.mismatch.kind, MISMATCH_TILE);
		cr_expect_eq(rig.result.mismatch.command, found.index);
		cr_expect_eq(rig.result.diagnosis.wave, 1);
		cr_expect_eq(rig.result.diagnosis.pe_row, 2);
		cr_expect_eq(rig.result.diagnosis.column, 1);
		cr_expect(strstr(rig.result.diagnosis.text[0], "PE (row 2, column 1), wave 1"), "%s", rig.result.diagnosis.text[0]);
		cr_expect(strstr(rig.result.diagnosis.text[1], "sample"), "the activation is named: %s", rig.result.diagnosis.text[1]);
		find_release(&found);
		rig_stop(&rig);
	}
}

Test(fault, accumulator_is_told_from_the_pes)
{
	struct found found;
	struct rig rig;

	start(&rig);
	find_command(&found, &rig, OP_FORWARD, 1);
	rig.options.fault.device = (struct wc_fault){.kind = WC_FAULT_ACCUMULATOR, .command = found.index, .wave = 2, .row = 4, .column = 3, .bit = 27};
	expect_stage(&rig, rig_run(&rig), STAGE_ACCUMULATOR);
	cr_expect_eq(rig.result.mismatch.command, found.index);
	cr_expect_eq(rig.result.mismatch.m, 4);
	cr_expect_eq(rig.result.mismatch.n, 3);
	cr_expect_eq(rig.result.mismatch.different, 1);
	cr_expect_eq(rig.result.diagnosis.wave, 2);
	find_release(&found);
	rig_stop(&rig);
}

Test(fault, a_lane_of_the_vector_unit_is_told_from_its_operands)
{
	struct found found;
	struct rig rig;

	start(&rig);
	find_command(&found, &rig, OP_RELU, 0);
	rig.options.fault.device = (struct wc_fault){.kind = WC_FAULT_LANE, .command = found.index, .row = 1, .column = 2, .bit = 14};
	expect_stage(&rig, rig_run(&rig), STAGE_VECTOR);
	cr_expect_eq(rig.result.mismatch.command, found.index);
	cr_expect_eq(rig.result.mismatch.different, 1);
	cr_expect_eq(rig.result.mismatch.got ^ rig.result.mismatch.expected, 0x4000);
	find_release(&found);
	rig_stop(&rig);
}

Test(fault, operand_in_the_buffer_is_located_by_address)
{
	struct found found;
	struct rig rig;

	start(&rig);
	find_command(&found, &rig, OP_FORWARD, 0);
	// Sign and exponent byte of the first weight of filter 0, which the first pixel inside the image uses.
	const struct slab *weights = &found.program.slabs[found.program.steps[found.op.step].operand];

	rig.options.fault.device = (struct wc_fault){.kind = WC_FAULT_BUFFER, .command = found.index, .address = weights->offset + 1, .bit = 7};
	expect_stage(&rig, rig_run(&rig), STAGE_BUFFER);
	cr_expect_eq(rig.result.mismatch.command, found.index);
	cr_expect_eq(rig.result.diagnosis.address, weights->offset);
	cr_expect(strstr(rig.result.diagnosis.text[0], "weights of c1 k 0 r 0 s 0 c 0"), "%s", rig.result.diagnosis.text[0]);
	cr_expect(strstr(rig.result.diagnosis.text[1], "right"), "DRAM is right: %s", rig.result.diagnosis.text[1]);
	find_release(&found);
	rig_stop(&rig);
}

Test(fault, preloaded_sum_is_located)
{
	struct found found;
	struct rig rig;
	int n = 0;

	// Strips: several cuts.
	start_in(&rig, "overl", 8192);
	do {
		find_command(&found, &rig, OP_WEIGHT_GRADIENT, n++);
		if (!found.op.command.gemm.pre_base)
			find_release(&found);
	} while (!found.op.command.gemm.pre_base);
	rig.options.fault.device = (struct wc_fault){.kind = WC_FAULT_BUFFER, .command = found.index, .address = found.op.command.gemm.pre_base + 3, .bit = 7};
	expect_stage(&rig, rig_run(&rig), STAGE_PRELOAD);
	cr_expect_eq(rig.result.mismatch.command, found.index);
	cr_expect_eq(rig.result.diagnosis.address, found.op.command.gemm.pre_base);
	find_release(&found);
	rig_stop(&rig);
}

Test(fault, what_changes_before_a_store_is_not_the_store)
{
	struct found found;
	struct rig rig;

	start(&rig);
	find_command(&found, &rig, OP_STORE, 0);
	rig.options.fault.device = (struct wc_fault){.kind = WC_FAULT_BUFFER, .command = found.index, .address = found.op.command.load.gbuf_addr, .bit = 2};
	expect_stage(&rig, rig_run(&rig), STAGE_BUFFER);
	cr_expect_eq(rig.result.mismatch.kind, MISMATCH_STORE);
	cr_expect_eq(rig.result.diagnosis.address, found.op.command.load.gbuf_addr);
	find_release(&found);
	rig_stop(&rig);
}

Test(fault, stored_rows_that_change_in_dram_are_found)
{
	struct found found;
	struct rig rig;

	start(&rig);
	for (int n = 0; n < 3; n++) {
		find_command(&found, &rig, OP_STORE, n);
		rig.options.fault.device =
			(struct wc_fault){.kind = WC_FAULT_MEMORY, .command = found.index, .address = found.op.command.load.dram_addr, .bit = 3};
		const int status = rig_run(&rig);
		const enum diagnosis_stage stage = rig.result.diagnosis.stage;

		// Whether the store's own check or a later load sees it first is the backend's order of events.
		expect_stage(&rig, status, stage == STAGE_STORE ? STAGE_STORE : STAGE_MEMORY);
		cr_expect_eq(rig.result.diagnosis.address & ~1ull, found.op.command.load.dram_addr);
		find_release(&found);
	}
	rig_stop(&rig);
}

Test(fault, dram_that_nothing_reads_again_is_looked_at_in_the_end)
{
	struct found found;
	struct rig rig;

	start(&rig);
	// An image byte that changes when the last command has ended.
	find_command(&found, &rig, OP_FORWARD, 0);
	rig.options.fault.device = (struct wc_fault){
		.kind = WC_FAULT_MEMORY,
		.command = found.queue.end - 1,
		.address = layout_address(&found.layout, LAYOUT_ACT, 0, 2, 7),
		.bit = 3,
	};
	expect_stage(&rig, rig_run(&rig), STAGE_MEMORY);
	cr_expect_eq(rig.result.mismatch.kind, MISMATCH_FINAL);
	cr_expect_eq(rig.result.mismatch.element.sample, 2);
	cr_expect_eq(rig.result.mismatch.element.y, 7);
	find_release(&found);
	rig_stop(&rig);
}

Test(fault, command_is_compared_with_what_was_lowered)
{
	static const struct {
		int byte, bit;
		const char *field;
	} bits[] = {
		{32 + 46, 0, "a_x_size"},
		{4, 3, "tag"},
		{26, 2, "n_cols"},
		{0, 3, "opcode"},
		{252, 0, "reserved bytes"},
		{8 + 3, 7, "wait_load"},
	};

	for (size_t i = 0; i < sizeof(bits) / sizeof(*bits); i++) {
		struct found found;
		struct rig rig;
		int status;

		start(&rig);
		find_command(&found, &rig, OP_FORWARD, 1);
		rig.options.fault.in_command = true;
		rig.options.fault.device = (struct wc_fault){.command = found.index, .address = (uint64_t)bits[i].byte, .bit = bits[i].bit};
		status = rig_run(&rig);
		if (!strcmp(bits[i].field, "tag")) {
			// The device only carries it.
			cr_expect_eq(status, 0, "%s", rig.err.text);
		} else {
			char field[64];

			cr_assert_eq(status, WC_ERR_MISMATCH, "%s: %s", bits[i].field, rig.err.text);
			cr_expect_eq(rig.result.diagnosis.stage, STAGE_COMMAND, "%s: %s", bits[i].field, rig.result.diagnosis.text[0]);
			cr_expect_eq(rig.result.mismatch.command, found.index);
			snprintf(field, sizeof(field), "(field %s)", bits[i].field);
			cr_expect(strstr(rig.result.diagnosis.text[0], field), "%s: %s", bits[i].field, rig.result.diagnosis.text[0]);
		}
		find_release(&found);
		rig_stop(&rig);
	}
}

Test(fault, vector_source_that_changes_in_place_is_told_honestly)
{
	struct found found;
	struct rig rig;

	start(&rig);
	find_command(&found, &rig, OP_RELU, 0);
	rig.options.fault.device =
		(struct wc_fault){.kind = WC_FAULT_BUFFER, .command = found.index, .address = found.op.command.vector.src_base + 1, .bit = 7};
	const int status = rig_run(&rig);

	cr_assert_eq(status, WC_ERR_MISMATCH, "%s", rig.err.text);
	cr_expect_eq(rig.result.mismatch.kind, MISMATCH_VECTOR);
	if (found.op.command.vector.src_base == found.op.command.vector.dst_base)
		cr_expect_eq(rig.result.diagnosis.stage, STAGE_NOT_REPRODUCED);
	else
		cr_expect_eq(rig.result.diagnosis.stage, STAGE_BUFFER);
	find_release(&found);
	rig_stop(&rig);
}

Test(fault, mask_read_wrong_is_located)
{
	struct found found;
	struct rig rig;

	start(&rig);
	find_command(&found, &rig, OP_RELU_GRADIENT, 0);
	rig.options.fault.device = (struct wc_fault){.kind = WC_FAULT_BUFFER, .command = found.index, .address = found.op.command.vector.aux_base, .bit = 1};
	expect_stage(&rig, rig_run(&rig), STAGE_BUFFER);
	cr_expect_eq(rig.result.diagnosis.address, found.op.command.vector.aux_base);
	find_release(&found);
	rig_stop(&rig);
}

Test(fault, text_form)
{
	static const struct {
		const char *text, *word;
	} bad[] = {
		{"", "unknown kind"},
		{"weight", "says not where"},
		{"wheight:command=1", "wheight"},
		{"weight:command", "KEY=NUMBER"},
		{"weight:comand=1", "comand"},
		{"weight:command=x", "KEY=NUMBER"},
		{"weight:command=1x", "1x"},
		{"weight:command=1,wave=0,row=0,column=0,bit=16", "limit of 'weight' is 15"},
		{"buffer:command=1,address=0,bit=8", "limit of 'buffer' is 7"},
		{"command:command=1,address=256,bit=0", "256"},
		{"weight:row=99999999", "row=99999999 is out of range, the limit is 16777216"},
		{"weight:command=99999999999999999999", "out of range"},
		{"lane:command=1,row=0,column=256,bit=0", "column=256 is out of range, the limit is 255"},
		{"lane:command=1,row=0,column=0,bit=32", "bit=32"},
		{"lane:command=1,wave=0,row=0,column=0,bit=0", "unknown key wave; expected lane:command=N,row=N,column=N,bit=N, and core=N if it is not core 0's"},
		{"weight:command=1", "missing wave,row,column,bit; expected weight:command=N,wave=N,row=N,column=N,bit=N"},
		{"weight:command=1,wave=0,row=0,column=0", "missing bit"},
		{"buffer:command=1,bit=1", "missing address; expected buffer:command=N,bit=N,address=N"},
		{"buffer:command=1,address=3,bit=1,row=2", "unknown key row"},
		{"memory:command=1,address=3,bit=1,bit=1", "given twice: bit"},
		{"memory:command=1,address=3,bit=1,", "'' is not KEY=NUMBER"},
		{"memory:", "'' is not KEY=NUMBER"},
	};
	struct fault fault;
	struct wc_error err;

	cr_assert_eq(fault_parse(&fault, "weight:command=12,wave=3,row=5,column=7,bit=0x9", &err), 0, "%s", err.text);
	cr_expect_eq(fault.device.kind, WC_FAULT_WEIGHT);
	cr_expect_eq(fault.device.command, 12);
	cr_expect_eq(fault.device.wave, 3);
	cr_expect_eq(fault.device.row, 5);
	cr_expect_eq(fault.device.column, 7);
	cr_expect_eq(fault.device.bit, 9);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		cr_expect_eq(fault_parse(&fault, bad[i].text, &err), WC_ERR_INPUT, "%s", bad[i].text);
		cr_expect(strstr(err.text, bad[i].word), "%s: %s", bad[i].text, err.text);
	}
}

Test(fault, places_that_the_device_does_not_have)
{
	static const struct wc_device_params params = {.rows = 8, .cols = 16, .acc_rows = 256, .buffer_bytes = 4096, .cores = 1};
	static const struct {
		const char *text, *says; // NULL: it is there
	} cases[] = {
		{"weight:command=1,wave=0,row=7,column=15,bit=0", NULL},
		{"weight:command=1,wave=0,row=8,column=0,bit=0", "row=8, the array of the device has rows 0 to 7"},
		{"weight:command=1,wave=0,row=0,column=16,bit=0", "column=16, the array of the device has columns 0 to 15"},
		{"accumulator:command=1,wave=0,row=255,column=0,bit=0", NULL},
		{"accumulator:command=1,wave=0,row=256,column=0,bit=0", "the accumulator of the device has rows 0 to 255"},
		{"accumulator:command=1,wave=0,row=0,column=16,bit=0", "columns 0 to 15"},
		{"lane:command=1,row=99999,column=31,bit=31", NULL}, // no device knows how many vectors a command writes
		{"lane:command=1,row=0,column=32,bit=0", "column=32, the vector unit of the device has lanes 0 to 31"},
		{"buffer:command=1,address=4095,bit=0", NULL},
		{"buffer:core=0,command=1,address=4095,bit=0", NULL},
		{"lane:command=1,row=0,column=0,bit=0,core=1", "core=1, the device has cores 0 to 0"},
		{"buffer:command=1,address=4096,bit=0", "the buffer of the device has 4096 bytes"},
		{"memory:command=1,address=4096,bit=0", NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fault fault;
		struct wc_error err = {""};

		cr_assert_eq(fault_parse(&fault, cases[i].text, &err), 0, "%s", err.text);
		cr_expect_eq(fault_check(&fault, &params, &err), cases[i].says ? WC_ERR_INPUT : 0, "%s", cases[i].text);
		cr_expect(!cases[i].says || strstr(err.text, cases[i].says), "%s: %s", cases[i].text, err.text);
	}
}

Test(fault, addresses_that_the_memory_does_not_have)
{
	static const struct {
		const char *text;
		bool there;
	} cases[] = {
		{"memory:command=1,address=0x1000,bit=0", true}, {"memory:command=1,address=0x1fff,bit=0", true}, {"memory:command=1,address=0xfff,bit=0", false},
		{"memory:command=1,address=0x2000,bit=0", false}, {"memory:command=1,address=0xffffffffffffffff,bit=0", false},
		{"buffer:command=1,address=64,bit=0", true},
	};
	const struct wc_memory memory = {.base = 0x1000, .bytes = 0x1000};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fault fault;
		struct wc_error err = {""};

		cr_assert_eq(fault_parse(&fault, cases[i].text, &err), 0, "%s", err.text);
		cr_expect_eq(fault_check_memory(&fault, &memory, &err), cases[i].there ? 0 : WC_ERR_INPUT, "%s", cases[i].text);
		cr_expect(cases[i].there || strstr(err.text, "the memory of this run has addresses 0x1000 to 0x1fff"), "%s", err.text);
	}
}
