// SPDX-License-Identifier: Apache-2.0
//
// One strip of a schedule for one iteration's samples, as steps on slabs.
#include "driver/plan/device/expand.h"

// What makes a row from the same row may write over its input: last use of the one, first of the other, same rows.
static bool share_in_place(struct expansion *x, enum sched_tensor tensor, int input, int result, int statement)
{
	const struct expand_life *from = expand_life(x, tensor, input), *to = expand_life(x, tensor, result);

	if (!from || from->slab < 0 || from->last != statement || to->first != statement || from->hull.lo != to->hull.lo || from->hull.hi != to->hull.hi)
		return false;
	x->root[to->slab] = x->root[from->slab];
	return true;
}

// Both inputs at first, then one after the other, in order; a concatenation's inputs alike, each to its place.
static int expand_joined(struct expansion *x, const struct sched_statement *statement, int index, struct step step)
{
	const struct net_node *node = &x->net->nodes[statement->node];
	const struct rows rows = { statement->lo, statement->hi };
	bool shared = false;
	int rc = 0;

	for (int i = 0; node->op == NET_ADD && !shared && i < 2; i++)
		shared = share_in_place(x, SCHED_ACT, node->inputs[i], statement->node, index);
	if (node->op == NET_ADD)
		step.source = expand_read(x, SCHED_ACT, node->inputs[0], rows, &rc);
	for (int i = node->op == NET_ADD; !rc && i < node->input_count; i++) {
		const int input = expand_read(x, SCHED_ACT, node->inputs[i], rows, &rc);

		step.part = i;
		if (node->op == NET_ADD)
			step.operand = input;
		else
			step.source = input;
		if (!rc)
			rc = expand_step(x, step);
		if (node->op == NET_ADD)
			step.source = step.result;
	}
	return rc;
}

static int expand_forward(struct expansion *x, const struct sched_statement *statement, int index)
{
	const struct net_node *node = &x->net->nodes[statement->node];
	const struct rows rows = { statement->lo, statement->hi };
	struct step step = step_make(STEP_FORWARD, statement->node, rows.lo, rows.hi);
	int rc = 0;

	// What is read comes first: it must be there before.
	step.source = expand_read(x, SCHED_ACT, node->inputs[0], rows_of_input(node, rows), &rc);
	if (rc)
		return rc;
	step.with = statement->with;
	step.result = expand_tensor(x, SCHED_ACT, statement->node);
	if (step.result < 0)
		return step.result;
	if (node->op == NET_CONV || node->op == NET_FC)
		return expand_conv_forward(x, step);
	step.channel_hi = node->out.channels;
	if (statement->with == SCHED_WITH_MASK || node->op == NET_MAX_POOL) {
		step.mask = expand_tensor(x, SCHED_MASK, statement->node);
		if (step.mask < 0)
			return step.mask;
	}
	if (node->op == NET_ADD || node->op == NET_CONCAT)
		return expand_joined(x, statement, index, step);
	if (node->op == NET_RELU || node->op == NET_GN)
		share_in_place(x, SCHED_ACT, node->inputs[0], statement->node, index);
	return node->op == NET_GN ? expand_norm_forward(x, statement, step) : expand_step(x, step);
}

// The saved operand of a gradient.
static int read_saved(struct expansion *x, const struct sched_statement *statement, int reader, int *rc)
{
	const struct net_node *node = &x->net->nodes[reader];
	const struct rows rows = { statement->lo, statement->hi };

	if (node->op == NET_RELU)
		return expand_read(x, statement->with == SCHED_WITH_MASK ? SCHED_MASK : SCHED_ACT, reader, rows, rc);
	if (node->op == NET_MAX_POOL)
		return expand_read(x, SCHED_MASK, reader, rows_of_gradient(node, rows), rc);
	return node->op == NET_GN ? expand_read(x, SCHED_ACT, statement->node, rows, rc) : -1;
}

static int expand_data_gradient(struct expansion *x, const struct sched_statement *statement, int index)
{
	const int reader = sched_gradient_reader(x->net, statement);
	const struct net_node *node = &x->net->nodes[reader];
	const struct rows rows = { statement->lo, statement->hi };
	struct step step = step_make(STEP_DATA_GRADIENT, reader, rows.lo, rows.hi), sum = step_make(STEP_SUM, statement->node, rows.lo, rows.hi);
	int rc = 0;

	step.with = statement->with;
	step.channel_hi = node->out.channels;
	step.source = expand_read(x, SCHED_GRAD, reader, rows_of_gradient(node, rows), &rc);
	step.operand = read_saved(x, statement, reader, &rc);
	if (rc)
		return rc;
	sum.result = step.result = expand_tensor(x, SCHED_GRAD, statement->node);
	if (step.result < 0)
		return step.result;
	if (use_continues(x->net, statement->node, reader))
		sum.source = step.result = expand_map_slab(x, SLAB_PART, statement->node, rows);
	else if (node->op == NET_RELU || node->op == NET_GN)
		share_in_place(x, SCHED_GRAD, reader, statement->node, index);
	if (step.result < 0)
		return step.result;
	if (node->op == NET_CONV || node->op == NET_FC)
		rc = expand_conv_gradient(x, step);
	else
		rc = node->op == NET_GN ? expand_norm_gradient(x, statement, step) : expand_step(x, step);
	return rc || sum.source < 0 ? rc : expand_step(x, sum);
}

