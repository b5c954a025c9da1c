// SPDX-License-Identifier: Apache-2.0
//
// The geometry of rows against taps enumerated one by one, over random convolutions and pools.
#include <criterion/criterion.h>

#include "driver/plan/check/internal.h"
#include "tests/check/mutate.h"

static struct net_node random_window(struct random *random)
{
	static const enum net_op ops[] = {NET_CONV, NET_CONV, NET_CONV, NET_MAX_POOL, NET_AVG_POOL, NET_ADAPTIVE_POOL};
	struct net_node node = {.op = ops[random_below(random, 6)]};
	struct net_conv *conv = &node.conv;
	int reach;

	do {
		*conv = (struct net_conv){1 + random_below(random, 5), 1, 1 + random_below(random, 4), 1, random_below(random, 4), 0,
					  1 + random_below(random, 3), 1, 1};
		reach = (node.op == NET_CONV ? conv->dilation_h : 1) * (conv->kernel_h - 1) + 1; // a pool's dilation means nothing
		node.in = (struct net_shape){1 + random_below(random, 20), 1, 1};
		node.out = (struct net_shape){(node.in.height + 2 * conv->pad_h - reach + conv->stride_h) / conv->stride_h, 1, 1};
		if (node.op == NET_ADAPTIVE_POOL)
			node.out.height = 1 + random_below(random, 24);
	} while (node.in.height + 2 * conv->pad_h < reach);
	return node;
}

static bool depends(const struct net_node *node, int out, int in)
{
	if (node->op == NET_ADAPTIVE_POOL) // rows from floor(out H / size) to ceil((out + 1) H / size)
		return (in + 1) * node->out.height > out * node->in.height && in * node->out.height < (out + 1) * node->in.height;
	for (int r = 0; r < node->conv.kernel_h; r++) {
		if (out * node->conv.stride_h - node->conv.pad_h + r * (node->op == NET_CONV ? node->conv.dilation_h : 1) == in)
			return true;
	}
	return false;
}

static struct row_range some_rows(struct random *random, int height)
{
	int lo = random_below(random, height);

	return (struct row_range){lo, lo + 1 + random_below(random, height - lo)};
}

// First and last row on the other side that depends on any of `rows`.
static struct row_range hull(const struct net_node *node, struct row_range rows, bool of_input)
{
	int height = of_input ? node->in.height : node->out.height;
	struct row_range found = {0, 0};

	for (int y = 0; y < height; y++) {
		for (int z = rows.lo; z < rows.hi; z++) {
			if (of_input ? !depends(node, z, y) : !depends(node, y, z))
				continue;
			if (found.hi == 0)
				found.lo = y;
			found.hi = y + 1;
		}
	}
	return found;
}

// Neighbouring rows read neighbouring rows, so that intervals have no gaps.
static bool is_dense(const struct net_node *node)
{
	if (node->op == NET_ADAPTIVE_POOL)
		return true;
	return (node->op != NET_CONV || node->conv.dilation_h == 1) && node->conv.stride_h <= node->conv.kernel_h;
}

Test(rows, intervals_cover_exactly_what_taps_touch)
{
	struct random random = random_begin("rows", 4711);

	for (int i = 0; i < 20000; i++) {
		struct net_node node = random_window(&random);
		struct row_range out = some_rows(&random, node.out.height), in = some_rows(&random, node.in.height);
		struct row_range read = check_rows_read(&node, out), want = hull(&node, out, true);

		if (want.hi > want.lo)
			cr_assert(read.lo <= want.lo && read.hi >= want.hi, "rows %d:%d read, %d:%d touched", read.lo, read.hi, want.lo, want.hi);
		if (want.hi > want.lo && is_dense(&node))
			cr_assert(read.lo == want.lo && read.hi == want.hi, "rows %d:%d read, %d:%d touched", read.lo, read.hi, want.lo, want.hi);
		read = check_rows_gathered(&node, in);
		want = hull(&node, in, false);
		if (want.hi > want.lo)
			cr_assert(read.lo <= want.lo && read.hi >= want.hi, "rows %d:%d gathered, of %d:%d", read.lo, read.hi, want.lo, want.hi);
		if (is_dense(&node))
			cr_assert(read.hi - read.lo == want.hi - want.lo, "rows %d:%d gathered, of %d:%d", read.lo, read.hi, want.lo, want.hi);
	}
}

Test(rows, residue_classes_share_out_all_rows)
{
	struct random random = random_begin("classes", 11);

	for (int i = 0; i < 2000; i++) {
		struct row_range rows = some_rows(&random, 30);
		int stride = 1 + random_below(&random, 4);

		for (int residue = 0; residue < stride; residue++) {
			int count = 0;

			for (int y = rows.lo; y < rows.hi; y++)
				count += y % stride == residue;
			cr_assert_eq(check_class_size(rows.lo, rows.hi, stride, residue), count);
		}
	}
}
