// SPDX-License-Identifier: Apache-2.0
//
// Normalizations under `device`: rows leave partial sums in DRAM, the statement that completes a sample combines them, and each compute
// loads what it needs of the result. Sizes are q (fp32) and h (fp16) bytes, a vector of all channels.
#include "driver/plan/check/device.h"

uint64_t check_q_bytes(const struct check_state *state, int node)
{
	return check_whole_beats(state, 4 * (uint64_t)state->net->nodes[node].out.channels);
}

uint64_t check_h_bytes(const struct check_state *state, int node)
{
	return check_whole_beats(state, 2 * (uint64_t)state->net->nodes[node].out.channels);
}

static bool is_backward(const struct check_state *state)
{
	return check_group(state)->phase == SCHED_BACKWARD;
}

// The normalization whose statistics or sums the statement makes or uses; -1.
static int norm_of(const struct check_state *state, const struct sched_statement *statement)
{
	int node = check_operator(state->net, statement);

	return node >= 0 && state->net->nodes[node].op == NET_GN ? node : -1;
}

// Whether they are of backward: sums, from partial sums of 4 q a row instead of 2 q.
static bool makes_sums(const struct check_state *state, const struct sched_statement *statement)
{
	return statement->op == SCHED_COMPUTE ? statement->tensor == SCHED_GRAD : is_backward(state);
}

enum check_norm check_norm(const struct check_state *state, const struct sched_statement *statement)
{
	int node = norm_of(state, statement), rows = statement->hi - statement->lo, before, height;

	if (node < 0)
		return NORM_NOTHING;
	before = makes_sums(state, statement) ? state->summed[node] : state->counted[node];
	height = state->net->nodes[node].out.height;
	if (before == 0 && rows == height)
		return statement->op == SCHED_COMPUTE && is_backward(state) != makes_sums(state, statement) ? NORM_NOTHING : NORM_WHOLE;
	if (statement->op == SCHED_COMPUTE)
		return NORM_NOTHING;
	return before + rows < height ? NORM_SOME : NORM_LAST;
}

static void gamma(struct check_state *state, int node, uint64_t vectors, uint64_t times)
{
	if (!check_group(state)->weight[node].resident)
		check_move(state, WC_CLASS_WEIGHT, CHECK_READ, vectors * check_h_bytes(state, node), times);
}

// gamma's and beta's gradients go on with the sums.
static void parameter_sums(struct check_state *state, int node, const struct check_iterations *run)
{
	uint64_t bytes = 2 * check_q_bytes(state, node), fresh = run->first && state->accumulated_in[node] < 0;

	if (check_group(state)->wgrad[node].resident)
		return;
	check_move(state, WC_CLASS_WEIGHT_GRADIENT, CHECK_READ, bytes, run->times - fresh);
	check_move(state, WC_CLASS_WEIGHT_GRADIENT, CHECK_WRITE, bytes, run->times);
}

// The rows' partial sums of a sample: those of the other rows come from DRAM, those made too early go there.
static void partial_sums(struct check_state *state, const struct sched_statement *statement, int node, bool sums, enum check_norm part,
			 const struct check_iterations *run)
{
	uint64_t bytes = run->samples * (sums ? 4 : 2) * check_q_bytes(state, node);
	uint64_t below = (uint64_t)statement->lo, above = (uint64_t)(state->net->nodes[node].out.height - statement->hi);

	if (part == NORM_WHOLE)
		return;
	// What forward's sums are shifted by comes from the statement that has row 0.
	if (!sums)
		check_move(state, WC_CLASS_STATISTICS, below > 0 ? CHECK_READ : CHECK_WRITE, run->samples * check_q_bytes(state, node), run->times);
	check_touch_dram(state, sums ? DRAM_SUMS_ROWS : DRAM_STATISTICS_ROWS, node);
	if (part == NORM_SOME) {
		check_move(state, WC_CLASS_STATISTICS, CHECK_WRITE, bytes * (uint64_t)(statement->hi - statement->lo), run->times);
		return;
	}
	if (below > 0)
		check_move(state, WC_CLASS_STATISTICS, CHECK_READ, bytes * below, run->times);
	if (above > 0)
		check_move(state, WC_CLASS_STATISTICS, CHECK_READ, bytes * above, run->times);
}

