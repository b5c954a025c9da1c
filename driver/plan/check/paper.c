// SPDX-License-Identifier: Apache-2.0
//
// DRAM bytes after driver/README.md, "DRAM bytes under `paper` accounting". Rows are not padded, so that all iterations together move
// what one iteration of the whole batch would; only parameters and their gradients are moved once an iteration.
#include "driver/plan/check/internal.h"

enum direction { READ, WRITE };

static uint64_t iterations(const struct check_state *state)
{
	int sub_batch = check_group(state)->sub_batch;

	return ((uint64_t)state->schedule->batch + (uint64_t)sub_batch - 1) / (uint64_t)sub_batch;
}

static uint64_t parameter_bytes(const struct check_state *state, int node)
{
	return 2 * (uint64_t)net_parameters(&state->net->nodes[node]);
}

// The same share of biases, gammas and betas as of filters.
uint64_t check_resident_bytes(const struct check_state *state, int node, const struct sched_policy *policy)
{
	uint64_t channels = (uint64_t)state->net->nodes[node].out.channels;

	if (!policy->resident)
		return 0;
	return policy->slice == 0 ? parameter_bytes(state, node) : parameter_bytes(state, node) / channels * (uint64_t)policy->slice;
}

static enum wc_class class_of(enum sched_tensor tensor)
{
	return tensor == SCHED_ACT ? WC_CLASS_ACTIVATION : WC_CLASS_GRADIENT;
}

static void add_rows(struct check_state *state, const struct check_use *use, struct row_range rows, enum direction direction, uint64_t times)
{
	uint64_t count = (uint64_t)state->schedule->batch * (uint64_t)(rows.hi - rows.lo) * times;

	if (use->tensor == SCHED_MASK)
		state->mask_bits[direction] += count * check_mask_bits(&state->net->nodes[use->node]);
	else
		check_add_bytes(state, class_of(use->tensor), direction == WRITE, count * check_row_bytes(state, use->tensor, use->node));
}

static void add_uses(struct check_state *state, const struct sched_statement *statement)
{
	const struct check_step *step = &state->step;

	for (int i = 0; i < step->count; i++) {
		const struct check_use *use = &step->uses[i];

		if (statement->op == SCHED_LOAD || statement->op == SCHED_STORE)
			add_rows(state, use, use->rows, statement->op == SCHED_LOAD ? READ : WRITE, 1);
		else if (!row_range_empty(use->stream))
			add_rows(state, use, use->stream, use->role == USE_RESULT ? WRITE : READ,
				 use->role == USE_OPERAND || use->role == USE_GRADIENT ? (uint64_t)step->passes : 1);
	}
}

static uint64_t half_times(uint64_t bytes, uint64_t half)
{
	return bytes == 0 ? 0 : (bytes + half - 1) / half - 1;
}

static uint64_t tensor_bytes(const struct check_state *state, struct net_shape shape)
{
	return 2 * (uint64_t)state->schedule->batch * (uint64_t)shape.height * (uint64_t)shape.width * (uint64_t)shape.channels;
}

// A layer whose parameters exceed half of the buffer reads one of its operands again.
static void add_blocked(struct check_state *state, const struct sched_statement *statement, int node)
{
	uint64_t weight = parameter_bytes(state, node), half = state->schedule->buffer_bytes / 2, again = half_times(weight, half);
	uint64_t in = tensor_bytes(state, state->net->nodes[node].in), out = tensor_bytes(state, state->net->nodes[node].out);
	uint64_t moving = state->step.backward ? out : in;

	if (again == 0)
		return;
	if (statement->op == SCHED_ACCUMULATE) {
		if (in > half && out > half)
			check_add_bytes(state, WC_CLASS_ACTIVATION, false, in * again);
		return;
	}
	if (moving * again <= weight * half_times(moving, half))
		check_add_bytes(state, class_of(state->step.backward ? SCHED_GRAD : SCHED_ACT), false, moving * again);
	else
		check_add_bytes(state, WC_CLASS_WEIGHT, false, weight * half_times(moving, half));
}

static void add_parameters(struct check_state *state, int node)
{
	uint64_t streamed = parameter_bytes(state, node) - check_resident_bytes(state, node, &check_group(state)->weight[node]);

	check_add_bytes(state, WC_CLASS_WEIGHT, false, streamed * iterations(state));
}

static bool runs(const struct check_step *step, int node)
{
	for (int i = 0; i < step->operator_count; i++) {
		if (step->operators[i] == node)
			return true;
	}
	return false;
}

// Of forward and data gradient operators, those of normalizations that are run again included; each is read once a statement.
static void add_weights(struct check_state *state, const struct sched_statement *statement)
{
	const struct check_step *step = &state->step;

	for (int i = 0; i < step->operator_count && statement->op == SCHED_COMPUTE; i++)
		add_parameters(state, step->operators[i]);
	for (int i = 0; i < step->remade_count; i++) {
		if (statement->op != SCHED_COMPUTE || !runs(step, step->remade[i]))
			add_parameters(state, step->remade[i]);
	}
}

static void add_sums(struct check_state *state, int node)
{
	uint64_t bytes = parameter_bytes(state, node) - check_resident_bytes(state, node, &check_group(state)->wgrad[node]);
	uint64_t times = iterations(state);

	check_add_bytes(state, WC_CLASS_WEIGHT_GRADIENT, true, bytes * times);
	check_add_bytes(state, WC_CLASS_WEIGHT_GRADIENT, false, bytes * (state->accumulated_in[node] >= 0 ? times : times - 1));
}

void check_paper_statement(struct check_state *state)
{
	const struct sched_statement *statement = check_statement(state);
	const struct check_step *step = &state->step;

	add_uses(state, statement);
	add_weights(state, statement);
	for (int i = 0; i < step->operator_count; i++) {
		if (step->makes_sums[i])
			add_sums(state, step->operators[i]);
		if (check_group(state)->weight[step->operators[i]].blocked && (statement->op == SCHED_COMPUTE || statement->op == SCHED_ACCUMULATE))
			add_blocked(state, statement, step->operators[i]);
	}
}

void check_paper_group(struct check_state *state)
{
	const struct sched_group *group = check_group(state);

	for (int node = 0; node < state->net->node_count; node++) {
		check_add_bytes(state, WC_CLASS_WEIGHT, false, check_resident_bytes(state, node, &group->weight[node]));
		check_add_bytes(state, WC_CLASS_WEIGHT_GRADIENT, true, check_resident_bytes(state, node, &group->wgrad[node]));
	}
}

void check_paper_masks(struct check_state *state)
{
	uint64_t written = (state->mask_bits[WRITE] + 7) / 8, all = (state->mask_bits[READ] + state->mask_bits[WRITE] + 7) / 8;

	state->result->write_bytes[WC_CLASS_MASK] = written;
	state->result->read_bytes[WC_CLASS_MASK] = all - written;
}
