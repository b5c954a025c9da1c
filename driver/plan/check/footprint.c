// SPDX-License-Identifier: Apache-2.0
//
// Bytes in DRAM at once: every tensor is there, whole and for the whole batch, from the group that first stores it to the one that last
// reads it. The image is there from the start, the caller reads the output behind the last forward group and leaves its gradient.
#include <stdlib.h>

#include "driver/plan/check/internal.h"

static struct check_life *life_of(struct check_state *state, enum sched_tensor tensor, int node)
{
	return &state->lives[(int)tensor * state->net->node_count + node];
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

void check_touch_dram(struct check_state *state, enum sched_tensor tensor, int node)
{
	extend(life_of(state, tensor, node), state->place.group, state->place.group);
}

static void give_and_take(struct check_state *state)
{
	const struct check_list *output = &state->graph.leaves[check_output(state->net)];
	int backward = 0;

	while (backward < state->schedule->group_count && state->schedule->groups[backward].phase == SCHED_FORWARD)
		backward++;
	extend(life_of(state, SCHED_ACT, 0), 0, 0);
	for (int i = 0; i < output->count; i++) {
		extend(life_of(state, SCHED_ACT, output->nodes[i]), backward - 1, backward - 1);
		if (backward < state->schedule->group_count && check_has_gradient(state, output->nodes[i]))
			extend(life_of(state, SCHED_GRAD, output->nodes[i]), backward, backward);
	}
}

static uint64_t tensor_bits(const struct check_state *state, enum sched_tensor tensor, int node)
{
	uint64_t row_bits = tensor == SCHED_MASK ? check_mask_bits(&state->net->nodes[node]) : 8 * check_row_bytes(state, tensor, node);

	return (uint64_t)state->schedule->batch * (uint64_t)state->net->nodes[node].out.height * row_bits;
}

int check_footprint(struct check_state *state)
{
	int groups = state->schedule->group_count;
	int64_t *change = calloc((size_t)groups + 1, sizeof(*change)), bits = 0, most = 0;

	if (change == NULL)
		return wc_fail(state->err, WC_ERR_SYSTEM, "out of memory checking a schedule");
	give_and_take(state);
	for (int i = 0; i < 3 * state->net->node_count; i++) {
		const struct check_life *life = &state->lives[i];
		int64_t weight;

		if (life->first > life->last)
			continue;
		weight = (int64_t)tensor_bits(state, (enum sched_tensor)(i / state->net->node_count), i % state->net->node_count);
		change[life->first] += weight;
		change[life->last + 1] -= weight;
	}
	for (int group = 0; group < groups; group++) {
		bits += change[group];
		most = bits > most ? bits : most;
	}
	free(change);
	state->result->footprint_bytes = ((uint64_t)most + 7) / 8 + 6 * (uint64_t)net_total_parameters(state->net);
	return 0;
}
