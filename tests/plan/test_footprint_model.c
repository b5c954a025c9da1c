// SPDX-License-Identifier: Apache-2.0
//
// Footprints of row-centric forms: by hand on small chains, what the authors publish, and how they grow.
#include <criterion/criterion.h>

#include <stdlib.h>

#include "driver/plan/footprint_model.h"
#include "driver/plan/footprint_segments.h"
#include "tests/net_text.h"
#include "tests/plan/common.h"

static const char chain[] = "name: chain\ninput: {height: 4, width: 4, channels: 1}\nnodes:\n"
			    "  - {name: c1, op: conv, channels: 2, kernel: 3, pad: 1}\n"
			    "  - {name: r1, op: relu}\n"
			    "  - {name: c2, op: conv, channels: 2, kernel: 3, pad: 1}\n";
// The same with eight rows.
static const char tall[] = "name: tall\ninput: {height: 8, width: 4, channels: 1}\nnodes:\n"
			   "  - {name: c1, op: conv, channels: 2, kernel: 3, pad: 1}\n"
			   "  - {name: r1, op: relu}\n"
			   "  - {name: c2, op: conv, channels: 2, kernel: 3, pad: 1}\n";

static struct footprint model(const struct net *net, enum footprint_form form, int strips)
{
	struct footprint footprint;
	struct wc_error err;

	cr_assert_eq(footprint_model(&footprint, net, form, strips, 1, &err), 0, "%s", err.text);
	return footprint;
}

static void open_net(struct net *net, const char *name, int image)
{
	struct wc_error err;

	cr_assert_eq(net_open(net, name, image, &err), 0, "%s", err.text);
}

// Every feature map of the chain has 512 bits a sample, the image 256, the mask 32.
Test(footprint_model, small_chain_by_hand)
{
	// At c2's backward: the image, r1's output (c2's input), the mask, the gradients of c2's output and input.
	const uint64_t column = 256 + 512 + 32 + 512 + 512;
	// Segments c1 r1 | c2. In the second's backward: both inputs, both gradients; in the first's the image, two maps and the mask at most.
	const uint64_t checkpoint = 256 + 512 + 512 + 512;
	// All in one segment, in two strips of three rows (384 bits a map) below the last: the image, the output's gradient, and
	// at c2's backward r1's output, the mask and the gradient of c2's input.
	const uint64_t overl = 256 + 512 + 384 + 24 + 384;
	struct net net;

	tests_net(&net, chain);
	cr_expect_eq(model(&net, FOOTPRINT_COLUMN, 0).sample_bits, column);
	cr_expect_eq(model(&net, FOOTPRINT_CHECKPOINT_SQRT, 0).sample_bits, checkpoint);
	cr_expect_eq(model(&net, FOOTPRINT_CHECKPOINT, 0).sample_bits, checkpoint);
	cr_expect_eq(model(&net, FOOTPRINT_OVERL, 2).sample_bits, overl);
	cr_expect_eq(model(&net, FOOTPRINT_OVERL_H, 2).sample_bits, overl);
	// Four rows cannot be cut in two through two convolutions: c1 and r1 alone are, c2 is as column.
	cr_expect_eq(model(&net, FOOTPRINT_2PS, 2).sample_bits, checkpoint);
	cr_expect_eq(model(&net, FOOTPRINT_2PS, 2).last, 2);
	cr_expect_eq(model(&net, FOOTPRINT_COLUMN, 0).fixed_bytes, 6 * (18 + 36));
	cr_expect_eq(footprint_bytes(&(struct footprint){ .sample_bits = 9, .fixed_bytes = 100 }, 3), 104);
	net_release(&net);
}

// Strips [0,2) [2,8) of c2; [0,3) [3,8) of c1 and r1, whose rows 1:3 the second strip gets from the first.
Test(footprint_model, two_phase_segment_by_hand)
{
	struct footprint_units units;
	struct footprint_way way;
	struct wc_error err;
	struct net net;

	tests_net(&net, tall);
	cr_assert_eq(footprint_units_init(&units, &net, &err), 0);
	cr_assert_eq(units.count, 2);
	cr_assert_eq(units.run, 2);
	cr_assert_eq(footprint_tile(&units, 0, 1, SCHED_TILING_2PS, 2, &way, &err), 0);
	cr_assert(way.possible);
	cr_expect_eq(way.keep_bits, 8 * 4 * 16 + 2 * 8 * 16);
	// The output's gradient; in the second strip, at c2's backward, seven rows of r1's output and of its gradient, and their mask.
	cr_expect_eq(way.live_bits, 8 * 8 * 16 + 7 * 8 * 16 + 7 * 8 + 7 * 8 * 16);
	footprint_units_release(&units);
	net_release(&net);
}

