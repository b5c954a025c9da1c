// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/paper/hybrid/pins.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "driver/plan/paper/occupancy.h"

struct pins {
	const struct net *net;
	struct sched_group *group;
	int64_t room;
};

// As many output channels as there is room for.
static void pin(struct pins *pins, struct sched_policy *policy, int node)
{
	const int channels = pins->net->nodes[node].out.channels;
	const int64_t bytes = 2 * net_parameters(&pins->net->nodes[node]), per_channel = bytes / channels;

	if (policy->resident || !bytes || pins->room < per_channel)
		return;
	policy->resident = true;
	if (bytes <= pins->room) {
		pins->room -= bytes;
		return;
	}
	policy->slice = (int)(pins->room / per_channel);
	pins->room = 0;
}

static bool is_made_again(const struct hybrid_group *group, const struct hybrid_view *view, int node)
{
	for (int i = 0; i <= group->last - group->first; i++)
		if (view->nodes[node].made >= 0 && group->picks[i].option->template.again && group->picks[i].option->template.again[view->nodes[node].made])
			return true;
	return false;
}

// Whether a node's parameters are read, its sums made, in this group.
static bool reads(const struct pins *pins, int node)
{
	const struct net_node *of = &pins->net->nodes[node];

	return net_parameters(of) && (pins->group->phase == SCHED_FORWARD || pins->net->nodes[of->inputs[0]].has_gradient);
}

int hybrid_pin(struct hybrid_search *search, const struct hybrid_group *group, struct sched_group *made)
{
	const struct plan_options *options = search->planner->options;
	const int iterations = (options->batch + made->sub_batch - 1) / made->sub_batch;
	struct pins pins = { .net = search->view->graph->net, .group = made };
	struct paper_occupancy occupancy;
	char text[200];
	int rc = paper_occupancy(search->view->graph, made, &occupancy, search->planner->err);

	if (rc)
		return rc;
	pins.room = (int64_t)options->buffer_bytes - HYBRID_RESERVE_BYTES - occupancy.sample_bytes * made->sub_batch;
	for (int i = made->first; !group->streamed && i <= made->last; i++)
		if (made->phase == SCHED_BACKWARD && reads(&pins, i) && is_made_again(group, search->view, i))
			pin(&pins, &made->weight[i], i);
	for (int i = made->first; iterations > 1 && made->phase == SCHED_BACKWARD && i <= made->last; i++)
		pin(&pins, &made->wgrad[i], i);
	for (int i = made->first; iterations > 1 && i <= made->last; i++)
		if (reads(&pins, i))
			pin(&pins, &made->weight[i], i);
	snprintf(text, sizeof(text), "%s needs most, %" PRId64 " bytes a sample: %d of %d fit, %d iterations", pins.net->nodes[occupancy.node].name,
		 occupancy.sample_bytes, made->sub_batch, options->batch, iterations);
	made->reason = strdup(group->streamed ? "one sample does not fit: everything streams" : text);
	return made->reason ? 0 : wc_fail(search->planner->err, WC_ERR_SYSTEM, "out of memory");
}
