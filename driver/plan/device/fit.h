// SPDX-License-Identifier: Apache-2.0
//
// Whether a group can be placed, for planners that try sizes: the same expansion and placement as
// program_expand(), on one group's first and last iteration only.
#ifndef WC_PLAN_FIT_H
#define WC_PLAN_FIT_H

#include <stdint.h>

#include "driver/plan/schedule.h"
#include "traces/error.h"

struct fit {
	uint64_t live_bytes; // most bytes live at one step, resident ones included; 0 if one slab alone exceeds the buffer
	int node;            // the layer at work there
};

// The group need not be in schedule->groups; only the schedule's header is used. 0 if it can be placed, and then
// program_expand() will place it. WC_ERR_INPUT, with program_expand()'s message, if not. `fit` is filled in both cases.
int fit_group(const struct schedule *schedule, const struct sched_group *group, const struct net *net, struct fit *fit, struct wc_error *err);

#endif
