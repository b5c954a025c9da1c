// SPDX-License-Identifier: Apache-2.0
//
// Rule: in DRAM every (sample, row) begins on a bus boundary, no byte belongs to two tensors, each tensor lies in its class's region,
// and any address can be named.
#include <criterion/criterion.h>
#include <string.h>

#include "driver/host/layout.h"
#include "rig.h"

static const char net_yaml[] = "name: t\ninput: {height: 9, width: 7, channels: 3}\nnodes:\n"
			       "  - {name: c1, op: conv, channels: 5, kernel: 3, pad: 1}\n  - {name: r1, op: relu}\n"
			       "  - {name: c2, op: conv, channels: 4, kernel: 3, pad: 1}\n";

Test(layout, places_are_aligned_apart_and_named)
{
	static const char *const planners[] = {"baseline", "mbs", "overl", "2ps"};

	for (size_t p = 0; p < 4; p++) {
		struct rig rig;
		struct layout layout;
		struct wc_memory memory;
		int places = 0;

		rig_start(&rig, net_yaml, planners[p], 8, 8, 3, 16384, 32, 1);
		cr_assert(rig.planned);
		cr_assert_eq(layout_init(&layout, &rig.schedule, &rig.net, (struct program_whole){0}, 1024, &rig.err), 0);
		cr_assert_eq(wc_memory_init(&memory, 32, layout.region_bytes, &rig.err), 0);
		layout_bind(&layout, &memory);
		for (int a = 0; a < LAYOUT_STORE_COUNT * rig.net.node_count; a++) {
			const struct layout_place *place = &layout.places[a];
			const struct wc_region *region = &memory.regions[place->class];

			if (!place->bytes)
				continue;
			places++;
			cr_expect_eq(place->base % 32, 0);
			if (place->samples == rig.schedule.batch)
				cr_expect_eq(place->row_bytes % 32, 0);
			cr_expect(place->base >= region->base && place->base + place->bytes <= region->base + region->bytes);
			for (int b = 0; b < a; b++) {
				const struct layout_place *other = &layout.places[b];

				cr_expect(!other->bytes || place->base + place->bytes <= other->base || other->base + other->bytes <= place->base);
			}
		}
		cr_assert_gt(places, 6);

		const int c1 = net_find(&rig.net, "c1");
		char text[256];

		layout_describe(&layout, layout_address(&layout, LAYOUT_WEIGHT, c1, 0, 2) + 2 * ((1 * 3 + 2) * 3 + 1), text, sizeof(text));
		cr_expect_str_eq(text, "weights of c1, k 2, r 1, s 2, c 1");
		layout_describe(&layout, layout_address(&layout, LAYOUT_ACT, 0, 2, 4) + 2 * (5 * 3 + 1), text, sizeof(text));
		cr_expect_str_eq(text, "act:input, sample 2, y 4, x 5, channel 1");
		layout_describe(&layout, layout.ring_base + 256 * 7 + 3, text, sizeof(text));
		cr_expect_str_eq(text, "entry 7 of the command ring");
		layout_describe(&layout, memory.base + memory.bytes + 64, text, sizeof(text));
		cr_expect_str_eq(text, "no tensor");
		wc_memory_release(&memory);
		layout_release(&layout);
		rig_stop(&rig);
	}
}
