// SPDX-License-Identifier: Apache-2.0
//
// Row arithmetic against the taps themselves, placement against occupancy byte by byte.
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "driver/plan/device/place.h"
#include "driver/plan/rows.h"
#include "tests/plan/common.h"

// Whether output row `out` has a tap on input row `in`.
static bool touches(const struct net_conv *conv, int out, int in)
{
	for (int r = 0; r < conv->kernel_h; r++)
		if (out * conv->stride_h - conv->pad_h + r * conv->dilation_h == in)
			return true;
	return false;
}

Test(rows, intervals_hold_every_row_that_a_tap_touches)
{
	struct random random = random_begin("rows", 5);
	int pairs = 0;

	for (int i = 0; i < rounds(2000, 50000); i++) {
		struct net net;
		const struct net_node *node;
		struct rows out, in, read, depends;

		common_random_net(&net, &random);
		node = &net.nodes[1];
		out.lo = random_below(&random, node->out.height);
		out.hi = out.lo + 1 + random_below(&random, node->out.height - out.lo);
		in.lo = random_below(&random, node->in.height);
		in.hi = in.lo + 1 + random_below(&random, node->in.height - in.lo);
		read = rows_of_input(node, out);
		depends = rows_of_gradient(node, in);
		cr_assert(read.lo >= 0 && read.hi <= node->in.height && !rows_empty(read));
		cr_assert(rows_empty(depends) || (depends.lo >= 0 && depends.hi <= node->out.height));
		for (int o = 0; o < node->out.height; o++) {
			for (int x = 0; x < node->in.height; x++) {
				if (!touches(&node->conv, o, x))
					continue;
				pairs++;
				if (o >= out.lo && o < out.hi)
					cr_assert(x >= read.lo && x < read.hi);
				if (x >= in.lo && x < in.hi)
					cr_assert(o >= depends.lo && o < depends.hi);
			}
		}
		// Without dilation the intervals' ends are really touched.
		if (node->conv.dilation_h == 1 && !rows_empty(depends)) {
			int reach = node->conv.kernel_h - 1;

			cr_assert_geq(depends.lo * node->conv.stride_h - node->conv.pad_h + reach, in.lo);
			cr_assert_lt((depends.hi - 1) * node->conv.stride_h - node->conv.pad_h, in.hi);
		}
		net_release(&net);
	}
	cr_assert_gt(pairs, 1000);
}

static void check_disjoint(const struct piece *pieces, int count, uint32_t room)
{
	for (int i = 0; i < count; i++) {
		cr_assert(pieces[i].offset + pieces[i].bytes <= room);
		for (int j = 0; j < i; j++)
			cr_assert(pieces[i].last < pieces[j].first || pieces[j].last < pieces[i].first ||
				  pieces[i].offset + pieces[i].bytes <= pieces[j].offset ||
				  pieces[j].offset + pieces[j].bytes <= pieces[i].offset);
	}
}

Test(place, pieces_alive_together_never_overlap)
{
	struct random random = random_begin("place", 6);
	int placed = 0, rotated = 0, refused = 0;

	for (int i = 0; i < rounds(3000, 60000); i++) {
		struct piece pieces[24];
		int count = 1 + random_below(&random, 24), step;
		uint32_t cursor = 0, room;
		uint64_t live;

		for (int j = 0; j < count; j++) {
			pieces[j].bytes = 16 * (1 + (uint32_t)random_below(&random, 40));
			pieces[j].first = random_below(&random, 30);
			pieces[j].last = pieces[j].first + random_below(&random, 8);
		}
		cr_assert_eq(place_live_bytes(pieces, count, &live, &step), 0);
		room = (uint32_t)live + 16 * (uint32_t)random_below(&random, 30);
		if (place_offline(pieces, count, room) == 0) {
			check_disjoint(pieces, count, room);
			placed++;
		}
		if (place_rotating(pieces, count, room, &cursor)) {
			check_disjoint(pieces, count, room);
			rotated++;
		}
		refused += place_offline(pieces, count, (uint32_t)live - 16) != 0;
	}
	cr_assert_eq(refused, rounds(3000, 60000));
	cr_assert_gt(placed, rounds(3000, 60000) * 3 / 4);
	cr_assert_gt(rotated, rounds(3000, 60000) / 10);
}

Test(place, live_bytes_are_the_largest_sum_and_its_first_step)
{
	struct piece pieces[] = { { .bytes = 10, .first = 3, .last = 5 }, { .bytes = 20, .first = 5, .last = 9 }, { .bytes = 15, .first = 7, .last = 7 } };
	uint64_t live;
	int step;

	cr_assert_eq(place_live_bytes(pieces, 3, &live, &step), 0);
	cr_assert_eq(live, 35);
	cr_assert_eq(step, 7);
	cr_assert_eq(place_live_bytes(pieces, 2, &live, &step), 0);
	cr_assert_eq(live, 30);
	cr_assert_eq(step, 5);
}

Test(place, usage_remembers_the_last_step_of_every_byte)
{
	enum { BYTES = 256 };
	struct random random = random_begin("usage", 7);
	int last[BYTES];
	struct usage usage;

	cr_assert_eq(usage_init(&usage, BYTES), 0);
	for (int i = 0; i < BYTES; i++)
		last[i] = -1;
	for (int step = 0; step < rounds(20000, 200000); step++) {
		int offset = random_below(&random, BYTES), bytes = 1 + random_below(&random, BYTES - offset), expected = -1;

		if (random_below(&random, 2))
			bytes = bytes < 20 ? bytes : 20;
		for (int i = offset; i < offset + bytes; i++)
			expected = last[i] > expected ? last[i] : expected;
		cr_assert_eq(usage_latest(&usage, (uint32_t)offset, (uint32_t)bytes), expected);
		if (random_below(&random, 2))
			continue;
		cr_assert_eq(usage_record(&usage, (uint32_t)offset, (uint32_t)bytes, step), 0);
		for (int i = offset; i < offset + bytes; i++)
			last[i] = step;
	}
	usage_release(&usage);
}
