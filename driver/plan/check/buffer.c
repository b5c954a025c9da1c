// SPDX-License-Identifier: Apache-2.0
//
// Occupancy: live bytes at every statement. What works in place has one slab for input and output.
#include <inttypes.h>
#include <string.h>

#include "driver/plan/check/device.h"

// Iterations that differ in occupancy: the first, full ones behind it, the last with fewer samples.
struct iteration {
	int samples;
	bool first;
};

static uint64_t resident_bytes(const struct check_state *state)
{
	const struct sched_group *group = check_group(state);
	uint64_t bytes = 0;

	for (int i = 0; i < state->net->node_count; i++) {
		if (state->paper)
			bytes += check_resident_bytes(state, i, &group->weight[i]) + check_resident_bytes(state, i, &group->wgrad[i]);
		else
			bytes += check_resident_weights(state, i) + check_resident_sums(state, i);
	}
	return bytes;
}

static int slab_of(const struct check_state *state, const struct check_use *use)
{
	return state->slab_now[(int)use->tensor * state->net->node_count + use->node];
}

// Bytes of a sample.
static uint64_t slab_bytes(const struct check_state *state, const struct check_slab *slab)
{
	return (uint64_t)(slab->hi - slab->lo) * check_row_bytes(state, slab->tensor, slab->node);
}

static uint64_t rows_bytes(const struct check_state *state, const struct check_use *use)
{
	return (uint64_t)(use->rows.hi - use->rows.lo) * check_row_bytes(state, use->tensor, use->node);
}

// Operators that make a row from the same row of each input, so that it may take the input's place.
static bool works_in_place(const struct check_state *state, const struct sched_statement *statement)
{
	const struct check_step *step = &state->step;

	if ((statement->op != SCHED_COMPUTE && statement->op != SCHED_SPLIT) || statement->view)
		return false;
	for (int i = 0; i < step->operator_count; i++) {
		enum net_op op = state->net->nodes[step->operators[i]].op;

		if (op != NET_RELU && op != NET_GN && op != NET_ADD)
			return false;
	}
	return true;
}

// The rows of the slabs that results named `named` begin here, {0, 0} if none does or they differ; their bytes of a sample.
static struct row_range begun(const struct check_state *state, int named, uint64_t *bytes)
{
	const struct check_step *step = &state->step;
	struct row_range rows = {0, 0};

	*bytes = 0;
	for (int i = 0; i < step->count; i++) {
		const struct check_use *use = &step->uses[i];
		const struct check_slab *slab;

		if (use->role != USE_RESULT || use->tensor == SCHED_MASK || use->named != named || !row_range_empty(use->stream) ||
		    slab_of(state, use) < 0)
			continue;
		slab = &state->slabs[slab_of(state, use)];
		if (slab->first != state->place.statement)
			continue;
		if (*bytes > 0 && (slab->lo != rows.lo || slab->hi != rows.hi))
			return (struct row_range){0, 0};
		rows = (struct row_range){slab->lo, slab->hi};
		*bytes += slab_bytes(state, slab);
	}
	return rows;
}

// Bytes of the slabs of an operand that end here and have these rows; 0 unless all its pieces do.
static uint64_t ended(const struct check_state *state, enum use_role role, int named, struct row_range rows)
{
	const struct check_step *step = &state->step;
	uint64_t bytes = 0;

	for (int i = 0; i < step->count; i++) {
		const struct check_use *use = &step->uses[i];
		const struct check_slab *slab;

		if (use->role != role || use->named != named || use->tensor == SCHED_MASK)
			continue;
		if (slab_of(state, use) < 0 || !row_range_empty(use->stream) || use->passing)
			return 0;
		slab = &state->slabs[state->slabs[slab_of(state, use)].room];
		if (slab->last != state->place.statement || slab->lo != rows.lo || slab->hi != rows.hi)
			return 0;
		bytes += slab_bytes(state, slab);
	}
	return bytes;
}

// Under `device` a split is in place for the last input whose first part it makes; otherwise for any result.
static bool may_replace(const struct check_state *state, const struct sched_statement *statement, int result)
{
	const struct check_step *step = &state->step;
	const struct net_node *add = &state->net->nodes[statement->node];

	if (step->uses[result].role != USE_RESULT || step->uses[result].tensor == SCHED_MASK)
		return false;
	if (state->paper || statement->op != SCHED_SPLIT)
		return true;
	for (int i = add->input_count - 1; i >= 0; i--) {
		if (check_has_gradient(state, add->inputs[i]) && check_parts_before(state, add->inputs[i], statement->node) == 0)
			return add->inputs[i] == step->uses[result].node;
	}
	return false;
}

