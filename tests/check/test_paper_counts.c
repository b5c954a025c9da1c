// SPDX-License-Identifier: Apache-2.0
//
// Bytes, occupancy, footprint and MACs of `paper` schedules, against sums made by hand from driver/README.md.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check/graphs.h"

// Bytes by class, in the order read, written.
struct want {
	uint64_t activation[2], gradient[2], mask[2], weight, weight_gradient[2];
	uint64_t peak, footprint, macs;
	int group, strip, statement; // of the peak
};

static void expect(enum graph_name name, const struct want *want)
{
	const struct graph_case *graph = &graph_cases[name];
	struct check_result result;

	graph_check(graph, graph->text, &result);
	cr_assert(result.ok, "%s: %s", graph->name, result.violation.text);
	cr_expect_eq(result.read_bytes[WC_CLASS_ACTIVATION], want->activation[0], "%s: %lu", graph->name, result.read_bytes[WC_CLASS_ACTIVATION]);
	cr_expect_eq(result.write_bytes[WC_CLASS_ACTIVATION], want->activation[1], "%s: %lu", graph->name, result.write_bytes[WC_CLASS_ACTIVATION]);
	cr_expect_eq(result.read_bytes[WC_CLASS_GRADIENT], want->gradient[0], "%s: %lu", graph->name, result.read_bytes[WC_CLASS_GRADIENT]);
	cr_expect_eq(result.write_bytes[WC_CLASS_GRADIENT], want->gradient[1], "%s: %lu", graph->name, result.write_bytes[WC_CLASS_GRADIENT]);
	cr_expect_eq(result.read_bytes[WC_CLASS_MASK], want->mask[0], "%s: %lu", graph->name, result.read_bytes[WC_CLASS_MASK]);
	cr_expect_eq(result.write_bytes[WC_CLASS_MASK], want->mask[1], "%s: %lu", graph->name, result.write_bytes[WC_CLASS_MASK]);
	cr_expect_eq(result.read_bytes[WC_CLASS_WEIGHT], want->weight, "%s: %lu", graph->name, result.read_bytes[WC_CLASS_WEIGHT]);
	cr_expect_eq(result.read_bytes[WC_CLASS_WEIGHT_GRADIENT], want->weight_gradient[0], "%s: %lu", graph->name,
		     result.read_bytes[WC_CLASS_WEIGHT_GRADIENT]);
	cr_expect_eq(result.write_bytes[WC_CLASS_WEIGHT_GRADIENT], want->weight_gradient[1], "%s: %lu", graph->name,
		     result.write_bytes[WC_CLASS_WEIGHT_GRADIENT]);
	for (enum wc_class class = WC_CLASS_STATISTICS; class < WC_CLASS_COUNT; class++)
		cr_expect_eq(result.read_bytes[class] + result.write_bytes[class], 0, "%s: %s", graph->name, wc_class_name(class));
	cr_expect_eq(result.write_bytes[WC_CLASS_WEIGHT] + result.commands, 0);
	cr_expect_eq(result.peak_bytes, want->peak, "%s: %lu", graph->name, result.peak_bytes);
	cr_expect_eq(result.peak.group, want->group, "%s: %d", graph->name, result.peak.group);
	cr_expect_eq(result.peak.strip, want->strip, "%s: %d", graph->name, result.peak.strip);
	cr_expect_eq(result.peak.statement, want->statement, "%s: %d", graph->name, result.peak.statement);
	cr_expect_eq(result.footprint_bytes, want->footprint, "%s: %lu", graph->name, result.footprint_bytes);
	cr_expect_eq(result.macs, want->macs, "%s: %lu", graph->name, result.macs);
	cr_expect_eq(result.extra_macs, 0);
}

// Maps of 3 samples: 1536 bytes. Parameters in bytes: c0 and c1 288, g0 and g1 16, fc 30.
enum { RESIDUAL_MACS = 3 * (2 * (9216 + 9216 + 12) + 9216 + 12) };

