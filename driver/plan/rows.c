// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/rows.h"

#include "driver/plan/operands.h"

static int max(int a, int b)
{
	return a > b ? a : b;
}

static int min(int a, int b)
{
	return a < b ? a : b;
}

struct rows rows_hull(struct rows a, struct rows b)
{
	if (rows_empty(a))
		return b;
	if (rows_empty(b))
		return a;
	return (struct rows){ min(a.lo, b.lo), max(a.hi, b.hi) };
}

bool rows_contain(struct rows outer, struct rows inner)
{
	return rows_empty(inner) || (outer.lo <= inner.lo && inner.hi <= outer.hi);
}

bool rows_window(const struct net_node *node, struct row_window *window)
{
	const struct net_conv *conv = &node->conv;

	*window = (struct row_window){ .span = 1, .stride = 1 };
	if (node->op != NET_CONV && node->op != NET_MAX_POOL && node->op != NET_AVG_POOL)
		return false;
	window->span = (node->op == NET_CONV ? conv->dilation_h : 1) * (conv->kernel_h - 1) + 1;
	window->stride = conv->stride_h;
	window->pad = conv->pad_h;
	return true;
}

// Operators that read all rows for any.
static bool reads_all(const struct net_node *node)
{
	return node->op == NET_FC || node->op == NET_GLOBAL_POOL || node->op == NET_LOSS;
}

struct rows rows_of_input(const struct net_node *node, struct rows out)
{
	const int height = node->in.height, size = node->pool_size;
	struct row_window window;
	int lo, hi;

	if (reads_all(node))
		return rows_empty(out) ? (struct rows){ 0, 0 } : (struct rows){ 0, height };
	if (node->op == NET_ADAPTIVE_POOL && !rows_empty(out))
		return (struct rows){ (int)((int64_t)out.lo * height / size), (int)div_up((int64_t)out.hi * height, size) };
	if (!rows_window(node, &window))
		return out;
	lo = out.lo * window.stride - window.pad;
	hi = rows_empty(out) ? lo : (out.hi - 1) * window.stride - window.pad + window.span;
	// What reads nothing, or padding alone, gives an empty interval inside the tensor, so that neighbouring strips still meet there.
	lo = min(max(lo, 0), height);
	return (struct rows){ lo, max(lo, min(hi, height)) };
}

struct rows rows_of_gradient(const struct net_node *node, struct rows in)
{
	const int height = node->in.height, size = node->pool_size;
	struct row_window window;

	if (rows_empty(in))
		return in;
	if (reads_all(node))
		return (struct rows){ 0, node->out.height };
	if (node->op == NET_ADAPTIVE_POOL) // the first output row whose window ends behind lo, the last that begins before hi
		return (struct rows){ (int)((int64_t)in.lo * size / height), (int)div_up((int64_t)in.hi * size, height) };
	if (!rows_window(node, &window))
		return in;
	// A negative dividend only ever means row 0, whichever way the division rounds.
	return (struct rows){
		max(0, (int)div_up(in.lo + window.pad - (window.span - 1), window.stride)),
		min(node->out.height, (in.hi - 1 + window.pad) / window.stride + 1),
	};
}

uint32_t rows_payload_bytes(const struct net *net, enum sched_tensor tensor, int node)
{
	struct net_shape shape = net->nodes[node].out;
	const uint32_t elements = (uint32_t)shape.width * (uint32_t)shape.channels;

	return tensor == SCHED_MASK ? (elements * (uint32_t)operand_mask_bits(&net->nodes[node]) + 7) / 8 : elements * 2;
}

uint32_t rows_pitch_bytes(const struct net *net, enum sched_tensor tensor, int node, uint32_t bus_bytes)
{
	return (uint32_t)round_up(rows_payload_bytes(net, tensor, node), bus_bytes);
}

uint64_t round_up(uint64_t value, uint64_t unit)
{
	return (value + unit - 1) / unit * unit;
}

int64_t div_up(int64_t a, int64_t b)
{
	return a >= 0 ? (a + b - 1) / b : -(-a / b);
}
