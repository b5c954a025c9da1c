// SPDX-License-Identifier: Apache-2.0
//
// Group normalization stated a second time: rows of a group copied out, then the steps one after the other. `fault` plants a
// mistake.
#ifndef TESTS_GOLDEN_NAIVE_NORM_H
#define TESTS_GOLDEN_NAIVE_NORM_H

#include "csim/golden/norm.h"

enum norm_fault {
	NORM_RIGHT,
	NORM_MEAN_FOR_SHIFT,   // deviations from the mean instead of the first element
	NORM_ROWS_DESCENDING,  // rows combined from the last
	NORM_NO_ROWS,          // one running sum over the rows
	NORM_CHANNELS_OUTSIDE, // a row summed in (c, x) order
	NORM_FUSED,            // products not rounded before they are added
	NORM_ONE_LESS,         // divided by M - 1
	NORM_GAMMA_LATE,       // backward: gamma after the sums
	NORM_FAULTS,
};

struct naive_norm {
	float *mean, *rstd;     // [batch][groups]
	uint16_t *y, *dx;
	float *dgamma, *dbeta;  // [channels]
};

// Forward and backward of the whole map.
struct naive_norm naive_norm_create(const struct golden_norm *norm, const uint16_t *x, const uint16_t *dy, const uint16_t *gamma,
				    const uint16_t *beta, enum norm_fault fault);
void naive_norm_free(struct naive_norm *result);

#endif
