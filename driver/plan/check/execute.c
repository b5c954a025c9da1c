// SPDX-License-Identifier: Apache-2.0
//
// One statement on the rows of the sample that stands for all: is what it reads there, is what it writes new.
#include "driver/plan/check/internal.h"

// In forward, strips join: a tiled strip fetches nothing that is another strip's.
static bool joins(const struct check_state *state)
{
	return check_group(state)->phase == SCHED_FORWARD && check_group(state)->tiling != SCHED_TILING_NONE;
}

// A gradient's rows, where they are, must be the sum of as many parts as the statement builds on.
static int require_parts(struct check_state *state, const struct check_use *use, struct row_range rows, bool in_slab)
{
	const struct check_parts *parts = state->part_rows[use->node];
	struct check_rows_fault fault = {use->tensor, use->node, use->rows, {rows.lo, rows.hi}, in_slab ? ROW_FILLED : ROW_STORED,
					 in_slab ? "the slab has" : "DRAM has"};
	int y = rows.lo, there;

	while (y < rows.hi && (in_slab ? parts[y].slab : parts[y].stored) == use->parts)
		y++;
	if (y >= rows.hi)
		return 0;
	there = in_slab ? parts[y].slab : parts[y].stored;
	for (fault.fault.lo = y; y < rows.hi && (in_slab ? parts[y].slab : parts[y].stored) == there;)
		fault.fault.hi = ++y;
	return check_fail_rows(state, there > use->parts ? CHECK_TWICE : CHECK_PARTS, &fault,
			       "needs grad:%s rows %d:%d with the parts of %d readers, rows %d:%d have %d", state->net->nodes[use->node].name,
			       use->rows.lo, use->rows.hi, use->parts, fault.fault.lo, fault.fault.hi, there);
}

static void read_dram(struct check_state *state, const struct check_use *use, struct row_range rows)
{
	const uint16_t *flags = check_flags(state, use->tensor, use->node);
	struct row_range viewed = check_find_rows(flags, rows, ROW_VIEWED, true), own = check_find_rows(flags, rows, ROW_VIEWED, false);

	if (!row_range_empty(viewed) && use->tensor == SCHED_GRAD)
		check_touch_dram(state, DRAM_GRAD, state->viewed[use->node]);
	if (!row_range_empty(own))
		check_touch_dram(state, (enum check_dram)use->tensor, use->node);
}

static int read_stream(struct check_state *state, const struct check_use *use)
{
	struct row_range needed = {use->stream.lo > use->rows.lo ? use->stream.lo : use->rows.lo,
				   use->stream.hi < use->rows.hi ? use->stream.hi : use->rows.hi};
	int rc = check_require(state, CHECK_NOT_STORED, use, use->stream, ROW_STORED, "DRAM has");

	if (rc == 0 && use->tensor == SCHED_GRAD)
		rc = require_parts(state, use, needed, false);
	if (rc == 0 && joins(state) && (use->stream.lo < needed.lo || use->stream.hi > needed.hi)) {
		struct row_range extra = use->stream.lo < needed.lo ? (struct row_range){use->stream.lo, needed.lo}
								     : (struct row_range){needed.hi, use->stream.hi};

		return check_fail_rows(state, CHECK_UNUSED,
				       &(struct check_rows_fault){use->tensor, use->node, use->stream, extra, ROW_STORED, "DRAM has"},
				       "the stream overlaps another strip's: %s:%s rows %d:%d are not needed here", check_tensor_name(use->tensor),
				       state->net->nodes[use->node].name, extra.lo, extra.hi);
	}
	read_dram(state, use, use->stream);
	return rc;
}

static int read_use(struct check_state *state, const struct check_use *use)
{
	struct row_range rows[2];
	int rc = row_range_empty(use->stream) ? 0 : read_stream(state, use);

	check_slab_rows(use, rows);
	if (use->passing && use->tensor == SCHED_GRAD)
		rc = require_parts(state, use, use->rows, false);
	for (int i = 0; rc == 0 && i < 2; i++) {
		rc = check_require(state, CHECK_ABSENT, use, rows[i], ROW_FILLED, "the slab has");
		if (rc == 0 && (use->role == USE_GRADIENT || use->role == USE_SUM))
			rc = require_parts(state, use, rows[i], true);
		if (rc == 0)
			check_set_flags(check_flags(state, use->tensor, use->node), rows[i], ROW_READ);
	}
	return rc;
}

