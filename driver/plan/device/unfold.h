// SPDX-License-Identifier: Apache-2.0
//
// From a schedule for `paper` accounting to one that the device runs (driver/README.md, "Graphs on the device"): what streams between DRAM and
// an operator is loaded, worked on and stored, in blocks of rows; what `using` and `through` make on the way becomes rows in
// the buffer; concatenations are put together where they are read. What is computed, and in which order, stays.
#ifndef WC_PLAN_UNFOLD_H
#define WC_PLAN_UNFOLD_H

#include "driver/plan/device/planner.h"
#include "driver/plan/paper/graph.h"

struct unfolding {
	const struct paper_graph *graph;  // borrowed
	const struct schedule *schedule;  // borrowed; the one for `paper` accounting
	bool training;                    // backward follows: masks are stored
	int blocks;                       // into which the rows that stream through a statement are cut, at most
};

// The statements of group `index` of unfolding->schedule, into an empty group of the same phase and nodes. Sub-batch and policies are left alone.
// 0 or WC_ERR_SYSTEM.
int unfold_group(const struct unfolding *unfolding, int index, struct sched_group *group, struct wc_error *err);

// Add groups to the schedule that is to be unfolded for an output that is a concatenation: operators that `paper` has not. 0 or WC_ERR_SYSTEM.
int unfold_add_output(const struct paper_graph *graph, struct schedule *schedule, struct wc_error *err);

#endif