Test(paper_counts, a_residual_block_with_identity)
{
	expect(GRAPH_IDENTITY, &(struct want){
		// Forward the image; backward p, c1, r0, c0 and the image. Forward writes c0, r0, c1, p and fc.
		.activation = {1536 + 24 + 4 * 1536, 3 * 1536 + 24 + 18},
		.gradient = {18, 0},
		.mask = {192, 192},
		// Forward twice, but c0 once; backward once, without c0.
		.weight = 288 + 2 * (16 + 288 + 16 + 30) + 30 + 16 + 288 + 16,
		.weight_gradient = {0, 30 + 16 + 288 + 16 + 288},
		// The gradient of c1 beside that of the add, which is that of r0 too; sums of c1; the reserve.
		.peak = 3 * 1024 + 288 + 4096, .group = 1, .strip = 0, .statement = 6,
		// Image, c0, r0, c1, p, masks; the output in forward, its gradient in backward. 319 parameters.
		.footprint = 4 * 1536 + 24 + 192 + 18 + 6 * 319,
		.macs = RESIDUAL_MACS,
	});
}

Test(paper_counts, norms_regenerated_in_fused_strips)
{
	expect(GRAPH_REGENERATED, &(struct want){
		// 10 rows of the image and of c0 with the halos of two strips; c1 and c0 for the add; backward p, c1, c0 twice, the image.
		.activation = {3 * (640 + 640 + 1024) + 24 + 4 * 1536, 2 * 1536 + 24 + 18},
		.gradient = {2 * 18, 0},
		.mask = {96, 96},
		// c0 twice; c1 with g0 twice; g1 with g0 twice, fc. Backward in two iterations fc, g1, g0 for c1's input, c1, g0.
		.weight = 2 * 288 + 2 * (288 + 16) + 2 * 32 + 30 + 2 * (30 + 16 + 16 + 288 + 16),
		.weight_gradient = {30 + 16 + 288 + 16 + 288, 2 * (30 + 16 + 288 + 16 + 288)},
		// The second strip: kept rows of r1, r1 itself, rows 4:8 of the add.
		.peak = 3 * (256 + 512 + 256) + 4096, .group = 2, .strip = 1, .statement = 1,
		// Image, c0, c1, p, a mask; the output in forward, its gradient in backward.
		.footprint = 3 * 1536 + 24 + 96 + 18 + 6 * 319,
		.macs = RESIDUAL_MACS,
	});
}

Test(paper_counts, a_residual_block_with_a_shortcut)
{
	expect(GRAPH_SHORTCUT, &(struct want){
		// Bytes of 4 samples: image 1024, c0 2048 (7 of 8 rows 1792), c1, sc and the like 512.
		// Statistics of g1 from DRAM: c1 twice; its gradient from DRAM: both twice.
		.activation = {1024 + 2 * 512 + 1792 + 512 + 1792 + 2 * 512 + 2048 + 1024, 2048 + 512 + 512 + 32},
		.gradient = {32 + 2 * 512 + 2048, 512 + 2048},
		.mask = {32, 32},
		// c0 144, c1 288, g1 and gs 16, sc 32.
		.weight = 2 * (144 + 288 + 16 + 32 + 16) + 16 + 32 + 16 + 288,
		.weight_gradient = {0, 144 + 288 + 16 + 32 + 16},
		.peak = 4 * (512 + 128), .group = 1, .strip = 0, .statement = 8,
		// In backward image, c0, c1, sc, the mask, and the gradients of gp, g1 and c0.
		.footprint = 1024 + 2048 + 512 + 512 + 32 + 32 + 512 + 2048 + 6 * 248,
		// c0 64 x 72, c1 16 x 144, sc 16 x 16.
		.macs = 4 * (2 * (4608 + 2304 + 256) + 2304 + 256),
	});
}

Test(paper_counts, branches_joined_by_a_concatenation)
{
	expect(GRAPH_CONCAT, &(struct want){
		.activation = {288 + 2 * 1440 + 2 * 576 + 288, 576 + 1440 + 8},
		.gradient = {8, 0},
		// A bit for each of 360 elements, 4 bits for each of 144 of the pool.
		.mask = {2 * (360 + 576) / 8, 2 * (360 + 576) / 8},
		// s and b1 16, b2 288, d and e 40.
		.weight = 2 * (16 + 16 + 288 + 40 + 40) + 40 + 40 + 288 + 16,
		.weight_gradient = {0, 400},
		// The gradient of d, those of the pieces, that of r.
		.peak = 2 * (144 + 720 + 720), .group = 1, .strip = 0, .statement = 5,
		// Image, s, the pieces, both masks; the output in forward, its gradient in backward. 200 parameters.
		.footprint = 288 + 576 + 1440 + 234 + 8 + 6 * 200,
		.macs = 2 * (2 * 7200 + 7200 - 288),
	});
}

