// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/operands.h"
#include "driver/plan/paper/hybrid/template_internal.h"

struct builder {
	struct hybrid_template *template;
	const struct hybrid_view *view;
};

static const struct net_node *net_node(const struct builder *builder, int node)
{
	return &builder->view->graph->net->nodes[node];
}

static bool has_gradient(const struct builder *builder, int leaf)
{
	return net_node(builder, leaf)->has_gradient;
}

static struct hybrid_slab *slab_at(struct builder *builder, int slab)
{
	static struct hybrid_slab none;

	return slab < 0 ? &none : &builder->template->slabs[slab];
}

// A value's slab, in DRAM unless it is made again here.
static int value_slab(struct builder *builder, int value)
{
	const int count = builder->template->slab_count;
	const int index = template_slab(builder->template, builder->view, SCHED_ACT, value);
	struct hybrid_slab *slab = slab_at(builder, index);

	if (builder->template->slab_count > count)
		slab->loads = slab->copied = slab->stored = !builder->template->again[value];
	return index;
}

// An event of every value that an operator's inputs are made from.
static void read_inputs(struct builder *builder, int node, int step, bool weights)
{
	for (int i = 0; i < net_node(builder, node)->input_count; i++) {
		const struct paper_list *pieces = &builder->view->graph->pieces[net_node(builder, node)->inputs[i]];

		for (int k = 0; k < pieces->count; k++)
			template_operand(builder->template, value_slab(builder, builder->view->nodes[pieces->items[k]].value), step, weights);
	}
}

static void ensure(struct builder *builder, int value);

static void ensure_inputs(struct builder *builder, int node)
{
	for (int i = 0; i < net_node(builder, node)->input_count; i++) {
		const struct paper_list *pieces = &builder->view->graph->pieces[net_node(builder, node)->inputs[i]];

		for (int k = 0; k < pieces->count; k++)
			ensure(builder, builder->view->nodes[pieces->items[k]].value);
	}
}

// Make a value again, if that is decided, and what it is made from before.
static void ensure(struct builder *builder, int value)
{
	struct hybrid_template *template = builder->template;
	const int maker = builder->view->nodes[value].maker;
	int slab, step;

	if (!template->again[value])
		return;
	slab = value_slab(builder, value);
	if (slab < 0 || slab_at(builder, slab)->event_count)
		return;
	ensure_inputs(builder, maker);
	step = template_step(template, HYBRID_AGAIN, maker);
	read_inputs(builder, maker, step, net_macs(net_node(builder, maker)) > 0);
	template_event(template, slab, step, true)->whole = builder->view->nodes[value].plain != value;
	slab_at(builder, slab)->again = true;
	template->again_bytes += 2 * net_parameters(net_node(builder, maker));
	template->macs += net_macs(net_node(builder, maker));
}

// Whether a leaf's gradient has a ReLU or normalization to go through.
static bool has_turn(const struct builder *builder, int leaf)
{
	return builder->view->nodes[leaf].turned != leaf;
}

static void turn(struct builder *builder, int leaf)
{
	const struct hybrid_node *node = &builder->view->nodes[leaf];
	const int slab = template_slab(builder->template, builder->view, SCHED_GRAD, leaf);
	const bool masked = builder->view->nodes[node->value].masked;
	int step;

	if (slab < 0 || slab_at(builder, slab)->turns != HYBRID_NEVER_TURNS)
		return;
	if (!masked)
		ensure(builder, node->value);
	step = template_step(builder->template, HYBRID_TURN, leaf);
	if (masked)
		builder->template->mask_bits += paper_elements(net_node(builder, leaf));
	else
		template_event(builder->template, value_slab(builder, node->value), step, false);
	template_event(builder->template, slab, step, true)->whole = node->norm != 0;
	slab_at(builder, slab)->turns = slab_at(builder, slab)->event_count - 1;
}