static int expand_split(struct expansion *x, const struct sched_statement *statement, int index)
{
	const struct net_node *node = &x->net->nodes[statement->node];
	struct step step = step_make(STEP_SPLIT, statement->node, statement->lo, statement->hi);
	int rc = 0, in_place = -1;

	step.source = expand_read(x, SCHED_GRAD, statement->node, (struct rows){ statement->lo, statement->hi }, &rc);
	for (int i = 0; !rc && i < node->input_count; i++) {
		const int slab = x->net->nodes[node->inputs[i]].has_gradient ? expand_tensor(x, SCHED_GRAD, node->inputs[i]) : 0;

		rc = slab < 0 ? slab : 0;
	}
	// The last that fills its slab may take the place of the gradient, when the others have been made from it.
	for (int i = 0; node->op == NET_ADD && i < node->input_count; i++)
		if (x->net->nodes[node->inputs[i]].has_gradient && !use_continues(x->net, node->inputs[i], statement->node))
			in_place = i;
	if (rc || in_place < 0 || !share_in_place(x, SCHED_GRAD, statement->node, node->inputs[in_place], index))
		in_place = -1;
	for (int k = 0; !rc && k <= node->input_count; k++) {
		const int i = k < node->input_count ? k : in_place;

		if (i < 0 || (k < node->input_count && i == in_place) || !x->net->nodes[node->inputs[i]].has_gradient)
			continue;
		step.part = i;
		step.adds = use_continues(x->net, node->inputs[i], statement->node);
		step.result = expand_tensor(x, SCHED_GRAD, node->inputs[i]);
		rc = expand_step(x, step);
	}
	return rc;
}

static int expand_transfer(struct expansion *x, const struct sched_statement *statement)
{
	static const enum step_op ops[] = {
		[SCHED_LOAD] = STEP_LOAD, [SCHED_STORE] = STEP_STORE, [SCHED_TAKE] = STEP_TAKE, [SCHED_KEEP] = STEP_KEEP,
	};
	int slab = expand_tensor(x, statement->tensor, statement->node);

	return slab < 0 ? slab : expand_rows_transfer(x, ops[statement->op], slab, (struct rows){ statement->lo, statement->hi });
}

// What a statement reads and fills is there from its first step to its last, whichever of them need it.
static int hold_tensors(struct expansion *x, const struct sched_statement *statement, int first, int slab_first)
{
	const int last = x->program->step_count - 1;

	for (int i = slab_first; i < x->program->slab_count; i++)
		if (x->program->slabs[i].kind == SLAB_PART || x->program->slabs[i].kind == SLAB_WIDE)
			expand_hold(x, i, first, last);

	if (last <= first || !x->holds)
		return 0;
	if (use_find(&x->uses, x->net, x->group->phase, statement))
		return wc_fail(x->err, WC_ERR_SYSTEM, "out of memory");
	for (int i = 0; i < x->uses.count; i++) {
		const struct expand_life *life = expand_life(x, x->uses.items[i].tensor, x->uses.items[i].node);

		if (life && life->slab >= 0 && x->program->slabs[life->slab].first_step >= 0)
			expand_hold(x, life->slab, first, last);
	}
	return 0;
}

static int expand_operation(struct expansion *x, const struct sched_statement *statement, int index)
{
	int *current = expand_current(x, statement->tensor, statement->node);

	switch (statement->op) {
	case SCHED_ACCUMULATE:
		return expand_accumulate(x, statement);
	case SCHED_STATISTICS:
		return expand_statistics(x, statement->node, (struct rows){ statement->lo, statement->hi });
	case SCHED_SPLIT:
		return expand_split(x, statement, index);
	case SCHED_FREE:
		// A `free` before the first use is behind none.
		if (*current >= 0 && x->lives[*current].first < index)
			*current = x->lives[*current].next;
		return 0;
	case SCHED_COMPUTE:
		return statement->tensor == SCHED_ACT ? expand_forward(x, statement, index) : expand_data_gradient(x, statement, index);
	default:
		return expand_transfer(x, statement);
	}
}

static int expand_statement(struct expansion *x, const struct sched_statement *statement, int index)
{
	const int first = x->program->step_count, slab_first = x->program->slab_count;
	const int rc = expand_operation(x, statement, index);

	return rc ? rc : hold_tensors(x, statement, first, slab_first);
}

int expand_strip(struct expansion *x)
{
	const struct sched_strip *strip = &x->group->strips[x->strip];
	int rc = expand_survey(x, strip);

	for (int i = 0; x->strip == 0 && i < x->net->node_count; i++)
		x->counted[i] = 0;
	for (int i = 0; !rc && i < strip->statement_count; i++)
		rc = expand_statement(x, &strip->statements[i], i);
	return rc;
}
