// SPDX-License-Identifier: Apache-2.0
//
// Which segments of a network the row-centric planners cut into strips.
//
// Convolutions, ReLUs and pools that read one another alone are a run. A normalization may begin a segment and
// stand behind one (row_build.h); a fully connected layer, a join or a branch ends a run. What is in no segment goes layer by layer.
#ifndef WC_PAPER_ROW_CHOOSE_H
#define WC_PAPER_ROW_CHOOSE_H

#include "driver/plan/paper/row_search.h"

// A node is reached behind a segment that makes its statistics and takes its gradient on, or without.
enum row_reach { ROW_PLAIN, ROW_LED };

// Bytes of a layer by itself, forward and backward.
struct row_layer {
	uint64_t alone;
	uint64_t led;        // a normalization behind a segment that makes its statistics and takes its gradient on
	uint64_t unled;      // what a normalization that begins a segment costs without one before it
};

struct row_choice {
	struct paper_planner *paper;
	struct row_search search;
	bool hybrid;                  // all runs are cut; else the first alone
	struct row_layer *layers;     // [node]
	int *run;                     // [node]: the last node of the run that it belongs to; 0: none
	int *unit;                    // [node]: the last node of the unit that begins here: an operator and its ReLUs; 0: none begins
	struct row_segment *segments; // [node]: the best segment that begins here; first 0: none
	bool *begins[2];              // [enum row_reach][node]: whether it is chosen
	uint64_t *joined;             // [node]: bytes that the segment with the next unit would move more; 0: does not fit
};

// 0, WC_ERR_INPUT or WC_ERR_SYSTEM; row_choice_release() in any case.
int row_choose(struct row_choice *choice, struct paper_planner *paper, enum sched_tiling tiling, bool hybrid);
void row_choice_release(struct row_choice *choice);

#endif
