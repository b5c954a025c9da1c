// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/paper/occupancy.h"

#include <stdlib.h>
#include <string.h>

#include "driver/plan/operands.h"

enum { TENSORS = SCHED_GRAD + 1 };

// A slab: rows of a tensor (a piece) from its first statement to its last.
struct life {
	enum sched_tensor tensor;
	int node;
	struct rows rows;
	int first, last;
};

struct strip_state {
	const struct paper_graph *graph;
	enum sched_phase phase;
	struct life *lives;
	int life_count;
	int *current;       // [node * TENSORS + tensor]: index of the slab that is there, -1
	int statement;
	bool failed;
};

static struct life *current_life(struct strip_state *state, enum sched_tensor tensor, int piece)
{
	const int index = state->current[piece * TENSORS + (int)tensor];

	return index < 0 ? NULL : &state->lives[index];
}

// The statement names or reads rows of a slab; `fills` begins one where there is none.
static void touch(struct strip_state *state, enum sched_tensor tensor, int node, struct rows rows, bool fills)
{
	const struct paper_list *pieces = &state->graph->pieces[node];

	for (int i = 0; i < pieces->count && tensor != SCHED_MASK; i++) {
		const int piece = pieces->items[i];
		struct life *life = current_life(state, tensor, piece);

		if (life) {
			life->last = state->statement;
			life->rows = rows_hull(life->rows, rows);
		} else if (fills) {
			struct life *lives = reallocarray(state->lives, (size_t)state->life_count + 1, sizeof(*lives));

			if (!lives) {
				state->failed = true;
				return;
			}
			state->lives = lives;
			state->current[piece * TENSORS + (int)tensor] = state->life_count;
			lives[state->life_count++] = (struct life){ tensor, piece, rows, state->statement, state->statement };
		}
	}
}

static bool listed(const struct paper_graph *graph, const struct sched_operand *list, int count, enum sched_tensor tensor, int piece)
{
	for (int i = 0; i < count; i++)
		for (int k = 0; list[i].tensor == tensor && k < graph->pieces[list[i].node].count; k++)
			if (graph->pieces[list[i].node].items[k] == piece)
				return true;
	return false;
}

// Operands that do not stream, piece by piece.
static void read_operand(struct strip_state *state, const struct sched_statement *statement, enum sched_tensor tensor, int node)
{
	const struct sched_operand operand = { .tensor = tensor, .node = node };
	const struct rows rows = operand_rows(state->graph->net, statement, &operand);
	const struct paper_list *pieces = &state->graph->pieces[node];

	for (int i = 0; i < pieces->count; i++) {
		const int source = tensor == SCHED_ACT ? operand_source(state->graph->net, statement, pieces->items[i]) : pieces->items[i];

		if (!listed(state->graph, statement->from, statement->from_count, tensor, source))
			touch(state, tensor, source, rows, false);
	}
}

static void write_result(struct strip_state *state, const struct sched_statement *statement, enum sched_tensor tensor, int node)
{
	const struct rows rows = { statement->lo, statement->hi };
	const struct paper_list *pieces = &state->graph->pieces[node];

	for (int i = 0; i < pieces->count; i++) {
		const int piece = pieces->items[i];
		const bool leaves = listed(state->graph, statement->to, statement->to_count, tensor, piece);

		if (tensor == SCHED_GRAD && !state->graph->net->nodes[piece].has_gradient)
			continue;
		// A sum so far that is in its slab is used, wherever the new sum goes.
		if (!leaves || !listed(state->graph, statement->from, statement->from_count, tensor, piece))
			touch(state, tensor, piece, rows, !leaves);
	}
}

static void read_gradient_operands(struct strip_state *state, const struct sched_statement *statement)
{
	const struct net *net = state->graph->net;
	const int last = operand_chain(net, statement, operand_chain_length(statement) - 1);

	read_operand(state, statement, SCHED_GRAD, last);
	for (int i = 0; i < statement->saved_count; i++)
		read_operand(state, statement, SCHED_ACT, statement->saved[i].node);
	if (statement->saved_count)
		return;
	if (statement->through_count || net->nodes[last].op == NET_GN)
		read_operand(state, statement, SCHED_ACT, statement->node);
	else if (statement->with == SCHED_WITH_ACT)
		read_operand(state, statement, SCHED_ACT, last);
}

static void follow(struct strip_state *state, const struct sched_statement *statement)
{
	const struct net_node *node = &state->graph->net->nodes[statement->node];
	const struct rows rows = { statement->lo, statement->hi };

	switch (statement->op) {
	case SCHED_LOAD:
	case SCHED_TAKE:
	case SCHED_STORE:
	case SCHED_KEEP:
		touch(state, statement->tensor, statement->node, rows, statement->op == SCHED_LOAD || statement->op == SCHED_TAKE);
		return;
	case SCHED_FREE:
		for (int i = 0; i < state->graph->pieces[statement->node].count; i++)
			state->current[state->graph->pieces[statement->node].items[i] * TENSORS + (int)statement->tensor] = -1;
		return;
	case SCHED_COMPUTE:
		if (statement->tensor == SCHED_GRAD)
			read_gradient_operands(state, statement);
		for (int i = 0; statement->tensor == SCHED_ACT && i < node->input_count; i++)
			read_operand(state, statement, SCHED_ACT, node->inputs[i]);
		write_result(state, statement, statement->tensor, statement->node);
		return;
	case SCHED_ACCUMULATE:
	case SCHED_STATISTICS:
		if (statement->op == SCHED_ACCUMULATE || state->phase == SCHED_BACKWARD)
			read_operand(state, statement, SCHED_GRAD, statement->node);
		read_operand(state, statement, SCHED_ACT, node->inputs[0]);
		return;
	case SCHED_SPLIT:
		read_operand(state, statement, SCHED_GRAD, statement->node);
		for (int i = 0; !statement->view && i < node->input_count; i++)
			write_result(state, statement, SCHED_GRAD, node->inputs[i]);
		return;
	default:
		return;
	}
}

