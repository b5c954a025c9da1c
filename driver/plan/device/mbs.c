// SPDX-License-Identifier: Apache-2.0
//
// Mini-batch serialization: forward and backward are each cut into the groups that move the fewest bytes.
// A layer of which one sample does not fit is a group of its own in row strips.
#include "driver/plan/device/planner.h"

// A stretch of nodes, numbered from 0 = the first one behind the image, as one group of one phase.
static int choose_group(struct planner *planner, void *context, int first, int last, struct choice pair[2])
{
	enum sched_phase phase = *(enum sched_phase *)context;
	bool forward = phase == SCHED_FORWARD;
	int rc = search_sub_batch(planner, forward ? build_mbs_forward : build_mbs_backward, phase, first + 1, last + 1, 1, false,
				  &pair[forward ? 0 : 1]);

	if (rc == PLAN_NO_FIT && first == last)
		rc = search_strips(planner, forward ? build_masked_forward : build_masked_backward, phase, first + 1, last + 1, 1,
				   &pair[forward ? 0 : 1]);
	return rc;
}

static int plan_phase(struct planner *planner, enum sched_phase phase)
{
	struct choice_list lists[2];
	int rc = partition(planner, planner->net->node_count - 1, choose_group, &phase, lists);

	if (!rc)
		rc = planner_append(planner, &lists[phase == SCHED_FORWARD ? 0 : 1]);
	choice_list_release(&lists[0]);
	choice_list_release(&lists[1]);
	return rc;
}

int plan_mbs(struct schedule *schedule, const struct net *net, const struct plan_options *options, struct wc_error *err)
{
	struct planner planner;
	int rc = planner_begin(&planner, schedule, "mbs", net, options, err);

	if (!rc)
		rc = plan_phase(&planner, SCHED_FORWARD);
	if (!rc && options->phases == PLAN_ALL)
		rc = plan_phase(&planner, SCHED_BACKWARD);
	return planner_end(&planner, rc);
}