static int fetch(struct check_state *state, const struct sched_statement *statement, const struct check_use *use)
{
	const struct sched_group *group = check_group(state);
	struct check_parts *parts = state->part_rows[use->node];
	const uint16_t *flags = check_flags(state, use->tensor, use->node);
	bool load = statement->op == SCHED_LOAD;
	unsigned kept = 0;
	int rc;

	if (group->tiling != SCHED_TILING_OVERL)
		kept |= ROW_KEPT_BEFORE;
	if (group->phase == SCHED_BACKWARD && !state->paper)
		kept |= ROW_KEPT_FORWARD;
	rc = load ? check_require(state, CHECK_NOT_STORED, use, use->rows, ROW_STORED, "DRAM has")
		  : check_require(state, CHECK_NOT_KEPT, use, use->rows, kept, "the boundary has");
	if (rc != 0)
		return rc;
	if (load)
		read_dram(state, use, use->rows);
	else
		check_touch_dram(state, DRAM_KEPT + (int)use->tensor, use->node);
	for (int y = use->rows.lo; use->tensor == SCHED_GRAD && y < use->rows.hi; y++)
		parts[y].slab = load ? parts[y].stored : (flags[y] & ROW_KEPT_BEFORE) != 0 ? parts[y].kept_before : parts[y].kept;
	return 0;
}

static int keep(struct check_state *state, const struct check_use *use)
{
	uint16_t *flags = check_flags(state, use->tensor, use->node);
	struct check_parts *parts = state->part_rows[use->node];

	for (int y = use->rows.lo; use->tensor == SCHED_GRAD && y < use->rows.hi; y++)
		parts[y].kept = parts[y].slab;
	check_touch_dram(state, DRAM_KEPT + (int)use->tensor, use->node);
	for (int y = use->rows.lo; y < use->rows.hi; y++)
		state->kept_rows[(int)use->tensor * state->net->node_count + use->node] += (flags[y] & ROW_KEPT_EVER) == 0;
	check_set_flags(flags, use->rows, ROW_KEPT_EVER);
	return check_mark_once(state, use->tensor, use->node, use->rows, ROW_KEPT, "kept", "the boundary has");
}

// What a statement does before its results are there.
static int run_use(struct check_state *state, const struct sched_statement *statement, const struct check_use *use, bool first)
{
	const struct check_step *step = &state->step;

	if (use->role == USE_STORED)
		return statement->op == SCHED_STORE ? check_store(state, use, use->rows) : keep(state, use);
	if (use->role != USE_RESULT)
		return 0;
	if (statement->op == SCHED_LOAD || statement->op == SCHED_TAKE)
		return fetch(state, statement, use);
	if (use->tensor == SCHED_GRAD)
		return check_compute_gradient(state, use, first && statement->op == SCHED_COMPUTE ? &state->work[step->operators[0]] : NULL);
	return use->tensor == SCHED_ACT ? check_compute_activation(state, use) : 0;
}

int check_execute_statement(struct check_state *state)
{
	const struct sched_statement *statement = check_statement(state);
	const struct check_step *step = &state->step;
	bool first = true;
	int rc = check_derive(state, statement);

	if (rc == 0 && statement->op == SCHED_FREE)
		return check_free(state);
	if (rc == 0 && statement->view)
		return check_view(state);
	for (int i = 0; rc == 0 && i < step->count; i++) {
		if (step->uses[i].role != USE_RESULT)
			rc = read_use(state, &step->uses[i]);
	}
	if (rc == 0)
		rc = check_normalize(state);
	if (rc != 0)
		return rc;
	check_traffic_statement(state);
	rc = check_count(state);
	for (int i = 0; rc == 0 && i < step->count; i++) {
		rc = run_use(state, statement, &step->uses[i], first);
		first = first && step->uses[i].role != USE_RESULT;
	}
	for (int i = 0; rc == 0 && i < step->count; i++) {
		if (step->uses[i].role == USE_RESULT)
			rc = check_fill(state, &step->uses[i]);
	}
	return rc;
}

