// SPDX-License-Identifier: Apache-2.0
//
// Bytes, commands, occupancy, footprint and MACs of `device` schedules of graphs, against sums made by hand from driver/README.md. Loss and
// update included. A move is a command; so is a tile of 256 pixels (or output channels, of a weight gradient) and 4 columns.
#include <criterion/criterion.h>
#include <stdlib.h>

#include "tests/check/device_graphs.h"

// Bytes by class, read and written.
struct want {
	uint64_t bytes[WC_CLASS_COUNT][2];
	uint64_t commands, peak, footprint, macs;
	int group, strip, statement; // of the peak
};

static void expect(enum device_name name, const struct want *want)
{
	const struct graph_case *graph = &device_cases[name];
	struct check_result result;

	device_check(graph, graph->text, &result);
	cr_assert(result.ok, "%s: %s", graph->name, result.violation.text);
	for (enum wc_class class = 0; class < WC_CLASS_COUNT; class++) {
		uint64_t read = class == WC_CLASS_COMMAND ? 256 * want->commands : want->bytes[class][0];

		cr_expect_eq(result.read_bytes[class], read, "%s: %s read: %lu", graph->name, wc_class_name(class), result.read_bytes[class]);
		cr_expect_eq(result.write_bytes[class], want->bytes[class][1], "%s: %s written: %lu", graph->name, wc_class_name(class),
			     result.write_bytes[class]);
	}
	cr_expect_eq(result.commands, want->commands, "%s: %lu commands", graph->name, result.commands);
	cr_expect_eq(result.peak_bytes, want->peak, "%s: peak %lu", graph->name, result.peak_bytes);
	cr_expect_eq(result.peak.group, want->group, "%s: %d", graph->name, result.peak.group);
	cr_expect_eq(result.peak.strip, want->strip, "%s: %d", graph->name, result.peak.strip);
	cr_expect_eq(result.peak.statement, want->statement, "%s: %d", graph->name, result.peak.statement);
	cr_expect_eq(result.footprint_bytes, want->footprint, "%s: footprint %lu", graph->name, result.footprint_bytes);
	cr_expect_eq(result.macs, want->macs, "%s: %lu MACs", graph->name, result.macs);
	cr_expect_eq(result.extra_macs, 0);
}

// Of 3 samples: image 576, maps 864, masks 288, p, fc and statistics (2 q = 32) 48, 48 and 96. Parameters, fp16 and fp32: c0 144, 288; c1 288, 576;
// fc 24 + 6, padded to 32 + 16, and 48 + 12, padded to 48 + 16; norms 2 h = 32 (8 bytes are padded), 2 q = 32.
Test(device_counts, a_residual_block)
{
	expect(DEVICE_RESIDUAL, &(struct want){
		.bytes = {
			// Backward and the loss read; c0, r0, c1, p and fc are written.
			[WC_CLASS_ACTIVATION] = {48 + 3 * 864 + 48, 3 * 864 + 48 + 48},
			[WC_CLASS_GRADIENT] = {48, 48},
			[WC_CLASS_MASK] = {2 * 288, 2 * 288},
			// Forward twice, but c0 and g1 once. Backward once: fc, c1, and gamma alone for the sums of each norm and behind them.
			[WC_CLASS_WEIGHT] = {144 + 32 + 2 * (32 + 288 + 32 + 16) + 32 + 288 + 4 * 16, 144 + 288 + 32 + 16 + 4 * 16},
			// All sums are made in one iteration. The update reads them; gamma and beta apart.
			[WC_CLASS_WEIGHT_GRADIENT] = {288 + 576 + 48 + 16 + 4 * 16, 288 + 576 + 48 + 16 + 2 * 32},
			// Forward each norm writes, and reads again; backward the sums need what forward made, the gradients both.
			[WC_CLASS_STATISTICS] = {2 * 96 + 2 * 3 * 96, 2 * 96 + 2 * 96},
			[WC_CLASS_OPTIMIZER] = {576 + 1152 + 96 + 32 + 4 * 32, 576 + 1152 + 96 + 32 + 4 * 32},
			[WC_CLASS_IO] = {2 * 576 + 16, 16},
		},
		// Forward: c0 and g1; per iteration input 1, c0 2, g0 3 + 3, r0 3, c1 3, g1 3 + 2, a 1, r1 2, p 2, fc 5. Backward: c1's and g0's sums; fc 2 + 5
		// + 2, r1 1, a 2, split 2, g1 1 + 9 + 4, c1 1 + 9 + 3, r0 2, g0 1 + 8 + 4, c0 1 + 6. Loss; update of 8 arrays.
		.commands = 2 + 2 * 30 + 2 + 63 + 7 + 8 * 5,
		// The gradient of c1 through its norm: it takes the place of g1's; that of r0, act:c1; sums of c1 and g0; what forward made and what is made, rows
		// of 4 q, gamma, gradients of gamma and beta.
		.peak = 3 * 864 + (576 + 32) + (2 * 96 + 3 * 6 * 64 + 16 + 32), .group = 1, .strip = 0, .statement = 9,
		// Backward: image, c0, r0, c1, masks, p, the gradient of fc, statistics and sums. Parameters, their gradients and two more arrays.
		.footprint = 576 + 3 * 864 + 2 * 288 + 48 + 48 + 2 * 96 + 2 * 96 + (144 + 3 * 288) + (288 + 3 * 576) + (32 + 3 * 48) + 5 * (16 + 3 * 16),
		.macs = 3 * (2 * (2160 + 4320 + 12) + 4320 + 12),
	});
}

