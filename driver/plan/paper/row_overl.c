// SPDX-License-Identifier: Apache-2.0
//
// Independent strips that carry their halo. See row_build.h.
#include "driver/plan/paper/row_emit.h"

static int forward(struct row_emit *emit, struct sched_group *group, const struct strip_rows *need)
{
	for (int i = 0; i < need->strips; i++)
		if (row_begin_strip(emit, group, i))
			for (int node = need->first; node <= need->last; node++)
				row_activation(emit, node, *strip_rows_at(need, i, node));
	return emit->writer.rc;
}

// The rows of each layer in one backward strip.
struct backward_rows {
	struct strip_rows need, own;
	struct strip_rows grad; // gradient rows it works on
	struct strip_rows act;  // feature map rows it makes again, or reads of the segment's input
};

// From the input upwards: gradients of owned rows, and all that they gather from.
static void gradient_rows(struct backward_rows *rows, const struct row_emit *emit, int i)
{
	const struct strip_rows *own = &rows->own;
	struct rows below = { 0, 0 };

	for (int node = own->first - 1; node <= own->last; node++) {
		if (node >= own->first)
			below = rows_of_gradient(row_node(emit, node), below);
		else if (row_input_has_gradient(emit, own->first))
			below = *strip_rows_at(own, i, node);
		if (node >= own->first && row_node(emit, node)->op == NET_CONV)
			below = rows_hull(below, *strip_rows_at(own, i, node));
		*strip_rows_at(&rows->grad, i, node) = below;
	}
}

// From the output downwards: feature maps that accumulations, ReLU gradients and higher layers read.
static void activation_rows(struct backward_rows *rows, const struct row_emit *emit, int i)
{
	const struct strip_rows *own = &rows->own;

	for (int node = own->last - 1; node >= own->first - 1; node--) {
		const struct net_node *reader = row_node(emit, node + 1);
		struct rows read = { 0, 0 };

		if (!rows_empty(*strip_rows_at(&rows->act, i, node + 1)))
			read = rows_of_input(reader, *strip_rows_at(&rows->act, i, node + 1));
		if (reader->op == NET_CONV)
			read = rows_hull(read, rows_of_input(reader, *strip_rows_at(own, i, node + 1)));
		// The input of a normalization that the segment begins with enters its sums.
		if (node < own->first ? row_has_norm(emit) : row_node(emit, node)->op == NET_RELU && row_input_has_gradient(emit, node))
			read = rows_hull(read, *strip_rows_at(&rows->grad, i, node));
		*strip_rows_at(&rows->act, i, node) = read;
	}
}

static void backward_strip(struct row_emit *emit, const struct backward_rows *rows, int i)
{
	const int first = rows->own.first, last = rows->own.last;

	if (emit->holds_input)
		row_move(emit, SCHED_LOAD, SCHED_ACT, row_source(emit), *strip_rows_at(&rows->act, i, first - 1));
	for (int node = first; node < last; node++)
		row_activation(emit, node, *strip_rows_at(&rows->act, i, node));
	row_output_gradient(emit, *strip_rows_at(&rows->grad, i, last));
	for (int node = last; node >= first; node--) {
		if (row_node(emit, node)->op == NET_CONV)
			row_accumulate(emit, node, *strip_rows_at(&rows->own, i, node));
		if (row_input_has_gradient(emit, node))
			row_gradient(emit, node, *strip_rows_at(&rows->grad, i, node - 1));
	}
	row_norm_gradient(emit, *strip_rows_at(&rows->grad, i, first - 1));
}

static int backward(struct row_emit *emit, struct sched_group *group, struct backward_rows *rows)
{
	strip_rows_own(&rows->own, &rows->need, emit->build->graph->net);
	for (int i = 0; i < rows->own.strips; i++) {
		if (!row_begin_strip(emit, group, i))
			continue;
		gradient_rows(rows, emit, i);
		activation_rows(rows, emit, i);
		backward_strip(emit, rows, i);
	}
	return emit->writer.rc;
}

int row_build_overl(struct row_emit *emit, struct sched_group *group)
{
	const int first = emit->body, last = emit->build->last, strips = emit->build->strips;
	struct backward_rows rows = { .need = { .rows = NULL } };
	int rc;

	if (strip_rows_init(&rows.need, first, last, strips) || strip_rows_init(&rows.own, first, last, strips) ||
	    strip_rows_init(&rows.grad, first, last, strips) || strip_rows_init(&rows.act, first, last, strips)) {
		rc = wc_fail(emit->writer.err, WC_ERR_SYSTEM, "out of memory");
	} else {
		strip_rows_overl(&rows.need, emit->build->graph->net);
		rc = emit->build->phase == SCHED_FORWARD ? forward(emit, group, &rows.need) : backward(emit, group, &rows);
	}
	strip_rows_release(&rows.need);
	strip_rows_release(&rows.own);
	strip_rows_release(&rows.grad);
	strip_rows_release(&rows.act);
	return rc;
}
