// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/paper/access.h"

#include <stdlib.h>

#include "driver/plan/operands.h"

struct deriving {
	struct access_list *list;
	const struct paper_graph *graph;
	const struct sched_statement *statement;
	const struct sched_statement *before; // the statement before it in the strip; NULL: none
	bool failed;
};

static bool is_piece(const struct paper_graph *graph, int node, int piece)
{
	for (int i = 0; i < graph->pieces[node].count; i++)
		if (graph->pieces[node].items[i] == piece)
			return true;
	return false;
}

// The entry of a clause that names a piece; NULL: none.
static const struct sched_operand *listed(const struct deriving *d, const struct sched_operand *list, int count, const struct access *access)
{
	for (int i = 0; i < count; i++)
		if (list[i].tensor == access->tensor && is_piece(d->graph, list[i].node, access->node))
			return &list[i];
	return NULL;
}

// Statistics may read what the statement before makes and sends to DRAM.
static bool passes_by(const struct deriving *d, const struct access *access)
{
	const struct sched_statement *before = d->before;

	return before && d->statement->op == SCHED_STATISTICS && before->op == SCHED_COMPUTE && before->tensor == access->tensor &&
	       before->lo <= access->rows.lo && before->hi >= access->rows.hi && is_piece(d->graph, before->node, access->node) &&
	       listed(d, before->to, before->to_count, access);
}

static void add(struct deriving *d, struct access access)
{
	const struct sched_statement *statement = d->statement;
	const bool result = access.role == ACCESS_RESULT;
	const struct sched_operand *entry = result ? listed(d, statement->to, statement->to_count, &access) : listed(d, statement->from, statement->from_count, &access);
	struct access_list *list = d->list;

	// An operator that reads a tensor twice finds it in one place.
	for (int i = 0; i < list->count; i++)
		if (list->items[i].role == access.role && list->items[i].tensor == access.tensor && list->items[i].node == access.node)
			return;
	if (entry)
		access.stream = entry->lo < entry->hi ? (struct rows){ entry->lo, entry->hi } : access.rows;
	access.passing = !result && !entry && passes_by(d, &access);
	if (list->count == list->capacity) {
		const int capacity = list->capacity ? 2 * list->capacity : 16;
		struct access *items = reallocarray(list->items, (size_t)capacity, sizeof(*items));

		d->failed |= !items;
		if (!items)
			return;
		list->items = items;
		list->capacity = capacity;
	}
	list->items[list->count++] = access;
}

static struct rows rows_needed(const struct deriving *d, enum sched_tensor tensor, int node)
{
	return operand_rows(d->graph->net, d->statement, &(struct sched_operand){ .tensor = tensor, .node = node });
}

// An activation, or what `using` names in its place.
static void add_operand(struct deriving *d, int named)
{
	const struct paper_list *pieces = &d->graph->pieces[named];
	const struct rows rows = rows_needed(d, SCHED_ACT, named);

	for (int i = 0; i < pieces->count; i++) {
		const struct paper_list *sources = &d->graph->pieces[operand_source(d->graph->net, d->statement, pieces->items[i])];

		for (int k = 0; k < sources->count; k++)
			add(d, (struct access){ .role = ACCESS_OPERAND, .node = sources->items[k], .named = named, .rows = rows });
	}
}

static void add_gradient(struct deriving *d, int node)
{
	add(d, (struct access){ .role = ACCESS_GRADIENT, .tensor = SCHED_GRAD, .node = node, .named = node, .rows = rows_needed(d, SCHED_GRAD, node) });
}

// Whether others than `reader` come before it in backward.
static bool has_sum(const struct paper_graph *graph, int piece, int reader)
{
	const struct paper_list *uses = &graph->uses[piece];

	return paper_is_output(graph, piece) || uses->items[uses->count - 1] != reader;
}

// The part of `reader` of its input's gradient.
static void add_part(struct deriving *d, int named, int reader)
{
	const struct paper_list *pieces = &d->graph->pieces[named];
	const struct rows rows = { d->statement->lo, d->statement->hi };

	for (int i = 0; i < pieces->count; i++) {
		struct access access = { .tensor = SCHED_GRAD, .node = pieces->items[i], .named = named, .rows = rows };

		if (!d->graph->net->nodes[access.node].has_gradient)
			continue;
		access.role = ACCESS_SUM;
		if (has_sum(d->graph, access.node, reader))
			add(d, access);
		access.role = ACCESS_RESULT;
		add(d, access);
	}
}

static void derive_gradient(struct deriving *d)
{
	const struct sched_statement *statement = d->statement;
	const struct net *net = d->graph->net;
	const int reader = operand_chain(net, statement, 0), last = operand_chain(net, statement, operand_chain_length(statement) - 1);

	add_gradient(d, last);
	if (statement->through_count || net->nodes[reader].op == NET_GN)
		add_operand(d, statement->node);
	else if (net->nodes[reader].op == NET_RELU && statement->with != SCHED_WITH_MASK)
		add_operand(d, reader);
	add_part(d, statement->node, reader);
}

static void derive_transfer(struct deriving *d)
{
	const struct sched_statement *statement = d->statement;
	const struct paper_list *pieces = &d->graph->pieces[statement->node];
	const bool fills = statement->op == SCHED_LOAD || statement->op == SCHED_TAKE;

	for (int i = 0; i < pieces->count && statement->tensor != SCHED_MASK; i++)
		if (statement->tensor == SCHED_ACT || d->graph->net->nodes[pieces->items[i]].has_gradient)
			add(d, (struct access){ .role = fills ? ACCESS_RESULT : ACCESS_NAMED, .tensor = statement->tensor, .node = pieces->items[i],
						.named = statement->node, .rows = { statement->lo, statement->hi } });
}

int access_derive(struct access_list *list, const struct paper_graph *graph, const struct sched_strip *strip, int index, enum sched_phase phase)
{
	const struct sched_statement *statement = &strip->statements[index];
	const struct net_node *node = &graph->net->nodes[statement->node];
	struct deriving d = { .list = list, .graph = graph, .statement = statement, .before = index ? statement - 1 : NULL };

	list->count = 0;
	switch (statement->op) {
	case SCHED_COMPUTE:
		if (statement->tensor == SCHED_GRAD) {
			derive_gradient(&d);
			break;
		}
		for (int i = 0; i < node->input_count; i++)
			add_operand(&d, node->inputs[i]);
		add(&d, (struct access){ .role = ACCESS_RESULT, .node = statement->node, .named = statement->node, .rows = { statement->lo, statement->hi } });
		break;
	case SCHED_ACCUMULATE:
	case SCHED_STATISTICS:
		if (statement->op == SCHED_ACCUMULATE || phase == SCHED_BACKWARD)
			add_gradient(&d, statement->node);
		add_operand(&d, node->inputs[0]);
		break;
	case SCHED_SPLIT:
		add_gradient(&d, statement->node);
		for (int i = 0; i < node->input_count; i++)
			add_part(&d, node->inputs[i], statement->node);
		break;
	case SCHED_FREE:
		break;
	default:
		derive_transfer(&d);
	}
	return d.failed ? WC_ERR_SYSTEM : 0;
}

bool access_in_slab(const struct access *access)
{
	if (access->passing || rows_empty(access->rows))
		return false;
	return rows_empty(access->stream) || access->stream.lo > access->rows.lo || access->stream.hi < access->rows.hi;
}
