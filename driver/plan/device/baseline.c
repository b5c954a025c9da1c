// SPDX-License-Identifier: Apache-2.0
//
// Layer by layer: every node is a segment of its own, in as few row strips as fit (mostly one).
#include "driver/plan/device/planner.h"

int plan_baseline(struct schedule *schedule, const struct net *net, const struct plan_options *options, struct wc_error *err)
{
	struct planner planner;
	struct choice choice;
	struct choice_list one = { .choices = &choice, .count = 1 };
	int rc = planner_begin(&planner, schedule, "baseline", net, options, err);

	for (int i = 1; !rc && i < net->node_count; i++) {
		rc = search_strips(&planner, build_overl_forward, SCHED_FORWARD, i, i, 1, &choice);
		if (rc)
			break;
		rc = planner_append(&planner, &one);
		choice_release(&choice);
	}
	for (int i = net->node_count - 1; !rc && options->phases == PLAN_ALL && i > 0; i--) {
		rc = search_strips(&planner, build_overl_backward, SCHED_BACKWARD, i, i, 1, &choice);
		if (rc)
			break;
		rc = planner_append(&planner, &one);
		choice_release(&choice);
	}
	return planner_end(&planner, rc);
}
