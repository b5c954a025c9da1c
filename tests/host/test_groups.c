// SPDX-License-Identifier: Apache-2.0
//
// Rule: each group of a convolution runs as a GEMM of its own, with the golden model's bits and the predicted bytes: under every planner, in slices
// of whole groups, on several cores, on the C model and on the RTL.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/host/random.h"
#include "find.h"
#include "tests/seed.h"

struct draw {
	uint64_t seed, stream, at;
};

static int pick(struct draw *draw, int below)
{
	return (int)(random_bits(draw->seed, draw->stream, draw->at++) % (uint64_t)below);
}

// As many groups as channels now and then, or a few.
static int draw_groups(struct draw *draw, int channels)
{
	const int groups = 1 + pick(draw, 4);

	if (pick(draw, 3) == 0)
		return channels;
	return channels % groups ? 1 : groups;
}

// A few convolutions one after the other, each with what may stand behind it, up to a loss.
static void draw_net(struct draw *draw, char *text, size_t bytes)
{
	char *at = text, *end = text + bytes;
	int height = 5 + pick(draw, 8), width = 4 + pick(draw, 6), channels = 1 + pick(draw, 12);

	at += snprintf(at, (size_t)(end - at), "name: drawn\ninput: {height: %d, width: %d, channels: %d}\nnodes:\n", height, width, channels);
	for (int i = 1, layers = 2 + pick(draw, 3); i <= layers; i++) {
		const int kernel_h = 1 + pick(draw, 3), kernel_w = 1 + pick(draw, 2), dilation = 1 + pick(draw, 2), groups = draw_groups(draw, channels);

		channels = groups * (1 + pick(draw, groups > 4 ? 2 : 12));
		at += snprintf(at, (size_t)(end - at),
			       "  - {name: c%d, op: conv, channels: %d, kernel: [%d, %d], stride: [%d, %d], pad: [%d, %d], dilation: %d, groups: %d, bias: %s}\n", i,
			       channels, kernel_h, kernel_w, 1 + pick(draw, 2), 1 + pick(draw, 2), dilation * (kernel_h - 1), dilation * (kernel_w - 1), dilation,
			       groups, pick(draw, 2) ? "true" : "false");
		if (pick(draw, 2))
			at += snprintf(at, (size_t)(end - at), "  - {name: n%d, op: gn, group_channels: %d}\n", i, channels % 2 ? 1 : 2);
		if (pick(draw, 2))
			at += snprintf(at, (size_t)(end - at), "  - {name: r%d, op: relu}\n", i);
	}
	snprintf(at, (size_t)(end - at), "  - {name: pool, op: global_pool}\n  - {name: loss, op: loss}\n");
}

Test(groups, random_networks_are_right_under_every_planner)
{
	static const struct {
		int rows, cols, cores;
		uint32_t bus;
	} devices[] = {{4, 4, 1, 16}, {8, 4, 2, 32}, {16, 16, 1, 16}, {4, 16, 1, 64}};
	const uint64_t seed = tests_seed("tests/host/test_groups", 1);
	const int rounds = getenv("WC_LONG") ? 400 : 24;
	int ran = 0;

	for (int round = 0; round < rounds; round++) {
		struct draw draw = {seed, (uint64_t)round, 0};
		const int device = pick(&draw, 4), batch = devices[device].cores * (1 + pick(&draw, 3));
		const uint32_t buffer = 16384u << pick(&draw, 3);
		char yaml[4096];

		draw_net(&draw, yaml, sizeof(yaml));
		for (int i = 0; i < RIG_PLANNERS; i++) {
			struct rig rig;

			rig_start_cores(&rig, yaml, rig_planners[i], devices[device].cores, devices[device].rows, devices[device].cols, batch, buffer,
					devices[device].bus, seed + (uint64_t)round);
			if (rig.planned) {
				rig_train(&rig);
				rig_expect_right(&rig, rig_run(&rig));
				ran++;
			}
			rig_stop(&rig);
		}
	}
	cr_expect_gt(ran, rounds * RIG_PLANNERS * 3 / 4, "%d runs of %d", ran, rounds * RIG_PLANNERS);
}

