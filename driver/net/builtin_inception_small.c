// SPDX-License-Identifier: Apache-2.0
//
// A small Inception network for images of 28x28: a stem convolution and two blocks with a pool between.
#include "driver/net/block.h"
#include "driver/net/builtin.h"

static int block_small(struct net_build *build, int from, const char *name, int channels)
{
	struct block block = block_begin(build, from, name);
	int at;

	block_piece(&block, block_pointwise(&block, from, "1x1", channels));
	at = block_pointwise(&block, from, "3x3_1", channels);
	block_piece(&block, block_conv(&block, at, "3x3_2", channels, net_same(3, 3)));
	at = block_pointwise(&block, from, "double_1", channels);
	at = block_conv(&block, at, "double_2", channels, net_same(1, 3));
	block_piece(&block, block_conv(&block, at, "double_3", channels, net_same(3, 1)));
	block_average_branch(&block, channels);
	return block_end(&block);
}

void net_make_inception_small(struct net_build *build, int variant)
{
	int at = net_build_conv_gn_relu(build, 0, "conv1", 16, net_same(3, 3));

	(void)variant;
	at = block_small(build, at, "mixed2", 16);
	at = net_build_pool(build, at, "pool2", NET_MAX_POOL, net_square(2, 2, 0));
	at = block_small(build, at, "mixed3", 32);
	net_build_classifier(build, at, 10);
}
