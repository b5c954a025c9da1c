// SPDX-License-Identifier: Apache-2.0
//
// The hybrid planner's search: groups of modules, sub-batches, what is made again, what stays.
#ifndef WC_HYBRID_SEARCH_H
#define WC_HYBRID_SEARCH_H

#include "driver/plan/paper/hybrid/curve.h"
#include "driver/plan/paper/planner.h"

// One way to do a module's work in one phase.
struct hybrid_option {
	struct hybrid_template template;
	struct hybrid_curve curve;
};

struct hybrid_options {
	struct hybrid_option *list;
	int count;
};

// What a group does with one module.
struct hybrid_pick {
	const struct hybrid_option *option; // borrowed from the search
	int state;
};

struct hybrid_group {
	enum sched_phase phase;
	int first, last;  // modules
	int sub_batch;
	bool streamed;    // one module, nothing stays, the whole mini-batch
	int strips;       // of a tiled group, which has no picks; 0: not tiled
	struct hybrid_pick *picks; // [last - first + 1]; owned
};

struct hybrid_plan {
	struct hybrid_group *groups[2]; // by phase, in order of modules
	int counts[2];
	bool *stored;  // [node]: values that forward writes for backward
	int64_t macs;  // made again, one sample
};

struct hybrid_search {
	struct paper_planner *planner;    // borrowed
	const struct hybrid_view *view;   // borrowed
	struct hybrid_options *backward;  // [module * 4 + edges]
	struct hybrid_options *forward;   // the same, for the present set of stored values
	bool recompute;                   // convolutions may be made again
};

// 0 or WC_ERR_SYSTEM; hybrid_search_release() in any case.
int hybrid_search_init(struct hybrid_search *search, struct paper_planner *planner, const struct hybrid_view *view, bool recompute);
void hybrid_search_release(struct hybrid_search *search);

// The cheapest plan if a MAC made again costs `price` bytes. 0 or WC_ERR_SYSTEM.
int hybrid_search_plan(struct hybrid_search *search, double price, struct hybrid_plan *plan);
void hybrid_plan_release(struct hybrid_plan *plan);

// Append the plan's groups to the planner's schedule. 0 or WC_ERR_SYSTEM.
int hybrid_emit(struct hybrid_search *search, const struct hybrid_plan *plan);

#endif
