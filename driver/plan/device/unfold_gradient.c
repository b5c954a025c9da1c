// SPDX-License-Identifier: Apache-2.0
//
// Backward operators: parts of gradients, also through chains, and the gradients of joins.
#include "driver/plan/device/unfold_internal.h"

// The reader whose part is the last of a tensor's gradient: the first to run.
static int first_reader(const struct unfold *u, int node)
{
	return u->net->nodes[node].consumers[0];
}

// Whether rows of a gradient are in the buffer for the present block alone: they go to DRAM behind it, or, a concatenation's, are complete and
// split. A concatenation's sum so far that neither came from DRAM nor goes there stays, as its pieces' sums do.
static bool is_passing(const struct unfold *u, int node, int reader, bool comes)
{
	const bool complete = u->net->nodes[node].op == NET_CONCAT && reader == first_reader(u, node);

	return unfold_goes(u, SCHED_GRAD, node) || (complete && (comes || !use_continues(u->net, node, reader)));
}

void unfold_begin_gradient(struct unfold *u, int node, int reader, struct rows rows)
{
	const bool comes = use_continues(u->net, node, reader) && unfold_comes(u, SCHED_GRAD, node);

	if (is_passing(u, node, reader, comes))
		unfold_temporary(u, SCHED_GRAD, node);
	if (comes)
		unfold_say(u, SCHED_LOAD, SCHED_GRAD, node, rows);
}

static void split_concat(struct unfold *u, int concat, struct rows rows)
{
	const struct net_node *node = &u->net->nodes[concat];

	for (int i = 0; i < node->input_count; i++)
		if (u->net->nodes[node->inputs[i]].has_gradient)
			unfold_begin_gradient(u, node->inputs[i], concat, rows);
	unfold_say(u, SCHED_SPLIT, SCHED_GRAD, concat, rows);
	for (int i = 0; i < node->input_count; i++)
		if (u->net->nodes[node->inputs[i]].has_gradient)
			unfold_finish_gradient(u, node->inputs[i], concat, rows);
}

void unfold_finish_gradient(struct unfold *u, int node, int reader, struct rows rows)
{
	if (u->net->nodes[node].op == NET_CONCAT && reader == first_reader(u, node))
		split_concat(u, node, rows);
	else if (unfold_goes(u, SCHED_GRAD, node))
		unfold_say(u, SCHED_STORE, SCHED_GRAD, node, rows);
}

static int chain(const struct unfold *u, int i)
{
	return operand_chain(u->net, u->statement, i);
}

// Activations that the operators of the chain want: a ReLU its output, a normalization its input.
static void fetch_saved(struct unfold *u, struct rows rows)
{
	const int count = operand_chain_length(u->statement), reader = chain(u, 0);
	const struct net_node *node = &u->net->nodes[reader];

	if (!u->statement->through_count) {
		if (node->op == NET_RELU && u->statement->with == SCHED_WITH_MASK)
			unfold_fetch_mask(u, reader, rows);
		else if (node->op == NET_RELU)
			unfold_fetch_act(u, reader, rows);
		else if (node->op == NET_GN)
			unfold_fetch_act(u, u->statement->node, rows);
		else if (node->op == NET_MAX_POOL)
			unfold_fetch_mask(u, reader, rows_of_gradient(node, rows));
		return;
	}
	unfold_fetch_act(u, u->statement->node, rows);
	for (int i = 0; i < count; i++) {
		const bool wanted = u->net->nodes[chain(u, i)].op == NET_RELU || i + 1 < count;

		if (!wanted)
			break;
		unfold_temporary(u, SCHED_ACT, chain(u, i));
		unfold_say(u, SCHED_COMPUTE, SCHED_ACT, chain(u, i), rows);
	}
}

