// SPDX-License-Identifier: Apache-2.0
//
// What runs by itself: the loss over a core's whole batch, between forward and backward, and the reduction of the cores' gradients and the
// update over all parameters, behind backward.
#include "driver/plan/check/device.h"

enum {
	LABEL_BYTES = 4, LOSS_BYTES = 4,  // of a sample
	GRADIENT_BYTES = 4,
	STATE_BYTES = 4,                  // a master, or a momentum
	WEIGHT_BYTES = 2,
	SOFTMAX_BYTES = 12,               // of a sample in the buffer: its largest logit, the sum's reciprocal and logarithm
	UPDATE_BYTES = 14,                // of a parameter in the buffer, beside its gradients: what the update makes and keeps of it
};

int check_loss(struct check_state *state)
{
	int output = check_output(state->net), samples = state->schedule->batch;
	uint64_t rows = (uint64_t)samples * check_row_bytes(state, SCHED_ACT, output), room;

	state->place = (struct check_place){-1, -1, -1, 0};
	check_move(state, WC_CLASS_ACTIVATION, CHECK_READ, rows, 1);
	check_move(state, WC_CLASS_IO, CHECK_READ, (uint64_t)samples * LABEL_BYTES, 1);
	check_move(state, WC_CLASS_GRADIENT, CHECK_WRITE, rows, 1);
	check_move(state, WC_CLASS_IO, CHECK_WRITE, (uint64_t)samples * LOSS_BYTES, 1);
	check_commands(state, 3);
	room = 2 * rows + check_whole_beats(state, (uint64_t)samples * LABEL_BYTES) + check_whole_beats(state, (uint64_t)samples * LOSS_BYTES) +
	       check_whole_beats(state, (uint64_t)samples * SOFTMAX_BYTES);
	return check_occupy(state, state->net->node_count - 1, "the loss of the batch needs", room);
}

// A gradient of each core.
static uint64_t gradients_bytes(const struct check_state *state)
{
	return (uint64_t)state->cores * GRADIENT_BYTES;
}

static uint64_t block_size(const struct check_state *state)
{
	uint64_t block = CHECK_UPDATE_BLOCK;

	while (block > 1 && check_whole_beats(state, block * (UPDATE_BYTES + gradients_bytes(state))) > state->schedule->buffer_bytes)
		block /= 2;
	return block;
}

// Gradients of all cores come in, and their sum is stored, or stays for the update.
static void reduce(struct check_state *state, uint64_t n)
{
	check_move(state, WC_CLASS_WEIGHT_GRADIENT, CHECK_READ, n * GRADIENT_BYTES, (uint64_t)state->cores);
	check_commands(state, (uint64_t)state->cores - 1);
	if (!state->options.update)
		check_move(state, WC_CLASS_WEIGHT_GRADIENT, CHECK_WRITE, n * GRADIENT_BYTES, 1);
}

static void update(struct check_state *state, uint64_t n)
{
	// Masters and momenta begin on a beat each.
	check_move(state, WC_CLASS_OPTIMIZER, CHECK_READ, 2 * check_whole_beats(state, n * STATE_BYTES), 1);
	check_move(state, WC_CLASS_OPTIMIZER, CHECK_WRITE, 2 * check_whole_beats(state, n * STATE_BYTES), 1);
	check_move(state, WC_CLASS_WEIGHT, CHECK_WRITE, n * WEIGHT_BYTES, 1);
	check_commands(state, 1);
}

// One array of `count` parameters, which begins on a beat.
static int check_array(struct check_state *state, int node, uint64_t count)
{
	uint64_t block = block_size(state), room = gradients_bytes(state) + (state->options.update ? UPDATE_BYTES : 0);
	const char *who = state->options.update ? "a block of the update needs" : "a block of the reduction needs";
	int rc = 0;

	for (uint64_t lo = 0; rc == 0 && lo < count; lo += block) {
		uint64_t n = count - lo < block ? count - lo : block;

		reduce(state, n);
		if (state->options.update)
			update(state, n);
		rc = check_occupy(state, node, who, check_whole_beats(state, n * room));
	}
	return rc;
}

int check_parameters(struct check_state *state)
{
	int rc = 0;

	if (state->cores == 1 && !state->options.update)
		return 0;
	state->place = (struct check_place){-1, -1, -1, 0};
	for (int i = 1; rc == 0 && i < state->net->node_count; i++) {
		const struct net_node *node = &state->net->nodes[i];
		uint64_t channels = (uint64_t)node->out.channels;

		rc = check_array(state, i, node->op == NET_GN ? channels : (uint64_t)net_weights(node));
		if (rc == 0 && (node->op == NET_GN || node->bias))
			rc = check_array(state, i, channels);
	}
	return rc;
}
