// SPDX-License-Identifier: Apache-2.0
//
// Inception-v4 (Szegedy et al., 2016, arXiv 1602.07261). Branches run in the order of their concatenation; where a
// branch ends in two convolutions side by side, both are pieces of the block's one concatenation.
#include <stdio.h>

#include "driver/net/block.h"
#include "driver/net/builtin.h"

// Three convolutions and three branchings.
static int stem(struct net_build *build)
{
	struct block block;
	int at = net_build_conv_gn_relu(build, 0, "conv1", 32, net_square(3, 2, 0));

	at = net_build_conv_gn_relu(build, at, "conv2", 32, net_square(3, 1, 0));
	at = net_build_conv_gn_relu(build, at, "conv3", 64, net_same(3, 3));

	block = block_begin(build, at, "mixed3a");
	block_max_branch(&block);
	block_piece(&block, block_conv(&block, block.from, "3x3", 96, net_square(3, 2, 0)));
	at = block_end(&block);

	block = block_begin(build, at, "mixed4a");
	at = block_pointwise(&block, block.from, "3x3_1", 64);
	block_piece(&block, block_conv(&block, at, "3x3_2", 96, net_square(3, 1, 0)));
	at = block_pointwise(&block, block.from, "7x7_1", 64);
	at = block_conv(&block, at, "7x7_2", 64, net_same(1, 7));
	at = block_conv(&block, at, "7x7_3", 64, net_same(7, 1));
	block_piece(&block, block_conv(&block, at, "7x7_4", 96, net_square(3, 1, 0)));
	at = block_end(&block);

	block = block_begin(build, at, "mixed5a");
	block_piece(&block, block_conv(&block, block.from, "3x3", 192, net_square(3, 2, 0)));
	block_max_branch(&block);
	return block_end(&block);
}

// At 35x35.
static int block_a(struct net_build *build, int from, const char *name)
{
	struct block block = block_begin(build, from, name);
	int at;

	block_piece(&block, block_pointwise(&block, from, "1x1", 96));
	at = block_pointwise(&block, from, "3x3_1", 64);
	block_piece(&block, block_conv(&block, at, "3x3_2", 96, net_same(3, 3)));
	at = block_pointwise(&block, from, "double_1", 64);
	at = block_conv(&block, at, "double_2", 96, net_same(3, 3));
	block_piece(&block, block_conv(&block, at, "double_3", 96, net_same(3, 3)));
	block_average_branch(&block, 96);
	return block_end(&block);
}

// 35x35 to 17x17.
static int reduction_a(struct net_build *build, int from, const char *name)
{
	struct block block = block_begin(build, from, name);
	int at;

	block_piece(&block, block_conv(&block, from, "3x3", 384, net_square(3, 2, 0)));
	at = block_pointwise(&block, from, "double_1", 192);
	at = block_conv(&block, at, "double_2", 224, net_same(3, 3));
	block_piece(&block, block_conv(&block, at, "double_3", 256, net_square(3, 2, 0)));
	block_max_branch(&block);
	return block_end(&block);
}

// At 17x17.
static int block_b(struct net_build *build, int from, const char *name)
{
	struct block block = block_begin(build, from, name);
	int at;

	block_piece(&block, block_pointwise(&block, from, "1x1", 384));
	at = block_pointwise(&block, from, "7x7_1", 192);
	at = block_conv(&block, at, "7x7_2", 224, net_same(1, 7));
	block_piece(&block, block_conv(&block, at, "7x7_3", 256, net_same(7, 1)));
	at = block_pointwise(&block, from, "double_1", 192);
	at = block_conv(&block, at, "double_2", 192, net_same(7, 1));
	at = block_conv(&block, at, "double_3", 224, net_same(1, 7));
	at = block_conv(&block, at, "double_4", 224, net_same(7, 1));
	block_piece(&block, block_conv(&block, at, "double_5", 256, net_same(1, 7)));
	block_average_branch(&block, 128);
	return block_end(&block);
}

// 17x17 to 8x8.
static int reduction_b(struct net_build *build, int from, const char *name)
{
	struct block block = block_begin(build, from, name);
	int at = block_pointwise(&block, from, "3x3_1", 192);

	block_piece(&block, block_conv(&block, at, "3x3_2", 192, net_square(3, 2, 0)));
	at = block_pointwise(&block, from, "7x7_1", 256);
	at = block_conv(&block, at, "7x7_2", 256, net_same(1, 7));
	at = block_conv(&block, at, "7x7_3", 320, net_same(7, 1));
	block_piece(&block, block_conv(&block, at, "7x7_4", 320, net_square(3, 2, 0)));
	block_max_branch(&block);
	return block_end(&block);
}

// At 8x8.
static int block_c(struct net_build *build, int from, const char *name)
{
	struct block block = block_begin(build, from, name);
	int at;

	block_piece(&block, block_pointwise(&block, from, "1x1", 256));
	at = block_pointwise(&block, from, "3x3_1", 384);
	block_piece(&block, block_conv(&block, at, "3x3_2a", 256, net_same(1, 3)));
	block_piece(&block, block_conv(&block, at, "3x3_2b", 256, net_same(3, 1)));
	at = block_pointwise(&block, from, "double_1", 384);
	at = block_conv(&block, at, "double_2", 448, net_same(3, 1));
	at = block_conv(&block, at, "double_3", 512, net_same(1, 3));
	block_piece(&block, block_conv(&block, at, "double_4a", 256, net_same(1, 3)));
	block_piece(&block, block_conv(&block, at, "double_4b", 256, net_same(3, 1)));
	block_average_branch(&block, 256);
	return block_end(&block);
}

static int repeat(struct net_build *build, int at, int count, const char *name, int (*block)(struct net_build *, int, const char *))
{
	for (int i = 0; i < count; i++) {
		char full[16];

		snprintf(full, sizeof(full), "%s%c", name, 'a' + i);
		at = block(build, at, full);
	}
	return at;
}

void net_make_inception_v4(struct net_build *build, int variant)
{
	int at = stem(build);

	(void)variant;
	at = repeat(build, at, 4, "inceptionA", block_a);
	at = reduction_a(build, at, "reductionA");
	at = repeat(build, at, 7, "inceptionB", block_b);
	at = reduction_b(build, at, "reductionB");
	at = repeat(build, at, 3, "inceptionC", block_c);
	net_build_classifier(build, at, 1000);
}
