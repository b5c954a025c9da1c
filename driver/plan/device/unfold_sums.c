// SPDX-License-Identifier: Apache-2.0
//
// Sums: weight gradients, and what normalizations count.
#include "driver/plan/device/unfold_internal.h"

// Each block is a cut of K.
void unfold_accumulate(struct unfold *u)
{
	const struct sched_statement *statement = u->statement;
	const struct net_node *node = &u->net->nodes[statement->node];
	const bool streams = statement->from_count || statement->saved_count;
	struct rows rows;

	for (int i = 0; !rows_empty(rows = unfold_block(u, (struct rows){ statement->lo, statement->hi }, streams, i)); i++) {
		unfold_fetch_gradient(u, statement->node, rows);
		unfold_fetch_act(u, node->inputs[0], rows_of_input(node, rows));
		unfold_say(u, SCHED_ACCUMULATE, SCHED_GRAD, statement->node, rows);
		unfold_release(u);
	}
}

// Whether the statement before has made them of its rows, on their way to DRAM.
static bool was_on_the_way(const struct unfold *u)
{
	const struct sched_statement *before = u->statement - 1;
	const int input = u->net->nodes[u->statement->node].inputs[0];

	if (u->at == 0 || u->group->phase != SCHED_FORWARD || before->op != SCHED_COMPUTE || before->tensor != SCHED_ACT || before->node != input)
		return false;
	for (int i = 0; i < before->to_count; i++)
		if (before->to[i].tensor == SCHED_ACT && before->to[i].node == input)
			return true;
	return false;
}

void unfold_statistics(struct unfold *u)
{
	const struct sched_statement *statement = u->statement;
	const struct net_node *node = &u->net->nodes[statement->node];
	const bool streams = statement->from_count || statement->saved_count;
	struct rows rows;

	if (was_on_the_way(u))
		return;
	for (int i = 0; !rows_empty(rows = unfold_block(u, (struct rows){ statement->lo, statement->hi }, streams, i)); i++) {
		if (u->group->phase == SCHED_BACKWARD)
			unfold_fetch_gradient(u, statement->node, rows);
		unfold_fetch_act(u, node->inputs[0], rows);
		unfold_say(u, SCHED_STATISTICS, SCHED_ACT, statement->node, rows);
		unfold_release(u);
	}
}
