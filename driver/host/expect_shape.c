// SPDX-License-Identifier: Apache-2.0
//
// Shapes of a network's nodes for the golden operators.
#include <assert.h>

#include "driver/host/expect.h"

struct golden_conv expect_conv(const struct expect *expect, int node)
{
	const struct net_node *conv = &expect->net->nodes[node];

	assert(conv->op == NET_CONV || conv->op == NET_FC);
	return (struct golden_conv){
		.batch = expect->data->batch,
		.in_h = conv->in.height,
		.in_w = conv->in.width,
		.in_c = conv->in.channels,
		.out_h = conv->out.height,
		.out_w = conv->out.width,
		.out_c = conv->out.channels,
		.kernel_h = conv->conv.kernel_h,
		.kernel_w = conv->conv.kernel_w,
		.stride_h = conv->conv.stride_h,
		.stride_w = conv->conv.stride_w,
		.pad_h = conv->conv.pad_h,
		.pad_w = conv->conv.pad_w,
		.dilation_h = conv->conv.dilation_h,
		.dilation_w = conv->conv.dilation_w,
	};
}

struct golden_conv expect_gradient_conv(const struct expect *expect, int node)
{
	const struct net_node *of = &expect->net->nodes[node];

	if (of->op == NET_CONV)
		return expect_conv(expect, node);
	return (struct golden_conv){
		.batch = expect->data->batch, .in_h = 1, .in_w = 1, .in_c = of->in.height * of->in.width * of->in.channels, .out_h = 1, .out_w = 1,
		.out_c = of->out.channels, .kernel_h = 1, .kernel_w = 1, .stride_h = 1, .stride_w = 1, .dilation_h = 1, .dilation_w = 1,
	};
}

struct golden_pool expect_pool(const struct expect *expect, int node)
{
	const struct net_node *pool = &expect->net->nodes[node];

	assert(pool->op == NET_MAX_POOL || pool->op == NET_AVG_POOL || pool->op == NET_GLOBAL_POOL);
	return (struct golden_pool){
		.batch = expect->data->batch,
		.in_h = pool->in.height,
		.in_w = pool->in.width,
		.channels = pool->in.channels,
		.out_h = pool->out.height,
		.out_w = pool->out.width,
		.kernel_h = pool->conv.kernel_h,
		.kernel_w = pool->conv.kernel_w,
		.stride_h = pool->conv.stride_h,
		.stride_w = pool->conv.stride_w,
		.pad_h = pool->conv.pad_h,
		.pad_w = pool->conv.pad_w,
	};
}

struct golden_norm expect_norm(const struct expect *expect, int node)
{
	const struct net_node *norm = &expect->net->nodes[node];

	assert(norm->op == NET_GN);
	return (struct golden_norm){
		.batch = expect->data->batch,
		.height = norm->out.height,
		.width = norm->out.width,
		.channels = norm->out.channels,
		.group_channels = norm->group_channels,
		.eps = NET_GN_EPSILON,
	};
}
