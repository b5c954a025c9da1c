// SPDX-License-Identifier: Apache-2.0
//
// A network: nodes in execution order. Node 0 is the input image. Every node owns one output tensor.
#ifndef WC_NET_H
#define WC_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "traces/error.h"

enum net_op { NET_INPUT, NET_CONV, NET_RELU };

struct net_shape {
	int height, width, channels; // of one sample, NHWC
};

struct net_conv {
	int kernel_h, kernel_w; // 1..11
	int stride_h, stride_w; // 1..4
	int pad_h, pad_w;       // the same on both sides
	int dilation_h, dilation_w;
};

struct net_node {
	char *name;
	enum net_op op;
	int input;             // index of the producer, lower than the node's own; -1 for the input node
	struct net_shape in, out; // in: shape of the producer's output
	struct net_conv conv;  // NET_CONV only
};

struct net {
	char *name;
	struct net_node *nodes;
	int node_count;
};

// Read a YAML network file (driver/net/README.md is its reference). Errors name file, line and node.
int net_read(struct net *net, const char *path, struct wc_error *err);
// A built-in network: "fashion-conv". WC_ERR_INPUT with the list of names if there is none.
int net_builtin(struct net *net, const char *name, struct wc_error *err);
// Whatever `name` is: a built-in name, or else a file.
int net_open(struct net *net, const char *name, struct wc_error *err);
void net_release(struct net *net);

// Index of a node, -1 if there is none.
int net_find(const struct net *net, const char *name);
// The only consumer of a node in a chain; -1 for the last node.
int net_consumer(const struct net *net, int node);

// Parameters K C R S of a convolution and multiply-accumulates of one sample's forward pass.
int64_t net_conv_weights(const struct net_node *node);
int64_t net_conv_macs(const struct net_node *node);
// Training MACs of the whole network per sample: 3 x forward less the first convolution's data gradient.
int64_t net_training_macs(const struct net *net);

#endif
