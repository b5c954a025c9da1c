// SPDX-License-Identifier: Apache-2.0
//
// Lives of the tensors' slabs in a strip.
#include "driver/plan/device/expand.h"

#include <stdlib.h>

int *expand_current(struct expansion *x, enum sched_tensor tensor, int node)
{
	return &x->current[(int)tensor * x->net->node_count + node];
}

struct expand_life *expand_life(struct expansion *x, enum sched_tensor tensor, int node)
{
	const int current = *expand_current(x, tensor, node);

	return current < 0 ? NULL : &x->lives[current];
}

static int begin_life(struct expansion *x, enum sched_tensor tensor, int node, int statement)
{
	if (x->life_count == x->life_capacity) {
		const int capacity = x->life_capacity ? 2 * x->life_capacity : 32;
		struct expand_life *lives = reallocarray(x->lives, (size_t)capacity, sizeof(*lives));

		if (!lives)
			return wc_fail(x->err, WC_ERR_SYSTEM, "out of memory");
		x->lives = lives;
		x->life_capacity = capacity;
	}
	x->lives[x->life_count] = (struct expand_life){ .first = statement, .last = statement, .slab = -1, .next = -1 };
	*expand_current(x, tensor, node) = x->life_count++;
	return 0;
}

// Lives of the strip's tensors: what each statement names, fills and reads. `before` is the tensor's life before a `free`, per kind and node.
static int survey_statement(struct expansion *x, const struct sched_statement *statement, int index, int *before, int *first)
{
	int rc = use_find(&x->uses, x->net, x->group->phase, statement) ? wc_fail(x->err, WC_ERR_SYSTEM, "out of memory") : 0;

	if (statement->op == SCHED_FREE) {
		int *current = expand_current(x, statement->tensor, statement->node), *ended = &before[current - x->current];

		*ended = *current >= 0 ? *current : *ended;
		*current = -1;
	}
	for (int i = 0; !rc && i < x->uses.count; i++) {
		const struct use *use = &x->uses.items[i];
		int *current = expand_current(x, use->tensor, use->node), *ended = &before[current - x->current];

		// What reads rows that are not there is found when it is expanded.
		if (*current < 0 && use->role == USE_READ)
			continue;
		if (*current < 0) {
			rc = begin_life(x, use->tensor, use->node, index);
			if (rc)
				break;
			if (*ended >= 0)
				x->lives[*ended].next = *current;
			else
				first[current - x->current] = *current;
		}
		x->lives[*current].last = index;
		if (use->role != USE_READ)
			x->lives[*current].hull = rows_hull(x->lives[*current].hull, use->rows);
	}
	return rc;
}

int expand_survey(struct expansion *x, const struct sched_strip *strip)
{
	const int tensors = EXPAND_TENSOR_KINDS * x->net->node_count;
	int *before = malloc(2 * (size_t)tensors * sizeof(*before)), *first = before + tensors, rc = before ? 0 : wc_fail(x->err, WC_ERR_SYSTEM, "out of memory");

	x->life_count = 0;
	for (int i = 0; !rc && i < tensors; i++)
		before[i] = first[i] = x->current[i] = -1;
	for (int i = 0; !rc && i < strip->statement_count; i++)
		rc = survey_statement(x, &strip->statements[i], i, before, first);
	for (int i = 0; !rc && i < tensors; i++)
		x->current[i] = first[i];
	free(before);
	return rc;
}

int expand_tensor(struct expansion *x, enum sched_tensor tensor, int node)
{
	static const enum slab_kind kinds[] = { [SCHED_ACT] = SLAB_ACT, [SCHED_GRAD] = SLAB_GRAD, [SCHED_MASK] = SLAB_MASK };
	struct expand_life *life = expand_life(x, tensor, node);

	if (life->slab < 0)
		life->slab = expand_map_slab(x, kinds[tensor], node, life->hull);
	return life->slab;
}

int expand_read(struct expansion *x, enum sched_tensor tensor, int node, struct rows rows, int *rc)
{
	const struct expand_life *life = expand_life(x, tensor, node);
	char where[200];

	if (*rc || rows_empty(rows))
		return -1;
	if (!life || life->slab < 0 || !rows_contain(life->hull, rows)) {
		*rc = wc_fail(x->err, WC_ERR_INPUT, "%s, strip %d: rows %d:%d of %s:%s are read but not in the buffer",
			      expand_group_text(x, where, sizeof(where)), x->strip, rows.lo, rows.hi, sched_tensor_name(tensor),
			      x->net->nodes[node].name);
		return -1;
	}
	return life->slab;
}
