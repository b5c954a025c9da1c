// SPDX-License-Identifier: Apache-2.0
//
// What follows from a network's ops and inputs: consumers, which tensors get a gradient, modules.
#include <assert.h>
#include <stdlib.h>

#include "driver/net/net.h"

static int link_consumers(struct net *net, struct wc_error *err)
{
	for (int i = 0; i < net->node_count; i++) {
		free(net->nodes[i].consumers);
		net->nodes[i].consumers = NULL;
		net->nodes[i].consumer_count = 0;
	}
	for (int i = 0; i < net->node_count; i++)
		for (int k = 0; k < net->nodes[i].input_count; k++) {
			assert(net->nodes[i].inputs[k] >= 0 && net->nodes[i].inputs[k] < i);
			net->nodes[net->nodes[i].inputs[k]].consumer_count++;
		}
	for (int i = 0; i < net->node_count; i++) {
		struct net_node *node = &net->nodes[i];

		if (!node->consumer_count)
			continue;
		node->consumers = malloc((size_t)node->consumer_count * sizeof(*node->consumers));
		if (!node->consumers)
			return wc_fail(err, WC_ERR_SYSTEM, "out of memory");
		node->consumer_count = 0;
	}
	for (int i = 0; i < net->node_count; i++)
		for (int k = 0; k < net->nodes[i].input_count; k++) {
			struct net_node *producer = &net->nodes[net->nodes[i].inputs[k]];

			producer->consumers[producer->consumer_count++] = i;
		}
	return 0;
}

static void link_gradients(struct net *net)
{
	for (int i = 0; i < net->node_count; i++) {
		struct net_node *node = &net->nodes[i];

		node->has_gradient = node->op == NET_CONV || node->op == NET_FC || node->op == NET_GN;
		for (int k = 0; k < node->input_count; k++)
			node->has_gradient |= net->nodes[node->inputs[k]].has_gradient;
	}
}

// Joins branches, or belongs to its producer.
static bool starts_no_module(enum net_op op)
{
	return op == NET_GN || op == NET_RELU || op == NET_LOSS || op == NET_ADD || op == NET_CONCAT;
}

static int link_modules(struct net *net, struct wc_error *err)
{
	int reach = 0; // the last node that reads a tensor made before node i - 1

	free(net->modules);
	net->module_count = 0;
	net->modules = calloc((size_t)net->node_count, sizeof(*net->modules));
	if (!net->modules)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory");
	net->nodes[0].module = -1;
	for (int i = 1; i < net->node_count; i++) {
		if (i >= 2) {
			const struct net_node *before = &net->nodes[i - 2];

			if (before->consumer_count && before->consumers[before->consumer_count - 1] > reach)
				reach = before->consumers[before->consumer_count - 1];
		}
		if (i == 1 || (reach < i && !starts_no_module(net->nodes[i].op)))
			net->modules[net->module_count++].first = i;
		net->nodes[i].module = net->module_count - 1;
		net->modules[net->module_count - 1].last = i;
	}
	return 0;
}

int net_link(struct net *net, struct wc_error *err)
{
	int rc = link_consumers(net, err);

	if (rc)
		return rc;
	link_gradients(net);
	return link_modules(net, err);
}
