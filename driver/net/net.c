// SPDX-License-Identifier: Apache-2.0
//
// What a network is asked once it has been read.
#include "driver/net/net.h"

#include <stdlib.h>
#include <string.h>

void net_release(struct net *net)
{
	for (int i = 0; i < net->node_count; i++) {
		free(net->nodes[i].name);
		free(net->nodes[i].inputs);
		free(net->nodes[i].consumers);
	}
	free(net->nodes);
	free(net->modules);
	free(net->name);
	memset(net, 0, sizeof(*net));
}

int net_find(const struct net *net, const char *name)
{
	for (int i = 0; i < net->node_count; i++)
		if (!strcmp(net->nodes[i].name, name))
			return i;
	return -1;
}

int net_consumer(const struct net *net, int node)
{
	return net->nodes[node].consumer_count ? net->nodes[node].consumers[0] : -1;
}

const char *net_op_name(enum net_op op)
{
	static const char *const names[NET_OP_COUNT] = {
		[NET_INPUT] = "input", [NET_CONV] = "conv", [NET_FC] = "fc", [NET_GN] = "gn", [NET_RELU] = "relu",
		[NET_MAX_POOL] = "max_pool", [NET_AVG_POOL] = "avg_pool", [NET_GLOBAL_POOL] = "global_pool",
		[NET_ADAPTIVE_POOL] = "adaptive_pool", [NET_ADD] = "add", [NET_CONCAT] = "concat", [NET_LOSS] = "loss",
	};

	return names[op];
}

int64_t net_conv_weights(const struct net_node *node)
{
	return (int64_t)node->out.channels * (node->in.channels / node->conv.groups) * node->conv.kernel_h * node->conv.kernel_w;
}

int64_t net_conv_macs(const struct net_node *node)
{
	return net_conv_weights(node) * node->out.height * node->out.width;
}

int64_t net_weights(const struct net_node *node)
{
	return node->op == NET_CONV || node->op == NET_FC ? net_conv_weights(node) : 0;
}

// An fc's output is 1x1.
int64_t net_macs(const struct net_node *node)
{
	return net_weights(node) * node->out.height * node->out.width;
}

int64_t net_parameters(const struct net_node *node)
{
	if (node->op == NET_GN)
		return 2 * (int64_t)node->out.channels;
	return net_weights(node) + (node->bias ? node->out.channels : 0);
}

int64_t net_data_gradient_macs(const struct net *net, int node)
{
	const struct net_node *of = &net->nodes[node];

	return of->input_count && net->nodes[of->inputs[0]].has_gradient ? net_macs(of) : 0;
}

int64_t net_total_parameters(const struct net *net)
{
	int64_t parameters = 0;

	for (int i = 0; i < net->node_count; i++)
		parameters += net_parameters(&net->nodes[i]);
	return parameters;
}

int64_t net_forward_macs(const struct net *net)
{
	int64_t macs = 0;

	for (int i = 0; i < net->node_count; i++)
		macs += net_macs(&net->nodes[i]);
	return macs;
}

int64_t net_training_macs(const struct net *net)
{
	int64_t macs = 0;

	for (int i = 0; i < net->node_count; i++)
		macs += 2 * net_macs(&net->nodes[i]) + net_data_gradient_macs(net, i);
	return macs;
}