// Of 2 samples: image, s and pb's gradient 256, both and r 640, d, e and o 128, b1 128, b2 256, v 64, fc 32, index 128. Parameters, fp16 and fp32:
// s 32, 64; b1 16, 32; b2 216, padded to 224, and 432; d and e 36, padded to 48, and 72, padded to 80; fc 32, 64.
enum { CONCAT_HALVES = 32 + 16 + 224 + 2 * 48 + 32, CONCAT_SUMS = 64 + 32 + 432 + 2 * 80 + 64, CONCAT_STATES = 2 * CONCAT_SUMS };

Test(device_counts, branches_joined_by_a_concatenation)
{
	expect(DEVICE_CONCAT, &(struct want){
		.bytes = {
			[WC_CLASS_ACTIVATION] = {64 + 640 + 640 + 256 + 32, 256 + 640 + 640 + 64 + 32},
			[WC_CLASS_GRADIENT] = {32, 32},
			[WC_CLASS_MASK] = {128, 128},
			[WC_CLASS_WEIGHT] = {2 * CONCAT_HALVES + (CONCAT_HALVES - 32), CONCAT_HALVES},
			[WC_CLASS_WEIGHT_GRADIENT] = {CONCAT_SUMS, CONCAT_SUMS},
			[WC_CLASS_OPTIMIZER] = {CONCAT_STATES, CONCAT_STATES},
			[WC_CLASS_IO] = {2 * 256 + 16, 16},
		},
		// Forward per iteration: input 1, s 3, b1 2, b2 2, pb 2, both 3 + 1, r 2, d 2, e 2, o 1, v 2, fc 3. Backward: fc 1 + 1 + 3 + 3, four classes of v,
		// split 2, e 1 + 4 + 4, d 1 + 4 + 4, r 1 and its sum 1, split 3, pb 1 + 1, b2 1 + 10 + 2 + 1, b1 2 + 2 + 1, s 1 + 2. Update of 6 arrays.
		.commands = 2 * 26 + 61 + 7 + 6 * 5,
		// act:r, its gradient, the sum so far and r's part apart.
		.peak = 4 * 640, .group = 1, .strip = 0, .statement = 13,
		// Forward: image, s, both, r, v, fc, index, parameters.
		.footprint = 2 * 256 + 2 * 640 + 64 + 32 + 128 + CONCAT_HALVES + 3 * CONCAT_SUMS,
		.macs = 2 * (2 * (256 + 128 + 1728 + 2 * 288 + 16) + 128 + 1728 + 2 * 288 + 16),
	});
}

