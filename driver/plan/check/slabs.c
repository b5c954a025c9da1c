// SPDX-License-Identifier: Apache-2.0
//
// Slabs of a strip. A slab is the hull of the rows that statements name, and lives from the statement that first names or fills it to
// the last that names or reads rows of it (what lies in padding alone reads none), or to a `free`.
#include "driver/plan/check/internal.h"

static int key_of(const struct check_state *state, enum sched_tensor tensor, int node)
{
	return (int)tensor * state->net->node_count + node;
}

// A new slab of the tensor, which begins at the statement at hand.
static int begin(struct check_state *state, const struct check_use *use, int room)
{
	int key = key_of(state, use->tensor, use->node), index = state->slab_count, at = state->place.statement, before = state->slab_first[key];
	int rc = check_reserve(state, (void **)&state->slabs, &state->slab_capacity, index + 1, sizeof(*state->slabs));

	if (rc != 0)
		return rc;
	state->slabs[index] = (struct check_slab){use->tensor, use->node, use->rows.lo, use->rows.hi, at, at, room >= 0 ? room : index, -1};
	state->slab_count++;
	state->slab_now[key] = index;
	if (before < 0)
		state->slab_first[key] = index;
	while (before >= 0 && state->slabs[before].next >= 0)
		before = state->slabs[before].next;
	if (before >= 0)
		state->slabs[before].next = index;
	return 0;
}

// `room`: of the slab that it is a view of, -1.
static int name_rows(struct check_state *state, const struct check_use *use, int room)
{
	int now = state->slab_now[key_of(state, use->tensor, use->node)];
	struct check_slab *slab;

	if (now < 0)
		return begin(state, use, room);
	slab = &state->slabs[now];
	slab->lo = use->rows.lo < slab->lo ? use->rows.lo : slab->lo;
	slab->hi = use->rows.hi > slab->hi ? use->rows.hi : slab->hi;
	slab->last = state->place.statement;
	return 0;
}

static int lay_out_use(struct check_state *state, const struct check_use *use)
{
	struct row_range rows[2];
	int now = state->slab_now[key_of(state, use->tensor, use->node)];

	check_slab_rows(use, rows);
	if (use->role == USE_STORED || use->role == USE_RESULT)
		return row_range_empty(use->stream) ? name_rows(state, use, -1) : 0;
	if (now >= 0 && (!row_range_empty(rows[0]) || !row_range_empty(rows[1])))
		state->slabs[now].last = state->place.statement;
	return 0;
}

// The parts have the room of the add's gradient, as far as that is in a slab.
static int lay_out_view(struct check_state *state)
{
	const struct check_step *step = &state->step;
	int add = state->slab_now[key_of(state, SCHED_GRAD, step->uses[0].node)], rc = 0;
	int lo = add < 0 ? 0 : state->slabs[add].lo, hi = add < 0 ? 0 : state->slabs[add].hi;

	for (int i = 1; rc == 0 && i < step->count; i++) {
		struct check_use part = step->uses[i];

		part.rows.lo = part.rows.lo > lo ? part.rows.lo : lo;
		part.rows.hi = part.rows.hi < hi ? part.rows.hi : hi;
		if (row_range_empty(part.rows))
			continue;
		state->slabs[add].last = state->place.statement;
		rc = name_rows(state, &part, state->slabs[add].room);
	}
	return rc;
}

static void lay_out_free(struct check_state *state, const struct sched_statement *statement)
{
	const struct check_list *leaves = &state->graph.leaves[statement->node];

	for (int i = 0; i < leaves->count; i++)
		state->slab_now[key_of(state, statement->tensor, leaves->nodes[i])] = -1;
}

static int lay_out_statement(struct check_state *state, const struct sched_statement *statement)
{
	int rc = check_derive(state, statement);

	if (rc == 0 && statement->op == SCHED_FREE)
		lay_out_free(state, statement);
	if (rc == 0 && statement->view)
		return lay_out_view(state);
	for (int i = 0; rc == 0 && i < state->step.count; i++)
		rc = lay_out_use(state, &state->step.uses[i]);
	return rc;
}

// A view lives in its room, unless it has rows that the room has not; then it has room of its own.
static void share_rooms(struct check_state *state)
{
	for (int i = 0; i < state->slab_count; i++) {
		struct check_slab *slab = &state->slabs[i], *room = &state->slabs[slab->room];

		if (slab->lo < room->lo || slab->hi > room->hi)
			slab->room = i;
		else if (slab->last > room->last)
			room->last = slab->last;
	}
}

int check_lay_out(struct check_state *state)
{
	const struct sched_strip *strip = &check_group(state)->strips[state->place.strip];

	for (int i = 0; i < strip->statement_count; i++) {
		int rc;

		state->place.statement = i;
		rc = lay_out_statement(state, &strip->statements[i]);
		if (rc != 0)
			return rc;
	}
	share_rooms(state);
	for (int i = 0; i < state->slab_count; i++) {
		int key = key_of(state, state->slabs[i].tensor, state->slabs[i].node);

		state->slab_now[key] = state->slab_first[key];
	}
	return 0;
}

void check_clear_slabs(struct check_state *state)
{
	for (int i = 0; i < state->slab_count; i++) {
		const struct check_slab *slab = &state->slabs[i];
		int key = key_of(state, slab->tensor, slab->node);

		check_clear_flags(check_flags(state, slab->tensor, slab->node), (struct row_range){slab->lo, slab->hi},
				  ROW_FILLED | ROW_READ | ROW_KEPT | ROW_ALIASED | ROW_LOST);
		state->slab_first[key] = state->slab_now[key] = -1;
	}
	state->slab_count = 0;
	state->alias_count = 0;
}
