// SPDX-License-Identifier: Apache-2.0
//
// Networks written as C: one call a node, in execution order. Each call takes producers by index and returns the new
// node's index. Shapes are known at once, so that a family may look at net->nodes[i].out. After the first error
// (a shape that does not fit the image) nothing is added, and every call returns 0, the image.
#ifndef WC_NET_BUILD_H
#define WC_NET_BUILD_H

#include "driver/net/net.h"

enum { NET_GROUP_CHANNELS = 16 }; // of the group normalizations, where a family does not say otherwise

struct net_build {
	struct net *net;
	struct wc_error *err;
	int rc;          // of the first error
	int capacity;    // of net->nodes
	int group_channels; // of the group normalizations that follow
	char prefix[32]; // of the names of nodes, e.g. "conv2_1."
	char file[96];   // what messages begin with
};

// An empty network but for the image.
void net_build_begin(struct net_build *build, struct net *net, const char *name, struct net_shape image, struct wc_error *err);
// Link and check. 0 and a network, or the first error and nothing.
int net_build_end(struct net_build *build);

// What the names of the next nodes begin with; "" for nothing.
void net_build_prefix(struct net_build *build, const char *format, ...) __attribute__((format(printf, 2, 3)));

// A window of kernel x kernel; and one of height x width, stride 1, that keeps the size.
struct net_conv net_square(int kernel, int stride, int pad);
struct net_conv net_same(int kernel_h, int kernel_w);

int net_build_conv(struct net_build *build, int from, const char *name, int channels, struct net_conv conv, bool bias);
int net_build_fc(struct net_build *build, int from, const char *name, int units); // with bias
int net_build_gn(struct net_build *build, int from, const char *name);
int net_build_pool(struct net_build *build, int from, const char *name, enum net_op op, struct net_conv window);
int net_build_adaptive(struct net_build *build, int from, const char *name, int size);
int net_build_join(struct net_build *build, const char *name, enum net_op op, const int inputs[], int count);
// Nodes without values: relu, global_pool, loss.
int net_build_plain(struct net_build *build, int from, const char *name, enum net_op op);

// Convolution NAME with bias, and NAME.relu. The same for an fc.
int net_build_conv_relu(struct net_build *build, int from, const char *name, int channels, struct net_conv conv);
int net_build_fc_relu(struct net_build *build, int from, const char *name, int units);
// Convolution NAME without bias and NAME.gn; with NAME.relu behind.
int net_build_conv_gn(struct net_build *build, int from, const char *name, int channels, struct net_conv conv);
int net_build_conv_gn_relu(struct net_build *build, int from, const char *name, int channels, struct net_conv conv);
// What ends a network: global pool, fully connected layer, loss.
void net_build_classifier(struct net_build *build, int from, int classes);

#endif
