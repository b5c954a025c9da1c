// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/paper/hybrid/tile.h"

#include "driver/plan/build.h"
#include "driver/plan/paper/statement.h"

static bool joins(const struct hybrid_view *view, int node)
{
	const enum net_op op = view->graph->net->nodes[node].op;

	return op == NET_CONV || op == NET_MAX_POOL || op == NET_AVG_POOL;
}

bool hybrid_chain_find(struct hybrid_chain *chain, const struct hybrid_view *view, int first, int last)
{
	const struct net *net = view->graph->net;
	int at = net->nodes[net->modules[first].first].inputs[0];

	*chain = (struct hybrid_chain){ .values = { at } };
	// The input is a value as it is, with one reader.
	if (view->graph->pieces[at].count != 1 || view->nodes[at].value != at || view->nodes[at].leaf != at || view->graph->uses[at].count != 1)
		return false;
	for (int node = net->modules[first].first; node <= paper_module_last(view->graph, last); node++) {
		const int value = view->nodes[node].made;

		if (value < 0 && net->nodes[node].op == NET_RELU)
			continue;
		if (value < 0 || !joins(view, node) || net->nodes[node].inputs[0] != at || chain->count == HYBRID_CHAIN_MAX || view->nodes[value].leaf != value ||
		    (value != view->graph->output && view->graph->uses[value].count != 1))
			return false;
		chain->ops[chain->count++] = node;
		chain->values[chain->count] = at = value;
	}
	return chain->count > 0;
}

int hybrid_chain_rows(const struct hybrid_chain *chain, const struct hybrid_view *view, enum sched_phase phase)
{
	return view->graph->net->nodes[chain->values[phase == SCHED_FORWARD ? 0 : chain->count]].out.height;
}

struct tiler {
	const struct hybrid_chain *chain;
	const struct hybrid_view *view;
	const struct net *net;
	struct paper_writer writer;
	const bool *stored;
	bool last; // strip
};

static const struct net_node *net_node(const struct tiler *tiler, int node)
{
	return &tiler->net->nodes[node];
}

static void say(struct tiler *tiler, enum sched_op op, enum sched_tensor tensor, int node, struct rows rows)
{
	const struct sched_statement statement = paper_on_rows(op, tensor, node, rows);

	if (!rows_empty(rows))
		paper_add(&tiler->writer, &statement);
}

// Rows of a tensor as strips go down it: complete are [0, have), in the buffer [low, have).
struct front {
	int low, have;
};

static int max(int a, int b)
{
	return a > b ? a : b;
}

static int min(int a, int b)
{
	return a < b ? a : b;
}

static int span(const struct net_node *node)
{
	return (node->op == NET_CONV ? node->conv.dilation_h : 1) * (node->conv.kernel_h - 1) + 1;
}

// Output rows that the first `have` input rows allow.
static int reachable(const struct net_node *node, int have)
{
	const int room = have + node->conv.pad_h - span(node);

	if (have == node->in.height)
		return node->out.height;
	return room < 0 ? 0 : min(node->out.height, room / node->conv.stride_h + 1);
}

// The first input row that output row `row` reads; not cut to the image.
static int first_read(const struct net_node *node, int row)
{
	return row * node->conv.stride_h - node->conv.pad_h;
}

static void compute(struct tiler *tiler, int node, struct rows rows, bool output)
{
	const int value = tiler->view->nodes[node].made;
	struct sched_statement statement = paper_on_rows(SCHED_COMPUTE, SCHED_ACT, node, rows);

	if (net_node(tiler, node)->op == NET_MAX_POOL)
		paper_to(&tiler->writer, &statement, SCHED_MASK, node);
	if (value != node) {
		paper_add(&tiler->writer, &statement);
		statement = paper_on_rows(SCHED_COMPUTE, SCHED_ACT, value, rows);
		if (tiler->view->nodes[value].masked) {
			statement.with = SCHED_WITH_MASK;
			paper_to(&tiler->writer, &statement, SCHED_MASK, value);
		}
	}
	if (output)
		paper_to(&tiler->writer, &statement, SCHED_ACT, value);
	paper_add(&tiler->writer, &statement);
	if (!output && tiler->stored[value])
		say(tiler, SCHED_STORE, SCHED_ACT, value, rows);
}

