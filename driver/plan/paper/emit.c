// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/paper/emit_internal.h"

#include "driver/plan/build.h"

const struct net_node *emit_node(const struct emit *emit, int node)
{
	return &emit->graph->net->nodes[node];
}

bool emit_fits(const struct emit *emit, int node)
{
	return !emit->group->fits || emit->group->fits[node];
}

static bool runs_directly_after(const struct emit *emit, int tensor, int reader)
{
	return emit->graph->order[reader] == emit->graph->order[tensor] + 1 && emit_fits(emit, tensor) && emit_fits(emit, reader);
}

// The first operator of the group that reads a tensor which the group does not make.
static int first_reader(const struct emit *emit, int tensor)
{
	const struct paper_list *uses = &emit->graph->uses[tensor];
	int first = 0;

	while (uses->items[first] < emit->first)
		first++;
	return uses->items[first];
}

bool emit_act_stays(const struct emit *emit, int tensor, int reader)
{
	const bool made_here = tensor >= emit->first;

	if (emit->group->reuse == PAPER_STREAMED || reader > emit->last)
		return false;
	if (emit->group->reuse == PAPER_ALL)
		return made_here || reader != first_reader(emit, tensor);
	return made_here && runs_directly_after(emit, tensor, reader);
}

bool emit_grad_stays(const struct emit *emit, int tensor)
{
	const struct paper_list *uses = &emit->graph->uses[tensor];

	if (emit->group->reuse == PAPER_STREAMED || tensor < emit->first || paper_is_output(emit->graph, tensor) || uses->items[0] > emit->last)
		return false;
	return emit->group->reuse == PAPER_ALL || runs_directly_after(emit, tensor, uses->items[0]);
}

// Nodes first..last become one group.
static int emit_nodes(struct schedule *schedule, const struct paper_graph *graph, const struct paper_group *group, int first, int last,
		      struct wc_error *err)
{
	struct emit emit = { .graph = graph, .group = group, .first = first, .last = last,
			     .writer = { .net = graph->net, .err = err, .too_many = WC_ERR_INPUT } };
	struct sched_group *made = build_group(schedule, group->phase, first, last, graph->net->node_count);

	if (made)
		emit.writer.strip = build_strip(made);
	if (!emit.writer.strip)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory");
	made->sub_batch = group->sub_batch;
	for (int i = first; group->blocked && i <= last; i++)
		made->weight[i].blocked = graph->net->nodes[i].op == NET_CONV || graph->net->nodes[i].op == NET_FC;
	for (int i = first; group->phase == SCHED_FORWARD && !emit.writer.rc && i <= last; i++)
		if (graph->order[i] >= 0)
			emit_forward(&emit, i);
	for (int i = last; group->phase == SCHED_BACKWARD && !emit.writer.rc && i >= first; i--)
		if (graph->order[i] >= 0)
			emit_backward(&emit, i);
	return emit.writer.rc;
}

int paper_emit(struct schedule *schedule, const struct paper_graph *graph, const struct paper_group *group, struct wc_error *err)
{
	const int first = graph->net->modules[group->first_module].first, last = paper_module_last(graph, group->last_module);
	int rc = 0;

	if (group->reuse != PAPER_STREAMED)
		return emit_nodes(schedule, graph, group, first, last, err);
	for (int i = 0; !rc && i <= last - first; i++) {
		const int node = group->phase == SCHED_FORWARD ? first + i : last - i;

		if (graph->order[node] >= 0)
			rc = emit_nodes(schedule, graph, group, node, node, err);
	}
	return rc;
}

int paper_emit_layer(struct schedule *schedule, const struct paper_graph *graph, enum sched_phase phase, int node, struct wc_error *err)
{
	const struct paper_group group = { .phase = phase, .reuse = PAPER_STREAMED, .sub_batch = schedule->batch, .blocked = true };

	return emit_nodes(schedule, graph, &group, node, node, err);
}

int paper_emit_statistics(struct schedule *schedule, const struct paper_graph *graph, enum sched_phase phase, int norm, struct wc_error *err)
{
	struct sched_group *group = build_group(schedule, phase, norm, norm, graph->net->node_count);
	struct paper_writer writer = { .net = graph->net, .strip = group ? build_strip(group) : NULL, .err = err, .too_many = WC_ERR_INPUT };
	struct sched_statement statement = paper_whole(&writer, SCHED_STATISTICS, SCHED_ACT, norm);

	if (!writer.strip)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory");
	group->sub_batch = schedule->batch;
	if (phase == SCHED_BACKWARD)
		paper_from(&writer, &statement, SCHED_GRAD, norm);
	paper_from(&writer, &statement, SCHED_ACT, graph->net->nodes[norm].inputs[0]);
	paper_add(&writer, &statement);
	return writer.rc;
}
