// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/device/unfold_internal.h"

#include <stdlib.h>

enum { TENSORS = SCHED_MASK + 1 };

static void mark_named(struct unfold *u, enum sched_tensor tensor, int node)
{
	u->named[TENSORS * node + (int)tensor] = true;
}

// Which slabs there are behind a statement.
static void note(struct unfold *u, const struct sched_statement *statement)
{
	const struct net_node *node = &u->net->nodes[statement->node];

	if (statement->op == SCHED_SPLIT) {
		for (int i = 0; i < node->input_count; i++)
			mark_named(u, SCHED_GRAD, node->inputs[i]);
	} else if (statement->op == SCHED_LOAD || statement->op == SCHED_TAKE || statement->op == SCHED_COMPUTE) {
		mark_named(u, statement->tensor, statement->node);
		if (statement->op == SCHED_COMPUTE && statement->tensor == SCHED_ACT && (statement->with == SCHED_WITH_MASK || node->op == NET_MAX_POOL))
			mark_named(u, SCHED_MASK, statement->node);
	}
}

void unfold_add(struct unfold *u, const struct sched_statement *statement)
{
	if (u->rc || statement->lo >= statement->hi)
		return;
	if (build_statement(u->strip, statement))
		u->rc = WC_ERR_SYSTEM;
	note(u, statement);
}

void unfold_say(struct unfold *u, enum sched_op op, enum sched_tensor tensor, int node, struct rows rows)
{
	const struct sched_statement statement = { .op = op, .tensor = tensor, .node = node, .lo = rows.lo, .hi = rows.hi };

	unfold_add(u, &statement);
}

static void end_slab(struct unfold *u, enum sched_tensor tensor, int node)
{
	const struct sched_statement end = { .op = SCHED_FREE, .tensor = tensor, .node = node };

	if (!u->named[TENSORS * node + (int)tensor])
		return;
	if (!u->rc && build_statement(u->strip, &end))
		u->rc = WC_ERR_SYSTEM;
	u->named[TENSORS * node + (int)tensor] = false;
}

bool unfold_stays(const struct unfold *u, enum sched_tensor tensor, int node)
{
	// The planner knows a concatenation's pieces alone.
	const bool known = tensor != SCHED_MASK && u->net->nodes[node].op != NET_CONCAT;
	const int slab = known ? u->slabs.now[2 * node + (int)tensor] : -1;

	return slab >= 0 && u->slabs.slabs[slab].first <= u->at && u->at <= u->slabs.slabs[slab].last;
}

void unfold_temporary(struct unfold *u, enum sched_tensor tensor, int node)
{
	for (int i = 0; i < u->count; i++)
		if (u->temporaries[i].tensor == tensor && u->temporaries[i].node == node)
			return;
	if (unfold_stays(u, tensor, node) || u->rc)
		return;
	if (u->count == u->capacity) {
		const int capacity = u->capacity ? 2 * u->capacity : 16;
		struct unfold_temporary *temporaries = reallocarray(u->temporaries, (size_t)capacity, sizeof(*temporaries));

		if (!temporaries) {
			u->rc = WC_ERR_SYSTEM;
			return;
		}
		u->temporaries = temporaries;
		u->capacity = capacity;
	}
	// A slab of the same tensor that has had its last use would otherwise reach to here.
	end_slab(u, tensor, node);
	u->temporaries[u->count++] = (struct unfold_temporary){ tensor, node };
}

void unfold_release(struct unfold *u)
{
	for (int i = 0; i < u->count; i++)
		end_slab(u, u->temporaries[i].tensor, u->temporaries[i].node);
	u->count = 0;
}

static bool listed(const struct unfold *u, const struct sched_operand *list, int count, enum sched_tensor tensor, int node)
{
	for (int i = 0; i < count; i++)
		if (list[i].tensor == tensor && (operand_holds(u->net, list[i].node, node) || operand_holds(u->net, node, list[i].node)))
			return true;
	return false;
}

// The parts of views in DRAM are where the add's gradient is; on the device it is loaded, and they are stored, as tensors of their own.
static bool views_in_dram(const struct unfold *u)
{
	return u->statement->view && !unfold_stays(u, SCHED_GRAD, u->statement->node);
}

bool unfold_comes(const struct unfold *u, enum sched_tensor tensor, int node)
{
	return listed(u, u->statement->from, u->statement->from_count, tensor, node) ||
	       (tensor == SCHED_GRAD && node == u->statement->node && views_in_dram(u));
}

bool unfold_goes(const struct unfold *u, enum sched_tensor tensor, int node)
{
	return listed(u, u->statement->to, u->statement->to_count, tensor, node) || (tensor == SCHED_GRAD && views_in_dram(u));
}

static void compute_again(struct unfold *u, int node, struct rows rows)
{
	unfold_temporary(u, SCHED_ACT, node);
	unfold_say(u, SCHED_COMPUTE, SCHED_ACT, node, rows);
}

// From what stands for the operand up to it.
static void make_from(struct unfold *u, int source, int node, struct rows rows)
{
	if (node == source)
		return;
	make_from(u, source, u->net->nodes[node].inputs[0], rows);
	compute_again(u, node, rows);
}

