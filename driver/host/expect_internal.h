// SPDX-License-Identifier: Apache-2.0
//
// What the parts of the golden run share: expect.c keeps tensors, expect_forward.c and expect_gradient.c run the operators, expect_sums.c keeps
// the gradients of parameters, expect_update.c the update; expect_values.c finds what is asked for, expect_vectors.c and expect_wide.c make what
// lies between tensors.
#ifndef WC_EXPECT_INTERNAL_H
#define WC_EXPECT_INTERNAL_H

#include "driver/host/expect.h"

// Gradients in fp32 of the output of a convolution's or fully connected layer's producer, each row summed over the first output channels.
struct expect_wide {
	float *sums;  // dense NHWC
	int *stage;   // [batch][height] channels in a row's sums
	int *asked;   // [batch][height] for which stage it was last asked
};

struct expect_way {
	// Of a gradient with several consumers, by consumer. A part is owned unless the consumer is an add, whose gradient it is. A sum is that of
	// the parts of this consumer and all behind it; NULL for the last consumer, whose part it is, and the first one, where it is the gradient.
	uint16_t **parts, **partial_sums;
	uint16_t **input_sums;           // of an add of more than two, [input_count]: of so many of its inputs, from 2 on; owned
	uint8_t *mask;                   // of a ReLU, each row from a byte on
	float *vectors[SLAB_KIND_COUNT]; // [sample][row][vector][element] as value_shape_of() counts them, of the kinds in expect_vectors.c
	struct expect_wide wide;         // by the convolution
};

struct expect_updated {
	int node;                    // -1: none
	enum parameter_array array;
	float *state;                // masters, then momenta
	uint16_t *weights;
};

// A tensor of a node's shape for the batch; NULL: see err.
uint16_t *expect_allocate(const struct expect *expect, int node, struct wc_error *err);
// Account for a golden operator of `node` on that many samples.
void expect_spent(struct expect *expect, int node, double start_s, double samples);

// Run one operator, its inputs (backward: its output's gradient, and what forward made) being there. 0 or an error.
int expect_run_forward(struct expect *expect, int node, uint16_t *act, struct wc_error *err);
// The part of the gradient of `node` that its consumer makes.
int expect_run_gradient(struct expect *expect, int node, int consumer, uint16_t *part, struct wc_error *err);

// Of an add: the sum of its first `count` inputs, rounded after each. NULL: see err.
const uint16_t *expect_input_sum(struct expect *expect, int node, int count, struct wc_error *err);

// The node whose output the loss reads, or the last node.
int expect_output(const struct expect *expect);

// Free all sums. For what expect_init() has not come to the tables are not there.
void expect_release_sums(struct expect *expect);
// Parameters of a node, as their sums are laid out: the first element of an array, and of the array behind the last.
uint64_t expect_sums_at(const struct expect *expect, int node, enum parameter_array array);
// The gradient of an array: `cores` 0: over all cores; 1: core 0's. That of one core. Complete, else NULL: see err.
const float *expect_complete(struct expect *expect, int node, enum parameter_array array, int cores, struct wc_error *err);
const float *expect_core_gradient(const struct expect *expect, int core, int node, enum parameter_array array, struct wc_error *err);
// One array of the optimizer's and the data's behind the update. NULL: see err.
const struct expect_updated *expect_update(struct expect *expect, int node, enum parameter_array array, struct wc_error *err);
void expect_forget_update(struct expect *expect);

// All vectors of a value of kind bias in fp32, statistics, shift, sums, row statistics, row sums or softmax. NULL: see err.
const float *expect_vectors(struct expect *expect, const struct value *value, struct wc_error *err);
// A row of a gradient's sums in fp32. NULL: see err.
const float *expect_wide_row(struct expect *expect, const struct value *value, int sample, int row, struct wc_error *err);

#endif
