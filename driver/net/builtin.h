// SPDX-License-Identifier: Apache-2.0
//
// The built-in networks: one table, and a function for each family that writes it node by node (builtin_*.c).
// All but fashion-conv end in a loss. Group normalizations of 16 channels a group stand where the publications have
// batch normalizations, and the convolutions before them have no bias.
#ifndef WC_NET_BUILTIN_H
#define WC_NET_BUILTIN_H

#include <stddef.h>

#include "driver/net/build.h"

struct net_builtin {
	const char *name;
	struct net_shape image; // the network's own size
	// Nodes behind the image; `variant` tells the members of a family apart.
	void (*make)(struct net_build *build, int variant);
	int variant;
};

// The i-th built-in network in alphabetical order; NULL past the last. Also by name.
const struct net_builtin *net_builtin_at(size_t i);
const struct net_builtin *net_builtin_find(const char *name);
// The network for an image of image x image pixels; 0: of its own size.
int net_builtin_make(struct net *net, const struct net_builtin *builtin, int image, struct wc_error *err);

void net_make_fashion_conv(struct net_build *build, int variant);
void net_make_lenet(struct net_build *build, int variant);
void net_make_alexnet(struct net_build *build, int variant);
void net_make_vgg16(struct net_build *build, int variant);
void net_make_vgg_small(struct net_build *build, int variant);
void net_make_resnet(struct net_build *build, int depth);
void net_make_inception_v3(struct net_build *build, int variant);
void net_make_inception_v4(struct net_build *build, int variant);
void net_make_inception_small(struct net_build *build, int variant);
void net_make_mobilenet_v1(struct net_build *build, int variant);

#endif
