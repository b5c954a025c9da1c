// SPDX-License-Identifier: Apache-2.0
//
// Bytes in DRAM at once: every tensor is there, whole and for all cores' batch, from the group that first stores it to the one that last
// reads it. The image is there from the start, the caller reads the output behind the last forward group and leaves its gradient. Under
// `device` so are statistics, sums, partial sums of rows and each row kept, once, with every row padded; so are parameters and their gradients.
#include <stdlib.h>

#include "driver/plan/check/device.h"

static struct check_life *life_of(struct check_state *state, enum check_dram what, int node)
{
	return &state->lives[(int)what * state->net->node_count + node];
}

static void extend(struct check_life *life, int first, int last)
{
	if (life->first > life->last) {
		*life = (struct check_life){first, last};
		return;
	}
	life->first = first < life->first ? first : life->first;
	life->last = last > life->last ? last : life->last;
}

void check_touch_dram(struct check_state *state, enum check_dram what, int node)
{
	extend(life_of(state, what, node), state->place.group, state->place.group);
}

static void give_and_take(struct check_state *state)
{
	const struct check_list *output = &state->graph.leaves[check_output(state->net)];
	int backward = 0;

	while (backward < state->schedule->group_count && state->schedule->groups[backward].phase == SCHED_FORWARD)
		backward++;
	extend(life_of(state, DRAM_ACT, 0), 0, 0);
	for (int i = 0; i < output->count; i++) {
		extend(life_of(state, DRAM_ACT, output->nodes[i]), backward - 1, backward - 1);
		if (backward < state->schedule->group_count && check_has_gradient(state, output->nodes[i]))
			extend(life_of(state, DRAM_GRAD, output->nodes[i]), backward, backward);
	}
}

static uint64_t row_bits(const struct check_state *state, enum sched_tensor tensor, int node)
{
	return state->paper && tensor == SCHED_MASK ? check_mask_bits(&state->net->nodes[node]) : 8 * check_row_bytes(state, tensor, node);
}

// Of a sample. Under `paper` kept rows are in the buffer, and statistics are not counted.
static uint64_t bits_of(const struct check_state *state, enum check_dram what, int node)
{
	uint64_t height = (uint64_t)state->net->nodes[node].out.height;
	int tensor = (int)what - DRAM_KEPT;

	if (what <= DRAM_MASK)
		return height * row_bits(state, (enum sched_tensor)what, node);
	if (state->paper)
		return 0;
	if (what >= DRAM_KEPT)
		return (uint64_t)state->kept_rows[tensor * state->net->node_count + node] * row_bits(state, (enum sched_tensor)tensor, node);
	switch (what) {
	case DRAM_STATISTICS_ROWS:
		return 8 * (height * 2 + 1) * check_q_bytes(state, node); // with the shift
	case DRAM_SUMS_ROWS:
		return 8 * height * 4 * check_q_bytes(state, node);
	default:
		return 8 * 2 * check_q_bytes(state, node);
	}
}

// An array of so many parameters: fp16 and each core's gradients in fp32, and, if there is an update, two more numbers in fp32.
static uint64_t array_bytes(const struct check_state *state, uint64_t count)
{
	uint64_t bus = state->schedule->bus_bytes;
	uint64_t halves = (2 * count + bus - 1) / bus * bus, floats = (4 * count + bus - 1) / bus * bus;

	return halves + ((uint64_t)state->cores + (state->options.update ? 2 : 0)) * floats;
}

static uint64_t parameter_bytes(const struct check_state *state)
{
	uint64_t bytes = 0;

	if (state->paper)
		return (2 + 4 * (uint64_t)state->cores) * (uint64_t)net_total_parameters(state->net);
	for (int i = 0; i < state->net->node_count; i++) {
		const struct net_node *node = &state->net->nodes[i];
		uint64_t channels = (uint64_t)node->out.channels;

		bytes += net_weights(node) > 0 ? array_bytes(state, (uint64_t)net_weights(node)) : 0;
		bytes += node->bias ? array_bytes(state, channels) : 0;
		bytes += node->op == NET_GN ? 2 * array_bytes(state, channels) : 0;
	}
	return bytes;
}

int check_footprint(struct check_state *state)
{
	int groups = state->schedule->group_count;
	int64_t *change = calloc((size_t)groups + 1, sizeof(*change)), bits = 0, most = 0;

	if (change == NULL)
		return wc_fail(state->err, WC_ERR_SYSTEM, "out of memory checking a schedule");
	give_and_take(state);
	for (int i = 0; i < DRAM_COUNT * state->net->node_count; i++) {
		const struct check_life *life = &state->lives[i];
		int64_t weight;

		if (life->first > life->last)
			continue;
		weight = (int64_t)state->cores * state->schedule->batch * (int64_t)bits_of(state, (enum check_dram)(i / state->net->node_count), i % state->net->node_count);
		change[life->first] += weight;
		change[life->last + 1] -= weight;
	}
	for (int group = 0; group < groups; group++) {
		bits += change[group];
		most = bits > most ? bits : most;
	}
	free(change);
	state->result->footprint_bytes = ((uint64_t)most + 7) / 8 + parameter_bytes(state);
	return 0;
}