static const char sliced_net[] = "name: sliced\ninput: {height: 6, width: 5, channels: 4}\nnodes:\n"
				 "  - {name: c0, op: conv, channels: 8, kernel: 1}\n"
				 "  - {name: a, op: conv, channels: 32, kernel: 3, stride: 2, pad: 1, groups: 4, bias: true}\n"
				 "  - {name: d, op: conv, channels: 32, kernel: 3, pad: 1, groups: 32}\n";

// Weights and sums of a in slices of two groups and of one, of d in slices of 8 and 24 groups, two cuts.
static const char sliced[] = "schedule 1\nnet sliced\nbatch 3\narray 4x8\nbuffer 32768\nbus 16\n"
			     "group forward c0 d\nsub_batch 2\nweight a streamed slice 16\nweight d streamed slice 24\nstrip 0\n"
			     "load act:input=0:6\ncompute act:c0=0:6\nstore act:c0=0:6\ncompute act:a=0:3\nstore act:a=0:3\ncompute act:d=0:3\nstore act:d=0:3\n"
			     "group backward c0 d\nsub_batch 2\nwgrad a streamed slice 8\nwgrad d streamed slice 8\nstrip 0\n"
			     "load grad:d=0:3\nload act:a=0:3\naccumulate d=0:3\ncompute grad:a=0:3\nload act:c0=0:6\naccumulate a=0:3\ncompute grad:c0=0:6\n"
			     "load act:input=0:6\naccumulate c0=0:6\n";

Test(groups, slices_of_whole_groups)
{
	struct rig rig;

	rig_start_text(&rig, sliced_net, sliced, 3);
	rig_expect_right(&rig, rig_run(&rig));
	rig_stop(&rig);
}

// Groups of more channels than the array has rows and columns, depthwise with and without a stride, two filters a channel.
static const char small_net[] = "name: small\ninput: {height: 11, width: 9, channels: 3}\nnodes:\n"
				"  - {name: c0, op: conv, channels: 36, kernel: 3, stride: 2, pad: 1, bias: true}\n  - {name: r0, op: relu}\n"
				"  - {name: a, op: conv, channels: 40, kernel: [3, 2], pad: [1, 0], groups: 2}\n  - {name: n, op: gn, group_channels: 5}\n"
				"  - {name: r1, op: relu}\n  - {name: d, op: conv, channels: 40, kernel: 3, stride: 2, pad: 1, groups: 40}\n"
				"  - {name: e, op: conv, channels: 80, kernel: 3, pad: 2, dilation: 2, groups: 40, bias: true}\n"
				"  - {name: pool, op: global_pool}\n  - {name: fc, op: fc, units: 7}\n  - {name: loss, op: loss}\n";

Test(groups, the_rtl_agrees)
{
	static const char *const names[] = {"mbs2", "2ps"};
	double loss = 0;

	for (size_t i = 0; i < 2; i++) {
		struct rig rig;

		rig_start(&rig, small_net, names[i], 16, 16, 2, 65536, 16, 21);
		cr_assert(rig.planned, "%s", rig.err.text);
		rig_train(&rig);
		rig.options.device.kind = DEVICE_RTL;
		rig.options.device.rtl = (struct wc_rtl_options){
			.library = "build/rtl/r16c16-b65536-w16-m1-rtl/wc_rtl.so", .latency_cycles = 50, .random_memory = i == 1,
		};
		rig_expect_right(&rig, rig_run(&rig));
		cr_expect(i == 0 || rig.result.loss == loss);
		loss = rig.result.loss;
		rig_stop(&rig);
	}
}