Test(footprint_model, vgg_at_448_in_16_strips_needs_a_quarter_with_overl_h)
{
	struct net net;
	double ratio;

	open_net(&net, "vgg16", 448);
	const struct footprint column = model(&net, FOOTPRINT_COLUMN, 0), overl = model(&net, FOOTPRINT_OVERL_H, 16);

	ratio = (double)footprint_bytes(&overl, 64) / (double)footprint_bytes(&column, 64);
	cr_assert(ratio > 0.22 && ratio < 0.28, "%f", ratio);
	net_release(&net);
}

Test(footprint_model, more_freedom_never_needs_more)
{
	static const char *const nets[] = { "vgg16", "alexnet", "resnet50", "inception-v3", "mobilenet-v1", "lenet" };

	for (size_t n = 0; n < sizeof(nets) / sizeof(*nets); n++) {
		struct net net;

		open_net(&net, nets[n], 0);
		const uint64_t column = model(&net, FOOTPRINT_COLUMN, 0).sample_bits, best = model(&net, FOOTPRINT_CHECKPOINT, 0).sample_bits;

		cr_expect_leq(best, model(&net, FOOTPRINT_CHECKPOINT_SQRT, 0).sample_bits, "%s", nets[n]);
		cr_expect_leq(best, column, "%s", nets[n]);
		for (int strips = 2; strips <= 16; strips++)
			for (int kind = 0; kind < 2; kind++) {
				const uint64_t plain = model(&net, FOOTPRINT_OVERL + kind, strips).sample_bits;
				const uint64_t hybrid = model(&net, FOOTPRINT_OVERL_H + kind, strips).sample_bits;

				cr_expect_leq(plain, column, "%s %d", nets[n], strips);
				cr_expect_leq(hybrid, plain, "%s %d", nets[n], strips);
				cr_expect_leq(hybrid, best, "%s %d", nets[n], strips);
			}
		net_release(&net);
	}
}

// All ways to cut a small network into segments, one by one.
static uint64_t try_all(const struct footprint_units *units, int first, uint64_t kept)
{
	uint64_t best = UINT64_MAX;

	if (first == units->count)
		return 0;
	for (int last = first; last < units->count; last++)
		for (int i = 0; i < FOOTPRINT_WAYS; i++) {
			const struct footprint_way *way = footprint_way_at(units, first, last, i);
			uint64_t peak, rest;

			if (!way->possible)
				continue;
			peak = kept + way->keep_bits + way->live_bits;
			rest = try_all(units, last + 1, kept + way->keep_bits);
			peak = rest > peak ? rest : peak;
			best = peak < best ? peak : best;
		}
	return best;
}

Test(footprint_model, segments_are_the_best_of_all)
{
	struct random random = random_begin("footprint", 99);

	for (int round = rounds(60, 600); round; round--) {
		struct footprint_units units;
		struct wc_error err;
		struct net net;
		int *ends, segments;
		uint64_t peak;
		bool *tiled;

		common_random_net(&net, &random);
		cr_assert_eq(footprint_units_init(&units, &net, &err), 0);
		cr_assert_eq(footprint_find_ways(&units, round % 2 ? SCHED_TILING_OVERL : SCHED_TILING_2PS, 1 + random_below(&random, 5), &err), 0);
		ends = calloc((size_t)units.count, sizeof(*ends));
		tiled = calloc((size_t)units.count, sizeof(*tiled));
		cr_assert_eq(footprint_cut(&units, &peak, ends, tiled, &segments, &err), 0);
		cr_assert_eq(peak, try_all(&units, 0, 0));
		cr_assert_eq(ends[segments - 1], units.count - 1);
		free(ends);
		free(tiled);
		footprint_units_release(&units);
		net_release(&net);
	}
}

