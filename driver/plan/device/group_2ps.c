// SPDX-License-Identifier: Apache-2.0
//
// Segments cut into strips that hand lines on (2PS). Every layer's rows are divided once, the same way forward and
// backward (strips.h). Forward, a strip keeps the last lines of each layer that feeds a convolution for the strip below it.
// Backward runs from the bottom strip up: it takes the same lines to recompute the strip's feature maps, and hands
// lines of gradients upwards, so that nothing is computed twice in a phase.
#include "driver/plan/device/planner.h"
#include "driver/plan/strips.h"

static int no_memory(struct planner *planner)
{
	return wc_fail(planner->err, WC_ERR_SYSTEM, "out of memory");
}

// The table of a segment's rows. 0, WC_ERR_SYSTEM or PLAN_NO_FIT; strip_rows_release() in any case.
static int divide(struct planner *planner, struct strip_rows *table, int first, int last, int strips)
{
	if (strip_rows_init(table, first, last, strips))
		return no_memory(planner);
	return strip_rows_2ps(table, planner->net) ? 0 : PLAN_NO_FIT;
}

// Rows of the convolution `node`'s input, above strip i's own, that strip i reads.
static struct rows lines_above(const struct strip_rows *table, const struct net *net, int i, int node)
{
	struct rows read = rows_of_input(&net->nodes[node], *strip_rows_at(table, i, node));

	return (struct rows){ read.lo, strip_rows_at(table, i, node - 1)->lo };
}

// Rows of the convolution `node`'s output gradient, below strip i's own, that strip i reads.
static struct rows lines_below(const struct strip_rows *table, const struct net *net, int i, int node)
{
	struct rows read = rows_of_gradient(&net->nodes[node], *strip_rows_at(table, i, node - 1));

	return (struct rows){ strip_rows_at(table, i, node)->hi, read.hi };
}

// One layer's feature map in strip i: the lines above it, if its consumer in the segment is a convolution, then its own rows.
static int compute_act(struct planner *planner, struct sched_strip *strip, const struct strip_rows *table, int i, int node)
{
	int rc = 0;

	if (node < table->last && planner->net->nodes[node + 1].op == NET_CONV)
		rc = planner_move(planner, strip, SCHED_TAKE, SCHED_ACT, node, lines_above(table, planner->net, i, node + 1));
	return rc ? rc : planner_move(planner, strip, SCHED_COMPUTE, SCHED_ACT, node, *strip_rows_at(table, i, node));
}

static int load_input(struct planner *planner, struct sched_strip *strip, const struct strip_rows *table, int i)
{
	return planner_move(planner, strip, SCHED_LOAD, SCHED_ACT, table->first - 1,
			    rows_of_input(&planner->net->nodes[table->first], *strip_rows_at(table, i, table->first)));
}

static int forward_strip(struct planner *planner, struct sched_strip *strip, const struct strip_rows *table, int i)
{
	const struct net *net = planner->net;
	int rc = load_input(planner, strip, table, i);

	for (int node = table->first; !rc && node <= table->last; node++) {
		rc = compute_act(planner, strip, table, i, node);
		if (!rc && node < table->last && net->nodes[node + 1].op == NET_CONV && i + 1 < table->strips)
			rc = planner_move(planner, strip, SCHED_KEEP, SCHED_ACT, node, lines_above(table, net, i + 1, node + 1));
	}
	return rc ? rc : planner_move(planner, strip, SCHED_STORE, SCHED_ACT, table->last, *strip_rows_at(table, i, table->last));
}

int build_2ps_forward(struct planner *planner, struct sched_group *group, int first, int last, int strips)
{
	struct strip_rows table;
	int rc = divide(planner, &table, first, last, strips);

	group->tiling = strips > 1 ? SCHED_TILING_2PS : SCHED_TILING_NONE;
	for (int i = 0; !rc && i < strips; i++) {
		struct sched_strip *strip = build_strip(group);

		rc = strip ? forward_strip(planner, strip, &table, i) : no_memory(planner);
	}
	strip_rows_release(&table);
	return rc;
}

