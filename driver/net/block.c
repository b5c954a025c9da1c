// SPDX-License-Identifier: Apache-2.0
#include "driver/net/block.h"

#include <assert.h>

struct block block_begin(struct net_build *build, int from, const char *name)
{
	net_build_prefix(build, "%s.", name);
	return (struct block){ .build = build, .from = from };
}

void block_piece(struct block *block, int node)
{
	assert(block->count < BLOCK_PIECES_MAX);
	block->pieces[block->count++] = node;
}

int block_end(struct block *block)
{
	const int node = net_build_join(block->build, "concat", NET_CONCAT, block->pieces, block->count);

	net_build_prefix(block->build, "%s", "");
	return node;
}

int block_conv(struct block *block, int from, const char *name, int channels, struct net_conv window)
{
	return net_build_conv_gn_relu(block->build, from, name, channels, window);
}

int block_pointwise(struct block *block, int from, const char *name, int channels)
{
	return block_conv(block, from, name, channels, net_square(1, 1, 0));
}

void block_average_branch(struct block *block, int channels)
{
	const int pool = net_build_pool(block->build, block->from, "pool", NET_AVG_POOL, net_square(3, 1, 1));

	block_piece(block, block_pointwise(block, pool, "pool_1x1", channels));
}

void block_max_branch(struct block *block)
{
	block_piece(block, net_build_pool(block->build, block->from, "pool", NET_MAX_POOL, net_square(3, 2, 0)));
}