// In a tiled forward strip, a row fetched but not read, though a layer above reads it somewhere, belongs to another strip.
static bool misplaced(const struct check_state *state, const struct check_use *use, int y)
{
	const struct check_list *readers = &state->graph.readers[use->node];

	if ((check_flags(state, use->tensor, use->node)[y] & ROW_READ) != 0)
		return false;
	for (int i = 0; i < readers->count && readers->nodes[i] < state->net->node_count; i++) {
		const struct net_node *reader = &state->net->nodes[readers->nodes[i]];

		if (reader->op != NET_LOSS && check_row_touched(reader, y))
			return true;
	}
	return false;
}

static int find_unused(struct check_state *state, const struct check_use *use)
{
	const uint16_t *flags = check_flags(state, use->tensor, use->node);
	struct row_range unused = use->rows;

	if (use->tensor != SCHED_ACT)
		return 0;
	while (unused.lo < unused.hi && !misplaced(state, use, unused.lo))
		unused.lo++;
	if (unused.lo == unused.hi)
		return 0;
	for (unused.hi = unused.lo; unused.hi < use->rows.hi && (flags[unused.hi] & ROW_READ) == 0;)
		unused.hi++;
	return check_fail_rows(state, CHECK_UNUSED, &(struct check_rows_fault){use->tensor, use->node, use->rows, unused, ROW_READ, "read are"},
			       "the slab overlaps another strip's: nothing in the strip reads %s:%s rows %d:%d", check_tensor_name(use->tensor),
			       state->net->nodes[use->node].name, unused.lo, unused.hi);
}

// Visit what the strip at `index` of the group has kept: forget it, or hand it on to the next strip.
static int visit_kept(struct check_state *state, int index, bool forget)
{
	const struct sched_strip *strip = &check_group(state)->strips[index];
	unsigned kept = ROW_KEPT_BEFORE | (check_group(state)->phase == SCHED_FORWARD ? ROW_KEPT_FORWARD : 0u);

	for (int i = 0; i < strip->statement_count; i++) {
		const struct sched_statement *statement = &strip->statements[i];
		int rc;

		if (statement->op != SCHED_KEEP)
			continue;
		rc = check_derive(state, statement);
		if (rc != 0)
			return rc;
		for (int j = 0; j < state->step.count; j++) {
			const struct check_use *use = &state->step.uses[j];
			uint16_t *flags = check_flags(state, use->tensor, use->node);

			if (forget) {
				check_clear_flags(flags, use->rows, ROW_KEPT_BEFORE);
				continue;
			}
			check_set_flags(flags, use->rows, kept);
			check_clear_flags(flags, use->rows, ROW_KEPT);
			for (int y = use->rows.lo; use->tensor == SCHED_GRAD && y < use->rows.hi; y++)
				state->part_rows[use->node][y].kept_before = state->part_rows[use->node][y].kept;
		}
	}
	return 0;
}

int check_forget_kept(struct check_state *state)
{
	return visit_kept(state, check_group(state)->strip_count - 1, true);
}

int check_end_strip(struct check_state *state)
{
	int index = state->place.strip, rc = 0;
	const struct sched_strip *strip = &check_group(state)->strips[index];

	for (int i = 0; i < strip->statement_count && joins(state); i++) {
		const struct sched_statement *statement = &strip->statements[i];

		if (statement->op != SCHED_LOAD && statement->op != SCHED_TAKE)
			continue;
		state->place.statement = i;
		state->place.line = statement->line;
		rc = check_derive(state, statement);
		for (int j = 0; rc == 0 && j < state->step.count; j++)
			rc = find_unused(state, &state->step.uses[j]);
		if (rc != 0)
			return rc;
	}
	if (index > 0)
		rc = visit_kept(state, index - 1, true);
	if (rc == 0)
		rc = visit_kept(state, index, false);
	state->kept_bytes = state->kept_here;
	check_clear_slabs(state);
	return rc;
}
