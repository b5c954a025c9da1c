// SPDX-License-Identifier: Apache-2.0
//
// Room that a statement takes beside slabs and what is resident, while it runs.
#include "driver/plan/check/device.h"

// A part that is not the first of a gradient's sum is made apart and added.
static bool is_apart(const struct check_state *state, const struct sched_statement *statement)
{
	const struct check_step *step = &state->step;

	for (int i = 0; i < step->count; i++) {
		if (step->uses[i].role == USE_SUM)
			return statement->op == SCHED_COMPUTE;
	}
	return false;
}

static uint64_t apart_bytes(const struct check_state *state, const struct sched_statement *statement, uint64_t samples)
{
	if (!is_apart(state, statement))
		return 0;
	return samples * (uint64_t)(statement->hi - statement->lo) * check_row_bytes(state, SCHED_GRAD, statement->node);
}

// Over several slices of weights the sums of the input's gradient are fp32, each row rounded up.
static uint64_t sums_bytes(const struct check_state *state, const struct sched_statement *statement, uint64_t samples)
{
	const struct net_shape *shape = &state->net->nodes[statement->node].out;
	int operator = check_operator(state->net, statement);

	if (!state->step.backward || !check_is_sliced(state, operator))
		return 0;
	return samples * (uint64_t)(statement->hi - statement->lo) *
	       check_whole_beats(state, 4 * (uint64_t)shape->width * (uint64_t)shape->channels);
}

uint64_t check_room(const struct check_state *state, const struct sched_statement *statement, uint64_t samples, bool first_iteration)
{
	return check_slice_bytes(state, statement, first_iteration) + check_norm_room(state, statement, samples) +
	       apart_bytes(state, statement, samples) + sums_bytes(state, statement, samples);
}
