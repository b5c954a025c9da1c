// SPDX-License-Identifier: Apache-2.0
//
// What rows are worth in the interpreter: hashes that tell from which rows a row was made.
#ifndef VALUES_H
#define VALUES_H

#include "driver/net/net.h"

// One 64-bit value per row of every tensor of every sample: kind (act, grad, mask) x node x sample x row.
struct values {
	const struct net *net;
	int samples;
	int *first;       // [node]: where the rows of a node begin in a sample
	int rows;         // of all nodes of one sample
	uint64_t *value;  // [(kind * samples + sample) * rows + first[node] + y]
};

void values_init(struct values *values, const struct net *net, int samples);
void values_release(struct values *values);
uint64_t *values_at(const struct values *values, int kind, int node, int sample, int y);

// Never the same value twice, and never one that a right computation gives.
uint64_t garbage(void);
bool is_garbage(uint64_t value);

// The value of a row made by a node's operators from rows of its inputs; `row(context, y)` is asked for each row that is really needed.
typedef uint64_t (*row_source)(void *context, int y);
uint64_t value_forward(const struct net *net, int node, int y, row_source input, void *context);
uint64_t value_mask(int node, uint64_t stored_output);
uint64_t value_relu_gradient(int node, uint64_t gradient, uint64_t mask);
uint64_t value_conv_gradient(const struct net *net, int conv, int y, row_source gradient, void *context);
// What row y of a convolution's output gradient adds to the weight gradient.
uint64_t value_product(const struct net *net, int conv, int y, uint64_t gradient, row_source input, void *context);

// Reference: every row of every tensor, and each convolution's weight gradient in sums[node].
void values_reference(struct values *values, uint64_t *sums);

#endif
