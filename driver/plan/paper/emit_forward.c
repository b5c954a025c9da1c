// SPDX-License-Identifier: Apache-2.0
//
// One operator forward: fetch what is not on the chip, compute, put away what backward or another group needs.
#include "driver/plan/paper/emit_internal.h"

// Streams everything, concatenations as they are.
static void streamed(struct emit *emit, int index)
{
	const struct net_node *node = emit_node(emit, index);
	struct sched_statement compute = paper_whole(&emit->writer, SCHED_COMPUTE, SCHED_ACT, index);

	for (int i = 0; i < node->input_count; i++)
		paper_from(&emit->writer, &compute, SCHED_ACT, node->inputs[i]);
	paper_to(&emit->writer, &compute, SCHED_ACT, index);
	if (node->op == NET_MAX_POOL)
		paper_to(&emit->writer, &compute, SCHED_MASK, index);
	paper_add(&emit->writer, &compute);
}

static void fetch(struct emit *emit, struct sched_statement *compute, int tensor)
{
	struct sched_statement load = paper_whole(&emit->writer, SCHED_LOAD, SCHED_ACT, tensor);

	if (emit_act_stays(emit, tensor, compute->node))
		return;
	if (emit_fits(emit, compute->node))
		paper_add(&emit->writer, &load);
	else
		paper_from(&emit->writer, compute, SCHED_ACT, tensor);
}

static bool is_written(const struct emit *emit, int tensor)
{
	const struct paper_list *uses = &emit->graph->uses[tensor];

	if (paper_is_output(emit->graph, tensor) || paper_saved(emit->graph, tensor))
		return true;
	for (int i = 0; i < uses->count; i++)
		if (!emit_act_stays(emit, tensor, uses->items[i]))
			return true;
	return false;
}

static bool stays_for_any(const struct emit *emit, int tensor)
{
	const struct paper_list *uses = &emit->graph->uses[tensor];

	for (int i = 0; i < uses->count; i++)
		if (emit_act_stays(emit, tensor, uses->items[i]))
			return true;
	return false;
}

// If the next reader in the group that uses a slab will load the tensor anew, the slab that is there now ends.
static void release(struct emit *emit, int tensor, int reader)
{
	const struct paper_list *uses = &emit->graph->uses[tensor];
	const struct sched_statement drop = { .op = SCHED_FREE, .tensor = SCHED_ACT, .node = tensor };
	int next = 0;

	while (next < uses->count && (uses->items[next] <= reader || !emit_fits(emit, uses->items[next])))
		next++;
	if (next < uses->count && uses->items[next] <= emit->last && !emit_act_stays(emit, tensor, uses->items[next]))
		paper_add(&emit->writer, &drop);
}

void emit_forward(struct emit *emit, int index)
{
	const struct net_node *node = emit_node(emit, index);
	struct sched_statement compute = paper_whole(&emit->writer, SCHED_COMPUTE, SCHED_ACT, index);
	struct sched_statement store = paper_whole(&emit->writer, SCHED_STORE, SCHED_ACT, index);
	const bool stays = stays_for_any(emit, index);

	if (emit->group->reuse == PAPER_STREAMED) {
		streamed(emit, index);
		return;
	}
	for (int i = 0; i < node->input_count; i++) {
		const struct paper_list *pieces = &emit->graph->pieces[node->inputs[i]];

		for (int k = 0; k < pieces->count; k++)
			fetch(emit, &compute, pieces->items[k]);
	}
	if (is_written(emit, index) && !stays)
		paper_to(&emit->writer, &compute, SCHED_ACT, index);
	if (node->op == NET_RELU)
		compute.with = SCHED_WITH_MASK;
	if (node->op == NET_RELU || node->op == NET_MAX_POOL)
		paper_to(&emit->writer, &compute, SCHED_MASK, index);
	paper_add(&emit->writer, &compute);
	if (is_written(emit, index) && stays)
		paper_add(&emit->writer, &store);
	for (int i = 0; emit_fits(emit, index) && i < node->input_count; i++) {
		const struct paper_list *pieces = &emit->graph->pieces[node->inputs[i]];

		for (int k = 0; k < pieces->count; k++)
			release(emit, pieces->items[k], index);
	}
	if (stays)
		release(emit, index, index);
}
