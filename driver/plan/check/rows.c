// SPDX-License-Identifier: Apache-2.0
//
// Geometry of rows, after driver/README.md, "Meaning": which rows an operator reads and gathers, what they weigh.
#include "driver/plan/check/internal.h"

static int floor_div(int a, int b)
{
	return a >= 0 ? a / b : -((-a + b - 1) / b);
}

static int ceil_div(int a, int b)
{
	return -floor_div(-a, b);
}

uint64_t check_whole_beats(const struct check_state *state, uint64_t bytes)
{
	uint64_t bus_bytes = state->paper ? 1 : state->schedule->bus_bytes;

	return (bytes + bus_bytes - 1) / bus_bytes * bus_bytes;
}

static struct row_range cut(int lo, int hi, int height)
{
	lo = lo < 0 ? 0 : lo;
	hi = hi > height ? height : hi;
	return (struct row_range){lo, hi > lo ? hi : lo};
}

// Pools have no dilation.
static int reach(const struct net_node *node)
{
	return (node->op == NET_CONV ? node->conv.dilation_h : 1) * (node->conv.kernel_h - 1);
}

struct row_range check_rows_read(const struct net_node *node, struct row_range out)
{
	const struct net_conv *conv = &node->conv;
	int height = node->in.height;

	switch (node->op) {
	case NET_CONV:
	case NET_MAX_POOL:
	case NET_AVG_POOL:
		return cut(out.lo * conv->stride_h - conv->pad_h, (out.hi - 1) * conv->stride_h - conv->pad_h + reach(node) + 1, height);
	case NET_ADAPTIVE_POOL:
		return cut(out.lo * height / node->out.height, ceil_div(out.hi * height, node->out.height), height);
	case NET_GLOBAL_POOL:
	case NET_FC:
		return (struct row_range){0, height};
	default:
		return out;
	}
}

// The adaptive pool's rows that read any of `in`: y with floor(y H / out) < in.hi and ceil((y + 1) H / out) > in.lo.
static struct row_range gathered_adaptive(const struct net_node *node, struct row_range in)
{
	int height = node->in.height, out = node->out.height;

	return cut(floor_div(in.lo * out, height), ceil_div(in.hi * out, height), out);
}

struct row_range check_rows_gathered(const struct net_node *node, struct row_range in)
{
	const struct net_conv *conv = &node->conv;

	switch (node->op) {
	case NET_CONV:
	case NET_MAX_POOL:
	case NET_AVG_POOL:
		return cut(ceil_div(in.lo + conv->pad_h - reach(node), conv->stride_h), floor_div(in.hi - 1 + conv->pad_h, conv->stride_h) + 1,
			   node->out.height);
	case NET_ADAPTIVE_POOL:
		return gathered_adaptive(node, in);
	case NET_GLOBAL_POOL:
	case NET_FC:
		return (struct row_range){0, node->out.height};
	default:
		return in;
	}
}

bool check_row_touched(const struct net_node *node, int y)
{
	for (int out = 0; out < node->out.height; out++) {
		struct row_range read = check_rows_read(node, (struct row_range){out, out + 1});

		if (y >= read.lo && y < read.hi)
			return true;
	}
	return false;
}

uint64_t check_row_macs(const struct net_node *node)
{
	if (node->op == NET_FC)
		return (uint64_t)node->units * (uint64_t)node->in.height * (uint64_t)node->in.width * (uint64_t)node->in.channels;
	if (node->op != NET_CONV)
		return 0;
	return (uint64_t)node->out.width * (uint64_t)node->out.channels * (uint64_t)(node->in.channels / node->conv.groups) *
	       (uint64_t)node->conv.kernel_h * (uint64_t)node->conv.kernel_w;
}

int64_t check_class_size(int lo, int hi, int stride, int residue)
{
	return ceil_div(hi - residue, stride) - ceil_div(lo - residue, stride);
}

uint64_t check_row_bytes(const struct check_state *state, enum sched_tensor tensor, int node)
{
	const struct net_shape *out = &state->net->nodes[node].out;
	uint64_t elements = (uint64_t)out->width * (uint64_t)out->channels;

	if (state->paper)
		return tensor == SCHED_MASK ? 0 : elements * 2;
	return check_whole_beats(state, tensor == SCHED_MASK ? (check_mask_bits(&state->net->nodes[node]) + 7) / 8 : elements * 2);
}

// A ReLU's mask has a bit per element, a max pool's index so many that they tell its taps apart.
uint64_t check_mask_bits(const struct net_node *node)
{
	uint64_t elements = (uint64_t)node->out.width * (uint64_t)node->out.channels, bits = 0;

	if (node->op == NET_RELU)
		return elements;
	while (1 << bits < node->conv.kernel_h * node->conv.kernel_w)
		bits++;
	return elements * bits;
}

int check_slice_channels(const struct net_node *node, int slice, int index)
{
	int channels = node->out.channels;
	int64_t lo;

	if (slice <= 0 || slice > channels)
		slice = channels;
	lo = (int64_t)index * slice;
	if (lo >= channels)
		return 0;
	return channels - lo < slice ? (int)(channels - lo) : slice;
}

uint64_t check_filter(const struct net_node *node)
{
	return (uint64_t)net_weights(node) / (uint64_t)node->out.channels;
}

uint64_t check_weight_bytes(const struct check_state *state, const struct net_node *node, int channels, int element_bytes)
{
	return check_whole_beats(state, check_filter(node) * (uint64_t)channels * (uint64_t)element_bytes);
}