// The part of each input's gradient.
static void make_parts(struct builder *builder, int node, int input, int step, int from)
{
	const struct paper_list *pieces = &builder->view->graph->pieces[input];

	for (int k = 0; k < pieces->count; k++) {
		const int leaf = pieces->items[k];
		int slab;

		if (!has_gradient(builder, leaf))
			continue;
		slab = template_slab(builder->template, builder->view, SCHED_GRAD, leaf);
		template_event(builder->template, slab, step, true);
		if (net_node(builder, node)->op == NET_ADD)
			template_pair(builder->template, step, from, slab);
	}
}

// Those whose gradient is complete with this operator's part.
static void turn_inputs(struct builder *builder, int node, int input)
{
	const struct paper_list *pieces = &builder->view->graph->pieces[input];

	for (int k = 0; k < pieces->count; k++) {
		const int leaf = pieces->items[k];

		if (has_gradient(builder, leaf) && builder->view->graph->uses[leaf].items[0] == node && has_turn(builder, leaf))
			turn(builder, leaf);
	}
}

static void backward(struct builder *builder, int node)
{
	struct hybrid_template *template = builder->template;
	const int leaf = builder->view->nodes[builder->view->nodes[node].made].leaf;
	const struct net_node *of = net_node(builder, node);
	const bool weights = of->op == NET_CONV || of->op == NET_FC, add = of->op == NET_ADD;
	const int gradient = template_slab(template, builder->view, SCHED_GRAD, leaf);
	int step;

	if (!has_gradient(builder, leaf))
		return;
	if (has_turn(builder, leaf))
		turn(builder, leaf); // an add's part, which waited
	if (weights)
		ensure_inputs(builder, node);
	step = template_step(template, add ? HYBRID_SPLIT : HYBRID_BACKWARD, node);
	template_operand(template, gradient, step, weights);
	if (weights)
		read_inputs(builder, node, step, false); // streams through the weight gradient
	if (of->op == NET_MAX_POOL)
		template->mask_bits += paper_elements(of) * operand_mask_bits(of);
	for (int i = 0; i < of->input_count; i++)
		make_parts(builder, node, of->inputs[i], step, gradient);
	for (int i = 0; !add && i < of->input_count; i++)
		turn_inputs(builder, node, of->inputs[i]);
}

// The gradients that come from the module behind: already through ReLU and normalization.
static void enter(struct builder *builder, int module, bool border, int entry)
{
	const struct paper_list *outputs = template_outputs(builder->view, module);

	for (int i = 0; i < outputs->count; i++) {
		const int index = template_slab(builder->template, builder->view, SCHED_GRAD, outputs->items[i]);
		struct hybrid_slab *slab = slab_at(builder, index);

		slab->turns = HYBRID_TURNED;
		slab->loads = slab->copied = border;
		if (!border)
			template_event(builder->template, index, entry, true);
	}
}

static void leave(struct builder *builder, int module, bool border)
{
	const struct paper_list *inputs = template_inputs(builder->view, module);
	int end;

	for (int i = 0; i < inputs->count; i++)
		if (has_gradient(builder, inputs->items[i]) && has_turn(builder, inputs->items[i]))
			turn(builder, inputs->items[i]);
	end = template_step(builder->template, HYBRID_EXIT, -1);
	for (int i = 0; i < inputs->count; i++) {
		int index;

		if (!has_gradient(builder, inputs->items[i]))
			continue;
		index = template_slab(builder->template, builder->view, SCHED_GRAD, inputs->items[i]);
		slab_at(builder, index)->leaves = border;
		slab_at(builder, index)->stays = !border;
		if (!border)
			template_event(builder->template, index, end, false);
	}
}

void hybrid_backward(struct hybrid_template *template, const struct hybrid_view *view, int module, struct hybrid_edges edges, bool *again)
{
	struct builder builder = { template, view };
	const int first = view->graph->net->modules[module].first;

	*template = (struct hybrid_template){ .again = again };
	enter(&builder, module, edges.in_border, template_step(template, HYBRID_ENTRY, -1));
	for (int node = paper_module_last(view->graph, module); node >= first; node--) {
		const int value = view->nodes[node].made;

		if (value < 0)
			continue;
		backward(&builder, node);
		if (view->nodes[value].kept && !again[value])
			template->stored_bytes += paper_bytes(view->graph, value);
	}
	leave(&builder, module, edges.out_border);
}
