// SPDX-License-Identifier: Apache-2.0
//
// The memory of the symbolic execution, and what is in DRAM at the start.
#include <stdlib.h>

#include "driver/plan/check/internal.h"

static int no_memory(struct check_state *state)
{
	return wc_fail(state->err, WC_ERR_SYSTEM, "out of memory checking a schedule");
}

int check_reserve(struct check_state *state, void **array, int *capacity, int count, size_t element_bytes)
{
	int wanted = *capacity > 0 ? *capacity : 16;
	void *grown;

	if (count <= *capacity)
		return 0;
	while (wanted < count)
		wanted *= 2;
	grown = realloc(*array, (size_t)wanted * element_bytes);
	if (grown == NULL)
		return no_memory(state);
	*array = grown;
	*capacity = wanted;
	return 0;
}

void check_state_release(struct check_state *state)
{
	check_graph_release(&state->graph);
	free(state->flags);
	free(state->rows);
	free(state->parts);
	free(state->part_rows);
	free(state->accumulated_in);
	free(state->counted);
	free(state->summed);
	free(state->work);
	free(state->lives);
	free(state->kept_rows);
	free(state->viewed);
	free(state->step.uses);
	free(state->step.remade);
	free(state->slabs);
	free(state->slab_first);
	free(state->slab_now);
	free(state->aliases);
	free(state->change);
}

// The gradient of the network's output, as the caller's part, in DRAM.
void check_give_gradient(struct check_state *state)
{
	const struct net *net = state->net;
	int caller = net->nodes[net->node_count - 1].op == NET_LOSS ? net->node_count - 1 : net->node_count;
	const struct check_list *leaves = &state->graph.leaves[check_output(net)];

	for (int i = 0; i < leaves->count; i++) {
		int leaf = leaves->nodes[i];

		check_set_flags(check_flags(state, SCHED_GRAD, leaf), (struct row_range){0, net->nodes[leaf].out.height}, ROW_STORED);
		for (int y = 0; y < net->nodes[leaf].out.height; y++)
			state->part_rows[leaf][y].stored = (uint16_t)check_parts_with(state, leaf, caller);
	}
}

static bool allocate(struct check_state *state, size_t nodes, size_t heights)
{
	state->flags = calloc(3 * heights, sizeof(*state->flags));
	state->rows = calloc(3 * nodes, sizeof(*state->rows));
	state->parts = calloc(heights, sizeof(*state->parts));
	state->part_rows = calloc(nodes, sizeof(*state->part_rows));
	state->accumulated_in = calloc(nodes, sizeof(*state->accumulated_in));
	state->counted = calloc(nodes, sizeof(*state->counted));
	state->summed = calloc(nodes, sizeof(*state->summed));
	state->work = calloc(nodes, sizeof(*state->work));
	state->lives = calloc(DRAM_COUNT * nodes, sizeof(*state->lives));
	state->kept_rows = calloc(3 * nodes, sizeof(*state->kept_rows));
	state->viewed = calloc(nodes, sizeof(*state->viewed));
	state->slab_first = calloc(3 * nodes, sizeof(*state->slab_first));
	state->slab_now = calloc(3 * nodes, sizeof(*state->slab_now));
	return state->flags != NULL && state->rows != NULL && state->parts != NULL && state->part_rows != NULL && state->accumulated_in != NULL &&
	       state->counted != NULL && state->summed != NULL && state->work != NULL && state->lives != NULL && state->kept_rows != NULL && state->viewed != NULL &&
	       state->slab_first != NULL && state->slab_now != NULL;
}

int check_state_init(struct check_state *state)
{
	size_t nodes = (size_t)state->net->node_count, heights = 0;
	uint16_t *next;
	struct check_parts *next_parts;
	int rc = check_graph_init(&state->graph, state->net, state->paper, state->err);

	if (rc != 0)
		return rc;
	for (size_t i = 0; i < nodes; i++)
		heights += (size_t)state->net->nodes[i].out.height;
	if (!allocate(state, nodes, heights))
		return no_memory(state);
	next = state->flags;
	next_parts = state->parts;
	for (size_t i = 0; i < 3 * nodes; i++) {
		state->rows[i] = next;
		next += state->net->nodes[i % nodes].out.height;
		state->slab_first[i] = state->slab_now[i] = -1;
	}
	for (size_t i = 0; i < DRAM_COUNT * nodes; i++)
		state->lives[i] = (struct check_life){0, -1};
	for (size_t i = 0; i < nodes; i++) {
		state->part_rows[i] = next_parts;
		next_parts += state->net->nodes[i].out.height;
		state->accumulated_in[i] = state->viewed[i] = -1;
	}
	check_set_flags(check_flags(state, SCHED_ACT, 0), (struct row_range){0, state->net->nodes[0].out.height}, ROW_STORED);
	if (!state->paper && state->net->nodes[nodes - 1].op != NET_LOSS)
		check_give_gradient(state); // no loss makes it: forward groups may load it, to no use
	return 0;
}
