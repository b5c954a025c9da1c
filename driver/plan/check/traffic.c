// SPDX-License-Identifier: Apache-2.0
//
// DRAM bytes and commands, after driver/README.md, "DRAM bytes under `device` accounting": every iteration with its
// own number of samples; there are at most two numbers, that of a full iteration and that of the last.
#include "driver/plan/check/internal.h"

enum direction { READ, WRITE };

void check_add_bytes(struct check_state *state, enum wc_class class, bool write, uint64_t bytes)
{
	if (write)
		state->result->write_bytes[class] += bytes;
	else
		state->result->read_bytes[class] += bytes;
}

static void add_commands(struct check_state *state, uint64_t commands)
{
	state->result->commands += commands;
	check_add_bytes(state, WC_CLASS_COMMAND, READ, commands * CHECK_COMMAND_BYTES);
}

static uint64_t tiles(uint64_t elements, int size)
{
	return (elements + (uint64_t)size - 1) / (uint64_t)size;
}

static void add_transfer(struct check_state *state, const struct sched_statement *statement, uint64_t samples, uint64_t times)
{
	uint64_t row_bytes = check_row_bytes(state, statement->tensor, statement->node);
	enum direction direction = statement->op == SCHED_LOAD || statement->op == SCHED_TAKE ? READ : WRITE;
	enum wc_class class = WC_CLASS_BOUNDARY;

	if (statement->op == SCHED_LOAD || statement->op == SCHED_STORE) {
		if (statement->tensor == SCHED_ACT)
			class = statement->node == 0 ? WC_CLASS_IO : WC_CLASS_ACTIVATION;
		else
			class = statement->tensor == SCHED_GRAD ? WC_CLASS_GRADIENT : WC_CLASS_MASK;
	}
	check_add_bytes(state, class, direction, times * samples * (uint64_t)(statement->hi - statement->lo) * row_bytes);
	add_commands(state, times);
}

// All of a convolution's weights (fp16) or weight gradient (fp32), slice by slice.
static void add_slices(struct check_state *state, int node, int slice, enum wc_class class, enum direction direction, uint64_t times)
{
	const struct net_node *conv = &state->net->nodes[node];
	int element_bytes = class == WC_CLASS_WEIGHT ? 2 : 4;
	int channels;

	for (int i = 0; (channels = check_slice_channels(conv, slice, i)) > 0; i++) {
		check_add_bytes(state, class, direction, times * check_weight_bytes(state, conv, channels, element_bytes));
		add_commands(state, times);
	}
}

// The slice in which a policy has the device work; what is resident is worked on whole.
static int working_slice(const struct sched_policy *policy)
{
	return policy->resident ? 0 : policy->slice;
}

static void add_forward(struct check_state *state, const struct sched_statement *statement, uint64_t samples, uint64_t times)
{
	const struct sched_policy *weight = &check_group(state)->weight[statement->node];
	const struct net_node *conv = &state->net->nodes[statement->node];
	uint64_t pixels = samples * (uint64_t)(statement->hi - statement->lo) * (uint64_t)conv->out.width;
	int channels;

	if (!weight->resident)
		add_slices(state, statement->node, weight->slice, WC_CLASS_WEIGHT, READ, times);
	for (int i = 0; (channels = check_slice_channels(conv, working_slice(weight), i)) > 0; i++)
		add_commands(state, times * tiles(pixels, CHECK_ACC_ROWS) * tiles((uint64_t)channels, state->schedule->cols));
}

static void add_data_gradient(struct check_state *state, const struct sched_statement *statement, int operator, uint64_t samples,
			      uint64_t times)
{
	const struct net_node *conv = &state->net->nodes[operator];

	if (!check_group(state)->weight[operator].resident)
		add_slices(state, operator, 0, WC_CLASS_WEIGHT, READ, times);
	for (int y = 0; y < conv->conv.stride_h; y++) {
		for (int x = 0; x < conv->conv.stride_w; x++) {
			int64_t rows = check_class_size(statement->lo, statement->hi, conv->conv.stride_h, y);
			int64_t columns = check_class_size(0, conv->in.width, conv->conv.stride_w, x);
			uint64_t pixels = samples * (uint64_t)rows * (uint64_t)columns;

			add_commands(state, times * tiles(pixels, CHECK_ACC_ROWS) * tiles((uint64_t)conv->in.channels, state->schedule->cols));
		}
	}
}

// `fresh` iterations of `times` start the sums from zero: 1 for the very first cut of the node, else 0.
static void add_accumulate(struct check_state *state, const struct sched_statement *statement, uint64_t times, uint64_t fresh)
{
	const struct sched_policy *wgrad = &check_group(state)->wgrad[statement->node];
	const struct net_node *conv = &state->net->nodes[statement->node];
	uint64_t filter = (uint64_t)conv->in.channels * (uint64_t)conv->conv.kernel_h * (uint64_t)conv->conv.kernel_w;
	int channels;

	if (!wgrad->resident) {
		add_slices(state, statement->node, wgrad->slice, WC_CLASS_WEIGHT_GRADIENT, READ, times - fresh);
		add_slices(state, statement->node, wgrad->slice, WC_CLASS_WEIGHT_GRADIENT, WRITE, times);
	}
	for (int i = 0; (channels = check_slice_channels(conv, working_slice(wgrad), i)) > 0; i++)
		add_commands(state, times * tiles((uint64_t)channels, CHECK_ACC_ROWS) * tiles(filter, state->schedule->cols));
}

bool check_continues_sums(const struct check_state *state, int node)
{
	const struct sched_strip *strip = &check_group(state)->strips[state->place.strip];

	for (int i = 0; i < state->place.statement; i++) {
		if (strip->statements[i].op == SCHED_ACCUMULATE && strip->statements[i].node == node)
			return true;
	}
	return state->accumulated_in[node] >= 0;
}

static void add_statement(struct check_state *state, uint64_t samples, uint64_t times, bool first_iteration)
{
	const struct sched_statement *statement = check_statement(state);
	int operator = check_operator(state->net, statement);

	if (times == 0 || samples == 0)
		return;
	if (statement->op == SCHED_ACCUMULATE)
		add_accumulate(state, statement, times, first_iteration && !check_continues_sums(state, statement->node) ? 1 : 0);
	else if (statement->op != SCHED_COMPUTE)
		add_transfer(state, statement, samples, times);
	else if (state->net->nodes[operator].op == NET_RELU)
		add_commands(state, times);
	else if (statement->tensor == SCHED_ACT)
		add_forward(state, statement, samples, times);
	else
		add_data_gradient(state, statement, operator, samples, times);
}

void check_traffic_statement(struct check_state *state)
{
	int batch = state->schedule->batch, sub_batch = check_group(state)->sub_batch;
	int full = batch / sub_batch, rest = batch % sub_batch;

	if (state->paper) {
		check_paper_statement(state);
		return;
	}
	add_statement(state, (uint64_t)sub_batch, (uint64_t)full, true);
	add_statement(state, (uint64_t)rest, 1, full == 0);
}

void check_traffic_group(struct check_state *state)
{
	const struct sched_group *group = check_group(state);

	if (state->paper) {
		check_paper_group(state);
		return;
	}
	for (int node = 0; node < state->net->node_count; node++) {
		if (group->weight[node].resident)
			add_slices(state, node, 0, WC_CLASS_WEIGHT, READ, 1);
		if (group->wgrad[node].resident)
			add_slices(state, node, 0, WC_CLASS_WEIGHT_GRADIENT, WRITE, 1);
	}
}
