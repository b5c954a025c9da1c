// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/paper/hybrid/pins.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/plan/operands.h"
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
	for (int i = 0; !group->strips && i <= group->last - group->first; i++)
		if (view->nodes[node].made >= 0 && group->picks[i].option->template.again && group->picks[i].option->template.again[view->nodes[node].made])
			return true;
	return false;
}

// What a group's statements do with parameters.
struct uses {
	bool *read, *summed; // [node]
};

static void find_statement_uses(struct uses *uses, const struct net *net, const struct sched_statement *statement)
{
	int nodes[SCHED_LIST_MAX];
	const int remade = operand_remade(net, statement, nodes, SCHED_LIST_MAX);

	for (int i = 0; i < remade; i++)
		uses->read[nodes[i]] = true;
	if (statement->op == SCHED_ACCUMULATE)
		uses->summed[statement->node] = true;
	if (statement->op != SCHED_COMPUTE)
		return;
	if (statement->tensor == SCHED_ACT)
		uses->read[statement->node] = true;
	for (int i = 0; statement->tensor == SCHED_GRAD && i < operand_chain_length(statement); i++) {
		const int reader = operand_chain(net, statement, i);

		uses->read[reader] = true;
		uses->summed[reader] |= net->nodes[reader].op == NET_GN;
	}
}

static void find_uses(struct uses *uses, const struct net *net, const struct sched_group *group)
{
	for (int i = 0; i < group->strip_count; i++)
		for (int k = 0; k < group->strips[i].statement_count; k++)
			find_statement_uses(uses, net, &group->strips[i].statements[k]);
}

static void pin_all(struct pins *pins, const struct uses *uses, const struct hybrid_group *group, const struct hybrid_view *view, int iterations)
{
	struct sched_group *made = pins->group;

	for (int i = made->first; made->phase == SCHED_BACKWARD && i <= made->last; i++)
		if (uses->read[i] && is_made_again(group, view, i))
			pin(pins, &made->weight[i], i);
	for (int i = made->first; iterations > 1 && i <= made->last; i++)
		if (uses->summed[i])
			pin(pins, &made->wgrad[i], i);
	for (int i = made->first; iterations > 1 && i <= made->last; i++)
		if (uses->read[i])
			pin(pins, &made->weight[i], i);
}

// What limits the sub-batch, and what one more sample would need.
static void explain(const struct hybrid_search *search, const struct sched_group *made, const struct paper_occupancy *occupancy, int passes, char *text,
		    size_t size)
{
	const struct plan_options *options = search->planner->options;
	const int64_t next = occupancy->sample_bytes * (made->sub_batch + 1) + paper_reserve_bytes(options->buffer_bytes);
	const char *node = search->view->graph->net->nodes[occupancy->node].name;
	int length = snprintf(text, size, "%s needs most, %" PRId64 " bytes a sample; %d pass%s over the weights", node, occupancy->sample_bytes, passes,
			      passes > 1 ? "es" : "");

	if (made->sub_batch >= options->batch)
		snprintf(text + length, size - (size_t)length, "; all samples fit");
	else if (next > options->buffer_bytes)
		snprintf(text + length, size - (size_t)length, "; %d samples would need %" PRId64 " of %u bytes", made->sub_batch + 1, next, options->buffer_bytes);
	else
		snprintf(text + length, size - (size_t)length, "; %d samples would fit and leave %" PRId64 " bytes less for weights that stay", made->sub_batch + 1,
			 occupancy->sample_bytes);
}

int hybrid_pin(struct hybrid_search *search, const struct hybrid_group *group, struct sched_group *made)
{
	const struct plan_options *options = search->planner->options;
	// Of the statements, strips included.
	const int iterations = (options->batch + made->sub_batch - 1) / made->sub_batch * made->strip_count;
	struct pins pins = { .net = search->view->graph->net, .group = made };
	struct paper_occupancy occupancy;
	struct uses uses;
	bool *flags;
	char text[300];
	int rc = paper_occupancy(search->view->graph, made, &occupancy, search->planner->err);

	if (rc)
		return rc;
	pins.room = (int64_t)options->buffer_bytes - paper_reserve_bytes(options->buffer_bytes) - occupancy.sample_bytes * made->sub_batch;
	flags = calloc(2 * (size_t)pins.net->node_count, sizeof(*flags));
	if (!flags)
		return wc_fail(search->planner->err, WC_ERR_SYSTEM, "out of memory");
	uses = (struct uses){ flags, flags + pins.net->node_count };
	find_uses(&uses, pins.net, made);
	if (!group->streamed)
		pin_all(&pins, &uses, group, search->view, iterations);
	free(flags);
	explain(search, made, &occupancy, iterations, text, sizeof(text));
	made->reason = strdup(group->streamed ? "one sample does not fit: everything streams" : text);
	return made->reason ? 0 : wc_fail(search->planner->err, WC_ERR_SYSTEM, "out of memory");
}
