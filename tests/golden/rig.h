// SPDX-License-Identifier: Apache-2.0
//
// What the golden model's tests share: random numbers with a printed seed, shapes, operands, the proven error bound.
#ifndef TESTS_GOLDEN_RIG_H
#define TESTS_GOLDEN_RIG_H

#include <stdint.h>

#include "csim/golden/conv.h"

// The seed of this run, as tests/seed.h chooses it.
uint64_t rig_seed(void);
// Next number of a test's own sequence (splitmix64); start with state = rig_seed() + a constant of the test.
uint64_t rig_random(uint64_t *state);
// In [lo, hi].
int rig_between(uint64_t *state, int lo, int hi);
bool rig_long(void); // WC_LONG is set

// fp16 operands: mostly (-1, 1), some zeros, some subnormals. The caller frees them.
uint16_t *rig_halves(size_t count, uint64_t *state);
// Half of them +32768 or -32768, the others any finite pattern: what a binary32 sum loses depends on its order, and shows where the large ones cancel.
uint16_t *rig_wide_halves(size_t count, uint64_t *state);
// Halves as float64, or their magnitudes. The caller frees them.
double *rig_doubles(const uint16_t *halves, size_t count, bool magnitude);
// Zeroed memory, which the caller frees.
void *rig_zeros(size_t count, size_t bytes);
// Index of the first element whose bits differ; -1: none do.
long rig_difference(const uint16_t *a, const uint16_t *b, size_t count);
long rig_float_difference(const float *a, const float *b, size_t count);

// One layer: shapes and operands, all three operators' worth.
struct rig {
	struct golden_conv conv;
	size_t in_count, out_count, weight_count;
	uint16_t *x, *w, *dy;
};

// Fill in out_h and out_w and draw operands.
struct rig rig_create(struct golden_conv conv, uint64_t *state);
// A shape that fits, from all kernels 1..11, strides 1..4, paddings, dilations.
struct golden_conv rig_random_conv(uint64_t *state);
void rig_free(struct rig *rig);
// The shape in one line, for messages. Static storage.
const char *rig_name(const struct golden_conv *conv);

// Hand-picked corner shapes, out_h and out_w still 0.
extern const struct golden_conv rig_shapes[];
extern const int rig_shape_count;

enum rig_operator { RIG_FORWARD, RIG_DATA_GRADIENT, RIG_WEIGHT_GRADIENT, RIG_OPERATORS };

// A result in float64 with what its error is measured by.
struct rig_reference {
	size_t count;
	double *value;     // float64 reference
	double *magnitude; // sum |a b|
	double gamma;      // K u / (1 - K u), u = 2^-24, K the longest sum
};

struct rig_reference rig_reference_create(const struct rig *rig, enum rig_operator operator);
void rig_reference_free(struct rig_reference *reference);

// Index of the first value that lies farther from the reference than `sums` times gamma sum |a b|, plus one rounding to fp16 if `rounded`;
// -1: none does. `sums` is 1 for one summation in float.
long rig_outside_bound(const struct rig_reference *reference, const float *values, int sums, bool rounded);

#endif
