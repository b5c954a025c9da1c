// SPDX-License-Identifier: Apache-2.0
//
// A network: a graph of nodes in execution order. Node 0 is the input image. Every node owns one output tensor,
// and every tensor but the last is read by at least one later node.
//
// Execution order is the order in the file where that is topological, else the stable topological order. Branches
// run in the order of the usual reference implementations' concatenation, the main branch before the shortcut, and
// the shortcut's convolution last.
#ifndef WC_NET_H
#define WC_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "traces/error.h"

enum net_op {
	NET_INPUT,
	NET_CONV,          // grouped with conv.groups > 1; depthwise with groups = channels
	NET_FC,            // of the whole input, flattened in (h, w, c) order
	NET_GN,            // group normalization with gamma and beta per channel
	NET_RELU,
	NET_MAX_POOL,
	NET_AVG_POOL,      // divides by kernel_h x kernel_w, padding included
	NET_GLOBAL_POOL,   // average over height and width
	NET_ADAPTIVE_POOL, // average to pool_size x pool_size; output i averages rows [i H / size, ceil((i + 1) H / size))
	NET_ADD,
	NET_CONCAT,        // along the channels, in the order of inputs
	NET_LOSS,          // softmax cross-entropy of a 1x1 tensor; its output is one number
	NET_OP_COUNT,
};

// Of every group normalization; added to the variance.
#define NET_GN_EPSILON 1e-5f

enum { NET_IMAGE_MAX = 16384 }; // height and width of the image and of any tensor

struct net_shape {
	int height, width, channels; // of one sample, NHWC
};

// Of convolutions; pools have kernel, stride and pad alone. An fc is a convolution, a global pool an average pool, whose kernel is the image.
struct net_conv {
	int kernel_h, kernel_w;
	int stride_h, stride_w;
	int pad_h, pad_w;       // the same on both sides
	int dilation_h, dilation_w;
	int groups;             // divides the channels of input and output
};

struct net_node {
	char *name;
	enum net_op op;
	int *inputs;              // owned; producers, lower than the node's own index; none for the input node
	int input_count;
	int *consumers;           // owned; ascending, one entry per use
	int consumer_count;
	struct net_shape in, out; // in: shape of inputs[0]; of the image for the input node
	struct net_conv conv;     // conv, fc, max_pool, avg_pool, global_pool
	bool bias;                // conv, fc
	int units;                // fc: outputs
	int group_channels;       // gn: channels of a group, which divide the channels
	int pool_size;            // adaptive_pool: height and width of the output
	int module;               // index in net->modules; -1 for the input node, which is in none
	bool has_gradient;        // the output gets a gradient: it depends on some parameter
};

// What grouping may not cut: nodes first..last. A module ends where exactly one tensor goes on, the last node's
// output, to a node that is not a gn, relu, loss, add or concat. So a convolution with its norm and ReLU, a pool, a
// residual or inception block, or a fully connected layer is one.
struct net_module {
	int first, last;
};

struct net {
	char *name;
	struct net_node *nodes;
	int node_count;
	struct net_module *modules; // owned; they cover nodes 1..node_count - 1 in order
	int module_count;
};

// Read a YAML network file (driver/net/README.md is its reference). Errors name file, line and node.
int net_read(struct net *net, const char *path, struct wc_error *err);
// A built-in network, e.g. "fashion-conv". WC_ERR_INPUT with the list of names if there is none.
int net_builtin(struct net *net, const char *name, struct wc_error *err);
// Whatever `name` is: a built-in name, or else a file. The image is `image` pixels high and wide; 0: of the
// network's own size. A network that cannot take it is WC_ERR_INPUT with the node and the shapes.
int net_open(struct net *net, const char *name, int image, struct wc_error *err);
void net_release(struct net *net);

// Derive consumers, has_gradient and modules from ops and inputs. For who makes nodes by hand; net_open() has done it.
// 0 or WC_ERR_SYSTEM; net_release() is due in either case.
int net_link(struct net *net, struct wc_error *err);

// Index of a node, -1 if there is none.
int net_find(const struct net *net, const char *name);
// The first consumer of a node, the only one in a chain; -1 for the last node.
int net_consumer(const struct net *net, int node);
// The op's name in YAML; "input" for NET_INPUT.
const char *net_op_name(enum net_op op);

// The device's schedules know chains alone: convolutions (groups 1, no bias) and ReLUs, each reading the node before,
// a convolution first, every tensor and weight gradient within the device's reach. 0, or WC_ERR_INPUT with the first
// node that is otherwise; `who` begins the message.
int net_require_chain(const struct net *net, const char *who, struct wc_error *err);
// Whether it is such a chain, however large its tensors are.
bool net_is_chain(const struct net *net);

// The same for any network of what the device has: no adaptive pools, no fc or global pool of more than 255 rows or columns, no fc of more than
// 16777215 inputs, no max pool of more than 256 taps.
int net_require_device(const struct net *net, const char *who, struct wc_error *err);
// And of what a vector unit of so many lanes has: no group of a gn that is more than 255 equal parts for it.
int net_require_lanes(const struct net *net, int lanes, const char *who, struct wc_error *err);

// Weights K (C / groups) R S of a convolution and multiply-accumulates of one sample's forward pass.
int64_t net_conv_weights(const struct net_node *node);
int64_t net_conv_macs(const struct net_node *node);
// The same of any node: K x (H W C) for an fc, nothing for what has no weights.
int64_t net_weights(const struct net_node *node);
int64_t net_macs(const struct net_node *node);
// Weights, bias, gamma and beta.
int64_t net_parameters(const struct net_node *node);
// MACs of one sample's data gradient; 0 where the input gets none, as the image does not.
int64_t net_data_gradient_macs(const struct net *net, int node);

// Sums over the network, per sample. Training: 3 x forward less the first layer's data gradient.
int64_t net_total_parameters(const struct net *net);
int64_t net_forward_macs(const struct net *net);
int64_t net_training_macs(const struct net *net);

#endif
