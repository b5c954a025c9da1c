// SPDX-License-Identifier: Apache-2.0
//
// An inception block under construction: branches that read one tensor, and the concatenation of their ends in the
// order in which they run. Names begin with the block's.
#ifndef WC_NET_BLOCK_H
#define WC_NET_BLOCK_H

#include "driver/net/build.h"

enum { BLOCK_PIECES_MAX = 6 };

struct block {
	struct net_build *build;
	int from; // the tensor that all branches read
	int pieces[BLOCK_PIECES_MAX], count; // of the concatenation
};

struct block block_begin(struct net_build *build, int from, const char *name);
// A branch's end.
void block_piece(struct block *block, int node);
// The concatenation.
int block_end(struct block *block);

// Convolutions with norm and ReLU; `pointwise` is 1x1.
int block_conv(struct block *block, int from, const char *name, int channels, struct net_conv window);
int block_pointwise(struct block *block, int from, const char *name, int channels);
// Whole branches: an average pool of 3x3 that keeps the size, and a pointwise convolution; a max pool of 3x3, stride 2.
void block_average_branch(struct block *block, int channels);
void block_max_branch(struct block *block);

#endif
