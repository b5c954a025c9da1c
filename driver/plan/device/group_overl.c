// SPDX-License-Identifier: Apache-2.0
//
// Segments cut into independent strips that carry their halo (OverL), and single layers in row strips, which are
// segments of one layer. Backward recomputes a strip's feature maps from the segment's input; every row of the
// input's gradient is gathered in the one strip that owns it, every output row of a convolution enters the weight gradient
// in the one strip that owns it.
#include "driver/plan/device/planner.h"
#include "driver/plan/strips.h"

static int no_memory(struct planner *planner)
{
	return wc_fail(planner->err, WC_ERR_SYSTEM, "out of memory");
}

static int forward_strip(struct planner *planner, struct sched_strip *strip, const struct strip_rows *need, int i, bool masks)
{
	const struct net *net = planner->net;
	int rc = planner_move(planner, strip, SCHED_LOAD, SCHED_ACT, need->first - 1, *strip_rows_at(need, i, need->first - 1));

	for (int node = need->first; !rc && node <= need->last; node++) {
		struct rows rows = *strip_rows_at(need, i, node);
		bool masked = masks && net->nodes[node].op == NET_RELU;

		rc = planner_say(planner, strip, SCHED_COMPUTE, SCHED_ACT, node, rows, masked ? SCHED_WITH_MASK : SCHED_WITH_NONE);
		if (!rc && masked)
			rc = planner_move(planner, strip, SCHED_STORE, SCHED_MASK, node, rows);
	}
	return rc ? rc : planner_move(planner, strip, SCHED_STORE, SCHED_ACT, need->last, *strip_rows_at(need, i, need->last));
}

static int forward(struct planner *planner, struct sched_group *group, int first, int last, int strips, bool masks)
{
	struct strip_rows need;
	int rc = 0;

	if (strips > planner->net->nodes[last].out.height)
		return PLAN_NO_FIT;
	group->tiling = strips > 1 ? SCHED_TILING_OVERL : SCHED_TILING_NONE;
	if (strip_rows_init(&need, first, last, strips))
		return no_memory(planner);
	strip_rows_overl(&need, planner->net);
	for (int i = 0; !rc && i < strips; i++) {
		struct sched_strip *strip = build_strip(group);

		rc = strip ? forward_strip(planner, strip, &need, i, masks) : no_memory(planner);
	}
	strip_rows_release(&need);
	return rc;
}

// The rows of each layer in one backward strip.
struct backward_rows {
	struct strip_rows grad; // gradient rows it works on
	struct strip_rows act;  // feature map rows it recomputes, or loads for the segment's input
};

// From the input upwards: gradients of owned rows, and all that they gather from.
static void gradient_rows(struct backward_rows *rows, const struct strip_rows *own, const struct net *net, int i)
{
	struct rows below = { 0, 0 };

	if (own->first > 1)
		below = *strip_rows_at(own, i, own->first - 1);
	*strip_rows_at(&rows->grad, i, own->first - 1) = below;
	for (int node = own->first; node <= own->last; node++) {
		below = rows_of_gradient(&net->nodes[node], below);
		if (net->nodes[node].op == NET_CONV)
			below = rows_hull(below, *strip_rows_at(own, i, node));
		*strip_rows_at(&rows->grad, i, node) = below;
	}
}

// From the output downwards: feature maps that accumulations, ReLU gradients and higher layers read.
static void activation_rows(struct backward_rows *rows, const struct strip_rows *own, const struct net *net, int i)
{
	for (int node = own->last - 1; node >= own->first - 1; node--) {
		const struct net_node *consumer = &net->nodes[node + 1];
		struct rows read = rows_of_input(consumer, *strip_rows_at(&rows->act, i, node + 1));

		if (consumer->op == NET_CONV)
			read = rows_hull(read, rows_of_input(consumer, *strip_rows_at(own, i, node + 1)));
		if (node >= own->first && net->nodes[node].op == NET_RELU)
			read = rows_hull(read, *strip_rows_at(&rows->grad, i, node));
		*strip_rows_at(&rows->act, i, node) = read;
	}
}