// The last layer whose feature map a backward strip recomputes: the highest that a convolution above it or its own
// ReLU gradient reads. What the segment's own output is needed for is loaded.
static int last_recomputed(const struct net *net, int first, int last)
{
	for (int node = last - 1; node >= first; node--)
		if (net->nodes[node].op == NET_RELU || net->nodes[node + 1].op == NET_CONV)
			return node;
	return first - 1;
}

// The gradient of one layer's input in strip i, and its weight gradient.
static int backward_layer(struct planner *planner, struct sched_strip *strip, const struct strip_rows *table, int i, int node)
{
	const struct net *net = planner->net;
	bool conv = net->nodes[node].op == NET_CONV;
	int rc = 0;

	if (conv && node > 1 && node < table->last && i > 0)
		rc = planner_move(planner, strip, SCHED_KEEP, SCHED_GRAD, node, lines_below(table, net, i - 1, node));
	if (!rc && conv)
		rc = planner_move(planner, strip, SCHED_ACCUMULATE, SCHED_GRAD, node, *strip_rows_at(table, i, node));
	if (!rc && node > 1)
		rc = planner_say(planner, strip, SCHED_COMPUTE, SCHED_GRAD, node - 1, *strip_rows_at(table, i, node - 1),
				 conv ? SCHED_WITH_NONE : SCHED_WITH_ACT);
	return rc;
}

// Lines of the gradient of an inner `node`'s output from the strip below, if it is a convolution that passes a gradient on.
static int take_gradient(struct planner *planner, struct sched_strip *strip, const struct strip_rows *table, int i, int node)
{
	if (planner->net->nodes[node].op != NET_CONV || node <= 1)
		return 0;
	return planner_move(planner, strip, SCHED_TAKE, SCHED_GRAD, node, lines_below(table, planner->net, i, node));
}

static struct rows loaded_gradient(const struct strip_rows *table, const struct net *net, int i)
{
	struct rows own = *strip_rows_at(table, i, table->last);

	if (net->nodes[table->last].op != NET_CONV || table->last <= 1)
		return own;
	return rows_hull(own, lines_below(table, net, i, table->last));
}

static int backward_strip(struct planner *planner, struct sched_strip *strip, const struct strip_rows *table, int i)
{
	const struct net *net = planner->net;
	int first = table->first, last = table->last, top = last_recomputed(net, first, last), rc = 0;

	// A lone ReLU needs its output only.
	if (net->nodes[first].op == NET_CONV || top >= first)
		rc = load_input(planner, strip, table, i);
	for (int node = first; !rc && node <= top; node++)
		rc = compute_act(planner, strip, table, i, node);
	// The lines below the strip of the last layer's gradient are in memory like the rest of it.
	if (!rc)
		rc = planner_move(planner, strip, SCHED_LOAD, SCHED_GRAD, last, loaded_gradient(table, net, i));
	if (!rc && net->nodes[last].op == NET_RELU)
		rc = planner_move(planner, strip, SCHED_LOAD, SCHED_ACT, last, *strip_rows_at(table, i, last));
	for (int node = last; !rc && node >= first; node--) {
		if (node > first)
			rc = take_gradient(planner, strip, table, i, node - 1);
		if (!rc)
			rc = backward_layer(planner, strip, table, i, node);
	}
	if (!rc && first > 1)
		rc = planner_move(planner, strip, SCHED_STORE, SCHED_GRAD, first - 1, *strip_rows_at(table, i, first - 1));
	return rc;
}

int build_2ps_backward(struct planner *planner, struct sched_group *group, int first, int last, int strips)
{
	struct strip_rows table;
	int rc = divide(planner, &table, first, last, strips);

	group->tiling = strips > 1 ? SCHED_TILING_2PS : SCHED_TILING_NONE;
	for (int i = strips - 1; !rc && i >= 0; i--) {
		struct sched_strip *strip = build_strip(group);

		rc = strip ? backward_strip(planner, strip, &table, i) : no_memory(planner);
	}
	strip_rows_release(&table);
	return rc;
}