// One strip that ends at row `end` of the input.
static void forward_strip(struct tiler *tiler, struct front *fronts, int end)
{
	const struct hybrid_chain *chain = tiler->chain;
	const struct net_node *first = net_node(tiler, chain->ops[0]);
	int made;

	// No row is loaded before the strip that reads it.
	made = reachable(first, end);
	if (made < first->out.height)
		end = max(fronts[0].have, first_read(first, made - 1) + span(first));
	say(tiler, SCHED_TAKE, SCHED_ACT, chain->values[0], (struct rows){ fronts[0].low, fronts[0].have });
	say(tiler, SCHED_LOAD, SCHED_ACT, chain->values[0], (struct rows){ fronts[0].have, end });
	fronts[0].have = end;
	for (int i = 0; !tiler->writer.rc && i < chain->count; i++) {
		const struct net_node *node = net_node(tiler, chain->ops[i]);
		struct front *in = &fronts[i], *out = &fronts[i + 1];
		const bool output = i + 1 == chain->count;

		made = reachable(node, in->have);
		if (made <= out->have) {
			tiler->writer.rc = HYBRID_UNFIT;
			return;
		}
		if (!output)
			say(tiler, SCHED_TAKE, SCHED_ACT, chain->values[i + 1], (struct rows){ out->low, out->have });
		compute(tiler, chain->ops[i], (struct rows){ out->have, made }, output);
		out->have = made;
		in->low = max(in->low, min(in->have, first_read(node, made)));
		if (!tiler->last)
			say(tiler, SCHED_KEEP, SCHED_ACT, chain->values[i], (struct rows){ in->low, in->have });
	}
}

// The gradient of a value goes through the ReLU in place that made it.
static void turn(struct tiler *tiler, int value, struct rows rows, struct rows held, bool output)
{
	const int plain = tiler->view->nodes[value].plain;
	struct sched_statement statement = paper_on_rows(SCHED_COMPUTE, SCHED_GRAD, plain, rows);

	if (tiler->view->nodes[value].masked) {
		statement.with = SCHED_WITH_MASK;
		paper_from_needed(&tiler->writer, &statement, SCHED_MASK, value);
	} else {
		statement.with = SCHED_WITH_ACT;
		if (!rows_contain(held, rows))
			paper_from_needed(&tiler->writer, &statement, SCHED_ACT, value);
	}
	if (output)
		paper_to(&tiler->writer, &statement, SCHED_GRAD, plain);
	paper_add(&tiler->writer, &statement);
}

// State of backward: gradients (turned) and activations as operands.
struct fronts {
	struct front gradient[HYBRID_CHAIN_MAX + 1], act[HYBRID_CHAIN_MAX + 1];
};

// Fetch the activation rows that the weight gradient of new output rows reads.
static void fetch_act(struct tiler *tiler, struct front *act, int value, const struct net_node *node, struct rows rows)
{
	const int hi = rows.hi == node->out.height ? node->in.height : min(node->in.height, first_read(node, rows.hi - 1) + span(node));

	say(tiler, SCHED_TAKE, SCHED_ACT, value, (struct rows){ act->low, act->have });
	if (hi > act->have) {
		act->low = act->low == act->have ? max(act->have, first_read(node, rows.lo)) : act->low;
		say(tiler, SCHED_LOAD, SCHED_ACT, value, (struct rows){ max(act->have, act->low), hi });
		act->have = hi;
	}
}

