// SPDX-License-Identifier: Apache-2.0
//
// One operator backward: weight gradient, then the part of its input's gradient.
#include "driver/plan/paper/emit_internal.h"

// How far a tensor's gradient has come when `reader` adds its part.
struct part {
	bool continues; // later readers have added theirs
	bool last;      // the sum is complete with it
};

static struct part part_of(const struct emit *emit, int tensor, int reader)
{
	const struct paper_list *uses = &emit->graph->uses[tensor];

	return (struct part){ .continues = uses->items[uses->count - 1] != reader, .last = uses->items[0] == reader };
}

static bool has_gradient(const struct emit *emit, int tensor)
{
	return emit_node(emit, tensor)->has_gradient;
}

// The sums so far come from DRAM, and the sums go there, unless they stay on the chip.
static void place_parts(struct emit *emit, struct sched_statement *statement, int tensor, int reader)
{
	const struct paper_list *pieces = &emit->graph->pieces[tensor];

	for (int i = 0; i < pieces->count; i++) {
		const int piece = pieces->items[i];
		const struct part part = part_of(emit, piece, reader);

		if (!has_gradient(emit, piece))
			continue;
		if (part.continues && emit->group->reuse != PAPER_ALL)
			emit_from(emit, statement, SCHED_GRAD, piece);
		if (part.last ? !emit_grad_stays(emit, piece) : emit->group->reuse != PAPER_ALL)
			emit_to(emit, statement, SCHED_GRAD, piece);
	}
}

// The gradient of the operator's output, if it is in DRAM: loaded, or streamed by each statement that reads it.
static bool streams_gradient(struct emit *emit, int index)
{
	struct sched_statement load = emit_whole(emit, SCHED_LOAD, SCHED_GRAD, index);

	if (emit_grad_stays(emit, index))
		return false;
	if (emit->group->reuse == PAPER_STREAMED || !emit_fits(emit, index))
		return true;
	emit_add(emit, &load);
	return false;
}

static void accumulate(struct emit *emit, int index, bool streams)
{
	struct sched_statement statement = emit_whole(emit, SCHED_ACCUMULATE, SCHED_GRAD, index);

	if (streams)
		emit_from(emit, &statement, SCHED_GRAD, index);
	emit_from(emit, &statement, SCHED_ACT, emit_node(emit, index)->inputs[0]);
	emit_add(emit, &statement);
}

// An add's gradient is the part of each input. A layer by itself need not even move it.
static void split(struct emit *emit, int index, bool streams)
{
	const struct net_node *node = emit_node(emit, index);
	struct sched_statement statement = emit_whole(emit, SCHED_SPLIT, SCHED_GRAD, index);
	bool view = emit->group->reuse == PAPER_STREAMED;

	for (int i = 0; i < node->input_count; i++) {
		const struct paper_list *pieces = &emit->graph->pieces[node->inputs[i]];

		for (int k = 0; k < pieces->count; k++)
			view &= !part_of(emit, pieces->items[k], index).continues;
	}
	statement.view = view;
	if (streams && !view)
		emit_from(emit, &statement, SCHED_GRAD, index);
	for (int i = 0; !view && i < node->input_count; i++)
		place_parts(emit, &statement, node->inputs[i], index);
	emit_add(emit, &statement);
}

// The saved operand of what has no weights to speak of.
static void add_saved(struct emit *emit, struct sched_statement *statement, int index)
{
	const struct net_node *node = emit_node(emit, index);

	if (node->op == NET_GN)
		emit_from(emit, statement, SCHED_ACT, node->inputs[0]);
	if (node->op == NET_MAX_POOL)
		emit_from(emit, statement, SCHED_MASK, index);
	if (node->op != NET_RELU)
		return;
	statement->with = emit->group->reuse == PAPER_STREAMED ? SCHED_WITH_ACT : SCHED_WITH_MASK;
	emit_from(emit, statement, emit->group->reuse == PAPER_STREAMED ? SCHED_ACT : SCHED_MASK, index);
}

void emit_backward(struct emit *emit, int index)
{
	const struct net_node *node = emit_node(emit, index);
	const bool streams = streams_gradient(emit, index);
	const int input = node->inputs[0];
	struct sched_statement compute = emit_whole(emit, SCHED_COMPUTE, SCHED_GRAD, input);

	if (node->op == NET_ADD) {
		split(emit, index, streams);
		return;
	}
	if (node->op == NET_CONV || node->op == NET_FC)
		accumulate(emit, index, streams);
	if (!has_gradient(emit, input)) {
		// A normalization of the image still has gamma and beta.
		compute = emit_whole(emit, SCHED_STATISTICS, SCHED_ACT, index);
		if (node->op != NET_GN)
			return;
	} else if (emit_node(emit, input)->consumer_count > 1) {
		compute.by = index;
	}
	if (streams)
		emit_from(emit, &compute, SCHED_GRAD, index);
	add_saved(emit, &compute, index);
	if (compute.op == SCHED_COMPUTE)
		place_parts(emit, &compute, input, index);
	emit_add(emit, &compute);
}