static int64_t slab_bytes(const struct strip_state *state, const struct life *life)
{
	const struct net_shape *shape = &state->graph->net->nodes[life->node].out;

	return 2 * (int64_t)rows_count(life->rows) * shape->width * shape->channels;
}

static bool may_be_in_place(const struct strip_state *state, const struct sched_statement *statement)
{
	const struct net *net = state->graph->net;
	enum net_op op;

	if (statement->op == SCHED_SPLIT)
		return true;
	if (statement->op != SCHED_COMPUTE)
		return false;
	op = net->nodes[statement->tensor == SCHED_ACT ? statement->node : sched_gradient_reader(net, statement)].op;
	return op == NET_RELU || op == NET_GN || (op == NET_ADD && statement->tensor == SCHED_ACT);
}

// Bytes saved at a statement that works in place: a slab of the result's rows that ends there makes room for one that begins there.
static int64_t saved_in_place(const struct strip_state *state, const struct sched_statement *statement, int at)
{
	int64_t ending = 0, beginning = 0;

	if (!may_be_in_place(state, statement))
		return 0;
	for (int i = 0; i < state->life_count; i++) {
		const struct life *life = &state->lives[i];

		if (life->rows.lo != statement->lo || life->rows.hi != statement->hi)
			continue;
		// Pieces of a concatenation together; of the parts of a split, one.
		if (life->first == at && (!beginning || statement->op != SCHED_SPLIT))
			beginning += slab_bytes(state, life);
		// Of the operands: a saved activation's room is none for a gradient's result.
		else if (life->first < at && life->last == at && life->tensor == statement->tensor)
			ending += slab_bytes(state, life);
	}
	return ending < beginning ? ending : beginning;
}

static int64_t kept_bytes(const struct paper_graph *graph, const struct sched_strip *strip, int end)
{
	int64_t bytes = 0;

	for (int i = 0; i < end; i++) {
		const struct net_shape *shape = &graph->net->nodes[strip->statements[i].node].out;

		if (strip->statements[i].op == SCHED_KEEP)
			bytes += 2 * (int64_t)(strip->statements[i].hi - strip->statements[i].lo) * shape->width * shape->channels;
	}
	return bytes;
}

// The statements of one strip; `before` is the strip executed before it, whose kept rows are still there.
static int follow_strip(struct strip_state *state, const struct sched_strip *strip, const struct sched_strip *before,
			struct paper_occupancy *occupancy)
{
	int64_t *change = calloc((size_t)strip->statement_count + 1, sizeof(*change));
	int64_t live = before ? kept_bytes(state->graph, before, before->statement_count) : 0;

	if (!change)
		return WC_ERR_SYSTEM;
	state->life_count = 0;
	for (int i = 0; i < state->graph->net->node_count * TENSORS; i++)
		state->current[i] = -1;
	for (state->statement = 0; !state->failed && state->statement < strip->statement_count; state->statement++)
		follow(state, &strip->statements[state->statement]);
	for (int i = 0; i < state->life_count; i++) {
		change[state->lives[i].first] += slab_bytes(state, &state->lives[i]);
		change[state->lives[i].last + 1] -= slab_bytes(state, &state->lives[i]);
	}
	for (int i = 0; i < strip->statement_count; i++) {
		const struct sched_statement *statement = &strip->statements[i];
		int64_t bytes;

		live += change[i];
		bytes = live + kept_bytes(state->graph, strip, i + 1) - saved_in_place(state, statement, i);
		if (bytes > occupancy->sample_bytes) {
			occupancy->sample_bytes = bytes;
			occupancy->node = statement->node;
		}
	}
	free(change);
	return state->failed ? WC_ERR_SYSTEM : 0;
}

int paper_occupancy(const struct paper_graph *graph, const struct sched_group *group, struct paper_occupancy *occupancy, struct wc_error *err)
{
	struct strip_state state = { .graph = graph, .phase = group->phase };
	int rc = 0;

	*occupancy = (struct paper_occupancy){ .node = group->first };
	for (int i = 0; i < graph->net->node_count; i++) {
		occupancy->resident_bytes += (int64_t)operand_resident_bytes(&graph->net->nodes[i], group->weight[i], 2);
		occupancy->resident_bytes += (int64_t)operand_resident_bytes(&graph->net->nodes[i], group->wgrad[i], 2);
	}
	state.current = calloc((size_t)graph->net->node_count * TENSORS, sizeof(*state.current));
	if (!state.current)
		rc = WC_ERR_SYSTEM;
	for (int i = 0; !rc && i < group->strip_count; i++)
		rc = follow_strip(&state, &group->strips[i], i ? &group->strips[i - 1] : NULL, occupancy);
	free(state.current);
	free(state.lives);
	return rc ? wc_fail(err, WC_ERR_SYSTEM, "out of memory") : 0;
}
