// SPDX-License-Identifier: Apache-2.0
//
// The graph as schedules see it: a view is its pieces, and a tensor's readers are those that read it directly or through views.
#include "driver/plan/check/internal.h"

#include <stdlib.h>

// Limits of what is worth checking: entries of all lists together, and readers of one tensor.
enum { POOL_MAX = 1 << 26, READERS_MAX = UINT16_MAX };

int check_output(const struct net *net)
{
	const struct net_node *last = &net->nodes[net->node_count - 1];

	return last->op == NET_LOSS ? last->inputs[0] : net->node_count - 1;
}

// A concatenation that is its pieces.
static bool is_view(const struct check_graph *graph, const struct net_node *node)
{
	return graph->views && node->op == NET_CONCAT;
}

// Count both kinds of lists; false if they outgrow the limits.
static bool count_lists(struct check_graph *graph, const struct net *net, size_t *total)
{
	*total = 0;
	for (int i = 0; i < net->node_count; i++) {
		const struct net_node *node = &net->nodes[i];
		int count = is_view(graph, node) ? 0 : 1;

		for (int k = 0; k < node->input_count; k++) {
			const struct check_list *input = &graph->leaves[node->inputs[k]];

			if (!is_view(graph, node))
				*total += (size_t)input->count;
			else
				count += input->count;
			if (count > POOL_MAX || *total > POOL_MAX)
				return false;
		}
		graph->leaves[i].count = count;
		*total += (size_t)count;
	}
	*total += (size_t)graph->leaves[net->node_count - 1].count; // read by the caller
	return *total <= POOL_MAX;
}

static void fill_leaves(struct check_graph *graph, const struct net *net)
{
	int *next = graph->pool;

	for (int i = 0; i < net->node_count; i++) {
		const struct net_node *node = &net->nodes[i];
		struct check_list *leaves = &graph->leaves[i];

		leaves->nodes = next;
		next += leaves->count;
		leaves->count = 0;
		if (!is_view(graph, node))
			leaves->nodes[leaves->count++] = i;
		for (int k = 0; is_view(graph, node) && k < node->input_count; k++) {
			for (int j = 0; j < graph->leaves[node->inputs[k]].count; j++)
				leaves->nodes[leaves->count++] = graph->leaves[node->inputs[k]].nodes[j];
		}
	}
}

// Visit every (leaf, reader); place the readers, or only count them.
static void visit_readers(struct check_graph *graph, const struct net *net, bool place)
{
	for (int i = 0; i <= net->node_count; i++) {
		const struct net_node *node = i < net->node_count ? &net->nodes[i] : NULL;
		int last = net->node_count - 1;
		const int *inputs = node != NULL ? node->inputs : &last;
		int count = node != NULL ? node->input_count : net->nodes[last].op != NET_LOSS;

		for (int k = 0; k < count && !(node != NULL && is_view(graph, node)); k++) {
			const struct check_list *leaves = &graph->leaves[inputs[k]];

			for (int j = 0; j < leaves->count; j++) {
				struct check_list *readers = &graph->readers[leaves->nodes[j]];

				if (place)
					readers->nodes[readers->count] = i;
				readers->count++;
			}
		}
	}
}

// An operator makes one part of a tensor's gradient, and finds the tensor in one place.
static int require_one_use(const struct check_graph *graph, const struct net *net, struct wc_error *err)
{
	for (int i = 0; i < net->node_count; i++) {
		const struct check_list *readers = &graph->readers[i];

		for (int k = 1; k < readers->count; k++) {
			int reader = readers->nodes[k];

			if (reader == readers->nodes[k - 1])
				return wc_fail(err, WC_ERR_INPUT, "cannot check a schedule of network '%.64s': '%.64s' reads '%.64s' twice, directly or through "
					       "concatenations, which no schedule can say: let one of the two be a copy, an avg_pool of kernel 1",
					       net->name, reader < net->node_count ? net->nodes[reader].name : "the caller", net->nodes[i].name);
		}
	}
	return 0;
}

int check_graph_init(struct check_graph *graph, const struct net *net, bool views, struct wc_error *err)
{
	size_t total, nodes = (size_t)net->node_count;
	int *next;

	*graph = (struct check_graph){.views = views, .leaves = calloc(nodes, sizeof(*graph->leaves)), .readers = calloc(nodes, sizeof(*graph->readers))};
	if (graph->leaves == NULL || graph->readers == NULL)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory checking a schedule");
	if (!count_lists(graph, net, &total))
		return wc_fail(err, WC_ERR_INPUT, "cannot check a schedule of network '%s': its concatenations have more than %d pieces and readers", net->name,
			       POOL_MAX);
	graph->pool = calloc(total, sizeof(*graph->pool));
	if (graph->pool == NULL)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory checking a schedule");
	fill_leaves(graph, net);
	visit_readers(graph, net, false);
	next = graph->leaves[nodes - 1].nodes + graph->leaves[nodes - 1].count;
	for (size_t i = 0; i < nodes; i++) {
		graph->readers[i].nodes = next;
		next += graph->readers[i].count;
		if (graph->readers[i].count > READERS_MAX)
			return wc_fail(err, WC_ERR_INPUT, "cannot check a schedule of network '%s': '%s' has %d readers, limit %d", net->name, net->nodes[i].name,
				       graph->readers[i].count, READERS_MAX);
		graph->readers[i].count = 0;
	}
	visit_readers(graph, net, true);
	return require_one_use(graph, net, err);
}

void check_graph_release(struct check_graph *graph)
{
	free(graph->pool);
	free(graph->leaves);
	free(graph->readers);
}

bool check_has_gradient(const struct check_state *state, int node)
{
	return state->net->nodes[node].has_gradient;
}

// Readers of a tensor at or behind `reader` in the network's order.
static int count_readers(const struct check_state *state, int node, int reader)
{
	const struct check_list *readers = &state->graph.readers[node];
	int count = 0;

	while (count < readers->count && readers->nodes[readers->count - 1 - count] >= reader)
		count++;
	return count;
}

int check_parts_before(const struct check_state *state, int node, int reader)
{
	return count_readers(state, node, reader + 1);
}

int check_parts_with(const struct check_state *state, int node, int reader)
{
	return count_readers(state, node, reader);
}

bool check_is_leaf(const struct check_state *state, int concat, int leaf)
{
	const struct check_list *leaves = &state->graph.leaves[concat];

	for (int i = 0; i < leaves->count; i++) {
		if (leaves->nodes[i] == leaf)
			return true;
	}
	return false;
}

bool check_follows(const struct check_state *state, int node, int from)
{
	const struct net_node *nodes = state->net->nodes;

	while (node != from && (nodes[node].op == NET_GN || nodes[node].op == NET_RELU))
		node = nodes[node].inputs[0];
	return node == from || check_is_leaf(state, from, node);
}
