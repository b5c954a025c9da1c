// SPDX-License-Identifier: Apache-2.0
//
// Occupancy: live bytes at every statement. A slab is the hull of the rows that the strip names, and lives from the statement that
// first names or fills it to the last that names or reads rows of it (what lies in padding alone reads none); a ReLU in place has one slab for input and output.
#include <inttypes.h>

#include "driver/plan/check/internal.h"

// Iterations that differ in occupancy: the first, full ones behind it, the last with fewer samples.
struct iteration {
	int samples;
	bool first;
};

// What is read in slices is read one slice ahead: two neighbouring slices at once, or the one slice there is.
static uint64_t stream_bytes(const struct check_state *state, const struct net_node *node, int slice, int element_bytes, bool read)
{
	uint64_t most = 0, before = 0;

	for (int i = 0; check_slice_channels(node, slice, i) > 0; i++) {
		uint64_t bytes = check_weight_bytes(state, node, check_slice_channels(node, slice, i), element_bytes);

		most = before + bytes > most ? before + bytes : most;
		before = read ? bytes : 0;
	}
	return most;
}

// Weights, or sums, that pass through the buffer during a statement.
static uint64_t streamed_bytes(const struct check_state *state, const struct sched_statement *statement, bool first_iteration)
{
	const struct sched_group *group = check_group(state);
	int operator = check_operator(state->net, statement);
	const struct net_node *node;

	if (operator < 0 || state->net->nodes[operator].op != NET_CONV)
		return 0;
	node = &state->net->nodes[operator];
	if (statement->op == SCHED_ACCUMULATE) {
		bool read = !first_iteration || check_continues_sums(state, state->place.strip, state->place.statement, operator);

		return group->wgrad[operator].resident ? 0 : stream_bytes(state, node, group->wgrad[operator].slice, 4, read);
	}
	if (group->weight[operator].resident)
		return 0;
	return stream_bytes(state, node, statement->tensor == SCHED_GRAD ? 0 : group->weight[operator].slice, 2, true);
}

static uint64_t resident_bytes(const struct check_state *state)
{
	const struct sched_group *group = check_group(state);
	uint64_t bytes = 0;

	for (int i = 0; i < state->net->node_count; i++) {
		const struct net_node *node = &state->net->nodes[i];

		if (group->weight[i].resident)
			bytes += check_weight_bytes(state, node, node->out.channels, 2);
		if (group->wgrad[i].resident)
			bytes += check_weight_bytes(state, node, node->out.channels, 4);
	}
	return bytes;
}

static struct check_slab *slab_of(const struct check_state *state, enum sched_tensor tensor, int node)
{
	return &state->slabs[(int)tensor * state->net->node_count + node];
}

static void name_rows(const struct check_state *state, const struct row_use *use, int statement)
{
	struct check_slab *slab = slab_of(state, use->tensor, use->node);

	if (slab->last < slab->first) {
		*slab = (struct check_slab){use->rows.lo, use->rows.hi, statement, statement};
		return;
	}
	slab->lo = use->rows.lo < slab->lo ? use->rows.lo : slab->lo;
	slab->hi = use->rows.hi > slab->hi ? use->rows.hi : slab->hi;
	slab->last = statement;
}

static void find_slabs(const struct check_state *state, const struct sched_strip *strip)
{
	for (int i = 0; i < 3 * state->net->node_count; i++)
		state->slabs[i] = (struct check_slab){0, 0, 0, -1};
	for (int i = 0; i < strip->statement_count; i++) {
		const struct sched_statement *statement = &strip->statements[i];
		struct row_use uses[CHECK_USES_MAX];
		int count = check_reads(state->net, statement, uses);

		for (int j = 0; j < count; j++) {
			struct check_slab *slab = slab_of(state, uses[j].tensor, uses[j].node);

			if (slab->first <= slab->last && uses[j].rows.lo < uses[j].rows.hi)
				slab->last = i;
		}
		count = check_fills(state->net, statement, uses);
		for (int j = 0; j < count; j++)
			name_rows(state, &uses[j], i);
		if (statement->op == SCHED_KEEP || statement->op == SCHED_STORE)
			name_rows(state, &(struct row_use){statement->tensor, statement->node, {statement->lo, statement->hi}}, i);
	}
}

static uint64_t slab_bytes(const struct check_state *state, enum sched_tensor tensor, int node, int samples)
{
	const struct check_slab *slab = slab_of(state, tensor, node);

	return (uint64_t)samples * (uint64_t)(slab->hi - slab->lo) * check_row_bytes(state, tensor, node);
}

// The bytes that a ReLU or its gradient saves at its statement by working in place.
static uint64_t in_place_bytes(const struct check_state *state, const struct sched_statement *statement, int samples)
{
	int at = state->place.statement, operator = check_operator(state->net, statement);
	const struct check_slab *input, *output;
	int input_node;

	if (statement->op != SCHED_COMPUTE || state->net->nodes[operator].op != NET_RELU)
		return 0;
	input_node = statement->tensor == SCHED_ACT ? state->net->nodes[operator].inputs[0] : operator;
	input = slab_of(state, statement->tensor, input_node);
	output = slab_of(state, statement->tensor, statement->node);
	if (input->last != at || output->first != at || input->lo != output->lo || input->hi != output->hi)
		return 0;
	return slab_bytes(state, statement->tensor, input_node, samples);
}

static uint64_t live_bytes(const struct check_state *state, const struct sched_statement *statement, struct iteration iteration)
{
	int at = state->place.statement;
	uint64_t bytes = resident_bytes(state) + streamed_bytes(state, statement, iteration.first);

	for (int tensor = SCHED_ACT; tensor <= SCHED_MASK; tensor++) {
		for (int node = 0; node < state->net->node_count; node++) {
			const struct check_slab *slab = slab_of(state, (enum sched_tensor)tensor, node);

			if (slab->first <= at && at <= slab->last)
				bytes += slab_bytes(state, (enum sched_tensor)tensor, node, iteration.samples);
		}
	}
	return bytes - in_place_bytes(state, statement, iteration.samples);
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

static int check_statement_fits(struct check_state *state, const struct sched_statement *statement, struct iteration iteration)
{
	uint64_t bytes = live_bytes(state, statement, iteration);

	if (bytes > state->schedule->buffer_bytes)
		return check_fail(state, CHECK_BUFFER, statement->node, "the buffer overflows: %d samples need %" PRIu64 " bytes, it has %u",
				  iteration.samples, bytes, state->schedule->buffer_bytes);
	if (bytes > state->result->peak_bytes) {
		state->result->peak_bytes = bytes;
		state->result->peak = state->place;
	}
	return 0;
}

int check_buffer_strip(struct check_state *state)
{
	const struct sched_strip *strip = &check_group(state)->strips[state->place.strip];
	struct iteration iterations[3];
	int count = list_iterations(state, iterations);

	find_slabs(state, strip);
	for (int i = 0; i < strip->statement_count; i++) {
		state->place.statement = i;
		state->place.line = strip->statements[i].line;
		for (int j = 0; j < count; j++) {
			if (check_statement_fits(state, &strip->statements[i], iterations[j]) != 0)
				return WC_ERR_INPUT;
		}
	}
	return 0;
}
