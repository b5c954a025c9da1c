// SPDX-License-Identifier: Apache-2.0
//
// What statements fill: slabs, DRAM, sums of parts, and the views that a split makes.
#include "driver/plan/check/internal.h"

// Gradients in DRAM are replaced by sums of more parts; all else is stored once, but a mask each time it is made.
int check_store(struct check_state *state, const struct check_use *use, struct row_range rows)
{
	struct check_parts *parts = state->part_rows[use->node];
	uint16_t *flags = check_flags(state, use->tensor, use->node);
	bool streams = use->role == USE_RESULT;

	check_touch_dram(state, (enum check_dram)use->tensor, use->node);
	if (use->tensor == SCHED_MASK && streams) {
		check_set_flags(flags, rows, ROW_STORED);
		return 0;
	}
	if (use->tensor != SCHED_GRAD)
		return check_mark_once(state, use->tensor, use->node, rows, ROW_STORED, "stored", "DRAM has");
	for (int y = rows.lo; y < rows.hi; y++) {
		int sum = streams ? use->parts : parts[y].slab;

		if ((flags[y] & ROW_STORED) != 0 && parts[y].stored < sum)
			check_clear_flags(flags, (struct row_range){y, y + 1}, ROW_STORED | ROW_VIEWED);
		if ((flags[y] & ROW_STORED) == 0)
			parts[y].stored = (uint16_t)sum;
	}
	return check_mark_once(state, SCHED_GRAD, use->node, rows, ROW_STORED, "stored", "DRAM has");
}

static void lose(uint16_t *flags, int y)
{
	if ((flags[y] & ROW_FILLED) == 0)
		return;
	check_clear_flags(flags, (struct row_range){y, y + 1}, ROW_FILLED | ROW_ALIASED);
	check_set_flags(flags, (struct row_range){y, y + 1}, ROW_LOST);
}

// Rows of a slab are replaced: what else is a view of the same room loses them.
static void replace(struct check_state *state, int node, int y)
{
	uint16_t *flags = check_flags(state, SCHED_GRAD, node);
	int root = -1;

	if ((flags[y] & ROW_ALIASED) == 0)
		return;
	check_clear_flags(flags, (struct row_range){y, y + 1}, ROW_ALIASED);
	for (int i = 0; i < state->alias_count; i++) {
		if (state->aliases[i].node != node)
			continue;
		root = state->aliases[i].root;
		if (state->aliases[i].root_there)
			lose(check_flags(state, SCHED_GRAD, root), y);
	}
	for (int i = 0; i < state->alias_count; i++) {
		uint16_t *other = check_flags(state, SCHED_GRAD, state->aliases[i].node);

		if (state->aliases[i].root == root && state->aliases[i].node != node && (other[y] & ROW_ALIASED) != 0)
			lose(other, y);
	}
}

// The sum so far, if it is in the slab; NULL if there is none or it streams.
static const struct check_use *sum_of(const struct check_state *state, const struct check_use *result)
{
	const struct check_step *step = &state->step;

	for (int i = 0; result->tensor == SCHED_GRAD && i < step->count; i++) {
		if (step->uses[i].role == USE_SUM && step->uses[i].node == result->node)
			return &step->uses[i];
	}
	return NULL;
}

int check_fill(struct check_state *state, const struct check_use *use)
{
	const struct check_use *sum = sum_of(state, use);
	struct check_parts *parts = state->part_rows[use->node];
	uint16_t *flags = check_flags(state, use->tensor, use->node);
	bool computes = check_statement(state)->op != SCHED_LOAD && check_statement(state)->op != SCHED_TAKE;

	if (!row_range_empty(use->stream))
		return check_store(state, use, use->stream);
	for (int y = use->rows.lo; y < use->rows.hi && sum != NULL; y++) {
		if (y >= sum->stream.lo && y < sum->stream.hi)
			continue;
		replace(state, use->node, y);
		check_clear_flags(flags, (struct row_range){y, y + 1}, ROW_FILLED);
	}
	for (int y = use->rows.lo; y < use->rows.hi && computes && use->tensor == SCHED_GRAD; y++) {
		if ((flags[y] & ROW_FILLED) == 0)
			parts[y].slab = (uint16_t)use->parts;
	}
	return check_mark_once(state, use->tensor, use->node, use->rows, ROW_FILLED, "filled", "the slab has");
}

static int add_alias(struct check_state *state, int node, int root)
{
	int rc;

	// A view of a view is one of what that is a view of.
	for (int i = 0; i < state->alias_count; i++) {
		if (state->aliases[i].node == root)
			root = state->aliases[i].root;
	}
	for (int i = 0; i < state->alias_count; i++) {
		if (state->aliases[i].node == node && state->aliases[i].root == root)
			return 0;
	}
	rc = check_reserve(state, (void **)&state->aliases, &state->alias_capacity, state->alias_count + 1, sizeof(*state->aliases));
	if (rc == 0)
		state->aliases[state->alias_count++] = (struct check_alias){node, root, true};
	return rc;
}