// Of 3 samples: image, c0 and g0 768, a row 96; a row of c1 48; statistics 96. c0 and c1 288 and 576 bytes.
Test(device_counts, strips_around_a_norm)
{
	expect(DEVICE_NORM_STRIPS, &(struct want){
		.bytes = {
			// c0 in forward, with a row twice in backward, and for its own gradient; the loss.
			[WC_CLASS_ACTIVATION] = {768 + 9 * 96 + 768 + 48, 768 + 48},
			// The output's in both strips, then g0's.
			[WC_CLASS_GRADIENT] = {2 * 48 + 768, 768 + 48},
			// c0 in both strips, c1 in both strips of both iterations; g0 resident in forward and backward, c1 in backward; gamma at last.
			[WC_CLASS_WEIGHT] = {2 * 288 + 32 + 4 * 288 + 32 + 288 + 16, 288 + 288 + 16 + 16},
			// c1's once, g0's in two iterations, c0's once. The update reads.
			[WC_CLASS_WEIGHT_GRADIENT] = {32 + 576 + 576 + 16 + 16, 576 + 2 * 32 + 576},
			// Forward: three rows of 32 bytes a sample wait, and 16 bytes that they are shifted by; the result is read by both strips. Backward, both strips: what forward made, to make g0 and to sum;
			// four rows of 64 wait. Then both for c0.
			[WC_CLASS_STATISTICS] = {3 * (3 * 32 + 16) + 2 * 96 + 2 * 2 * 96 + 3 * 4 * 64 + 2 * 96, 3 * (3 * 32 + 16) + 96 + 3 * 4 * 64 + 96},
			[WC_CLASS_BOUNDARY] = {2 * 96 + 96 + 2 * 48 + 48, 2 * 96 + 96 + 2 * 48 + 48},
			[WC_CLASS_OPTIMIZER] = {1152 + 1152 + 32 + 32, 1152 + 1152 + 32 + 32},
			[WC_CLASS_IO] = {2 * 768 + 16, 16},
		},
		// First group: 1 + 2 + 1 + 4 + 1, 1 + 1 + 2 + 1 + 5. Second, g0: 1 + 2 + 1 + 2 + 1 + 1, 1 + 2 + 1 + 1 + 1 + 2 + 1 + 1. Third, g0, c1 and c1's sums:
		// 1 + 1 + 1 + 2 + 1 + 9 + 4 + 1 + 4 + 1 + 1, 1 + 1 + 1 + 1 + 2 + 1 + 9 + 4 + 1 + 9 + 1, and a read in the second iteration. Last: 1 + 1 + 4 + 1 + 10.
		.commands = 9 + 10 + 1 + 2 * 18 + 3 + 2 * (26 + 31) + 1 + 17 + 7 + 4 * 5,
		// The last rows' sums of 2 samples: c0 and the gradient of g0, four rows; resident g0, c1 and c1's sums; all rows of 4 q, what forward made and the
		// result, gamma's and beta's gradients. A block of the update, 18 x 144, takes as much.
		.peak = 2 * (4 * 32 + 4 * 32) + (32 + 288 + 576) + (2 * 8 * 64 + 2 * 64 + 32), .group = 2, .strip = 1, .statement = 9,
		// Third group: image, c0, statistics, the output's gradient, g0's, sums, partial sums of all rows, a row of c1's gradient, parameters.
		.footprint = 2 * 768 + 96 + 48 + 768 + 96 + 3 * 8 * 64 + 48 + 2 * (288 + 3 * 576) + 2 * (16 + 3 * 16),
		.macs = 3 * (2 * (4608 + 1152) + 1152),
	});
}

