// SPDX-License-Identifier: Apache-2.0
//
// A planner's own plan: of `hybrid` on the device not another planner's that is better there, which would leave what only its own has untested.
#ifndef WC_TESTS_PLAN_OWN_H
#define WC_TESTS_PLAN_OWN_H

#include <string.h>

#include "driver/plan/plan.h"

static inline int plan_own(struct schedule *schedule, const char *planner, const struct net *net, const struct plan_options *options, struct wc_error *err)
{
	// It plans a core's share, which plan_by_name() makes of an option of several.
	if (options->accounting == SCHED_DEVICE && options->cores == 1 && !strcmp(planner, "hybrid"))
		return plan_graph(schedule, planner, net, options, err);
	return plan_by_name(schedule, planner, net, options, err);
}

#endif