// Backward through the operators of the chain from its top down to, but not with, operator `end`.
static void through(struct unfold *u, struct rows rows, int end)
{
	const int count = operand_chain_length(u->statement);
	const struct net_node *reader = &u->net->nodes[chain(u, 0)];

	unfold_fetch_gradient(u, chain(u, count - 1), count == 1 ? rows_of_gradient(reader, rows) : rows);
	fetch_saved(u, rows);
	for (int i = count - 1; i > end && i > 0; i--) {
		struct sched_statement compute = { .op = SCHED_COMPUTE, .tensor = SCHED_GRAD, .node = chain(u, i - 1), .lo = rows.lo, .hi = rows.hi };

		compute.with = u->net->nodes[chain(u, i)].op == NET_RELU ? SCHED_WITH_ACT : SCHED_WITH_NONE;
		unfold_temporary(u, SCHED_GRAD, chain(u, i - 1));
		unfold_add(u, &compute);
	}
}

// A normalization of the chain that makes its sums itself cannot go on before all rows have passed.
static void sums_before(struct unfold *u)
{
	const struct sched_statement *statement = u->statement;
	struct rows rows;

	for (int end = operand_chain_length(statement) - 1; end >= 0; end--) {
		if (u->net->nodes[chain(u, end)].op != NET_GN || unfold_sums_known(u, chain(u, end)))
			continue;
		for (int i = 0; !rows_empty(rows = unfold_block(u, (struct rows){ statement->lo, statement->hi }, true, i)); i++) {
			through(u, rows, end);
			unfold_say(u, SCHED_STATISTICS, SCHED_ACT, chain(u, end), rows);
			unfold_release(u);
		}
	}
}

static void one_block(struct unfold *u, struct rows rows)
{
	const int node = u->statement->node, reader = chain(u, 0);
	const enum net_op op = u->net->nodes[reader].op;
	struct sched_statement compute = { .op = SCHED_COMPUTE, .tensor = SCHED_GRAD, .node = node, .lo = rows.lo, .hi = rows.hi };

	if (u->net->nodes[node].consumer_count > 1)
		compute.by = reader;
	if (op == NET_RELU)
		compute.with = u->statement->with == SCHED_WITH_MASK ? SCHED_WITH_MASK : SCHED_WITH_ACT;
	through(u, rows, 0);
	unfold_begin_gradient(u, node, reader, rows);
	unfold_add(u, &compute);
	unfold_finish_gradient(u, node, reader, rows);
	unfold_release(u);
}

void unfold_gradient(struct unfold *u)
{
	const struct sched_statement *statement = u->statement;
	// Blocks of a fully connected layer's input need fewer weights at once.
	const bool streams = statement->from_count || statement->to_count || statement->saved_count || u->net->nodes[chain(u, 0)].op == NET_FC;
	struct rows rows;

	if (streams && u->of->blocks > 1)
		sums_before(u);
	for (int i = 0; !rows_empty(rows = unfold_block(u, (struct rows){ statement->lo, statement->hi }, streams, i)); i++)
		one_block(u, rows);
}

void unfold_split(struct unfold *u)
{
	const struct sched_statement *statement = u->statement;
	const struct net_node *node = &u->net->nodes[statement->node];
	const bool streams = statement->to_count || unfold_comes(u, SCHED_GRAD, statement->node);
	struct rows rows;

	for (int i = 0; !rows_empty(rows = unfold_block(u, (struct rows){ statement->lo, statement->hi }, streams, i)); i++) {
		unfold_fetch_gradient(u, statement->node, rows);
		for (int k = 0; k < node->input_count; k++)
			if (u->net->nodes[node->inputs[k]].has_gradient)
				unfold_begin_gradient(u, node->inputs[k], statement->node, rows);
		unfold_say(u, SCHED_SPLIT, SCHED_GRAD, statement->node, rows);
		for (int k = 0; k < node->input_count; k++)
			if (u->net->nodes[node->inputs[k]].has_gradient)
				unfold_finish_gradient(u, node->inputs[k], statement->node, rows);
		unfold_release(u);
	}
}
