// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/paper/hybrid/view.h"

#include <stdlib.h>

static enum net_op op_of(const struct hybrid_view *view, int node)
{
	return view->graph->net->nodes[node].op;
}

static bool has_work(enum net_op op)
{
	return op != NET_INPUT && op != NET_CONCAT && op != NET_LOSS && op != NET_GN && op != NET_RELU;
}

// A normalization or ReLU: what is between its input's value and itself.
static int pass_through(struct hybrid_view *view, int index)
{
	const int input = view->graph->net->nodes[index].inputs[0];
	struct hybrid_node *node = &view->nodes[index];

	// Alone behind its input, which is no concatenation; a normalization needs a raw value to be made from.
	if (view->graph->pieces[input].count != 1 || view->graph->pieces[input].items[0] != input || view->graph->uses[input].count != 1 || input == 0)
		return HYBRID_UNFIT;
	*node = view->nodes[input];
	node->made = -1;
	if (op_of(view, index) == NET_GN) {
		if (node->value != input || node->norm || node->relu || op_of(view, input) == NET_RELU)
			return HYBRID_UNFIT;
		node->norm = index;
		return 0;
	}
	if (node->norm) {
		node->relu = index;
		return node->value == input || view->graph->net->nodes[input].op == NET_GN ? 0 : HYBRID_UNFIT;
	}
	if (op_of(view, input) == NET_RELU)
		return HYBRID_UNFIT;
	// In place: the value is what comes out.
	node->value = index;
	node->plain = input;
	node->maker = view->nodes[input].maker;
	view->nodes[node->maker].made = index;
	return 0;
}

// A tensor goes on to one other module, or is read in its own: then a module has all of its gradient, or none.
static bool readers_are_together(const struct hybrid_view *view, int tensor)
{
	const struct paper_list *uses = &view->graph->uses[tensor];
	const struct net *net = view->graph->net;

	for (int i = 1; i < uses->count; i++)
		if (net->nodes[uses->items[i]].module != net->nodes[uses->items[0]].module)
			return false;
	return !uses->count || net->nodes[uses->items[0]].module <= net->nodes[tensor].module + 1;
}

static void find_kept(struct hybrid_view *view)
{
	const struct net *net = view->graph->net;

	for (int i = 1; i < net->node_count; i++) {
		const struct hybrid_node *node = &view->nodes[i];

		if (op_of(view, i) == NET_GN)
			view->nodes[node->value].kept = true;
		for (int k = 0; k < view->graph->uses[i].count; k++) {
			const enum net_op op = op_of(view, view->graph->uses[i].items[k]);

			if (op == NET_CONV || op == NET_FC)
				view->nodes[node->value].kept = true;
		}
	}
	for (int i = 1; i < net->node_count; i++)
		if (view->nodes[i].value == i && view->nodes[i].plain != i && !view->nodes[i].kept)
			view->nodes[i].masked = true;
}

int hybrid_view_init(struct hybrid_view *view, const struct paper_graph *graph, struct wc_error *err)
{
	const struct net *net = graph->net;

	*view = (struct hybrid_view){ .graph = graph };
	view->nodes = calloc((size_t)net->node_count, sizeof(*view->nodes));
	if (!view->nodes)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory");
	for (int i = 0; i < net->node_count; i++) {
		const enum net_op op = net->nodes[i].op;

		view->nodes[i] = (struct hybrid_node){ .value = i, .maker = i, .plain = i, .made = has_work(op) ? i : -1 };
		if ((op == NET_GN || op == NET_RELU) && pass_through(view, i))
			return HYBRID_UNFIT;
	}
	for (int i = 0; i < net->node_count; i++) {
		struct hybrid_node *node = &view->nodes[i], *value = &view->nodes[node->value];

		value->leaf = i > value->leaf && graph->net->nodes[i].op != NET_CONCAT ? i : value->leaf;
		node->turned = value->plain;
	}
	// The network's output must be a value itself, and leave nothing to go through backward.
	if (net->nodes[graph->output].op == NET_CONCAT || view->nodes[graph->output].value != graph->output ||
	    view->nodes[graph->output].plain != graph->output)
		return HYBRID_UNFIT;
	for (int i = 1; i < net->node_count; i++)
		if (!readers_are_together(view, i))
			return HYBRID_UNFIT;
	find_kept(view);
	return 0;
}

void hybrid_view_release(struct hybrid_view *view)
{
	free(view->nodes);
}