// A weight by its output channel, its tap, and its channel within the group, in the mismatch as in the operand that the diagnosis names.
Test(groups, weights_are_named_by_their_place_in_the_group)
{
	struct found found;
	struct rig rig;

	rig_start_text(&rig, sliced_net, sliced, 3);
	rig.options.device.overlap = false;
	// Group 1 of a, in the first cut: rows 8 to 15, flat (r, s, c) from 0, 8, 16 on; column 5 of the second tile is weight 13 of a filter of 3 x 3 x 2.
	find_command(&found, &rig, OP_WEIGHT_GRADIENT, 32 * 2 + 3 + 1);
	cr_assert_eq(rig.net.nodes[found.op.node].conv.groups, 4);
	cr_assert(found.op.m_first == 8 && found.op.n_first == 8, "%d %d", found.op.m_first, found.op.n_first);
	rig.options.fault.device = (struct wc_fault){.kind = WC_FAULT_ACCUMULATOR, .command = found.index, .row = 2, .column = 5, .bit = 29};
	cr_assert_eq(rig_run(&rig), WC_ERR_MISMATCH);
	cr_expect_eq(rig.result.mismatch.command, found.index);
	cr_expect(rig.result.mismatch.element.k == 10 && rig.result.mismatch.element.r == 2 && rig.result.mismatch.element.s == 0 &&
		  rig.result.mismatch.element.c == 1);
	find_release(&found);
	// Forward, the second slice: group 2 and 3, the tile of group 3; a PE's weight.
	find_command(&found, &rig, OP_FORWARD, 1 + 3);
	cr_assert(found.op.n_first == 24, "%d", found.op.n_first);
	rig.options.fault.device = (struct wc_fault){.kind = WC_FAULT_WEIGHT, .command = found.index, .wave = 3, .row = 1, .column = 4, .bit = 14};
	cr_assert_eq(rig_run(&rig), WC_ERR_MISMATCH);
	cr_expect_eq(rig.result.diagnosis.stage, STAGE_PE);
	// K step 13 again.
	cr_expect(strstr(rig.result.diagnosis.text[2], "k 28 r 2 s 0 c 1"), "%s", rig.result.diagnosis.text[2]);
	find_release(&found);
	rig_stop(&rig);
}

// Of layer `a`, 2 groups of 20 on 16 columns, and of `d`, one channel each: as they come, the tiles count on from group to group.
Test(groups, tiles_are_numbered_over_all_groups)
{
	static const struct {
		const char *name;
		enum op_kind kind;
		int along_m, along_n;
	} cases[] = {{"a", OP_FORWARD, 1, 4}, {"a", OP_DATA_GRADIENT, 1, 4}, {"a", OP_WEIGHT_GRADIENT, 2, 7}, {"d", OP_FORWARD, 1, 40}, {"d", OP_WEIGHT_GRADIENT, 40, 1}};
	struct found found;
	struct rig rig;

	rig_start(&rig, small_net, "baseline", 16, 16, 2, 65536, 16, 21);
	cr_assert(rig.planned, "%s", rig.err.text);
	find_all(&found, &rig);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const int node = net_find(&rig.net, cases[i].name);
		int m = 0, n = 0;

		for (uint32_t j = 0; j < found.queue.end; j++) {
			const struct op *op = op_queue_at(&found.queue, j);

			if (op->node != node || op->kind != cases[i].kind)
				continue;
			cr_expect_leq(op_tile_m(op, &rig.net.nodes[node], 256), m, "%s", cases[i].name);
			m = op_tile_m(op, &rig.net.nodes[node], 256) + 1 > m ? op_tile_m(op, &rig.net.nodes[node], 256) + 1 : m;
			n = op_tile_n(op, &rig.net.nodes[node], 16) + 1 > n ? op_tile_n(op, &rig.net.nodes[node], 16) + 1 : n;
		}
		cr_expect_eq(m, cases[i].along_m, "%s: %d along m", cases[i].name, m);
		cr_expect_eq(n, cases[i].along_n, "%s: %d along n", cases[i].name, n);
	}
	find_release(&found);
	rig_stop(&rig);
}
