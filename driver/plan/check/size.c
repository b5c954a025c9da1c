// SPDX-License-Identifier: Apache-2.0
//
// Whether what a schedule moves, computes and holds can be counted in 64 bits. Bounds are taken from above, in floating point, statement
// by statement, and are several times what is counted: no schedule that can be run comes near.
#include "driver/plan/check/internal.h"

// Below 2^62, so that sums of what is just below still fit.
static const double most = 4e18;

static double elements(const struct net_node *node)
{
	return (double)node->out.height * node->out.width * node->out.channels;
}

// What a statement may move, in bits, of a node's tensors, inputs and parameters, and compute; under `device` 256 bytes a command, too.
static double bound(const struct check_state *state, int index)
{
	const struct net_node *node = &state->net->nodes[index];
	const double parameters = (double)net_parameters(node);
	// `blocked` reads an operand again for each half buffer of the other.
	const double blocks = check_group(state)->weight[index].blocked ? 2 + 4 * parameters / state->schedule->buffer_bytes : 2;
	double all = elements(node) + parameters + 1024;

	for (int i = 0; i < node->input_count; i++)
		all += elements(&state->net->nodes[node->inputs[i]]);
	return (double)state->cores * state->schedule->batch * (512 * blocks * all + (double)net_macs(node));
}

static double bound_list(const struct check_state *state, const struct sched_operand *list, int count)
{
	double sum = 0;

	for (int i = 0; i < count; i++)
		sum += bound(state, list[i].node);
	return sum;
}

int check_size(struct check_state *state)
{
	const struct sched_statement *statement = check_statement(state);
	const int operator = check_operator(state->net, statement);
	char place[224];

	state->bound += bound(state, statement->node) + (operator >= 0 ? bound(state, operator) : 0);
	for (int i = 0; i < statement->through_count; i++)
		state->bound += bound(state, statement->through[i]);
	state->bound += bound_list(state, statement->saved, statement->saved_count) + bound_list(state, statement->from, statement->from_count) +
			bound_list(state, statement->to, statement->to_count);
	if (state->bound < most)
		return 0;
	check_place_text(place, sizeof(place), state->schedule, state->net, &state->place);
	return wc_fail(state->err, WC_ERR_INPUT,
		       "cannot check %s: with a batch of %d, the statements up to this one (node '%.64s') may move or compute more than can be counted in 64 "
		       "bits; a smaller batch, or fewer statements, can be checked",
		       place, state->cores * state->schedule->batch, state->net->nodes[statement->node].name);
}