void unfold_fetch_act(struct unfold *u, int node, struct rows rows)
{
	const int source = operand_source(u->net, u->statement, node);

	if (rows_empty(rows))
		return;
	if (u->net->nodes[node].op == NET_CONCAT) {
		for (int i = 0; i < u->net->nodes[node].input_count; i++)
			unfold_fetch_act(u, u->net->nodes[node].inputs[i], rows);
		compute_again(u, node, rows);
		return;
	}
	if (unfold_comes(u, SCHED_ACT, source) && !unfold_stays(u, SCHED_ACT, source)) {
		unfold_temporary(u, SCHED_ACT, source);
		unfold_say(u, SCHED_LOAD, SCHED_ACT, source, rows);
	}
	make_from(u, source, node, rows);
}

void unfold_fetch_gradient(struct unfold *u, int node, struct rows rows)
{
	if (rows_empty(rows) || !unfold_comes(u, SCHED_GRAD, node) || unfold_stays(u, SCHED_GRAD, node))
		return;
	unfold_temporary(u, SCHED_GRAD, node);
	unfold_say(u, SCHED_LOAD, SCHED_GRAD, node, rows);
}

void unfold_fetch_mask(struct unfold *u, int node, struct rows rows)
{
	unfold_temporary(u, SCHED_MASK, node);
	unfold_say(u, SCHED_LOAD, SCHED_MASK, node, rows);
}

struct rows unfold_block(const struct unfold *u, struct rows rows, bool streams, int i)
{
	const int count = rows_count(rows), wanted = streams ? u->of->blocks : 1, blocks = wanted < count ? wanted : count;

	if (i >= blocks)
		return (struct rows){ rows.hi, rows.hi };
	return (struct rows){ rows.lo + (int)((int64_t)count * i / blocks), rows.lo + (int)((int64_t)count * (i + 1) / blocks) };
}

bool unfold_sums_known(const struct unfold *u, int norm)
{
	return use_has_statistics(u->of->schedule, u->group, norm);
}

// Transfers of a concatenation are those of its pieces.
static void transfer(struct unfold *u)
{
	const struct sched_statement *statement = u->statement;
	const struct paper_list *pieces = &u->of->graph->pieces[statement->node];

	for (int i = 0; i < pieces->count; i++) {
		if (statement->op == SCHED_FREE)
			end_slab(u, statement->tensor, pieces->items[i]);
		else
			unfold_say(u, statement->op, statement->tensor, pieces->items[i], (struct rows){ statement->lo, statement->hi });
	}
}

static void unfold_statement(struct unfold *u)
{
	switch (u->statement->op) {
	case SCHED_COMPUTE:
		if (u->statement->tensor == SCHED_ACT)
			unfold_forward(u);
		else
			unfold_gradient(u);
		break;
	case SCHED_ACCUMULATE:
		unfold_accumulate(u);
		break;
	case SCHED_STATISTICS:
		unfold_statistics(u);
		break;
	case SCHED_SPLIT:
		unfold_split(u);
		break;
	default:
		transfer(u);
	}
	unfold_release(u);
}

static void unfold_strip(struct unfold *u, int index, struct sched_group *group)
{
	u->source = &u->group->strips[index];
	u->strip = build_strip(group);
	if (!u->strip || paper_slabs_lay_out(&u->slabs, u->source, u->group->phase))
		u->rc = WC_ERR_SYSTEM;
	for (int i = 0; i < TENSORS * u->net->node_count; i++)
		u->named[i] = false;
	for (u->at = 0; !u->rc && u->at < u->source->statement_count; u->at++) {
		u->statement = &u->source->statements[u->at];
		if (paper_slabs_step(&u->slabs, u->source, u->at, u->group->phase))
			u->rc = WC_ERR_SYSTEM;
		else
			unfold_statement(u);
	}
}

// A group covers the operators that it runs, those of concatenations and of what is made again among them.
static void cover(struct sched_group *group, const struct net *net)
{
	for (int i = 0; i < group->strip_count; i++)
		for (int k = 0; k < group->strips[i].statement_count; k++) {
			const struct sched_statement *statement = &group->strips[i].statements[k];
			const bool runs = statement->op == SCHED_COMPUTE || statement->op == SCHED_ACCUMULATE || statement->op == SCHED_STATISTICS ||
					  statement->op == SCHED_SPLIT;
			const bool gradient = statement->op == SCHED_COMPUTE && statement->tensor == SCHED_GRAD;
			const int node = gradient ? sched_gradient_reader(net, statement) : statement->node;

			if (!runs)
				continue;
			group->first = node < group->first ? node : group->first;
			group->last = node > group->last ? node : group->last;
		}
}

int unfold_group(const struct unfolding *unfolding, int index, struct sched_group *group, struct wc_error *err)
{
	struct unfold u = { .of = unfolding, .net = unfolding->graph->net, .group = &unfolding->schedule->groups[index], .err = err };

	group->tiling = u.group->tiling;
	u.named = calloc((size_t)TENSORS * (size_t)u.net->node_count, sizeof(*u.named));
	u.masked = calloc((size_t)u.net->node_count, sizeof(*u.masked));
	if (paper_slabs_init(&u.slabs, unfolding->graph) || !u.named || !u.masked)
		u.rc = WC_ERR_SYSTEM;
	for (int i = 0; !u.rc && i < u.group->strip_count; i++)
		unfold_strip(&u, i, group);
	if (!u.rc)
		cover(group, u.net);
	paper_slabs_release(&u.slabs);
	free(u.named);
	free(u.masked);
	free(u.temporaries);
	return u.rc ? wc_fail(err, u.rc, "out of memory") : 0;
}
