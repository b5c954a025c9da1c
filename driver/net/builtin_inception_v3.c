// SPDX-License-Identifier: Apache-2.0
//
// Inception-v3 (Szegedy et al., 2015, arXiv 1512.00567) without its auxiliary head. Branches run in the
// order of their concatenation; where a branch ends in two convolutions side by side, both are pieces of the block's one
// concatenation.
#include "driver/net/block.h"
#include "driver/net/builtin.h"

// At 35x35.
static int block_a(struct net_build *build, int from, const char *name, int pool_channels)
{
	struct block block = block_begin(build, from, name);
	int at;

	block_piece(&block, block_pointwise(&block, from, "1x1", 64));
	at = block_pointwise(&block, from, "5x5_1", 48);
	block_piece(&block, block_conv(&block, at, "5x5_2", 64, net_same(5, 5)));
	at = block_pointwise(&block, from, "3x3_1", 64);
	at = block_conv(&block, at, "3x3_2", 96, net_same(3, 3));
	block_piece(&block, block_conv(&block, at, "3x3_3", 96, net_same(3, 3)));
	block_average_branch(&block, pool_channels);
	return block_end(&block);
}

// 35x35 to 17x17.
static int block_b(struct net_build *build, int from, const char *name)
{
	struct block block = block_begin(build, from, name);
	int at;

	block_piece(&block, block_conv(&block, from, "3x3", 384, net_square(3, 2, 0)));
	at = block_pointwise(&block, from, "double_1", 64);
	at = block_conv(&block, at, "double_2", 96, net_same(3, 3));
	block_piece(&block, block_conv(&block, at, "double_3", 96, net_square(3, 2, 0)));
	block_max_branch(&block);
	return block_end(&block);
}

// At 17x17.
static int block_c(struct net_build *build, int from, const char *name, int channels)
{
	struct block block = block_begin(build, from, name);
	int at;

	block_piece(&block, block_pointwise(&block, from, "1x1", 192));
	at = block_pointwise(&block, from, "7x7_1", channels);
	at = block_conv(&block, at, "7x7_2", channels, net_same(1, 7));
	block_piece(&block, block_conv(&block, at, "7x7_3", 192, net_same(7, 1)));
	at = block_pointwise(&block, from, "double_1", channels);
	at = block_conv(&block, at, "double_2", channels, net_same(7, 1));
	at = block_conv(&block, at, "double_3", channels, net_same(1, 7));
	at = block_conv(&block, at, "double_4", channels, net_same(7, 1));
	block_piece(&block, block_conv(&block, at, "double_5", 192, net_same(1, 7)));
	block_average_branch(&block, 192);
	return block_end(&block);
}

// 17x17 to 8x8.
static int block_d(struct net_build *build, int from, const char *name)
{
	struct block block = block_begin(build, from, name);
	int at = block_pointwise(&block, from, "3x3_1", 192);

	block_piece(&block, block_conv(&block, at, "3x3_2", 320, net_square(3, 2, 0)));
	at = block_pointwise(&block, from, "7x7_1", 192);
	at = block_conv(&block, at, "7x7_2", 192, net_same(1, 7));
	at = block_conv(&block, at, "7x7_3", 192, net_same(7, 1));
	block_piece(&block, block_conv(&block, at, "7x7_4", 192, net_square(3, 2, 0)));
	block_max_branch(&block);
	return block_end(&block);
}

// At 8x8.
static int block_e(struct net_build *build, int from, const char *name)
{
	struct block block = block_begin(build, from, name);
	int at;

	block_piece(&block, block_pointwise(&block, from, "1x1", 320));
	at = block_pointwise(&block, from, "3x3_1", 384);
	block_piece(&block, block_conv(&block, at, "3x3_2a", 384, net_same(1, 3)));
	block_piece(&block, block_conv(&block, at, "3x3_2b", 384, net_same(3, 1)));
	at = block_pointwise(&block, from, "double_1", 448);
	at = block_conv(&block, at, "double_2", 384, net_same(3, 3));
	block_piece(&block, block_conv(&block, at, "double_3a", 384, net_same(1, 3)));
	block_piece(&block, block_conv(&block, at, "double_3b", 384, net_same(3, 1)));
	block_average_branch(&block, 192);
	return block_end(&block);
}

void net_make_inception_v3(struct net_build *build, int variant)
{
	int at = net_build_conv_gn_relu(build, 0, "conv1", 32, net_square(3, 2, 0));

	(void)variant;
	at = net_build_conv_gn_relu(build, at, "conv2", 32, net_square(3, 1, 0));
	at = net_build_conv_gn_relu(build, at, "conv3", 64, net_same(3, 3));
	at = net_build_pool(build, at, "pool1", NET_MAX_POOL, net_square(3, 2, 0));
	at = net_build_conv_gn_relu(build, at, "conv4", 80, net_square(1, 1, 0));
	at = net_build_conv_gn_relu(build, at, "conv5", 192, net_square(3, 1, 0));
	at = net_build_pool(build, at, "pool2", NET_MAX_POOL, net_square(3, 2, 0));
	at = block_a(build, at, "mixed5b", 32);
	at = block_a(build, at, "mixed5c", 64);
	at = block_a(build, at, "mixed5d", 64);
	at = block_b(build, at, "mixed6a");
	at = block_c(build, at, "mixed6b", 128);
	at = block_c(build, at, "mixed6c", 160);
	at = block_c(build, at, "mixed6d", 160);
	at = block_c(build, at, "mixed6e", 192);
	at = block_d(build, at, "mixed7a");
	at = block_e(build, at, "mixed7b");
	at = block_e(build, at, "mixed7c");
	net_build_classifier(build, at, 1000);
}