static void backward_op(struct tiler *tiler, struct fronts *fronts, int i, struct rows fresh)
{
	const struct hybrid_chain *chain = tiler->chain;
	const struct net_node *node = net_node(tiler, chain->ops[i]);
	const int value = chain->values[i], plain = tiler->view->nodes[value].plain;
	struct front *out = &fronts->gradient[i + 1], *in = &fronts->gradient[i], *act = &fronts->act[i];
	const bool done = out->have == node->out.height, wanted = net_node(tiler, value)->has_gradient, turns = plain != value;
	const int made = !wanted ? in->have : done ? node->in.height : max(in->have, min(node->in.height, first_read(node, out->have)));
	struct sched_statement statement = paper_on_rows(SCHED_COMPUTE, SCHED_GRAD, value, (struct rows){ in->have, made });

	if (node->op == NET_CONV) {
		fetch_act(tiler, act, value, node, fresh);
		say(tiler, SCHED_ACCUMULATE, SCHED_GRAD, chain->ops[i], fresh);
	}
	if (wanted && made <= in->have) {
		tiler->writer.rc = HYBRID_UNFIT;
		return;
	}
	if (wanted) {
		if (node->op == NET_MAX_POOL)
			paper_from_needed(&tiler->writer, &statement, SCHED_MASK, chain->ops[i]);
		if (i == 0 && !turns)
			paper_to(&tiler->writer, &statement, SCHED_GRAD, value);
		if (i > 0)
			say(tiler, SCHED_TAKE, SCHED_GRAD, plain, (struct rows){ in->low, in->have });
		paper_add(&tiler->writer, &statement);
		if (turns)
			turn(tiler, value, (struct rows){ in->have, made }, node->op == NET_CONV ? (struct rows){ act->low, act->have } : (struct rows){ 0, 0 }, i == 0);
		in->have = made;
	}
	// What the next strip reads again of this output's gradient, and of the activation.
	out->low = done || !wanted ? out->have : max(out->low, min(out->have, (int)div_up(made + node->conv.pad_h - span(node) + 1, node->conv.stride_h)));
	act->low = done ? act->have : max(act->low, min(act->have, turns && wanted ? min(first_read(node, out->have), made) : first_read(node, out->have)));
	if (tiler->last)
		return;
	say(tiler, SCHED_KEEP, SCHED_GRAD, tiler->view->nodes[chain->values[i + 1]].plain, (struct rows){ out->low, out->have });
	if (node->op == NET_CONV)
		say(tiler, SCHED_KEEP, SCHED_ACT, value, (struct rows){ act->low, act->have });
}

static void backward_strip(struct tiler *tiler, struct fronts *fronts, int end)
{
	const int top = tiler->chain->count, plain = tiler->view->nodes[tiler->chain->values[top]].plain;
	struct rows fresh = { fronts->gradient[top].have, end };

	say(tiler, SCHED_TAKE, SCHED_GRAD, plain, (struct rows){ fronts->gradient[top].low, fronts->gradient[top].have });
	say(tiler, SCHED_LOAD, SCHED_GRAD, plain, fresh);
	fronts->gradient[top].have = end;
	for (int i = top - 1; !tiler->writer.rc && i >= 0; i--) {
		const int before = fronts->gradient[i].have;

		backward_op(tiler, fronts, i, fresh);
		fresh = (struct rows){ before, fronts->gradient[i].have };
	}
}

int hybrid_tile(struct sched_group *group, const struct hybrid_chain *chain, const struct hybrid_view *view, int strips, const bool *stored,
		struct wc_error *err)
{
	const int rows = hybrid_chain_rows(chain, view, group->phase);
	struct tiler tiler = { .chain = chain, .view = view, .net = view->graph->net, .stored = stored,
			       .writer = { .net = view->graph->net, .err = err, .too_many = HYBRID_UNFIT } };
	struct fronts fronts = { .gradient = { { 0, 0 } } };

	group->tiling = strips > 1 ? SCHED_TILING_2PS : SCHED_TILING_NONE;
	for (int i = 0; !tiler.writer.rc && i < strips; i++) {
		const int end = (int)((int64_t)rows * (i + 1) / strips);

		tiler.last = i + 1 == strips;
		tiler.writer.strip = build_strip(group);
		if (!tiler.writer.strip)
			return wc_fail(err, WC_ERR_SYSTEM, "out of memory");
		if (group->phase == SCHED_FORWARD)
			forward_strip(&tiler, fronts.gradient, end);
		else
			backward_strip(&tiler, &fronts, end);
	}
	return tiler.writer.rc;
}
