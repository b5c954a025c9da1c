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

int plan_core_options(struct plan_options *core, const struct plan_options *options, struct wc_error *err)
{
	*core = *options;
	if (options->cores < 1)
		return wc_fail(err, WC_ERR_INPUT, "cores is %d, must be positive", options->cores);
	if (options->batch % options->cores)
		return wc_fail(err, WC_ERR_INPUT, "the batch of %d is not a multiple of the %d cores that it is split among", options->batch, options->cores);
	core->batch = options->batch / options->cores;
	core->cores = 1;
	return 0;
}

void plan_for_cores(struct schedule *schedule, const struct plan_options *options)
{
	schedule->batch = options->batch;
	schedule->cores = options->cores;
}

static int plan_device(struct schedule *schedule, const char *name, const struct net *net, const struct plan_options *options, struct wc_error *err)
{
	for (int i = 0; net_is_chain(net) && plan_name(i); i++)
		if (!strcmp(planners[i].name, name))
			return planners[i].plan(schedule, net, options, err);
	if (!strcmp(name, "hybrid"))
		return plan_device_hybrid(schedule, net, options, err);
	return plan_graph(schedule, name, net, options, err);
}

int64_t plan_extra_macs_max(const struct net *net, const struct plan_options *options)
{
	return net_training_macs(net) * options->max_extra_percent / 100;
}

int plan_by_name(struct schedule *schedule, const char *name, const struct net *net, const struct plan_options *options, struct wc_error *err)
{
	struct plan_options core;
	char known[200];
	int rc;

	if (options->accounting == SCHED_PAPER)
		return paper_plan(schedule, name, net, options, err);
	memset(schedule, 0, sizeof(*schedule));
	if (!is_known(name, known, sizeof(known)))
		return wc_fail(err, WC_ERR_INPUT, "no planner '%.64s' for device accounting; there are: %s", name, known);
	rc = plan_core_options(&core, options, err);
	if (!rc)
		rc = plan_device(schedule, name, net, &core, err);
	if (!rc)
		plan_for_cores(schedule, options);
	return rc;
}
