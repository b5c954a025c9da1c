// SPDX-License-Identifier: Apache-2.0
//
// Residual networks (He et al., 2015, arXiv 1512.03385): 18 and 34 of basic blocks; 50, 101 and 152 of bottlenecks
// with the stride in the 3x3 convolution; and one of 8 layers for small images, without the stem's strides. The main
// branch runs before the shortcut; the shortcut is a convolution where the shape changes.
#include <assert.h>

#include "driver/net/builtin.h"

enum { STAGES_MAX = 4 };
// A group of 16 would be one of its stages' 16, 32 or 64 channels in a few: their different means are most of such a group's deviation, and what is
// different from image to image is small beside them. So it learnt slowly, whatever the rate.
enum { SMALL_GROUP_CHANNELS = 1 };

struct family_member {
	int depth;
	bool bottleneck, small;
	int channels; // of the first stage; each stage has twice those before
	int blocks[STAGES_MAX];
	int classes;
};

static const struct family_member members[] = {
	{ 8, false, true, 16, { 1, 1, 1 }, 10 },
	{ 18, false, false, 64, { 2, 2, 2, 2 }, 1000 },
	{ 34, false, false, 64, { 3, 4, 6, 3 }, 1000 },
	{ 50, true, false, 64, { 3, 4, 6, 3 }, 1000 },
	{ 101, true, false, 64, { 3, 4, 23, 3 }, 1000 },
	{ 152, true, false, 64, { 3, 8, 36, 3 }, 1000 },
};

static int add_block(struct net_build *build, int from, bool bottleneck, int channels, int stride)
{
	const int out = bottleneck ? 4 * channels : channels;
	int branches[2] = { from, from };

	if (build->rc)
		return 0;
	if (bottleneck) {
		branches[0] = net_build_conv_gn_relu(build, from, "1", channels, net_square(1, 1, 0));
		branches[0] = net_build_conv_gn_relu(build, branches[0], "2", channels, net_square(3, stride, 1));
		branches[0] = net_build_conv_gn(build, branches[0], "3", out, net_square(1, 1, 0));
	} else {
		branches[0] = net_build_conv_gn_relu(build, from, "1", channels, net_square(3, stride, 1));
		branches[0] = net_build_conv_gn(build, branches[0], "2", out, net_square(3, 1, 1));
	}
	if (stride != 1 || build->net->nodes[from].out.channels != out)
		branches[1] = net_build_conv_gn(build, from, "short", out, net_square(1, stride, 0));
	return net_build_plain(build, net_build_join(build, "add", NET_ADD, branches, 2), "relu", NET_RELU);
}

void net_make_resnet(struct net_build *build, int depth)
{
	const struct family_member *member = members;
	int at;

	while (member->depth != depth)
		member++;
	assert(member < members + sizeof(members) / sizeof(members[0]));
	if (member->small) {
		build->group_channels = SMALL_GROUP_CHANNELS;
		at = net_build_conv_gn_relu(build, 0, "conv1", member->channels, net_square(3, 1, 1));
	} else {
		at = net_build_conv_gn_relu(build, 0, "conv1", member->channels, net_square(7, 2, 3));
		at = net_build_pool(build, at, "pool1", NET_MAX_POOL, net_square(3, 2, 1));
	}
	for (int stage = 0; stage < STAGES_MAX; stage++)
		for (int i = 0; i < member->blocks[stage]; i++) {
			net_build_prefix(build, "conv%d_%d.", stage + 2, i + 1);
			at = add_block(build, at, member->bottleneck, member->channels << stage, stage && !i ? 2 : 1);
		}
	net_build_classifier(build, at, member->classes);
}
