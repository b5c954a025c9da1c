// SPDX-License-Identifier: Apache-2.0
//
// Live bits of one sample at the peak of a stretch of layers, forward and then backward: driver/plan/footprint_model.h.
#ifndef WC_PLAN_FOOTPRINT_LIVE_H
#define WC_PLAN_FOOTPRINT_LIVE_H

#include "driver/plan/paper/graph.h"
#include "driver/plan/strips.h"

// Nodes first..last, into which one tensor alone comes and out of which one goes.
struct footprint_stretch {
	int first, last;
	bool again;                     // forward runs again before backward: the output's gradient is there from the beginning
	const struct strip_rows *strip; // rows of the nodes in a strip, whose input, and whose input's and output's gradients are not counted; NULL: all
	int index;                      // the strip
};

// Without the stretch's input. 0 or WC_ERR_SYSTEM.
int footprint_live_bits(const struct paper_graph *graph, const struct footprint_stretch *stretch, uint64_t *bits, struct wc_error *err);

#endif