int check_lanes(const struct check_state *state)
{
	int lanes = state->schedule->rows;

	lanes = 2 * state->schedule->cols > lanes ? 2 * state->schedule->cols : lanes;
	return (int)state->schedule->bus_bytes / 2 > lanes ? (int)state->schedule->bus_bytes / 2 : lanes;
}

// The result of a group of more channels than the vector unit has lanes is spread over them by a command of its own.
static bool exceeds_lanes(const struct check_state *state, int node)
{
	return state->net->nodes[node].group_channels > check_lanes(state);
}

static void statistics(struct check_state *state, const struct sched_statement *statement, int node, enum check_norm part,
		       const struct check_iterations *run)
{
	uint64_t result = run->samples * 2 * check_q_bytes(state, node);
	bool sums = makes_sums(state, statement);

	if (sums) {
		check_touch_dram(state, DRAM_STATISTICS, node);
		check_move(state, WC_CLASS_STATISTICS, CHECK_READ, result, run->times);
		gamma(state, node, 1, run->times);
	}
	partial_sums(state, statement, node, sums, part, run);
	// Backward, gamma's and beta's sums are made by commands of their own; forward, what is shifted by is set apart with row 0.
	check_commands(state, run->times * (sums || (part == NORM_SOME && statement->lo == 0) ? 2 : 1));
	if (part == NORM_SOME)
		return;
	check_touch_dram(state, sums ? DRAM_SUMS : DRAM_STATISTICS, node);
	check_move(state, WC_CLASS_STATISTICS, CHECK_WRITE, result, run->times);
	check_commands(state, run->times * ((sums ? 3 : 1) + exceeds_lanes(state, node)));
	if (sums)
		parameter_sums(state, node, run);
}

void check_traffic_norm(struct check_state *state, const struct sched_statement *statement, const struct check_iterations *run)
{
	int node = norm_of(state, statement);
	uint64_t result = run->samples * 2 * check_q_bytes(state, node);
	enum check_norm part = check_norm(state, statement);

	if (part != NORM_NOTHING)
		statistics(state, statement, node, part, run);
	if (statement->op != SCHED_COMPUTE)
		return;
	check_touch_dram(state, DRAM_STATISTICS, node);
	check_move(state, WC_CLASS_STATISTICS, CHECK_READ, result, run->times);
	if (statement->tensor == SCHED_GRAD) {
		check_touch_dram(state, DRAM_SUMS, node);
		check_move(state, WC_CLASS_STATISTICS, CHECK_READ, result, run->times);
	}
	gamma(state, node, statement->tensor == SCHED_GRAD ? 1 : 2, run->times);
	check_commands(state, run->times);
}

static uint64_t statistics_room(const struct check_state *state, const struct sched_statement *statement, int node, enum check_norm part,
				uint64_t samples)
{
	uint64_t q = check_q_bytes(state, node), result = samples * 2 * q, bytes = 0;
	uint64_t rows = (uint64_t)(part == NORM_SOME ? statement->hi - statement->lo : state->net->nodes[node].out.height);
	bool sums = makes_sums(state, statement), made = part != NORM_SOME;

	bytes = samples * rows * (sums ? 4 : 2) * q + (made ? result : 0);
	// All rows at once are shifted by what is in the input.
	if (!sums)
		return bytes + (part == NORM_WHOLE ? 0 : samples * q);
	bytes += result + (check_group(state)->weight[node].resident ? 0 : check_h_bytes(state, node));
	return bytes + (made && !check_group(state)->wgrad[node].resident ? 2 * q : 0);
}

// A compute that makes its own is `statistics`, and then compute: the larger of the two.
uint64_t check_norm_room(const struct check_state *state, const struct sched_statement *statement, uint64_t samples)
{
	int node = norm_of(state, statement);
	enum check_norm part = check_norm(state, statement);
	uint64_t before = 0, bytes = 0;

	if (node < 0)
		return 0;
	if (part != NORM_NOTHING)
		before = statistics_room(state, statement, node, part, samples);
	if (statement->op == SCHED_COMPUTE) {
		uint64_t vectors = statement->tensor == SCHED_GRAD ? 1 : 2;

		bytes = samples * (statement->tensor == SCHED_GRAD ? 4 : 2) * check_q_bytes(state, node) +
			(check_group(state)->weight[node].resident ? 0 : vectors * check_h_bytes(state, node));
	}
	return before > bytes ? before : bytes;
}
