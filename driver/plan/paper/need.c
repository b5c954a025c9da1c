// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/paper/planner.h"

static int64_t largest_layer(const struct paper_graph *graph, int first, int last, int *node)
{
	int64_t need = 0;

	for (int i = first; i <= last; i++)
		if (graph->order[i] >= 0 && paper_layer_need(graph, i) > need) {
			need = paper_layer_need(graph, i);
			*node = i;
		}
	return need;
}

// Behind which node a tensor is needed no more; the module's output stays to the end.
static int last_use(const struct paper_graph *graph, int tensor, int last)
{
	const struct paper_list *uses = &graph->uses[tensor];

	if (!uses->count || uses->items[uses->count - 1] > last)
		return last + 1;
	return uses->items[uses->count - 1];
}

static bool works_in_place(const struct paper_graph *graph, int index, int last)
{
	const struct net_node *node = &graph->net->nodes[index];

	if (node->op != NET_RELU && node->op != NET_GN && node->op != NET_ADD)
		return false;
	for (int i = 0; i < node->input_count; i++)
		for (int k = 0; k < graph->pieces[node->inputs[i]].count; k++)
			if (last_use(graph, graph->pieces[node->inputs[i]].items[k], last) == index)
				return true;
	return false;
}

// Bytes of the tensors that are alive while node `index` runs: made before it or given to the module, and used there or later.
static int64_t alive_bytes(const struct paper_graph *graph, int first, int last, int index)
{
	const struct net_node *entry = &graph->net->nodes[first];
	int64_t bytes = works_in_place(graph, index, last) ? 0 : paper_bytes(graph, index);

	for (int i = 0; i < graph->pieces[entry->inputs[0]].count; i++) {
		const int piece = graph->pieces[entry->inputs[0]].items[i];

		if (last_use(graph, piece, last) >= index)
			bytes += paper_bytes(graph, piece);
	}
	for (int i = first; i < index; i++)
		if (graph->order[i] >= 0 && last_use(graph, i, last) >= index)
			bytes += paper_bytes(graph, i);
	return bytes;
}

int64_t paper_module_need(const struct paper_graph *graph, enum paper_reuse reuse, int module, int *node)
{
	const int first = graph->net->modules[module].first, last = paper_module_last(graph, module);
	int64_t need = 0;

	*node = first;
	if (reuse != PAPER_ALL)
		return largest_layer(graph, first, last, node);
	for (int i = first; i <= last; i++) {
		const int64_t alive = graph->order[i] >= 0 ? alive_bytes(graph, first, last, i) : 0;

		if (alive > need) {
			need = alive;
			*node = i;
		}
	}
	return need;
}
