// SPDX-License-Identifier: Apache-2.0
//
// Rows of segments of convolutions, ReLUs and pools: strips join without gap or overlap, and what LR-CNN's authors publish.
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "driver/plan/strips.h"
#include "tests/net_text.h"
#include "tests/plan/common.h"

// A chain of convolutions, ReLUs and pools.
static void random_segment(struct net *net, struct random *random)
{
	int size = 6 + random_below(random, 30), layers = 1 + random_below(random, 6);
	char yaml[4096], *end = yaml + sizeof(yaml), *at = yaml;

	at += snprintf(at, (size_t)(end - at), "name: segment\ninput: {height: %d, width: 5, channels: 3}\nnodes:\n", size);
	for (int i = 1; i <= layers; i++) {
		const int kind = random_below(random, 4);
		int kernel, stride, pad, dilation;

		do {
			kernel = 1 + random_below(random, 4);
			stride = 1 + random_below(random, 3);
			dilation = kind == 3 || random_below(random, 4) ? 1 : 2;
			pad = random_below(random, dilation * (kernel - 1) + 1);
		} while (size + 2 * pad < dilation * (kernel - 1) + 1);
		size = (size + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
		if (kind == 3)
			at += snprintf(at, (size_t)(end - at), "  - {name: p%d, op: %s, kernel: [%d, 1], stride: [%d, 1], pad: [%d, 0]}\n", i,
				       random_below(random, 2) ? "max_pool" : "avg_pool", kernel, stride, pad);
		else
			at += snprintf(at, (size_t)(end - at),
				       "  - {name: c%d, op: conv, channels: 4, kernel: [%d, 1], stride: [%d, 1], pad: [%d, 0], dilation: [%d, 1]}\n", i, kernel,
				       stride, pad, dilation);
		if (kind == 0)
			at += snprintf(at, (size_t)(end - at), "  - {name: r%d, op: relu}\n", i);
	}
	tests_net(net, yaml);
}

static int height(const struct net *net, int node)
{
	return net->nodes[node].out.height;
}

// Neighbours meet: the first strip begins at the top, the last ends at the bottom, none leaves a gap.
static void expect_cover(const struct strip_rows *table, const struct net *net, int node, bool overlap)
{
	cr_assert_eq(strip_rows_at(table, 0, node)->lo, 0);
	cr_assert_eq(strip_rows_at(table, table->strips - 1, node)->hi, height(net, node));
	for (int i = 1; i < table->strips; i++) {
		const struct rows above = *strip_rows_at(table, i - 1, node), below = *strip_rows_at(table, i, node);

		cr_assert(overlap ? below.lo <= above.hi && below.hi >= above.hi : below.lo == above.hi, "node %d strip %d: %d:%d %d:%d", node, i, above.lo,
			  above.hi, below.lo, below.hi);
	}
}

Test(strips, overl_strips_carry_what_they_read_and_own_every_row_once)
{
	struct random random = random_begin("strips", 77);

	for (int round = rounds(300, 5000); round; round--) {
		struct strip_rows need, own;
		struct net net;

		random_segment(&net, &random);
		const int last = net.node_count - 1, strips = 1 + random_below(&random, height(&net, last) < 9 ? height(&net, last) : 9);

		cr_assert_eq(strip_rows_init(&need, 1, last, strips) | strip_rows_init(&own, 1, last, strips), 0);
		strip_rows_overl(&need, &net);
		strip_rows_own(&own, &need, &net);
		for (int node = 1; node <= last; node++) {
			expect_cover(&need, &net, node, node < last);
			for (int i = 0; i < strips; i++) {
				const struct rows read = rows_of_input(&net.nodes[node], *strip_rows_at(&need, i, node));

				cr_assert(rows_contain(*strip_rows_at(&need, i, node - 1), read), "node %d strip %d", node, i);
			}
		}
		for (int node = 0; node <= last; node++)
			expect_cover(&own, &net, node, false);
		strip_rows_release(&need);
		strip_rows_release(&own);
		net_release(&net);
	}
}

// A strip's output rows can be computed from its own rows of the input and those above.
Test(strips, two_phase_strips_divide_every_layer_and_need_nothing_from_below)
{
	struct random random = random_begin("strips", 78);
	int cut = 0;

	for (int round = rounds(300, 5000); round; round--) {
		struct strip_rows table;
		struct net net;

		random_segment(&net, &random);
		const int last = net.node_count - 1, strips = 1 + random_below(&random, height(&net, last) < 9 ? height(&net, last) : 9);

		cr_assert_eq(strip_rows_init(&table, 1, last, strips), 0);
		if (strip_rows_2ps(&table, &net)) {
			cut++;
			for (int node = 0; node <= last; node++)
				expect_cover(&table, &net, node, false);
			for (int node = 1; node <= last; node++)
				for (int i = 0; i < strips; i++)
					cr_assert_leq(rows_of_input(&net.nodes[node], *strip_rows_at(&table, i, node)).hi,
						      strip_rows_at(&table, i, node - 1)->hi);
		}
		strip_rows_release(&table);
		net_release(&net);
	}
	cr_assert_gt(cut, 100);
}

// VGG-16's blocks 1 and 2: nodes conv1_1 .. pool2.
static int open_blocks(struct net *net)
{
	struct wc_error err;

	cr_assert_eq(net_open(net, "vgg16", 224, &err), 0, "%s", err.text);
	return net_find(net, "pool2");
}

static void expect_slabs(const struct strip_rows *table, const struct net *net, const struct rows *slabs)
{
	for (int i = 0; i < table->strips; i++) {
		const struct rows slab = rows_of_input(&net->nodes[1], *strip_rows_at(table, i, 1));

		cr_assert(slab.lo == slabs[i].lo && slab.hi == slabs[i].hi, "slab %d is [%d,%d), published is [%d,%d)", i, slab.lo, slab.hi, slabs[i].lo,
			  slabs[i].hi);
	}
}

Test(strips, overl_on_vgg_blocks_1_and_2_is_as_published)
{
	static const struct {
		int strips;
		double extra_percent; // forward MACs of the halos
	} known[] = { { 2, 1.8 }, { 4, 5.5 }, { 8, 12.8 } };
	static const struct rows slabs[] = { { 0, 62 }, { 50, 118 }, { 106, 174 }, { 162, 224 } };
	struct net net;
	const int last = open_blocks(&net);

	for (size_t k = 0; k < 3; k++) {
		struct strip_rows need;
		double once = 0, all = 0;

		cr_assert_eq(strip_rows_init(&need, 1, last, known[k].strips), 0);
		strip_rows_overl(&need, &net);
		for (int node = 1; node <= last; node++) {
			const double row = (double)net_macs(&net.nodes[node]) / height(&net, node);

			once += row * height(&net, node);
			for (int i = 0; i < need.strips; i++)
				all += row * rows_count(*strip_rows_at(&need, i, node));
		}
		cr_assert_float_eq(100 * (all / once - 1), known[k].extra_percent, 0.05, "%f", 100 * (all / once - 1));
		if (need.strips == 4)
			expect_slabs(&need, &net, slabs);
		strip_rows_release(&need);
	}
	net_release(&net);
}

Test(strips, two_phase_slabs_on_vgg_blocks_1_and_2_are_as_published)
{
	static const int boundaries[] = { 9, 19, 29, 39, 49 };
	static const struct rows slabs[] = { { 0, 42 }, { 40, 82 }, { 80, 122 }, { 120, 162 }, { 160, 202 }, { 200, 224 } };
	struct strip_rows table;
	struct net net;
	const int last = open_blocks(&net);

	cr_assert_eq(strip_rows_init(&table, 1, last, 6), 0);
	cr_assert(strip_rows_2ps_at(&table, &net, boundaries));
	expect_slabs(&table, &net, slabs);
	strip_rows_release(&table);
	net_release(&net);
}

// The published bounds for two strips let the second slab start at row 104, where its first output row reads row 120.
Test(strips, two_phase_second_slab_of_two_starts_at_120)
{
	static const int boundary[] = { 29 };
	struct strip_rows table;
	struct net net;
	const int last = open_blocks(&net);

	cr_assert_eq(strip_rows_init(&table, 1, last, 2), 0);
	cr_assert(strip_rows_2ps_at(&table, &net, boundary));
	cr_assert_eq(rows_of_input(&net.nodes[1], *strip_rows_at(&table, 1, 1)).lo, 120);
	strip_rows_release(&table);
	net_release(&net);
}

Test(strips, boundaries_that_leave_a_layer_no_rows_are_refused)
{
	static const int falling[] = { 20, 10 }, high[] = { 56, 57 };
	struct strip_rows table;
	struct net net;
	const int last = open_blocks(&net);

	cr_assert_eq(strip_rows_init(&table, 1, last, 3), 0);
	cr_assert_not(strip_rows_2ps_at(&table, &net, falling));
	cr_assert_not(strip_rows_2ps_at(&table, &net, high));
	strip_rows_release(&table);
	net_release(&net);
}