// The bytes of a sample that a statement saves by working in place, on the gradient that it reads or on one of its inputs.
static uint64_t in_place_bytes(const struct check_state *state, const struct sched_statement *statement)
{
	const struct check_step *step = &state->step;
	bool backward = statement->op == SCHED_SPLIT || step->backward;
	uint64_t most = 0;

	if (!works_in_place(state, statement))
		return 0;
	for (int i = 0; i < step->count; i++) {
		if (step->uses[i].role != (backward ? USE_GRADIENT : USE_OPERAND))
			continue;
		for (int j = 0; j < step->count; j++) {
			uint64_t begun_bytes, bytes;
			struct row_range rows;

			if (!may_replace(state, statement, j))
				continue;
			rows = begun(state, step->uses[j].named, &begun_bytes);
			if (row_range_empty(rows))
				continue;
			bytes = ended(state, step->uses[i].role, step->uses[i].named, rows);
			bytes = bytes < begun_bytes ? bytes : begun_bytes;
			most = bytes > most ? bytes : most;
		}
	}
	return most;
}

static int list_iterations(const struct check_state *state, struct iteration iterations[3])
{
	int batch = state->schedule->batch, sub_batch = check_group(state)->sub_batch;
	int count = 0;

	iterations[count++] = (struct iteration){sub_batch < batch ? sub_batch : batch, true};
	if (batch / sub_batch >= 2)
		iterations[count++] = (struct iteration){sub_batch, false};
	if (batch / sub_batch >= 1 && batch % sub_batch > 0)
		iterations[count++] = (struct iteration){batch % sub_batch, false};
	return count;
}

int check_occupy(struct check_state *state, int node, const char *who, uint64_t bytes)
{
	if (bytes > state->schedule->buffer_bytes)
		return check_fail(state, CHECK_BUFFER, node, "the buffer overflows: %s %" PRIu64 " bytes, it has %u", who, bytes, state->schedule->buffer_bytes);
	if (bytes > state->result->peak_bytes) {
		state->result->peak_bytes = bytes;
		state->result->peak = state->place;
	}
	return 0;
}

static int check_statement_fits(struct check_state *state, const struct sched_statement *statement, struct iteration iteration,
				uint64_t sample_bytes)
{
	uint64_t samples = (uint64_t)iteration.samples;
	uint64_t room = state->paper ? state->schedule->reserve_bytes : check_room(state, statement, samples, iteration.first);
	char who[40];

	snprintf(who, sizeof(who), "%d samples need", iteration.samples);
	return check_occupy(state, statement->node, who, samples * sample_bytes + state->resident_bytes + room);
}

// state->change, from the slabs laid out.
static int find_changes(struct check_state *state, int statements)
{
	int rc = check_reserve(state, (void **)&state->change, &state->change_capacity, statements + 1, sizeof(*state->change));

	if (rc != 0)
		return rc;
	memset(state->change, 0, ((size_t)statements + 1) * sizeof(*state->change));
	for (int i = 0; i < state->slab_count; i++) {
		const struct check_slab *slab = &state->slabs[i];

		if (slab->room != i)
			continue;
		state->change[slab->first] += (int64_t)slab_bytes(state, slab);
		state->change[slab->last + 1] -= (int64_t)slab_bytes(state, slab);
	}
	return 0;
}

// Behind a `free` the tensor's next slab is meant.
static void pass_free(struct check_state *state, const struct sched_statement *statement)
{
	const struct check_list *leaves = &state->graph.leaves[statement->node];

	for (int i = 0; i < leaves->count; i++) {
		int *now = &state->slab_now[(int)statement->tensor * state->net->node_count + leaves->nodes[i]];

		if (*now >= 0 && state->slabs[*now].first < state->place.statement)
			*now = state->slabs[*now].next;
	}
}

int check_buffer_strip(struct check_state *state)
{
	const struct sched_strip *strip = &check_group(state)->strips[state->place.strip];
	int rc = check_lay_out(state);

	state->slab_bytes = 0;
	state->resident_bytes = resident_bytes(state);
	state->kept_here = 0;
	return rc == 0 ? find_changes(state, strip->statement_count) : rc;
}

int check_buffer_statement(struct check_state *state)
{
	const struct sched_statement *statement = check_statement(state);
	struct iteration iterations[3];
	int count = list_iterations(state, iterations), rc = check_derive(state, statement);
	uint64_t bytes;

	if (rc != 0)
		return rc;
	if (statement->op == SCHED_FREE)
		pass_free(state, statement);
	for (int i = 0; state->paper && statement->op == SCHED_KEEP && i < state->step.count; i++)
		state->kept_here += rows_bytes(state, &state->step.uses[i]);
	state->slab_bytes += state->change[state->place.statement];
	bytes = (uint64_t)state->slab_bytes + state->kept_bytes + state->kept_here - in_place_bytes(state, statement);
	for (int i = 0; rc == 0 && i < count; i++)
		rc = check_statement_fits(state, statement, iterations[i], bytes);
	return rc;
}
