// SPDX-License-Identifier: Apache-2.0
//
// Pooling stated a second time: windows one by one, gradients scattered, an index as one int a tap. `fault` plants a mistake.
#ifndef TESTS_GOLDEN_NAIVE_POOL_H
#define TESTS_GOLDEN_NAIVE_POOL_H

#include "csim/golden/pool.h"

enum pool_fault {
	POOL_RIGHT,
	POOL_LAST_MAXIMUM,       // of equal ones the last wins
	POOL_PADDING_IS_ZERO,    // padding takes part in the maximum
	POOL_TAP_OFF_BY_ONE,
	POOL_PADDING_NOT_COUNTED, // the average divides by the taps inside the image
	POOL_COLUMNS_FIRST,      // sums run down the columns
	POOL_WINDOWS_DESCENDING, // gradients are summed from the last window
	POOL_SUM_BEFORE_SCALE,   // adaptive gradients multiply the sum
};

void naive_max_pool(const struct golden_pool *pool, const uint16_t *x, uint16_t *y, int *taps, enum pool_fault fault);
void naive_max_pool_gradient(const struct golden_pool *pool, const int *taps, const uint16_t *dy, uint16_t *dx,
			     enum pool_fault fault);
// taps in the packed form.
void naive_pack_index(const struct golden_pool *pool, const int *taps, uint8_t *index);
void naive_average_pool(const struct golden_pool *pool, const uint16_t *x, uint16_t *y, enum pool_fault fault);
void naive_average_pool_gradient(const struct golden_pool *pool, const uint16_t *dy, uint16_t *dx, enum pool_fault fault);
void naive_adaptive_pool(const struct golden_adaptive_pool *pool, const uint16_t *x, uint16_t *y, enum pool_fault fault);
void naive_adaptive_pool_gradient(const struct golden_adaptive_pool *pool, const uint16_t *dy, uint16_t *dx, enum pool_fault fault);

#endif