Test(footprint_model, grows_with_batch_and_image)
{
	uint64_t before[FOOTPRINT_FORMS] = { 0 };

	for (int image = 64; image <= 1024; image *= 2) {
		struct net net;

		open_net(&net, "vgg16", image);
		for (enum footprint_form form = 0; form < FOOTPRINT_FORMS; form++) {
			const struct footprint of = model(&net, form, 8);

			cr_expect_gt(of.sample_bits, before[form], "%s at %d", footprint_form_name(form), image);
			before[form] = of.sample_bits;
			for (uint64_t batch = 1; batch < 100; batch *= 3)
				cr_expect_lt(footprint_bytes(&of, batch), footprint_bytes(&of, batch + 1));
		}
		net_release(&net);
	}
}

Test(footprint_model, largest_batch_and_image_just_fit)
{
	const uint64_t dram = 4ull << 30;

	for (enum footprint_form form = 0; form < FOOTPRINT_FORMS; form++) {
		struct wc_error err;
		struct net net;
		uint64_t batch;
		int image;

		open_net(&net, "vgg16", 0);
		const struct footprint of = model(&net, form, 4);

		net_release(&net);
		batch = footprint_largest_batch(&of, dram);
		cr_expect_leq(footprint_bytes(&of, batch), dram);
		cr_expect_gt(footprint_bytes(&of, batch + 1), dram);
		cr_assert_eq(footprint_largest_image("vgg16", form, 4, 16, 1, dram, &image, &err), 0);
		for (int over = 0; over < 2; over++) {
			open_net(&net, "vgg16", image + over);
			cr_expect_eq(footprint_bytes(&(struct footprint[]){ model(&net, form, 4) }[0], 16) > dram, over, "%s %d", footprint_form_name(form), image);
			net_release(&net);
		}
	}
}

// Gradients of the parameters on each; a batch that can be split.
Test(footprint_model, two_cores)
{
	struct footprint two;
	struct wc_error err;
	struct net net;

	open_net(&net, "lenet", 0);
	const struct footprint one = model(&net, FOOTPRINT_COLUMN, 0);

	cr_assert_eq(footprint_model(&two, &net, FOOTPRINT_COLUMN, 0, 2, &err), 0, "%s", err.text);
	cr_expect_eq(footprint_bytes(&two, 8), footprint_bytes(&one, 8) + 4 * (uint64_t)net_total_parameters(&net));
	cr_expect_eq(footprint_largest_batch(&two, footprint_bytes(&two, 8)), 8);
	cr_expect_eq(footprint_largest_batch(&two, footprint_bytes(&two, 9)), 8);
	net_release(&net);
}

Test(footprint_model, too_little_memory_holds_nothing)
{
	struct wc_error err;
	struct net net;
	int image;

	open_net(&net, "vgg16", 0);
	const struct footprint of = model(&net, FOOTPRINT_COLUMN, 0);

	net_release(&net);
	cr_expect_eq(footprint_largest_batch(&of, of.fixed_bytes - 1), 0);
	cr_assert_eq(footprint_largest_image("vgg16", FOOTPRINT_COLUMN, 0, 1, 1, 1 << 20, &image, &err), 0);
	cr_expect_eq(image, 0);
	cr_assert_eq(footprint_largest_image("no-such-net", FOOTPRINT_COLUMN, 0, 1, 1, 1 << 20, &image, &err), WC_ERR_INPUT);
}

// A normalization ends the run of layers that can be tiled.
Test(footprint_model, a_norm_is_the_barrier)
{
	struct net net;

	open_net(&net, "resnet50", 0);
	const struct footprint of = model(&net, FOOTPRINT_OVERL_H, 4);

	cr_expect_str_eq(net.nodes[of.barrier].name, "conv1.gn");
	net_release(&net);
	open_net(&net, "vgg16", 224);
	cr_expect_str_eq(net.nodes[model(&net, FOOTPRINT_OVERL_H, 4).barrier].name, "fc6");
	net_release(&net);
}

Test(footprint_model, a_network_of_a_loss_has_its_image)
{
	struct net net;

	tests_net(&net, "name: none\ninput: {height: 1, width: 1, channels: 8}\nnodes:\n  - {name: loss, op: loss}\n");
	for (enum footprint_form form = 0; form < FOOTPRINT_FORMS; form++)
		cr_expect_eq(model(&net, form, 2).sample_bits, 128);
	net_release(&net);
}
