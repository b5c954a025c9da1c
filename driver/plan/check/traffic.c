// SPDX-License-Identifier: Apache-2.0
//
// DRAM bytes and commands of statements, after driver/README.md, "DRAM bytes under `device` accounting" and "Graphs on the device": every
// iteration with its own number of samples; there are at most two numbers, that of a full iteration and that of the last.
#include "driver/plan/check/device.h"

static enum wc_class class_of(const struct sched_statement *statement)
{
	if (statement->op != SCHED_LOAD && statement->op != SCHED_STORE)
		return WC_CLASS_BOUNDARY;
	if (statement->tensor == SCHED_ACT)
		return statement->node == 0 ? WC_CLASS_IO : WC_CLASS_ACTIVATION;
	return statement->tensor == SCHED_GRAD ? WC_CLASS_GRADIENT : WC_CLASS_MASK;
}

static void add_transfer(struct check_state *state, const struct sched_statement *statement, const struct check_iterations *run)
{
	bool read = statement->op == SCHED_LOAD || statement->op == SCHED_TAKE;
	uint64_t rows = run->samples * (uint64_t)(statement->hi - statement->lo);

	check_move(state, class_of(statement), read ? CHECK_READ : CHECK_WRITE, rows * check_row_bytes(state, statement->tensor, statement->node), run->times);
}

// A part for each of a node's inputs that has a gradient.
static uint64_t parts_of(const struct check_state *state, const struct net_node *node)
{
	uint64_t parts = 0;

	for (int i = 0; i < node->input_count; i++)
		parts += check_has_gradient(state, node->inputs[i]);
	return parts;
}

// Residue classes with a pixel in the interval.
static uint64_t classes_of(const struct net_node *pool, const struct sched_statement *statement)
{
	uint64_t rows = 0, columns = 0;

	for (int y = 0; y < pool->conv.stride_h; y++)
		rows += check_class_size(statement->lo, statement->hi, pool->conv.stride_h, y) > 0;
	for (int x = 0; x < pool->conv.stride_w; x++)
		columns += check_class_size(0, pool->in.width, pool->conv.stride_w, x) > 0;
	return rows * columns;
}

static void add_activation(struct check_state *state, const struct sched_statement *statement, const struct check_iterations *run)
{
	const struct net_node *node = &state->net->nodes[statement->node];

	switch (node->op) {
	case NET_CONV:
	case NET_FC:
		check_traffic_forward(state, statement, run);
		break;
	case NET_GN:
		check_traffic_norm(state, statement, run);
		break;
	case NET_ADD:
		check_commands(state, run->times * (uint64_t)(node->input_count - 1));
		break;
	case NET_CONCAT:
		check_commands(state, run->times * (uint64_t)node->input_count);
		break;
	default: // ReLUs and pools
		check_commands(state, run->times);
		break;
	}
}

static void add_gradient(struct check_state *state, const struct sched_statement *statement, const struct check_iterations *run)
{
	int reader = check_operator(state->net, statement);
	const struct net_node *node = &state->net->nodes[reader];

	switch (node->op) {
	case NET_CONV:
	case NET_FC:
		check_traffic_data_gradient(state, statement, reader, run);
		break;
	case NET_GN:
		check_traffic_norm(state, statement, run);
		break;
	case NET_MAX_POOL:
	case NET_AVG_POOL:
		check_commands(state, run->times * classes_of(node, statement));
		break;
	default: // ReLUs and global pools
		check_commands(state, run->times);
		break;
	}
	// A part that is added to a sum so far is made apart.
	if (check_parts_before(state, statement->node, reader) > 0)
		check_commands(state, run->times);
}

static void add_statement(struct check_state *state, const struct check_iterations *run)
{
	const struct sched_statement *statement = check_statement(state);

	if (run->times == 0 || run->samples == 0)
		return;
	switch (statement->op) {
	case SCHED_COMPUTE:
		if (statement->tensor == SCHED_ACT)
			add_activation(state, statement, run);
		else
			add_gradient(state, statement, run);
		break;
	case SCHED_ACCUMULATE:
		check_traffic_accumulate(state, statement, run);
		break;
	case SCHED_STATISTICS:
		check_traffic_norm(state, statement, run);
		break;
	case SCHED_SPLIT:
		check_commands(state, run->times * parts_of(state, &state->net->nodes[statement->node]));
		break;
	case SCHED_FREE:
		break;
	default:
		add_transfer(state, statement, run);
		break;
	}
}

void check_traffic_statement(struct check_state *state)
{
	int batch = state->schedule->batch, sub_batch = check_group(state)->sub_batch;
	int full = batch / sub_batch, rest = batch % sub_batch;

	if (state->paper) {
		check_paper_statement(state);
		return;
	}
	add_statement(state, &(struct check_iterations){(uint64_t)sub_batch, (uint64_t)full, true});
	add_statement(state, &(struct check_iterations){(uint64_t)rest, 1, full == 0});
}

void check_traffic_group(struct check_state *state)
{
	const struct sched_group *group = check_group(state);

	if (state->paper) {
		check_paper_group(state);
		return;
	}
	for (int node = 0; node < state->net->node_count; node++) {
		bool norm = state->net->nodes[node].op == NET_GN;

		if (group->weight[node].resident && norm)
			check_move(state, WC_CLASS_WEIGHT, CHECK_READ, 2 * check_h_bytes(state, node), 1);
		else if (group->weight[node].resident)
			check_move_weights(state, node, 0, 1);
		if (group->wgrad[node].resident && norm)
			check_move(state, WC_CLASS_WEIGHT_GRADIENT, CHECK_WRITE, 2 * check_q_bytes(state, node), 1);
		else if (group->wgrad[node].resident)
			check_move_sums(state, node, 0, CHECK_WRITE, 1);
	}
}