Test(paper_counts, strips_with_pools)
{
	expect(GRAPH_STRIPS, &(struct want){
		// Rows of the image 12 and 14, of m 8, of v 3.
		.activation = {2 * (12 * 16 + 14 * 16 + 8 * 8 + 3 * 4), 2 * (6 * 8 + 3 * 4 + 4)},
		.gradient = {2 * 2 * 4, 0},
		.mask = {12, 12},
		// c0 and c1 72, fc 24: forward in 2 iterations and 2 strips; backward in 2 strips without c0.
		.weight = 4 * 72 + 4 * 72 + 2 * 24 + 24 + 2 * 72,
		.weight_gradient = {72 + 72, 24 + 2 * 72 + 2 * 72},
		// Rows of the gradients of v, c1, m and c0.
		.peak = 2 * (3 * 4 + 4 * 8 + 3 * 8 + 6 * 16), .group = 1, .strip = 0, .statement = 5,
		.footprint = 2 * (192 + 48 + 12 + 4) + 12 + 6 * 84,
		// c0 1728 a sample, c1 432, fc 12.
		.macs = 2 * (2 * (1728 + 432 + 12) + 432 + 12),
	});
}

Test(paper_counts, layers_whose_weights_exceed_half_of_the_buffer)
{
	expect(GRAPH_WIDE, &(struct want){
		// Everything that moves beside 4096 bytes of weights and halves of 2048 is read once more.
		.activation = {2 * 3072 + 2 * 6144 + 3072 + 2 * 6144 + 2 * 3072, 6144 + 3072 + 192},
		.gradient = {192 + 3072 + 2 * 3072 + 6144, 3072 + 6144},
		.weight = 3 * 4096,
		.weight_gradient = {0, 2 * 4096},
		.peak = 0, .group = -1, .strip = -1, .statement = -1,
		// Backward of b: image, a, and the gradients of b and a.
		.footprint = 3072 + 6144 + 3072 + 6144 + 6 * 4096,
		.macs = 3 * (2 * 2 * 32768 + 32768),
	});
	expect(GRAPH_HEAVY, &(struct want){
		// ceil(8224 / 2048) - 1 = 4 times 8192 more of the image, or 3 times more of the weights. The gradient, 512 bytes, stays.
		.activation = {8192 + 8192, 512},
		.gradient = {512, 0},
		.weight = 8224 + 3 * 8224,
		.weight_gradient = {0, 8224},
		.peak = 0, .group = -1, .strip = -1, .statement = -1,
		.footprint = 8192 + 512 + 6 * 4112,
		.macs = 16 * 2 * 4096,
	});
}

Test(paper_counts, groups_dilation_and_concatenations_within_each_other)
{
	expect(GRAPH_ODD, &(struct want){
		// Bytes of a sample: image and k0 168, ad 216, out 72.
		.activation = {2 * (168 + 2 * 216 + 2 * 168 + 168), 2 * (168 + 216 + 72)},
		.gradient = {2 * 72, 0},
		.mask = {2 * (84 + 252) / 8, 2 * (84 + 252) / 8},
		// k0 2 x 9 x 4 parameters, k1 16 + 4, k2 12, q and s 24.
		.weight = 2 * 304 + 48 + 48 + 24 + 40,
		.weight_gradient = {0, 304},
		// The gradients of ad and of what it pools.
		.peak = 2 * (216 + 504), .group = 1, .strip = 0, .statement = 5,
		.footprint = 2 * (168 + 168 + 216 + 72) + 84 + 6 * 152,
		.macs = 2 * (2 * (21 * (72 + 16 + 12) + 9 * 48) + 21 * (16 + 12) + 9 * 48),
	});
}

Test(paper_counts, layer_by_layer_with_views_in_dram)
{
	expect(GRAPH_LAYERS, &(struct want){
		// Forward 11 maps and p, as norms read twice; backward p, c1 twice, r0 twice, c0 twice, the image.
		.activation = {18 * 1536 + 2 * 24, 7 * 1536 + 24 + 18},
		// fc twice, p, r1; g1's, which is the add's, twice; c1 twice; the sum of r0, and r0; g0 twice; c0.
		.gradient = {2 * 18 + 24 + 10 * 1536, 24 + 6 * 1536},
		.mask = {96, 96},
		.weight = 638 + 350,
		.weight_gradient = {0, 638},
		// Nothing but the reserve, which this schedule has none of.
		.peak = 0, .group = -1, .strip = -1, .statement = -1,
		// Backward of g1 and c1: image, c0, r0, c1, and the gradients of the add, read as those of g1 and r0, of c1 and of r0.
		.footprint = 7 * 1536 + 6 * 319,
		.macs = RESIDUAL_MACS,
	});
}

