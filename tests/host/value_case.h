// SPDX-License-Identifier: Apache-2.0
//
// Small networks with their golden run and optimizer, and single elements of its values, for the tests.
#ifndef WC_TESTS_HOST_VALUE_CASE_H
#define WC_TESTS_HOST_VALUE_CASE_H

#include "driver/host/expect.h"

struct value_case {
	struct net net;
	struct data data;
	struct optimizer optimizer;
	struct expect expect;
};

// A residual add, a concatenation, normalizations, every pool, a tensor with three readers; a fully connected layer over an image.
extern const char value_case_graph[], value_case_dense[];

enum { VALUE_CASE_BATCH = 3, VALUE_CASE_ROWS = 4 }; // of the array

void value_case_begin(struct value_case *c, const char *yaml);
void value_case_end(struct value_case *c);
int value_case_node(const struct value_case *c, const char *name);

// Bits of an element, and what they stand for (fp16 or fp32).
uint32_t value_case_bits(struct value_case *c, const struct value *value, int sample, int row, int vector, uint64_t element);
float value_float(struct value_case *c, const struct value *value, int sample, int row, int vector, uint64_t element);
// Flip a bit of a value's first element where the golden run keeps it: of a number its exponent's highest, so that no rounding hides it.
void value_plant(struct value_case *c, const struct value *value);

// An element of a feature map: act or grad.
float value_map(struct value_case *c, enum slab_kind kind, int node, int n, int y, int x, int channel);

// One cut for each node with parameters, over the whole batch.
void value_case_sum(struct value_case *c);

#endif
