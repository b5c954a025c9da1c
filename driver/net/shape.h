// SPDX-License-Identifier: Apache-2.0
//
// What a graph must keep to, node by node and as a whole, whether a file or a built-in network describes it.
#ifndef WC_NET_SHAPE_H
#define WC_NET_SHAPE_H

#include <stddef.h>

#include "driver/net/net.h"

enum {
	NET_NODES_MAX = 4096,         // beside the image
	NET_INPUTS_MAX = 1024,        // of one node
	NET_CHANNELS_MAX = 32768,     // of any tensor; units of an fc as well
	NET_ELEMENTS_MAX = INT32_MAX, // of one sample of a tensor, of one node's weights
};

// Where a node is described, for messages: "FILE:LINE: node 'NAME': ...", without LINE where it is 0.
struct net_place {
	const char *file;
	size_t line;
};

// The input node's limits.
int net_check_input(const struct net *net, struct net_place place, struct wc_error *err);
// Shapes `in` and `out` of a node from its inputs' and its own values, which are taken to be positive and, for a
// conv, include out.channels. WC_ERR_INPUT if the op cannot take such inputs, or a limit is passed.
int net_infer(struct net *net, int node, struct net_place place, struct wc_error *err);
// Of a linked network: every tensor but the last is read, MACs can be counted. `lines` has a line per node, or is NULL.
int net_check_whole(const struct net *net, const char *file, const size_t *lines, struct wc_error *err);

#endif
