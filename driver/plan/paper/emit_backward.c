// SPDX-License-Identifier: Apache-2.0
//
// One operator backward: weight gradient, then the part of its input's gradient.
#include "driver/plan/paper/emit_internal.h"

// How far a tensor's gradient has come when `reader` adds its part.
struct part {
	bool continues; // later readers have added theirs
	bool last;      // the sum is complete with it
	bool comes;     // the reader before in backward is in another group
	bool leaves;    // the reader behind is
};

static struct part part_of(const struct emit *emit, int tensor, int reader)
{
	const struct paper_list *uses = &emit->graph->uses[tensor];
	int at = 0;

	while (uses->items[at] != reader)
		at++;
	return (struct part){
		.continues = at + 1 < uses->count,
		.last = at == 0,
		.comes = at + 1 < uses->count && uses->items[at + 1] > emit->last,
		.leaves = at > 0 && uses->items[at - 1] < emit->first,
	};
}

static bool has_gradient(const struct emit *emit, int tensor)
{
	return emit_node(emit, tensor)->has_gradient;
}

// The sums so far come from DRAM, and the sums go there, unless they stay on the chip.
static bool sum_comes(const struct emit *emit, int piece, int reader)
{
	const struct part part = part_of(emit, piece, reader);

	return has_gradient(emit, piece) && part.continues && (emit->group->reuse != PAPER_ALL || part.comes);
}

static bool sum_leaves(const struct emit *emit, int piece, int reader)
{
	const struct part part = part_of(emit, piece, reader);

	return has_gradient(emit, piece) && (part.last ? !emit_grad_stays(emit, piece) : emit->group->reuse != PAPER_ALL || part.leaves);
}

// The pieces of a tensor for which `which` holds, or the tensor itself if it holds for all of them.
static void list(struct emit *emit, struct sched_statement *statement, int tensor, bool (*which)(const struct emit *, int, int), int reader,
		 void (*add)(struct paper_writer *, struct sched_statement *, enum sched_tensor, int))
{
	const struct paper_list *pieces = &emit->graph->pieces[tensor];
	bool all = true;

	for (int i = 0; i < pieces->count; i++)
		all &= which(emit, pieces->items[i], reader);
	for (int i = 0; !all && i < pieces->count; i++)
		if (which(emit, pieces->items[i], reader))
			add(&emit->writer, statement, SCHED_GRAD, pieces->items[i]);
	if (all)
		add(&emit->writer, statement, SCHED_GRAD, tensor);
}

static void place_parts(struct emit *emit, struct sched_statement *statement, int tensor, int reader)
{
	list(emit, statement, tensor, sum_comes, reader, paper_from);
	list(emit, statement, tensor, sum_leaves, reader, paper_to);
}

// The gradient of the operator's output, if it is in DRAM: loaded, or streamed by each statement that reads it.
static bool streams_gradient(struct emit *emit, int index)
{
	struct sched_statement load = paper_whole(&emit->writer, SCHED_LOAD, SCHED_GRAD, index);

	if (emit_grad_stays(emit, index))
		return false;
	if (emit->group->reuse == PAPER_STREAMED || !emit_fits(emit, index))
		return true;
	paper_add(&emit->writer, &load);
	return false;
}

static void accumulate(struct emit *emit, int index, bool streams)
{
	struct sched_statement statement = paper_whole(&emit->writer, SCHED_ACCUMULATE, SCHED_GRAD, index);

	if (streams)
		paper_from(&emit->writer, &statement, SCHED_GRAD, index);
	paper_from(&emit->writer, &statement, SCHED_ACT, emit_node(emit, index)->inputs[0]);
	paper_add(&emit->writer, &statement);
}

// An add's gradient is the part of each input. A layer by itself need not even move it.
static void split(struct emit *emit, int index, bool streams)
{
	const struct net_node *node = emit_node(emit, index);
	struct sched_statement statement = paper_whole(&emit->writer, SCHED_SPLIT, SCHED_GRAD, index);
	bool view = emit->group->reuse == PAPER_STREAMED;

	for (int i = 0; i < node->input_count; i++) {
		const struct paper_list *pieces = &emit->graph->pieces[node->inputs[i]];

		for (int k = 0; k < pieces->count; k++)
			view &= !part_of(emit, pieces->items[k], index).continues;
	}
	statement.view = view;
	if (streams && !view)
		paper_from(&emit->writer, &statement, SCHED_GRAD, index);
	for (int i = 0; !view && i < node->input_count; i++)
		place_parts(emit, &statement, node->inputs[i], index);
	paper_add(&emit->writer, &statement);
}

// The saved operand of what has no weights to speak of.
static void add_saved(struct emit *emit, struct sched_statement *statement, int index)
{
	const struct net_node *node = emit_node(emit, index);

	if (node->op == NET_GN)
		paper_from(&emit->writer, statement, SCHED_ACT, node->inputs[0]);
	if (node->op == NET_MAX_POOL)
		paper_from(&emit->writer, statement, SCHED_MASK, index);
	if (node->op != NET_RELU)
		return;
	statement->with = emit->group->reuse == PAPER_STREAMED ? SCHED_WITH_ACT : SCHED_WITH_MASK;
	paper_from(&emit->writer, statement, emit->group->reuse == PAPER_STREAMED ? SCHED_ACT : SCHED_MASK, index);
}

void emit_backward(struct emit *emit, int index)
{
	const struct net_node *node = emit_node(emit, index);
	const int input = node->inputs[0];
	struct sched_statement compute = paper_whole(&emit->writer, SCHED_COMPUTE, SCHED_GRAD, input);
	bool streams;

	if (!node->has_gradient)
		return;
	streams = streams_gradient(emit, index);
	if (node->op == NET_ADD) {
		split(emit, index, streams);
		return;
	}
	if (node->op == NET_CONV || node->op == NET_FC)
		accumulate(emit, index, streams);
	if (!has_gradient(emit, input)) {
		// A normalization of the image still has gamma and beta.
		compute = paper_whole(&emit->writer, SCHED_STATISTICS, SCHED_ACT, index);
		if (node->op != NET_GN)
			return;
	} else if (emit_node(emit, input)->consumer_count > 1) {
		compute.by = index;
	}
	if (streams)
		paper_from(&emit->writer, &compute, SCHED_GRAD, index);
	add_saved(emit, &compute, index);
	if (compute.op == SCHED_COMPUTE)
		place_parts(emit, &compute, input, index);
	paper_add(&emit->writer, &compute);
}
