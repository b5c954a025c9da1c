// SPDX-License-Identifier: Apache-2.0
//
// A convolution with bias and groups, its operands and all results of the bits, for the tests.
#ifndef TESTS_GOLDEN_LAYER_H
#define TESTS_GOLDEN_LAYER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "csim/golden/conv.h"

struct layer {
	struct golden_conv conv;
	int groups, rows;
	size_t in, out, weights;
	uint16_t *x, *w, *bias, *dy, *y, *dx;
	float *dw, *db;
};

struct layer_shape {
	struct golden_conv conv; // out_h and out_w still 0
	int groups;
};

// Hand-picked corner shapes.
extern const struct layer_shape layer_shapes[];
extern const int layer_shape_count;

// Drawn, and all operators run on an array of `rows` rows. `wide`: operands but for the weights as rig_wide_halves() draws them.
struct layer layer_create(struct golden_conv conv, int groups, int rows, bool wide, uint64_t *state);
void layer_free(struct layer *layer);

#endif