// Parameters, fp16 and fp32: c0 1152 + 16, 2304 + 32; c1 1728 and biases of 16 + 8 (padded), 3456 and three times 16; sc 192, 384.
enum { SLICES_SUMS = 3456 + 48 + 384, SLICES_STATES = 4608 + 64 + 6912 + 96 + 768 };

Test(device_counts, biases_and_slices)
{
	struct check_result result;
	struct schedule schedule;
	struct net net;

	expect(DEVICE_SLICES, &(struct want){
		.bytes = {
			[WC_CLASS_ACTIVATION] = {3 * 256 + 3 * 32, 3 * 256 + 3 * 32},
			[WC_CLASS_GRADIENT] = {3 * 32, 3 * 32},
			// c0 once, then two iterations forward with biases, and backward without.
			[WC_CLASS_WEIGHT] = {1168 + 2 * (1728 + 32 + 192) + 2 * (1728 + 192), 1152 + 16 + 1728 + 32 + 192},
			[WC_CLASS_WEIGHT_GRADIENT] = {SLICES_SUMS + SLICES_SUMS + 2336, 2 * SLICES_SUMS + 2336},
			[WC_CLASS_OPTIMIZER] = {SLICES_STATES, SLICES_STATES},
			[WC_CLASS_IO] = {2 * 3 * 256 + 16, 16},
		},
		// Forward: c0 3; per iteration input 1, c0 2 + 1, c1 2 x 3 + 2 + 1, sc 1 + 3, a 1, p 2. Backward: c0's sums 2; per iteration p 1 + 1, split 2, c0 1,
		// sc 1 + 2, its part in three slices of four classes of two tiles 3 + 24 + 1, c1 three slices of 2 + 19 + 1, its part 2 + 16 + 1 + 1, input 1,
		// c0 18 + 2; in the second iteration sums are read, 1 + 6. The update takes 512 parameters at a time: 2, 1, 2, 1, 1.
		.commands = 3 + 2 * 20 + 2 + 2 * 143 + 7 + 7 + 7 * 5,
		.peak = 512 * 18, .group = -1, .strip = -1, .statement = -1,
		// Image, c0 and the output or its gradient, parameters; c1's bias as one array.
		.footprint = 2 * 768 + 96 + (1152 + 3 * 2304) + (16 + 3 * 32) + (1728 + 3 * 3456) + (32 + 3 * 48) + (192 + 3 * 384),
		.macs = 3 * (2 * (9216 + 3456 + 384) + 3456 + 384),
	});
	// Without the update: two samples of c1's gradient and the sum so far; c0's sums; both slices of c1; c1's part apart, and in fp32.
	graph_net(&net, device_cases[DEVICE_SLICES].yaml);
	fixture_schedule(&schedule, &net, device_cases[DEVICE_SLICES].text);
	cr_assert_eq(schedule_check(&schedule, &net, &result, NULL), 0, "%s", result.violation.text);
	cr_expect_eq(result.peak_bytes, 2 * (96 + 256) + 2336 + 1728 + 2 * 256 + 2 * 4 * 128, "%lu", result.peak_bytes);
	cr_expect_eq(result.peak.statement, 8);
	cr_expect_eq(result.commands, 3 + 2 * 20 + 2 + 2 * 143 + 7);
	cr_expect_eq(result.read_bytes[WC_CLASS_OPTIMIZER] + result.write_bytes[WC_CLASS_IO], 0);
	cr_expect_eq(result.footprint_bytes, 2 * 768 + 96 + (1152 + 2304) + (16 + 32) + (1728 + 3456) + (32 + 48) + (192 + 384));
	schedule_release(&schedule);
	net_release(&net);
}

