// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/paper/graph.h"

#include <stdlib.h>
#include <string.h>

static int append(struct paper_list *list, int item)
{
	int *items = reallocarray(list->items, (size_t)list->count + 1, sizeof(*items));

	if (!items)
		return WC_ERR_SYSTEM;
	list->items = items;
	items[list->count++] = item;
	return 0;
}

// Pieces of what node `node` reads or is; producers come before their readers, so theirs are known.
static int add_node(struct paper_graph *graph, int index, int *operators)
{
	const struct net_node *node = &graph->net->nodes[index];

	graph->order[index] = -1;
	if (node->op != NET_CONCAT && append(&graph->pieces[index], index))
		return WC_ERR_SYSTEM;
	if (node->op == NET_INPUT || node->op == NET_LOSS)
		return 0;
	if (node->op != NET_CONCAT)
		graph->order[index] = (*operators)++;
	for (int i = 0; i < node->input_count; i++) {
		const struct paper_list *from = &graph->pieces[node->inputs[i]];

		for (int k = 0; k < from->count; k++)
			if (node->op == NET_CONCAT ? append(&graph->pieces[index], from->items[k]) : append(&graph->uses[from->items[k]], index))
				return WC_ERR_SYSTEM;
	}
	return 0;
}

int paper_graph_init(struct paper_graph *graph, const struct net *net, struct wc_error *err)
{
	const size_t nodes = (size_t)net->node_count;
	int operators = 0, last = net->node_count - 1;

	*graph = (struct paper_graph){ .net = net, .module_count = net->module_count };
	graph->order = calloc(nodes, sizeof(*graph->order));
	graph->pieces = calloc(nodes, sizeof(*graph->pieces));
	graph->uses = calloc(nodes, sizeof(*graph->uses));
	if (!graph->order || !graph->pieces || !graph->uses)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory");
	for (int i = 0; i < net->node_count; i++)
		if (add_node(graph, i, &operators))
			return wc_fail(err, WC_ERR_SYSTEM, "out of memory");
	graph->output = net->nodes[last].op == NET_LOSS ? net->nodes[last].inputs[0] : last;
	if (net->module_count && net->modules[net->module_count - 1].first > graph->output)
		graph->module_count--;
	return 0;
}

void paper_graph_release(struct paper_graph *graph)
{
	if (!graph->net)
		return;
	for (int i = 0; i < graph->net->node_count; i++) {
		if (graph->pieces)
			free(graph->pieces[i].items);
		if (graph->uses)
			free(graph->uses[i].items);
	}
	free(graph->pieces);
	free(graph->uses);
	free(graph->order);
}

bool paper_is_output(const struct paper_graph *graph, int tensor)
{
	const struct paper_list *pieces = &graph->pieces[graph->output];

	for (int i = 0; i < pieces->count; i++)
		if (pieces->items[i] == tensor)
			return true;
	return false;
}

bool paper_saved(const struct paper_graph *graph, int tensor)
{
	for (int i = 0; i < graph->uses[tensor].count; i++) {
		const enum net_op op = graph->net->nodes[graph->uses[tensor].items[i]].op;

		if (op == NET_CONV || op == NET_FC || op == NET_GN)
			return true;
	}
	return false;
}

int64_t paper_elements(const struct net_node *node)
{
	return (int64_t)node->out.height * node->out.width * node->out.channels;
}

int64_t paper_bytes(const struct paper_graph *graph, int node)
{
	return 2 * paper_elements(&graph->net->nodes[node]);
}

int64_t paper_layer_need(const struct paper_graph *graph, int node)
{
	const int64_t out = paper_bytes(graph, node);

	switch (graph->net->nodes[node].op) {
	case NET_RELU:
	case NET_GN:
		return out;
	case NET_ADD:
		return graph->net->nodes[node].input_count * out;
	case NET_CONCAT:
	case NET_INPUT:
	case NET_LOSS:
		return 0;
	default:
		return out + paper_bytes(graph, graph->net->nodes[node].inputs[0]);
	}
}

int paper_module_last(const struct paper_graph *graph, int module)
{
	const int last = graph->net->modules[module].last;

	return last < graph->output ? last : graph->output;
}
