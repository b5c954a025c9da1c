// SPDX-License-Identifier: Apache-2.0
//
// Forward operators, also those that backward runs again.
#include "driver/plan/device/unfold_internal.h"

// A normalization whose statistics the next statement makes of this one's rows on their way to DRAM; 0: none.
static int norm_on_the_way(const struct unfold *u)
{
	const struct sched_statement *next = u->statement + 1;

	if (u->at + 1 == u->source->statement_count || next->op != SCHED_STATISTICS || u->group->phase != SCHED_FORWARD)
		return 0;
	return u->net->nodes[next->node].inputs[0] == u->statement->node && unfold_goes(u, SCHED_ACT, u->statement->node) ? next->node : 0;
}

// Under `paper` a mask is written whenever it is made; in the halo of a strip that is more than once, while the device stores rows once.
static void store_mask(struct unfold *u, int node, struct rows rows)
{
	const struct rows rest = { rows.lo > u->masked[node] ? rows.lo : u->masked[node], rows.hi };

	unfold_say(u, SCHED_STORE, SCHED_MASK, node, rest);
	u->masked[node] = rows.hi > u->masked[node] ? rows.hi : u->masked[node];
}

static void one_block(struct unfold *u, struct rows rows, int norm)
{
	const int index = u->statement->node;
	const struct net_node *node = &u->net->nodes[index];
	const bool goes = unfold_goes(u, SCHED_ACT, index), masks = u->statement->with == SCHED_WITH_MASK || node->op == NET_MAX_POOL;
	struct sched_statement compute = { .op = SCHED_COMPUTE, .tensor = SCHED_ACT, .node = index, .lo = rows.lo, .hi = rows.hi };

	for (int i = 0; i < node->input_count; i++)
		unfold_fetch_act(u, node->inputs[i], rows_of_input(node, rows));
	if (goes)
		unfold_temporary(u, SCHED_ACT, index);
	if (masks)
		unfold_temporary(u, SCHED_MASK, index);
	compute.with = u->statement->with == SCHED_WITH_MASK ? SCHED_WITH_MASK : SCHED_WITH_NONE;
	unfold_add(u, &compute);
	if (masks && u->of->training && u->group->phase == SCHED_FORWARD)
		store_mask(u, index, rows);
	if (norm)
		unfold_say(u, SCHED_STATISTICS, SCHED_ACT, norm, rows);
	if (goes)
		unfold_say(u, SCHED_STORE, SCHED_ACT, index, rows);
	unfold_release(u);
}

// A normalization that makes its statistics itself cannot begin before all rows have passed.
static void statistics_before(struct unfold *u, bool streams)
{
	const struct sched_statement *statement = u->statement;
	const struct net_node *node = &u->net->nodes[statement->node];
	struct rows rows;

	if (node->op != NET_GN || u->group->phase != SCHED_FORWARD || unfold_sums_known(u, statement->node))
		return;
	for (int i = 0; !rows_empty(rows = unfold_block(u, (struct rows){ statement->lo, statement->hi }, streams, i)); i++) {
		unfold_fetch_act(u, node->inputs[0], rows);
		unfold_say(u, SCHED_STATISTICS, SCHED_ACT, statement->node, rows);
		unfold_release(u);
	}
}

void unfold_forward(struct unfold *u)
{
	const struct sched_statement *statement = u->statement;
	const bool comes = statement->from_count || statement->saved_count, streams = comes || unfold_goes(u, SCHED_ACT, statement->node);
	const int norm = norm_on_the_way(u);
	struct rows rows;

	if (streams && u->of->blocks > 1)
		statistics_before(u, comes);
	for (int i = 0; !rows_empty(rows = unfold_block(u, (struct rows){ statement->lo, statement->hi }, streams, i)); i++)
		one_block(u, rows, norm);
}
