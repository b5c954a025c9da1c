// SPDX-License-Identifier: Apache-2.0
//
// Convolutions, and fully connected layers as convolutions whose kernel is the whole image: filters, biases and their sums pass slice by
// slice of output channels, and each slice is worked on in tiles.
#include "driver/plan/check/device.h"

enum { ONES_BYTES = 16 }; // what a bias's gradient is multiplied with

// The slice in which a policy has the device work; what is resident is worked on whole.
static int working_slice(const struct sched_policy *policy)
{
	return policy->resident ? 0 : policy->slice;
}

static uint64_t bias_bytes(const struct check_state *state, const struct net_node *node, int channels, int element_bytes)
{
	return node->bias ? check_whole_beats(state, (uint64_t)channels * (uint64_t)element_bytes) : 0;
}

bool check_is_sliced(const struct check_state *state, int node)
{
	const struct sched_policy *policy = &check_group(state)->weight[node];

	return !policy->resident && policy->slice > 0 && policy->slice < state->net->nodes[node].out.channels;
}

// A bias becomes fp32 before it is added.
void check_move_weights(struct check_state *state, int node, int slice, uint64_t times)
{
	const struct net_node *named = &state->net->nodes[node];
	int channels;

	for (int i = 0; (channels = check_slice_channels(named, slice, i)) > 0; i++) {
		check_move(state, WC_CLASS_WEIGHT, CHECK_READ, check_weight_bytes(state, named, channels, 2), times);
		if (!named->bias)
			continue;
		check_move(state, WC_CLASS_WEIGHT, CHECK_READ, bias_bytes(state, named, channels, 2), times);
		check_commands(state, times);
	}
}

void check_move_sums(struct check_state *state, int node, int slice, enum check_direction direction, uint64_t times)
{
	const struct net_node *named = &state->net->nodes[node];
	int channels;

	for (int i = 0; (channels = check_slice_channels(named, slice, i)) > 0; i++) {
		check_move(state, WC_CLASS_WEIGHT_GRADIENT, direction, check_weight_bytes(state, named, channels, 4), times);
		if (named->bias)
			check_move(state, WC_CLASS_WEIGHT_GRADIENT, direction, bias_bytes(state, named, channels, 4), times);
	}
}

// The groups of a slice, each of which has tiles of its own. Where there is one, the slice may be a part of it.
static uint64_t slice_groups(const struct net_node *node, int channels)
{
	return node->conv.groups > 1 ? (uint64_t)channels * (uint64_t)node->conv.groups / (uint64_t)node->out.channels : 1;
}

void check_traffic_forward(struct check_state *state, const struct sched_statement *statement, const struct check_iterations *run)
{
	const struct sched_policy *weight = &check_group(state)->weight[statement->node];
	const struct net_node *node = &state->net->nodes[statement->node];
	uint64_t pixels = run->samples * (uint64_t)(statement->hi - statement->lo) * (uint64_t)node->out.width;
	int channels;

	if (!weight->resident)
		check_move_weights(state, statement->node, weight->slice, run->times);
	for (int i = 0; (channels = check_slice_channels(node, working_slice(weight), i)) > 0; i++) {
		uint64_t groups = slice_groups(node, channels), columns = (uint64_t)channels / groups;

		check_commands(state, run->times * groups * check_tiles(pixels, CHECK_ACC_ROWS) * check_tiles(columns, state->schedule->cols));
	}
}

// Bytes of `channels` filters that a data gradient reads: of a fully connected layer's, if the filters of an image row are whole beats, those of
// its rows.
static uint64_t gradient_filters(const struct check_state *state, const struct net_node *node, const struct sched_statement *statement, int channels)
{
	uint64_t row = 2 * (uint64_t)node->in.width * (uint64_t)node->in.channels;

	if (node->op == NET_FC && row % state->schedule->bus_bytes == 0)
		return (uint64_t)channels * (uint64_t)(statement->hi - statement->lo) * row;
	return check_weight_bytes(state, node, channels, 2);
}

// Tiles of all residue classes, with one slice of output channels; of a fully connected layer, of each row of the image.
static uint64_t gradient_tiles(const struct check_state *state, const struct net_node *node, const struct sched_statement *statement, uint64_t samples)
{
	int stride_h = node->conv.stride_h, stride_w = node->conv.stride_w, groups = node->conv.groups;
	uint64_t tiles = 0;

	if (node->op == NET_FC)
		return (uint64_t)(statement->hi - statement->lo) * check_tiles(samples, CHECK_ACC_ROWS) *
		       check_tiles((uint64_t)node->in.width * (uint64_t)node->in.channels, state->schedule->cols);

	for (int y = 0; y < stride_h; y++) {
		for (int x = 0; x < stride_w; x++) {
			uint64_t rows = (uint64_t)check_class_size(statement->lo, statement->hi, stride_h, y);
			uint64_t pixels = samples * rows * (uint64_t)check_class_size(0, node->in.width, stride_w, x);

			tiles += (uint64_t)groups * check_tiles(pixels, CHECK_ACC_ROWS) *
				 check_tiles((uint64_t)(node->in.channels / groups), state->schedule->cols);
		}
	}
	return tiles;
}

