// SPDX-License-Identifier: Apache-2.0
//
// What a network is asked once it has been read.
#include "driver/net/net.h"

#include <stdlib.h>
#include <string.h>

void net_release(struct net *net)
{
	for (int i = 0; i < net->node_count; i++)
		free(net->nodes[i].name);
	free(net->nodes);
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
	for (int i = node + 1; i < net->node_count; i++)
		if (net->nodes[i].input == node)
			return i;
	return -1;
}

int64_t net_conv_weights(const struct net_node *node)
{
	return (int64_t)node->out.channels * node->in.channels * node->conv.kernel_h * node->conv.kernel_w;
}

int64_t net_conv_macs(const struct net_node *node)
{
	return net_conv_weights(node) * node->out.height * node->out.width;
}

int64_t net_training_macs(const struct net *net)
{
	int64_t macs = 0;

	for (int i = 0; i < net->node_count; i++) {
		const struct net_node *node = &net->nodes[i];

		if (node->op == NET_CONV)
			macs += (node->input == 0 ? 2 : 3) * net_conv_macs(node);
	}
	return macs;
}
