// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/footprint_live.h"

#include <stdlib.h>

#include "driver/plan/operands.h"

struct live {
	const struct paper_graph *graph;
	const struct footprint_stretch *stretch;
	int64_t *change; // [step]: bits that come less those that are gone
	int steps;       // forward node first + i at step i, backward at steps - 1 - i
};

static const struct net_node *node_of(const struct live *live, int node)
{
	return &live->graph->net->nodes[node];
}

static int forward_step(const struct live *live, int node)
{
	return node - live->stretch->first;
}

static int backward_step(const struct live *live, int node)
{
	return live->steps - 1 - forward_step(live, node);
}

static int64_t elements(const struct live *live, int node)
{
	const struct footprint_stretch *stretch = live->stretch;
	const struct net_shape *shape = &node_of(live, node)->out;
	const int rows = stretch->strip ? rows_count(*strip_rows_at(stretch->strip, stretch->index, node)) : shape->height;

	return (int64_t)rows * shape->width * shape->channels;
}

static void add_life(struct live *live, int from, int to, int64_t bits)
{
	live->change[from] += bits;
	live->change[to + 1] -= bits;
}

static bool is_inside(const struct live *live, int node)
{
	return node >= live->stretch->first && node <= live->stretch->last;
}

// Read behind the stretch, or by nothing.
static bool goes_on(const struct live *live, int tensor)
{
	const struct paper_list *uses = &live->graph->uses[tensor];

	return !uses->count || !is_inside(live, uses->items[uses->count - 1]);
}

static bool keeps_input(const struct net_node *node)
{
	return node->op == NET_CONV || node->op == NET_FC || node->op == NET_GN;
}

// The last step at which a feature map is needed.
static int activation_end(const struct live *live, int tensor)
{
	const struct paper_list *uses = &live->graph->uses[tensor];
	int end = forward_step(live, tensor);

	for (int i = uses->count - 1; i >= 0; i--)
		if (is_inside(live, uses->items[i])) {
			const bool kept = keeps_input(node_of(live, uses->items[i]));
			const int step = kept ? backward_step(live, uses->items[i]) : forward_step(live, uses->items[i]);

			end = step > end ? step : end;
		}
	return end;
}

static int gradient_begin(const struct live *live, int tensor)
{
	const struct paper_list *uses = &live->graph->uses[tensor];

	if (goes_on(live, tensor))
		return live->stretch->again ? 0 : live->steps / 2;
	return backward_step(live, uses->items[uses->count - 1]);
}

static bool works_in_place(const struct net_node *node)
{
	return node->op == NET_RELU || node->op == NET_GN || node->op == NET_ADD;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

// Elements of an input whose room an operator takes.
static int64_t taken_forward(const struct live *live, int node)
{
	for (int i = 0; works_in_place(node_of(live, node)) && i < node_of(live, node)->input_count; i++) {
		const struct paper_list *pieces = &live->graph->pieces[node_of(live, node)->inputs[i]];

		if (pieces->count == 1 && is_inside(live, pieces->items[0]) && activation_end(live, pieces->items[0]) == forward_step(live, node))
			return least(elements(live, pieces->items[0]), elements(live, node));
	}
	return 0;
}

// Backward, elements of the output's gradient whose room the gradient of an input takes.
static int64_t taken_backward(const struct live *live, int node)
{
	const struct footprint_stretch *stretch = live->stretch;

	if (stretch->strip && goes_on(live, node))
		return 0;
	for (int i = 0; works_in_place(node_of(live, node)) && i < node_of(live, node)->input_count; i++) {
		const struct paper_list *pieces = &live->graph->pieces[node_of(live, node)->inputs[i]];
		const struct paper_list *uses = pieces->count == 1 ? &live->graph->uses[pieces->items[0]] : NULL;

		if (!uses || !node_of(live, pieces->items[0])->has_gradient || uses->items[uses->count - 1] != node)
			continue;
		if (is_inside(live, pieces->items[0]))
			return least(elements(live, pieces->items[0]), elements(live, node));
		if (!stretch->strip)
			return elements(live, node);
	}
	return 0;
}

static void add_node(struct live *live, int index)
{
	const struct footprint_stretch *stretch = live->stretch;
	const struct net_node *node = node_of(live, index);
	const int64_t all = elements(live, index);
	const bool masked = node->op == NET_MAX_POOL || node->op == NET_RELU;
	const bool needs_mask = masked && node_of(live, node->inputs[0])->has_gradient;

	// What goes on is not made again unless for its mask.
	if (!stretch->again || !goes_on(live, index) || masked)
		add_life(live, forward_step(live, index), activation_end(live, index), 16 * all);
	if (needs_mask)
		add_life(live, forward_step(live, index), backward_step(live, index), operand_mask_bits(node) * all);
	if (node->has_gradient && !(stretch->strip && goes_on(live, index)))
		add_life(live, gradient_begin(live, index), backward_step(live, index), 16 * all);
	if (!stretch->again || !goes_on(live, index) || masked)
		add_life(live, forward_step(live, index), forward_step(live, index), -16 * taken_forward(live, index));
	if (node->has_gradient)
		add_life(live, backward_step(live, index), backward_step(live, index), -16 * taken_backward(live, index));
}

// The gradient of the stretch's input, from its last reader in the stretch to the end.
static void add_input_gradient(struct live *live)
{
	const struct footprint_stretch *stretch = live->stretch;
	const struct paper_list *pieces = &live->graph->pieces[node_of(live, stretch->first)->inputs[0]];

	for (int i = 0; !stretch->strip && i < pieces->count; i++) {
		const struct paper_list *uses = &live->graph->uses[pieces->items[i]];
		const struct net_node *piece = node_of(live, pieces->items[i]);
		int last = uses->count - 1;

		while (last > 0 && !is_inside(live, uses->items[last]))
			last--;
		if (piece->has_gradient)
			add_life(live, backward_step(live, uses->items[last]), live->steps - 1, 16 * paper_elements(piece));
	}
}

int footprint_live_bits(const struct paper_graph *graph, const struct footprint_stretch *stretch, uint64_t *bits, struct wc_error *err)
{
	struct live live = { .graph = graph, .stretch = stretch, .steps = 2 * (stretch->last - stretch->first + 1) };
	int64_t now = 0, most = 0;

	live.change = calloc((size_t)live.steps + 1, sizeof(*live.change));
	if (!live.change)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory");
	for (int node = stretch->first; node <= stretch->last; node++)
		if (graph->order[node] >= 0)
			add_node(&live, node);
	add_input_gradient(&live);
	for (int i = 0; i < live.steps; i++) {
		now += live.change[i];
		most = now > most ? now : most;
	}
	free(live.change);
	*bits = (uint64_t)most;
	return 0;
}
