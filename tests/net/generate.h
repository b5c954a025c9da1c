// SPDX-License-Identifier: Apache-2.0
//
// Random graphs with all that must be found out about them worked out apart from the reader.
#ifndef WC_TESTS_NET_GENERATE_H
#define WC_TESTS_NET_GENERATE_H

#include <stdint.h>

#include "driver/net/net.h"

enum { GENERATED_MAX = 80, GENERATED_INPUTS_MAX = 4 };

struct generated_node {
	enum net_op op;
	int inputs[GENERATED_INPUTS_MAX], input_count; // indices of generated nodes
	struct net_shape out;
	int kernel_h, kernel_w, stride, pad_h, pad_w, dilation, groups, group_channels;
	bool bias;
	int64_t parameters, macs;
	int line; // of the text
};

// Node 0 is the image, the nodes are in an order in which they can run, and the last is a loss.
struct generated {
	struct generated_node nodes[GENERATED_MAX];
	int count;
	int file[GENERATED_MAX]; // file[0..count - 1): nodes in the order of the file
	char text[GENERATED_MAX * 160];
};

struct random {
	uint64_t state;
};

// From the environment's WC_SEED, or else `seed`; printed.
struct random random_begin(const char *test, uint64_t seed);
int random_below(struct random *random, int limit);

// A graph and its text, in the order in which it was made or, if `shuffled`, in any.
void generate(struct generated *of, struct random *random, bool shuffled);
// The text anew, after changes to nodes. Node i is called "n<i>".
void generate_text(struct generated *of);

#endif
