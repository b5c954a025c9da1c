// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/rows.h"

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

struct rows rows_of_input(const struct net_node *node, struct rows out)
{
	const struct net_conv *conv = &node->conv;
	int lo, hi;

	if (node->op != NET_CONV)
		return out;
	lo = out.lo * conv->stride_h - conv->pad_h;
	hi = rows_empty(out) ? lo : (out.hi - 1) * conv->stride_h - conv->pad_h + conv->dilation_h * (conv->kernel_h - 1) + 1;
	// What reads nothing, or padding alone, gives an empty interval inside the tensor, so that neighbouring strips still meet there.
	lo = min(max(lo, 0), node->in.height);
	return (struct rows){ lo, max(lo, min(hi, node->in.height)) };
}

struct rows rows_of_gradient(const struct net_node *node, struct rows in)
{
	const struct net_conv *conv = &node->conv;

	if (node->op != NET_CONV || rows_empty(in))
		return in;
	// A negative dividend only ever means row 0, whichever way the division rounds.
	return (struct rows){
		max(0, (int)div_up(in.lo + conv->pad_h - conv->dilation_h * (conv->kernel_h - 1), conv->stride_h)),
		min(node->out.height, (in.hi - 1 + conv->pad_h) / conv->stride_h + 1),
	};
}

uint32_t rows_payload_bytes(const struct net *net, enum sched_tensor tensor, int node)
{
	struct net_shape shape = net->nodes[node].out;
	uint32_t elements = (uint32_t)shape.width * (uint32_t)shape.channels;

	return tensor == SCHED_MASK ? (elements + 7) / 8 : elements * 2;
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
