// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/plan.h"

#include <string.h>

#include "driver/plan/paper/paper.h"

static const struct {
	const char *name;
	int (*plan)(struct schedule *schedule, const struct net *net, const struct plan_options *options, struct wc_error *err);
} planners[] = {
	{ "baseline", plan_baseline },
	{ "mbs", plan_mbs },
	{ "overl", plan_overl },
	{ "2ps", plan_2ps },
};

const char *plan_name(int i)
{
	return i >= 0 && i < (int)(sizeof(planners) / sizeof(planners[0])) ? planners[i].name : NULL;
}

int plan_by_name(struct schedule *schedule, const char *name, const struct net *net, const struct plan_options *options, struct wc_error *err)
{
	if (options->accounting == SCHED_PAPER)
		return paper_plan(schedule, name, net, options, err);
	memset(schedule, 0, sizeof(*schedule));
	for (int i = 0; net_is_chain(net) && plan_name(i); i++)
		if (!strcmp(planners[i].name, name))
			return planners[i].plan(schedule, net, options, err);
	return plan_graph(schedule, name, net, options, err);
}