// Of 2 samples: image, c and r 384, m, k, j, o and m's index 96, r's mask 192, gp 32. Each convolution has 8 bytes of weights, 16 of sums.
Test(device_counts, pools_block_by_block)
{
	expect(DEVICE_POOLS, &(struct want){
		.bytes = {
			[WC_CLASS_ACTIVATION] = {384 + 384 + 96 + 384 + 96 + 32, 384 + 96 + 32},
			[WC_CLASS_GRADIENT] = {32 + 384, 384 + 32},
			[WC_CLASS_MASK] = {96, 96},
			[WC_CLASS_WEIGHT] = {16 + 2 * 16 + 2 * 16, 3 * 16},
			// c's in four cuts.
			[WC_CLASS_WEIGHT_GRADIENT] = {3 * 16 + 3 * 16, 2 * 16 + 4 * 16},
			[WC_CLASS_OPTIMIZER] = {3 * 32, 3 * 32},
			[WC_CLASS_IO] = {2 * 384 + 16, 16},
		},
		// Backward: gp 1 + 1, split 2, c 1, r 1, j 2 and four classes 1 + 4, m 1, k 2 + 2, index 1, m's part twice 4 + 1, r 1, store 1; c 9 and 10.
		.commands = 4 + 2 * 8 + 10 + 31 + 9 + 10 + 7 + 3 * 5,
		// r's mask, the sum so far, m's gradient and index, four rows of m's part.
		.peak = 192 + 384 + 2 * 96 + 2 * 4 * 32, .group = 3, .strip = 0, .statement = 13,
		// Image, c, m, index, the output's gradient, c's, parameters.
		.footprint = 2 * 384 + 2 * 96 + 32 + 384 + 3 * (16 + 3 * 16),
		.macs = 2 * (2 * (144 + 2 * 36) + 2 * 36),
	});
}

// Of 3 samples: image 864, c0 1728, r 864, its mask 144, gp 96. Parameters, fp16 and fp32: c0 64, 128; a 1152, 2304 and biases of 32, 64; d 288, 576.
enum { GROUPS_SUMS = 128 + 2304 + 64, GROUPS_ALL = GROUPS_SUMS + 576 };

Test(device_counts, groups_of_convolutions)
{
	expect(DEVICE_GROUPS, &(struct want){
		.bytes = {
			[WC_CLASS_ACTIVATION] = {864 + 1728 + 96, 1728 + 864 + 96},
			[WC_CLASS_GRADIENT] = {96, 96},
			[WC_CLASS_MASK] = {144, 144},
			// Two iterations forward, a with its bias, and backward without c0.
			[WC_CLASS_WEIGHT] = {2 * (64 + 1152 + 32 + 288) + 2 * (1152 + 288), 64 + 1152 + 32 + 288},
			[WC_CLASS_WEIGHT_GRADIENT] = {GROUPS_SUMS + GROUPS_ALL, 2 * GROUPS_SUMS + 576},
			[WC_CLASS_OPTIMIZER] = {2 * GROUPS_ALL, 2 * GROUPS_ALL},
			[WC_CLASS_IO] = {2 * 864 + 16, 16},
		},
		// Forward, an iteration: input 1, c0 1 + 2 + 1, a two slices of 2 moves, the bias in fp32 and one group of 2 tiles, r 1 + 2, d two slices of 1 and
		// 8 groups, gp 2. Backward: gp 1 + 1, r 1, d 16 groups of 3 tiles, its input's part 1 and 16, r 1 + 1, c0 1, a two slices of 2 moves, 9 tiles and
		// 2 for the bias, its input's part 1 and 2 groups of four classes, input 1, c0 2; in the second iteration sums are read, 4 + 1; d's sums 1. The
		// update takes 512 parameters at a time: 1, 2, 1, 1.
		.commands = 2 * 38 + 2 * 109 + 5 + 1 + 7 + 5 * 5,
		.peak = 512 * 18, .group = -1, .strip = -1, .statement = -1,
		// Image, c0, r, mask and the output or its gradient, parameters.
		.footprint = 864 + 1728 + 864 + 144 + 96 + (64 + 3 * 128) + (1152 + 3 * 2304) + (32 + 3 * 64) + (288 + 3 * 576),
		.macs = 3 * (2 * (1152 + 5184 + 1296) + 5184 + 1296),
	});
}
