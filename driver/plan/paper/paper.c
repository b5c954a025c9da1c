// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/paper/paper.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "driver/plan/paper/planner.h"

static const struct {
	const char *name;
	int (*plan)(struct paper_planner *planner);
} planners[] = {
	{ "baseline", paper_baseline }, { "il", paper_il }, { "mbs-fs", paper_mbs_fs }, { "mbs1", paper_mbs1 }, { "mbs2", paper_mbs2 }, { "mbs", paper_mbs2 },
	{ "overl", paper_overl }, { "2ps", paper_2ps }, { "overl-h", paper_overl_h }, { "2ps-h", paper_2ps_h },
	{ "hybrid", paper_hybrid },
};

const char *paper_plan_name(int i)
{
	return i >= 0 && i < (int)(sizeof(planners) / sizeof(planners[0])) ? planners[i].name : NULL;
}

int paper_append(struct paper_planner *planner, const struct paper_group *group, const char *format, ...)
{
	struct schedule *schedule = planner->schedule;
	const int before = schedule->group_count;
	int rc = paper_emit(schedule, &planner->graph, group, planner->err);
	char text[400];
	va_list args;

	if (rc || !format)
		return rc;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	for (int i = before; i < schedule->group_count; i++) {
		schedule->groups[i].reason = strdup(text);
		if (!schedule->groups[i].reason)
			return wc_fail(planner->err, WC_ERR_SYSTEM, "out of memory");
	}
	return 0;
}

// Bytes are counted in 64 bits: refuse what could come near, each operand read again for every block of the weights.
static int check_size(const struct paper_planner *planner)
{
	const struct net *net = planner->graph.net;
	double bytes = 0;

	for (int i = 0; i < net->node_count; i++) {
		const double blocks = 2 + 4.0 * (double)net_parameters(&net->nodes[i]) / planner->options->buffer_bytes;

		bytes += 64.0 * planner->options->batch * blocks * ((double)paper_elements(&net->nodes[i]) + (double)net_parameters(&net->nodes[i]));
		if (bytes > 4e18)
			return wc_fail(planner->err, WC_ERR_INPUT, "node '%s': with a batch of %d and a buffer of %u bytes, more bytes may move than can be counted",
				       net->nodes[i].name, planner->options->batch, planner->options->buffer_bytes);
	}
	return 0;
}

// What no schedule can say.
static int check_graph(const struct paper_planner *planner)
{
	const struct paper_graph *graph = &planner->graph;
	const struct net *net = graph->net;
	bool operators = false;

	for (int i = 0; i < net->node_count; i++) {
		operators |= graph->order[i] >= 0;
		for (int k = 1; k < graph->uses[i].count; k++)
			if (graph->uses[i].items[k] == graph->uses[i].items[k - 1])
				return wc_fail(planner->err, WC_ERR_INPUT, "node '%.64s' reads '%.64s' twice, directly or through concatenations, which no schedule can say: let "
					       "one of the two be a copy, an avg_pool of kernel 1",
					       net->nodes[graph->uses[i].items[k]].name, net->nodes[i].name);
	}
	return operators ? 0 : wc_fail(planner->err, WC_ERR_INPUT, "network '%s' has nothing to schedule: no operator but views and the loss", net->name);
}

static int begin(struct paper_planner *planner, struct schedule *schedule, const char *name, const struct net *net)
{
	const struct net_shape *image = &net->nodes[0].out;
	int rc;

	*schedule = (struct schedule){
		.batch = planner->options->batch,
		.cores = planner->options->cores,
		.buffer_bytes = planner->options->buffer_bytes,
		.accounting = SCHED_PAPER,
		.image = image->height == image->width ? image->height : 0,
	};
	planner->schedule = schedule;
	schedule->net_name = strdup(net->name);
	schedule->planner = strdup(name);
	if (!schedule->net_name || !schedule->planner)
		return wc_fail(planner->err, WC_ERR_SYSTEM, "out of memory");
	rc = paper_graph_init(&planner->graph, net, planner->err);
	if (!rc)
		rc = check_graph(planner);
	return rc ? rc : check_size(planner);
}

// The planner's index; negative: there is none.
static int find(const char *name, struct wc_error *err)
{
	char known[256] = "";

	for (int i = 0; paper_plan_name(i); i++) {
		if (!strcmp(name, planners[i].name))
			return i;
		snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s", i ? ", " : "", planners[i].name);
	}
	return wc_fail(err, WC_ERR_INPUT, "no planner '%.64s' for paper accounting; there are: %s", name, known);
}

int paper_plan_require(const char *name, struct wc_error *err)
{
	const int index = find(name, err);

	return index < 0 ? index : 0;
}

int paper_plan(struct schedule *schedule, const char *name, const struct net *net, const struct plan_options *options, struct wc_error *err)
{
	struct plan_options core;
	struct paper_planner planner = { .options = &core, .err = err };
	const int index = find(name, err);
	int rc;

	memset(schedule, 0, sizeof(*schedule));
	if (index < 0)
		return index;
	rc = plan_core_options(&core, options, err);
	if (rc)
		return rc;
	rc = begin(&planner, schedule, name, net);
	if (!rc)
		rc = planners[index].plan(&planner);
	paper_graph_release(&planner.graph);
	if (rc)
		schedule_release(schedule);
	else
		plan_for_cores(schedule, options);
	return rc;
}
