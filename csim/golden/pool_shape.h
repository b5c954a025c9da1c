// SPDX-License-Identifier: Apache-2.0
//
// Inside csim/golden: indices of pooled feature maps, and the check that all pools begin with.
#ifndef WC_GOLDEN_POOL_SHAPE_H
#define WC_GOLDEN_POOL_SHAPE_H

#include "csim/golden/pool.h"

static inline size_t pool_in_index(const struct golden_pool *pool, int n, int y, int x, int c)
{
	return (((size_t)n * pool->in_h + y) * pool->in_w + x) * pool->channels + c;
}

static inline size_t pool_out_index(const struct golden_pool *pool, int n, int y, int x, int c)
{
	return (((size_t)n * pool->out_h + y) * pool->out_w + x) * pool->channels + c;
}

// Shape, and range of a result of `height` rows.
int pool_check(const struct golden_pool *pool, struct golden_range range, int height, struct wc_error *err);

#endif