Test(paper_counts, a_norm_that_two_nodes_read)
{
	expect(GRAPH_FORK, &(struct want){
		// Maps of 2 samples: 256 bytes. Forward the image; backward c five times, the image.
		.activation = {7 * 256, 256 + 16},
		// The statistics read grad:g as it passes.
		.gradient = {16 + 256 + 256, 2 * 256},
		.mask = {0, 0},
		// c, d and e 32, g 16, made on the way to d and e; backward in two iterations, to e, d and r as well.
		.weight = 32 + 2 * (32 + 16) + 2 * (3 * 16 + 2 * 32 + 2 * 16),
		.weight_gradient = {3 * 32 + 16, 2 * (3 * 32 + 16)},
		.peak = 2 * 3 * 128, .group = 0, .strip = 0, .statement = 6,
		.footprint = 256 + 256 + 256 + 16 + 6 * 56,
		.macs = 2 * (2 * 3 * 256 + 2 * 256),
	});
}

// A part of the output that an earlier group has stored is there until the last forward group.
Test(paper_counts, the_output_is_there_to_the_end_of_forward)
{
	static const struct graph_case pieces = {"pieces",
		"name: pieces\ninput: {height: 4, width: 4, channels: 1}\nnodes:\n  - {name: q, op: conv, channels: 4, kernel: 1}\n"
		"  - {name: s, op: conv, input: input, channels: 4, kernel: 1}\n  - {name: out, op: concat, inputs: [q, s]}\n",
		"schedule 1\nnet pieces\nbatch 1\nbuffer 4096\naccounting paper\n"
		"group forward q q\nsub_batch 1\nstrip 0\ncompute act:q=0:4 from act:input to act:q\n"
		"group forward s s\nsub_batch 1\nstrip 0\ncompute act:s=0:4 from act:input to act:s\n"};
	struct check_result result;

	graph_check(&pieces, pieces.text, &result);
	cr_assert(result.ok && result.forward_only, "%s", result.violation.text);
	cr_assert_eq(result.footprint_bytes, 32 + 128 + 128 + 6 * 8);
}

// Three strips that each keep a line: a line is there while the next strip runs, and no longer.
Test(paper_counts, kept_rows_live_for_one_strip)
{
	static const struct graph_case lines = {"lines",
		"name: lines\ninput: {height: 6, width: 4, channels: 2}\nnodes:\n  - {name: c, op: conv, channels: 2, kernel: 3, pad: 1}\n",
		"schedule 1\nnet lines\nbatch 1\nbuffer 4096\naccounting paper\ngroup forward c c\nsub_batch 1\ntiling 2ps\n"
		"strip 0\nload act:input=0:3\nkeep act:input=1:3\ncompute act:c=0:2 to act:c\n"
		"strip 1\ntake act:input=1:3\nload act:input=3:5\nkeep act:input=3:5\ncompute act:c=2:4 to act:c\n"
		"strip 2\ntake act:input=3:5\nload act:input=5:6\ncompute act:c=4:6 to act:c\n"};
	struct check_result result;

	graph_check(&lines, lines.text, &result);
	cr_assert(result.ok, "%s", result.violation.text);
	// Rows of 16 bytes: strip 1 has 4 in its slab, 2 of the strip before and 2 of its own.
	cr_assert_eq(result.peak_bytes, 8 * 16);
	cr_assert_eq(result.peak.strip, 1);
	graph_check_replaced(&lines, "take act:input=3:5\nload act:input=5:6", 0, "load act:input=3:6", &result);
	cr_assert_eq(result.peak_bytes, 8 * 16);
	// The lines of strip 0 are gone in strip 2: 3 rows in its slab, 2 of strip 1 and 3 of its own, as many as before; with them it would be 10.
	graph_check_replaced(&lines, "load act:input=5:6\n", 0, "load act:input=5:6\nkeep act:input=3:6\n", &result);
	cr_assert_eq(result.peak_bytes, 8 * 16, "%lu", result.peak_bytes);
}