// Without biases. Over several slices the sums are kept in fp32, and become fp16 behind the last.
void check_traffic_data_gradient(struct check_state *state, const struct sched_statement *statement, int operator, const struct check_iterations *run)
{
	const struct sched_policy *weight = &check_group(state)->weight[operator];
	const struct net_node *node = &state->net->nodes[operator];

	int channels;

	for (int i = 0; !weight->resident && (channels = check_slice_channels(node, weight->slice, i)) > 0; i++)
		check_move(state, WC_CLASS_WEIGHT, CHECK_READ, gradient_filters(state, node, statement, channels), run->times);
	for (int i = 0; check_slice_channels(node, working_slice(weight), i) > 0; i++)
		check_commands(state, run->times * gradient_tiles(state, node, statement, run->samples));
	if (check_is_sliced(state, operator))
		check_commands(state, run->times);
}

// The very first cut of a node starts from zero.
void check_traffic_accumulate(struct check_state *state, const struct sched_statement *statement, const struct check_iterations *run)
{
	const struct sched_policy *wgrad = &check_group(state)->wgrad[statement->node];
	const struct net_node *node = &state->net->nodes[statement->node];
	uint64_t fresh = run->first && state->accumulated_in[statement->node] < 0;
	int channels;

	if (!wgrad->resident) {
		check_move_sums(state, statement->node, wgrad->slice, CHECK_READ, run->times - fresh);
		check_move_sums(state, statement->node, wgrad->slice, CHECK_WRITE, run->times);
	}
	for (int i = 0; (channels = check_slice_channels(node, working_slice(wgrad), i)) > 0; i++) {
		uint64_t groups = slice_groups(node, channels), rows = check_tiles((uint64_t)channels / groups, CHECK_ACC_ROWS);

		check_commands(state, run->times * groups * rows * check_tiles(check_filter(node), state->schedule->cols));
		if (node->bias)
			check_commands(state, run->times * (1 + check_tiles((uint64_t)channels, CHECK_ACC_ROWS)));
	}
}

// Of a slice of weights: while it comes, and while it is worked on.
static uint64_t coming_bytes(const struct check_state *state, const struct net_node *node, int channels)
{
	return check_weight_bytes(state, node, channels, 2) + bias_bytes(state, node, channels, 2);
}

static uint64_t working_bytes(const struct check_state *state, const struct net_node *node, int channels)
{
	return coming_bytes(state, node, channels) + bias_bytes(state, node, channels, 4);
}

// What is read in slices is read one slice ahead: one is worked on while the next comes.
static uint64_t weight_slices(const struct check_state *state, const struct net_node *node, int slice)
{
	uint64_t most = 0;
	int channels;

	for (int i = 0; (channels = check_slice_channels(node, slice, i)) > 0; i++) {
		int next = check_slice_channels(node, slice, i + 1);
		uint64_t bytes = working_bytes(state, node, channels) + (next > 0 ? coming_bytes(state, node, next) : 0);

		most = bytes > most ? bytes : most;
	}
	return most;
}

// A data gradient reads no bias.
static uint64_t gradient_slices(const struct check_state *state, const struct net_node *node, const struct sched_statement *statement, int slice)
{
	uint64_t most = 0;
	int channels;

	for (int i = 0; (channels = check_slice_channels(node, slice, i)) > 0; i++) {
		int next = check_slice_channels(node, slice, i + 1);
		uint64_t bytes = gradient_filters(state, node, statement, channels) + (next > 0 ? gradient_filters(state, node, statement, next) : 0);

		most = bytes > most ? bytes : most;
	}
	return most;
}

static uint64_t sum_bytes(const struct check_state *state, const struct net_node *node, int channels)
{
	return check_weight_bytes(state, node, channels, 4) + bias_bytes(state, node, channels, 4);
}

static uint64_t sum_slices(const struct check_state *state, const struct net_node *node, int slice, bool read)
{
	uint64_t most = 0;
	int channels;

	for (int i = 0; (channels = check_slice_channels(node, slice, i)) > 0; i++) {
		int next = read ? check_slice_channels(node, slice, i + 1) : 0;
		uint64_t bytes = sum_bytes(state, node, channels) + (next > 0 ? sum_bytes(state, node, next) : 0);

		most = bytes > most ? bytes : most;
	}
	return most;
}

uint64_t check_slice_bytes(const struct check_state *state, const struct sched_statement *statement, bool first_iteration)
{
	const struct sched_group *group = check_group(state);
	int operator = check_operator(state->net, statement);
	const struct net_node *node;

	if (operator < 0 || (state->net->nodes[operator].op != NET_CONV && state->net->nodes[operator].op != NET_FC))
		return 0;
	node = &state->net->nodes[operator];
	if (statement->op == SCHED_ACCUMULATE) {
		uint64_t ones = node->bias ? check_whole_beats(state, ONES_BYTES) : 0;
		bool read = !first_iteration || state->accumulated_in[operator] >= 0;

		return ones + (group->wgrad[operator].resident ? 0 : sum_slices(state, node, group->wgrad[operator].slice, read));
	}
	if (group->weight[operator].resident)
		return 0;
	if (statement->tensor == SCHED_GRAD)
		return gradient_slices(state, node, statement, group->weight[operator].slice);
	return weight_slices(state, node, group->weight[operator].slice);
}

uint64_t check_resident_weights(const struct check_state *state, int node)
{
	const struct net_node *named = &state->net->nodes[node];

	if (!check_group(state)->weight[node].resident)
		return 0;
	return named->op == NET_GN ? 2 * check_h_bytes(state, node) : working_bytes(state, named, named->out.channels);
}

uint64_t check_resident_sums(const struct check_state *state, int node)
{
	const struct net_node *named = &state->net->nodes[node];

	if (!check_group(state)->wgrad[node].resident)
		return 0;
	return named->op == NET_GN ? 2 * check_q_bytes(state, node) : sum_bytes(state, named, named->out.channels);
}
