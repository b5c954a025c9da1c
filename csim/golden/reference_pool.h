// SPDX-License-Identifier: Apache-2.0
//
// The mathematics of pooling in float64, from the equations of pool.h over whole feature maps. Results are overwritten, and must
// not overlap the operands. No NaNs.
#ifndef WC_GOLDEN_REFERENCE_POOL_H
#define WC_GOLDEN_REFERENCE_POOL_H

#include "csim/golden/pool.h"

void golden_reference_max_pool(const struct golden_pool *pool, const double *x, double *y);
// Each dy goes to the first of the largest x of its window.
void golden_reference_max_pool_gradient(const struct golden_pool *pool, const double *x, const double *dy, double *dx);
void golden_reference_average_pool(const struct golden_pool *pool, const double *x, double *y);
void golden_reference_average_pool_gradient(const struct golden_pool *pool, const double *dy, double *dx);
void golden_reference_adaptive_pool(const struct golden_adaptive_pool *pool, const double *x, double *y);
void golden_reference_adaptive_pool_gradient(const struct golden_adaptive_pool *pool, const double *dy, double *dx);

#endif