static int backward_layer(struct planner *planner, struct sched_strip *strip, const struct backward_rows *rows,
			  const struct strip_rows *own, int i, int node, enum sched_with with)
{
	bool conv = planner->net->nodes[node].op == NET_CONV;
	int rc = 0;

	if (conv)
		rc = planner_move(planner, strip, SCHED_ACCUMULATE, SCHED_GRAD, node, *strip_rows_at(own, i, node));
	if (!rc && node > 1)
		rc = planner_say(planner, strip, SCHED_COMPUTE, SCHED_GRAD, node - 1, *strip_rows_at(&rows->grad, i, node - 1),
				 conv ? SCHED_WITH_NONE : with);
	return rc;
}

static int backward_strip(struct planner *planner, struct sched_strip *strip, const struct backward_rows *rows,
			  const struct strip_rows *own, int i, enum sched_with with)
{
	const struct net *net = planner->net;
	int first = own->first, last = own->last, rc;

	rc = planner_move(planner, strip, SCHED_LOAD, SCHED_ACT, first - 1, *strip_rows_at(&rows->act, i, first - 1));
	for (int node = first; !rc && node < last; node++)
		rc = planner_move(planner, strip, SCHED_COMPUTE, SCHED_ACT, node, *strip_rows_at(&rows->act, i, node));
	if (!rc)
		rc = planner_move(planner, strip, SCHED_LOAD, SCHED_GRAD, last, *strip_rows_at(&rows->grad, i, last));
	// The segment's own output is in memory: a ReLU at its end needs no recomputing.
	if (!rc && net->nodes[last].op == NET_RELU)
		rc = planner_move(planner, strip, SCHED_LOAD, with == SCHED_WITH_MASK ? SCHED_MASK : SCHED_ACT, last,
				  *strip_rows_at(&rows->grad, i, last));
	for (int node = last; !rc && node >= first; node--)
		rc = backward_layer(planner, strip, rows, own, i, node, with);
	if (!rc && first > 1)
		rc = planner_move(planner, strip, SCHED_STORE, SCHED_GRAD, first - 1, *strip_rows_at(own, i, first - 1));
	return rc;
}

static int backward(struct planner *planner, struct sched_group *group, int first, int last, int strips, enum sched_with with)
{
	struct strip_rows need = { .rows = NULL }, own = { .rows = NULL };
	struct backward_rows rows = { .grad = { .rows = NULL } };
	int rc = 0;

	if (strips > planner->net->nodes[last].out.height)
		return PLAN_NO_FIT;
	group->tiling = strips > 1 ? SCHED_TILING_OVERL : SCHED_TILING_NONE;
	if (strip_rows_init(&need, first, last, strips) || strip_rows_init(&own, first, last, strips) ||
	    strip_rows_init(&rows.grad, first, last, strips) || strip_rows_init(&rows.act, first, last, strips))
		rc = no_memory(planner);
	if (!rc) {
		strip_rows_overl(&need, planner->net);
		strip_rows_own(&own, &need, planner->net);
	}
	for (int i = 0; !rc && i < strips; i++) {
		struct sched_strip *strip = build_strip(group);

		gradient_rows(&rows, &own, planner->net, i);
		activation_rows(&rows, &own, planner->net, i);
		rc = strip ? backward_strip(planner, strip, &rows, &own, i, with) : no_memory(planner);
	}
	strip_rows_release(&need);
	strip_rows_release(&own);
	strip_rows_release(&rows.grad);
	strip_rows_release(&rows.act);
	return rc;
}

int build_overl_forward(struct planner *planner, struct sched_group *group, int first, int last, int strips)
{
	return forward(planner, group, first, last, strips, false);
}

int build_overl_backward(struct planner *planner, struct sched_group *group, int first, int last, int strips)
{
	return backward(planner, group, first, last, strips, SCHED_WITH_ACT);
}

int build_masked_forward(struct planner *planner, struct sched_group *group, int first, int last, int strips)
{
	return forward(planner, group, first, last, strips, planner->options->phases == PLAN_ALL);
}

int build_masked_backward(struct planner *planner, struct sched_group *group, int first, int last, int strips)
{
	return backward(planner, group, first, last, strips, SCHED_WITH_MASK);
}
