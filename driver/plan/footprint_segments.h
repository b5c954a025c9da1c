// SPDX-License-Identifier: Apache-2.0
//
// Cutting a network into segments of least peak: driver/plan/footprint_model.h.
#ifndef WC_PLAN_FOOTPRINT_SEGMENTS_H
#define WC_PLAN_FOOTPRINT_SEGMENTS_H

#include "driver/plan/footprint_live.h"

// A way to run units first..last.
struct footprint_way {
	uint64_t keep_bits; // kept from its forward to its backward: its input, and lines between strips
	uint64_t live_bits; // beside these, while its backward runs
	bool possible;
};

enum { FOOTPRINT_AGAIN, FOOTPRINT_TILED, FOOTPRINT_WAYS };

struct footprint_units {
	struct paper_graph graph;
	int *last;  // [unit]: its last node
	int count;
	int run;    // units 0..run - 1 can be tiled together
	struct footprint_way *ways; // [(first * count + last) * FOOTPRINT_WAYS + way]
};

// 0 or WC_ERR_SYSTEM; footprint_units_release() in any case.
int footprint_units_init(struct footprint_units *units, const struct net *net, struct wc_error *err);
void footprint_units_release(struct footprint_units *units);
int footprint_first_node(const struct footprint_units *units, int unit);
struct footprint_way *footprint_way_at(const struct footprint_units *units, int first, int last, int way);
// Bits of the tensor that unit `unit` reads.
uint64_t footprint_input_bits(const struct footprint_units *units, int unit);

// Fill the ways of all stretches of units, tiled ones in at most `strips` strips (0: none is tiled). 0 or WC_ERR_SYSTEM.
int footprint_find_ways(struct footprint_units *units, enum sched_tiling tiling, int strips, struct wc_error *err);
// The tiled way of units first..last, which is not possible if they cannot be tiled. 0 or WC_ERR_SYSTEM.
int footprint_tile(const struct footprint_units *units, int first, int last, enum sched_tiling tiling, int strips, struct footprint_way *way,
		   struct wc_error *err);

// The segments of least peak: ends[i] is the last unit of the i-th, tiled[i] its way; both have room for all units.
int footprint_cut(const struct footprint_units *units, uint64_t *peak_bits, int *ends, bool *tiled, int *segments, struct wc_error *err);

#endif