// A slab that is a view has room of its own as soon as it has rows that the add's gradient has not; what is in DRAM alone has none.
Test(paper_counts, a_view_beyond_its_room_has_its_own)
{
	const struct graph_case *graph = &graph_cases[GRAPH_LAYERS];
	static const char streams[] = "accumulate c1=0:8 from grad:c1,act:r0\ncompute grad:r0=0:8 by c1 from grad:c1,grad:r0 to grad:r0\n";
	char *split = fixture_replace(graph->text, "split a=0:8 view\n", 0, "load grad:a=0:4\nsplit a=0:4 view\nsplit a=4:8 view\n"), *more;
	struct check_result result;

	cr_assert_not_null(strstr(graph->text, streams));
	graph_check(graph, split, &result);
	cr_assert(result.ok, "%s", result.violation.text);
	cr_assert_eq(result.peak_bytes, 3 * 256);
	more = fixture_replace(split, "split a=4:8 view\n", 0, "split a=4:8 view\nload grad:g1=4:8\n");
	graph_check(graph, more, &result);
	cr_assert(result.ok, "%s", result.violation.text);
	// From the first split on: 4 rows of the add, seen as those of r0 too, and 8 of g1.
	cr_assert_eq(result.peak_bytes, 3 * (256 + 512), "%lu", result.peak_bytes);
	free(split);
	free(more);
}

// Bits of masks are rounded once: 3 samples of 9 bits, written and read, are 54 bits, 7 bytes, not 4 + 4.
Test(paper_counts, masks_are_rounded_once)
{
	static const struct graph_case odd = {"odd",
		"name: odd\ninput: {height: 3, width: 3, channels: 1}\nnodes:\n  - {name: c, op: conv, channels: 1, kernel: 1}\n"
		"  - {name: r, op: relu}\n  - {name: p, op: global_pool}\n  - {name: loss, op: loss}\n",
		"schedule 1\nnet odd\nbatch 3\nbuffer 4096\naccounting paper\ngroup forward c p\nsub_batch 2\nstrip 0\n"
		"compute act:c=0:3 from act:input\ncompute act:r=0:3 mask\ncompute act:p=0:1 to act:p\n"
		"group backward c p\nsub_batch 2\nstrip 0\ncompute grad:r=0:3 from grad:p\ncompute grad:c=0:3 mask\naccumulate c=0:3 from act:input\n"};
	struct check_result result;

	graph_check(&odd, odd.text, &result);
	cr_assert(result.ok, "%s", result.violation.text);
	cr_assert_eq(result.write_bytes[WC_CLASS_MASK], 4);
	cr_assert_eq(result.read_bytes[WC_CLASS_MASK], 3);
}

// Half of c1's parameters and of its sums stay: 2 of 4 output channels, 144 bytes; the rest streams.
Test(paper_counts, a_share_of_the_weights_is_kept)
{
	const struct graph_case *graph = &graph_cases[GRAPH_IDENTITY];
	struct check_result whole, share;

	graph_check(graph, graph->text, &whole);
	graph_check_replaced(graph, "weight c0 resident\n", 0, "weight c0 resident\nweight c1 resident slice 2\n", &share);
	cr_assert(share.ok, "%s", share.violation.text);
	cr_assert_eq(share.read_bytes[WC_CLASS_WEIGHT], whole.read_bytes[WC_CLASS_WEIGHT] - 144);
	graph_check_replaced(graph, "wgrad c1 resident\n", 0, "wgrad c1 resident slice 2\n", &share);
	cr_assert(share.ok, "%s", share.violation.text);
	cr_assert_eq(share.peak_bytes, whole.peak_bytes - 144);
	cr_assert_eq(share.write_bytes[WC_CLASS_WEIGHT_GRADIENT], whole.write_bytes[WC_CLASS_WEIGHT_GRADIENT]);
}

// Convolutions computed again in backward count; what is normalized again does not.
Test(paper_counts, recomputed_convolutions_are_extra)
{
	struct check_result result;

	graph_check_replaced(&graph_cases[GRAPH_REGENERATED], "compute grad:c1=0:8 through g1 from act:c1\n", 0,
			     "compute act:c1=0:8 using act:c0 from act:c0\ncompute grad:c1=0:8 through g1\n", &result);
	cr_assert(result.ok, "%s", result.violation.text);
	cr_assert_eq(result.extra_macs, 3 * 9216);
	cr_assert_eq(result.macs, RESIDUAL_MACS + 3 * 9216);
}
