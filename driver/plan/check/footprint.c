// SPDX-License-Identifier: Apache-2.0
//
// Bytes in DRAM at once: every tensor is there, whole and for the whole batch, from the group that first stores it to the one that last
// reads it. The image is there from the start, the caller reads the output behind the last forward group and leaves its gradient.
// Under `device` rows are padded and boundary storage is in DRAM, too: each row kept, from the first group that keeps some of
// the tensor to the last that keeps or takes some.
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

void check_touch_kept(struct check_state *state, enum sched_tensor tensor, int node)
{
	extend(&state->kept_lives[(int)tensor * state->net->node_count + node], state->place.group, state->place.group);
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

static uint64_t row_bits(const struct check_state *state, enum sched_tensor tensor, int node)
{
	// Masks are packed under `paper`.
	if (state->paper && tensor == SCHED_MASK)
		return check_mask_bits(&state->net->nodes[node]);
	return 8 * check_row_bytes(state, tensor, node);
}

static int kept_rows(const struct check_state *state, enum sched_tensor tensor, int node)
{
	const uint16_t *flags = check_flags(state, tensor, node);
	int rows = 0;

	for (int y = 0; y < state->net->nodes[node].out.height; y++)
		rows += (flags[y] & ROW_KEPT_EVER) != 0;
	return rows;
}

static void add_life(const struct check_life *life, int64_t *change, uint64_t bits)
{
	if (life->first > life->last)
		return;
	change[life->first] += (int64_t)bits;
	change[life->last + 1] -= (int64_t)bits;
}

static uint64_t parameter_bytes(const struct check_state *state)
{
	uint64_t bytes = 0;

	if (state->paper)
		return 6 * (uint64_t)net_total_parameters(state->net);
	for (int i = 0; i < state->net->node_count; i++) {
		const struct net_node *node = &state->net->nodes[i];

		if (node->op == NET_CONV)
			bytes += check_weight_bytes(state, node, node->out.channels, 2) + check_weight_bytes(state, node, node->out.channels, 4);
	}
	return bytes;
}

int check_footprint(struct check_state *state)
{
	int groups = state->schedule->group_count, nodes = state->net->node_count;
	int64_t *change = calloc((size_t)groups + 1, sizeof(*change)), bits = 0, most = 0;

	if (change == NULL)
		return wc_fail(state->err, WC_ERR_SYSTEM, "out of memory checking a schedule");
	give_and_take(state);
	for (int i = 0; i < 3 * nodes; i++) {
		enum sched_tensor tensor = (enum sched_tensor)(i / nodes);
		uint64_t row = (uint64_t)state->schedule->batch * row_bits(state, tensor, i % nodes);

		add_life(&state->lives[i], change, row * (uint64_t)state->net->nodes[i % nodes].out.height);
		add_life(&state->kept_lives[i], change, row * (uint64_t)kept_rows(state, tensor, i % nodes));
	}
	for (int group = 0; group < groups; group++) {
		bits += change[group];
		most = bits > most ? bits : most;
	}
	free(change);
	state->result->footprint_bytes = ((uint64_t)most + 7) / 8 + parameter_bytes(state);
	return 0;
}