static bool complete(const struct check_state *state, int node, int y, bool in_slab)
{
	const struct check_parts *parts = &state->part_rows[node][y];

	return (check_flags(state, SCHED_GRAD, node)[y] & (in_slab ? ROW_FILLED : ROW_STORED)) != 0 &&
	       (in_slab ? parts->slab : parts->stored) == check_parts_all(state, node);
}

// Every row of the add's gradient is complete, in the slab or in DRAM.
static int require_viewed(struct check_state *state, const struct check_use *use)
{
	const uint16_t *flags = check_flags(state, SCHED_GRAD, use->node);
	struct check_rows_fault fault = {SCHED_GRAD, use->node, use->rows, use->rows, ROW_FILLED | ROW_STORED, "slab and DRAM have"};
	bool there;

	while (fault.fault.lo < use->rows.hi && (complete(state, use->node, fault.fault.lo, true) || complete(state, use->node, fault.fault.lo, false)))
		fault.fault.lo++;
	if (fault.fault.lo == use->rows.hi)
		return 0;
	there = (flags[fault.fault.lo] & (ROW_FILLED | ROW_STORED)) != 0;
	fault.fault.hi = fault.fault.lo + 1;
	return check_fail_rows(state, there ? CHECK_PARTS : CHECK_ABSENT, &fault, "needs grad:%s rows %d:%d complete, row %d is %s",
			       state->net->nodes[use->node].name, use->rows.lo, use->rows.hi, fault.fault.lo, there ? "not" : "missing");
}

// One input's part is where the add's gradient is.
static int view(struct check_state *state, const struct check_use *add, const struct check_use *use)
{
	uint16_t *from = check_flags(state, SCHED_GRAD, add->node), *to = check_flags(state, SCHED_GRAD, use->node);
	struct check_parts *parts = state->part_rows[use->node];
	int rc = add_alias(state, use->node, add->node);

	for (int y = use->rows.lo; rc == 0 && y < use->rows.hi; y++) {
		const struct row_range row = {y, y + 1};

		if (complete(state, add->node, y, true)) {
			rc = check_mark_once(state, SCHED_GRAD, use->node, row, ROW_FILLED, "filled", "the slab has");
			check_set_flags(from, row, ROW_READ);
			check_set_flags(to, row, ROW_ALIASED);
			parts[y].slab = (uint16_t)use->parts;
		}
		if (rc == 0 && complete(state, add->node, y, false)) {
			rc = check_mark_once(state, SCHED_GRAD, use->node, row, ROW_STORED, "stored", "DRAM has");
			check_set_flags(to, row, ROW_VIEWED);
			parts[y].stored = (uint16_t)use->parts;
			state->viewed[use->node] = (from[y] & ROW_VIEWED) != 0 ? state->viewed[add->node] : add->node;
		}
		if (rc == 0 && parts[y].computed < use->parts)
			parts[y].computed = (uint16_t)use->parts;
	}
	return rc;
}

int check_view(struct check_state *state)
{
	const struct check_step *step = &state->step;
	int rc = require_viewed(state, &step->uses[0]);

	for (int i = 1; rc == 0 && i < step->count; i++)
		rc = view(state, &step->uses[0], &step->uses[i]);
	return rc;
}

int check_free(struct check_state *state)
{
	const struct sched_statement *statement = check_statement(state);
	const struct check_list *leaves = &state->graph.leaves[statement->node];

	for (int i = 0; i < leaves->count; i++) {
		int node = leaves->nodes[i];
		uint16_t *flags = check_flags(state, statement->tensor, node);
		struct row_range all = {0, state->net->nodes[node].out.height};

		if (statement->tensor == SCHED_GRAD && !check_has_gradient(state, node))
			continue;
		if (row_range_empty(check_find_rows(flags, all, ROW_FILLED | ROW_LOST, true)))
			return check_fail_rows(state, CHECK_ABSENT, &(struct check_rows_fault){statement->tensor, node, all, all, ROW_FILLED, "the slab has"},
					       "there is no slab of %s:%s to free", check_tensor_name(statement->tensor), state->net->nodes[node].name);
		check_clear_flags(flags, all, ROW_FILLED | ROW_ALIASED | ROW_LOST);
		for (int j = 0; statement->tensor == SCHED_GRAD && j < state->alias_count; j++) {
			if (state->aliases[j].root == node)
				state->aliases[j].root_there = false;
		}
	}
	return 0;
}
