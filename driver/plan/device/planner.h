// SPDX-License-Identifier: Apache-2.0
//
// What the planners share: a choice of groups for a stretch of layers, its cost, and the searches for
// sizes (search.c), operand policies (policy.c) and stretches (partition.c). Builders (group_*.c) write
// the statements of one group for a given number of strips; they leave sub_batch and policies alone.
#ifndef WC_PLANNER_H
#define WC_PLANNER_H

#include "driver/plan/account.h"
#include "driver/plan/build.h"
#include "driver/plan/device/fit.h"
#include "driver/plan/plan.h"
#include "driver/plan/rows.h"

struct planner {
	const struct net *net;
	const struct plan_options *options;
	struct schedule *schedule; // header filled; groups are appended when chosen
	struct wc_error *err;
	bool sliced_gradients; // data gradients may take their weights slice by slice
};

// Results of a search beside 0 and negative errors: the text in err says why nothing fits.
enum { PLAN_NO_FIT = 1 };

// One group that fits.
struct choice {
	struct sched_group group;
	double cost;
};

void choice_release(struct choice *choice);

// A builder: statements for layers first..last in `strips` strips, into an empty group. 0, WC_ERR_SYSTEM, or PLAN_NO_FIT
// if the layers cannot be cut into so many.
typedef int build_fn(struct planner *planner, struct sched_group *group, int first, int last, int strips);
build_fn build_mbs_forward, build_mbs_backward;
build_fn build_masked_forward, build_masked_backward; // OverL with the ReLU gradient from the stored mask, for one layer
build_fn build_overl_forward, build_overl_backward;
build_fn build_2ps_forward, build_2ps_backward;

// Add a statement if its rows are not empty.
int planner_say(struct planner *planner, struct sched_strip *strip, enum sched_op op, enum sched_tensor tensor, int node, struct rows rows,
		enum sched_with with);
// planner_say() without a word behind.
int planner_move(struct planner *planner, struct sched_strip *strip, enum sched_op op, enum sched_tensor tensor, int node, struct rows rows);
struct rows planner_all_rows(const struct planner *planner, int node);

// Bytes moved, plus MACs at the array's full speed turned into bytes of one port: what an execution takes.
double planner_cost(const struct planner *planner, const struct sched_group *group);

// Set weight and wgrad policies so that the group moves as few bytes as it can: resident, whole, or sliced. Slices
// fill the array's columns (weights) or rows (sums) unless `narrow`. 0 or PLAN_NO_FIT; *settled: no smaller
// sub-batch moves fewer bytes.
int policy_choose(struct planner *planner, struct sched_group *group, bool narrow, bool *settled);

// Whether policy_choose() would find any: 0 or PLAN_NO_FIT. Policies are left as they were tried.
int policy_try(struct planner *planner, struct sched_group *group, bool narrow);

// The cost with all operands resident, whether or not that fits: no choice of policies costs less. 0 or WC_ERR_SYSTEM.
int policy_bound(struct planner *planner, struct sched_group *group, double *cost);

// Find sub-batch, `most` at most, and policies of least cost for the statements of choice->group, which stay. 0 or PLAN_NO_FIT.
int search_group(struct planner *planner, struct choice *choice, int most, bool narrow);
// Build with `strips` strips and find sub-batch and policies of least cost. 0 or PLAN_NO_FIT.
int search_sub_batch(struct planner *planner, build_fn *build, enum sched_phase phase, int first, int last, int strips, bool narrow,
		     struct choice *choice);
// The smallest number of strips >= `strips` that fits at all, narrow slices being the last resort.
int search_strips(struct planner *planner, build_fn *build, enum sched_phase phase, int first, int last, int strips, struct choice *choice);

// Cut layers [0, count) into stretches of least total cost. `choose` fills two choices (the second may stay empty) and
// returns 0 or PLAN_NO_FIT for stretch [first, last], indices as in `count`. The best stretches' choices are appended to
// `forward` in order and to `backward` in reverse; the caller releases both. PLAN_NO_FIT: no way to cut.
struct choice_list {
	struct choice *choices;
	int count;
};
typedef int choose_fn(struct planner *planner, void *context, int first, int last, struct choice pair[2]);
int partition(struct planner *planner, int count, choose_fn *choose, void *context, struct choice_list lists[2]);
void choice_list_release(struct choice_list *list);
// Move the groups into the schedule, with their reasons.
int planner_append(struct planner *planner, struct choice_list *list);

// Fill the schedule's header from the options, checking them: for chains, or for any network that the device can run.
int planner_begin_graph(struct planner *planner, struct schedule *schedule, const char *name, const struct net *net,
			const struct plan_options *options, struct wc_error *err);
int planner_begin(struct planner *planner, struct schedule *schedule, const char *name, const struct net *net,
		  const struct plan_options *options, struct wc_error *err);
// Release the schedule if rc is an error; PLAN_NO_FIT becomes WC_ERR_INPUT.
int planner_end(struct planner *planner, int rc);

#endif
