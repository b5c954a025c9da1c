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

// Whether there is such a planner; else the names of those that there are.
static bool is_known(const char *name, char *known, size_t size)
{
	size_t used = 0;

	for (int i = 0; paper_plan_name(i); i++) {
		if (!strcmp(paper_plan_name(i), name))
			return true;
		used += (size_t)snprintf(known + used, size - used, "%s%s", i ? ", " : "", paper_plan_name(i));
	}
	return false;
}

int plan_by_name(struct schedule *schedule, const char *name, const struct net *net, const struct plan_options *options, struct wc_error *err)
{
	char known[200];

	if (options->accounting == SCHED_PAPER)
		return paper_plan(schedule, name, net, options, err);
	memset(schedule, 0, sizeof(*schedule));
	if (!is_known(name, known, sizeof(known)))
		return wc_fail(err, WC_ERR_INPUT, "no planner '%.64s' for device accounting; there are: %s", name, known);
	for (int i = 0; net_is_chain(net) && plan_name(i); i++)
		if (!strcmp(planners[i].name, name))
			return planners[i].plan(schedule, net, options, err);
	if (!strcmp(name, "hybrid"))
		return plan_device_hybrid(schedule, net, options, err);
	return plan_graph(schedule, name, net, options, err);
}
