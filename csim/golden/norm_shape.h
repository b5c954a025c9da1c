// SPDX-License-Identifier: Apache-2.0
//
// Inside csim/golden: indices of a normalized feature map and its groups, and the check that all steps begin with.
#ifndef WC_GOLDEN_NORM_SHAPE_H
#define WC_GOLDEN_NORM_SHAPE_H

#include "csim/golden/half.h"
#include "csim/golden/norm.h"

static inline size_t norm_index(const struct golden_norm *norm, int n, int y, int x, int c)
{
	return (((size_t)n * norm->height + y) * norm->width + x) * norm->channels + c;
}

static inline size_t norm_group(const struct golden_norm *norm, int n, int group)
{
	return (size_t)n * golden_norm_groups(norm) + group;
}

static inline size_t norm_row_group(const struct golden_norm *norm, int n, int y, int group)
{
	return ((size_t)n * norm->height + y) * golden_norm_groups(norm) + group;
}

static inline float norm_inverse_count(const struct golden_norm *norm)
{
	return (float)(1.0 / ((double)norm->height * norm->width * norm->group_channels));
}

// As they are stored.
static inline struct golden_norm_sums norm_canonical(struct golden_norm_sums sums)
{
	return (struct golden_norm_sums){golden_float_of(golden_float_bits(sums.first)),
					 golden_float_of(golden_float_bits(sums.second))};
}

int norm_check(const struct golden_norm *norm, struct golden_range range, struct wc_error *err);

#endif
