// SPDX-License-Identifier: Apache-2.0
//
// What is asked of all rows together: the statistics of normalizations, their sums in backward, and parameter gradients.
#include "driver/plan/check/internal.h"

static int height_of(const struct check_state *state, int node)
{
	return state->net->nodes[node].out.height;
}

static bool covers(const struct check_state *state, int node, const struct sched_statement *statement)
{
	return statement->lo == 0 && statement->hi == height_of(state, node);
}

// Statistics of all rows are known.
static int require_statistics(struct check_state *state, int node)
{
	int height = height_of(state, node);
	struct row_range missing = check_find_rows(check_flags(state, SCHED_ACT, node), (struct row_range){0, height}, ROW_COUNTED, false);

	if (state->counted[node] == height)
		return 0;
	return check_fail_rows(state, CHECK_STATISTICS,
			       &(struct check_rows_fault){SCHED_ACT, node, {0, height}, missing, ROW_COUNTED, "the statistics have"},
			       "needs the statistics of '%s' over rows 0:%d, rows %d:%d are missing", state->net->nodes[node].name, height, missing.lo,
			       missing.hi);
}

// Some rows have been added, or some are left out: the statement can make neither statistics nor sums by itself.
static int fail_partial(struct check_state *state, int node, const struct sched_statement *statement, enum sched_tensor tensor)
{
	unsigned flag = tensor == SCHED_ACT ? ROW_COUNTED : ROW_ACCUMULATED;
	struct row_range all = {0, height_of(state, node)};
	struct row_range missing = check_find_rows(check_flags(state, tensor, node), all, flag, false);

	if (tensor == SCHED_ACT ? state->counted[node] == 0 : state->summed[node] == 0)
		missing = statement->lo > 0 ? (struct row_range){0, statement->lo} : (struct row_range){statement->hi, all.hi};
	return check_fail_rows(state, CHECK_STATISTICS, &(struct check_rows_fault){tensor, node, all, missing, flag, "they have"},
			       "the %s of '%s' need rows 0:%d all at once or by 'statistics' before, rows %d:%d are missing",
			       tensor == SCHED_ACT ? "statistics" : "sums", state->net->nodes[node].name, all.hi, missing.lo, missing.hi);
}

static int normalize_forward(struct check_state *state, const struct sched_statement *statement)
{
	int node = statement->node;

	if (check_group(state)->phase == SCHED_BACKWARD)
		return require_statistics(state, node);
	if (state->counted[node] == height_of(state, node))
		return 0;
	if (state->counted[node] > 0 || !covers(state, node, statement))
		return fail_partial(state, node, statement, SCHED_ACT);
	state->step.makes_statistics = true;
	state->step.passes = 2;
	return 0;
}

static int normalize_backward(struct check_state *state, const struct sched_statement *statement)
{
	struct check_step *step = &state->step;
	bool streams = false;
	int rc = 0;

	for (int i = 0; i < step->count; i++)
		streams |= step->uses[i].role == USE_GRADIENT && !row_range_empty(step->uses[i].stream);
	for (int i = 0; rc == 0 && i < step->operator_count; i++) {
		int node = step->operators[i];

		if (state->net->nodes[node].op != NET_GN)
			continue;
		rc = require_statistics(state, node);
		if (rc != 0 || state->summed[node] == height_of(state, node))
			continue;
		if (state->summed[node] > 0 || !covers(state, node, statement))
			return fail_partial(state, node, statement, SCHED_GRAD);
		step->makes_sums[i] = true;
		step->passes += streams;
	}
	return rc;
}

// What is made on the way to an operand is normalized with statistics known before.
static int remake(struct check_state *state)
{
	const struct check_step *step = &state->step;
	int rc = 0;

	for (int i = 0; rc == 0 && i < step->remade_count; i++) {
		if (state->net->nodes[step->remade[i]].op == NET_GN)
			rc = require_statistics(state, step->remade[i]);
	}
	return rc;
}

int check_normalize(struct check_state *state)
{
	const struct sched_statement *statement = check_statement(state);
	struct check_step *step = &state->step;
	bool backward = check_group(state)->phase == SCHED_BACKWARD;
	int rc = remake(state);

	step->passes = 1;
	step->makes_statistics = false;
	for (int i = 0; i < step->operator_count; i++)
		step->makes_sums[i] = false;
	if (rc != 0 || step->operator_count == 0)
		return rc;
	if (statement->op == SCHED_COMPUTE && step->backward)
		return normalize_backward(state, statement);
	if (statement->op == SCHED_COMPUTE && state->net->nodes[statement->node].op == NET_GN)
		return normalize_forward(state, statement);
	step->makes_sums[0] = statement->op == SCHED_ACCUMULATE || (statement->op == SCHED_STATISTICS && backward);
	step->makes_statistics = statement->op == SCHED_STATISTICS && !backward;
	return statement->op == SCHED_STATISTICS && backward ? require_statistics(state, statement->node) : 0;
}

static int accumulate(struct check_state *state, int node, struct row_range rows)
{
	int *accumulated_in = &state->accumulated_in[node];
	// Under `device` a normalization's rows wait for the last of them.
	bool waits = !state->paper && state->net->nodes[node].op == NET_GN && state->summed[node] + rows.hi - rows.lo < height_of(state, node);

	if (!waits && check_group(state)->wgrad[node].resident && *accumulated_in >= 0 && *accumulated_in != state->place.group)
		return check_fail(state, CHECK_ORDER, node, "resident sums start from zero, but group %d has accumulated into '%s'",
				  *accumulated_in, state->net->nodes[node].name);
	if (!waits)
		*accumulated_in = state->place.group;
	state->summed[node] += rows.hi - rows.lo;
	state->result->macs += (uint64_t)state->schedule->batch * check_row_macs(&state->net->nodes[node]) * (uint64_t)(rows.hi - rows.lo);
	return check_mark_once(state, SCHED_GRAD, node, rows, ROW_ACCUMULATED, "accumulated", "accumulated are");
}

int check_count(struct check_state *state)
{
	const struct sched_statement *statement = check_statement(state);
	const struct check_step *step = &state->step;
	struct row_range rows = {statement->lo, statement->hi};
	int rc = 0;

	for (int i = 0; rc == 0 && i < step->operator_count; i++) {
		if (step->makes_sums[i])
			rc = accumulate(state, step->operators[i], rows);
	}
	if (rc != 0 || !step->makes_statistics)
		return rc;
	if (!state->paper && rows.lo > 0 && state->counted[statement->node] == 0)
		return check_fail(state, CHECK_ORDER, statement->node, "the statistics of '%s' begin with row %d, but the others need to know row 0 first",
				  state->net->nodes[statement->node].name, rows.lo);
	state->counted[statement->node] += rows.hi - rows.lo;
	return check_mark_once(state, SCHED_ACT, statement->node, rows, ROW_COUNTED, "counted", "the statistics have");
}

int check_whole_norms(struct check_state *state)
{
	for (int node = 0; node < state->net->node_count; node++) {
		const int rows = check_group(state)->phase == SCHED_BACKWARD ? state->summed[node] : state->counted[node];

		if (!state->paper && state->net->nodes[node].op == NET_GN && rows > 0 && rows < height_of(state, node))
			return check_fail(state, CHECK_ORDER, node, "the group ends with %d of %d rows of '%s' in its %s", rows, height_of(state, node),
					  state->net->nodes[node].name, check_group(state)->phase == SCHED_BACKWARD ? "sums" : "statistics");
	}
	return 0;
}
