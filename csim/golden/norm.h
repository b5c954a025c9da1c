// SPDX-License-Identifier: Apache-2.0
//
// The bits of group normalization (Wu and He, 2018, equations 1 to 3) and its gradients.
//
// Feature maps are dense NHWC of fp16 bits, gamma and beta fp16 bits a channel. A group is `group_channels` adjacent channels of
// one sample; M = height width group_channels. Every operation below is binary32 and rounded once, results of tensors are rounded
// to fp16 at the end, NaNs are canonical wherever something is stored. 1/M is rounded once.
//
//   statistics   shift = x[n][0][0][first channel of the group]
//                per row, from +0, in (x, c) order:  d = x - shift;  s1 = s1 + d;  s2 = s2 + d * d
//                rows ascending, from +0:            A1 = A1 + s1;  A2 = A2 + s2
//                md = A1 * (1/M);  var = A2 * (1/M) - md * md;  var = var if it is > 0 or a NaN, else +0
//                mean = shift + md;  rstd = rsqrt(var + eps)            (scalar.h)
//   apply        y = ((x - mean) * rstd) * gamma + beta
//   gradient     xhat = (x - mean) * rstd;  g = dy * gamma
//                per row, from +0, in (x, c) order:  s1 = s1 + g;  s2 = s2 + g * xhat
//                rows ascending, from +0:            A1 = A1 + s1;  A2 = A2 + s2
//                c1 = A1 * (1/M);  c2 = A2 * (1/M);  dx = rstd * ((g - c1) - xhat * c2)
//   parameters   per (sample, row, channel), from +0, x ascending:  s1 = s1 + dy * xhat;  s2 = s2 + dy
//                added to the running sums of gamma and beta, (sample, row) ascending
//
// The shift keeps A2 - A1^2 / M from cancelling when the mean is large beside the deviation; a group of one value has var = +0
// exactly.
//
// The steps are functions of their own on ranges of rows, since the device works in strips: sums of rows, their combination
// (called with rows ascending), and what is done with them. They return 0 or WC_ERR_INPUT (shape, eps or range) with nothing
// written. Arrays belong to the caller.
#ifndef WC_GOLDEN_NORM_H
#define WC_GOLDEN_NORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "csim/golden/range.h"
#include "traces/error.h"

enum { GOLDEN_NORM_GROUP_MAX = 1 << 26 }; // elements of a group: up to here float64's 1/M rounds to binary32 as 1/M does

struct golden_norm {
	int batch, height, width, channels;
	int group_channels; // divides the channels
	float eps;          // finite, at least 2^-126
};

// Two sums side by side: s1 and s2, or A1 and A2.
struct golden_norm_sums {
	float first, second;
};

// What forward keeps for backward.
struct golden_norm_statistics {
	float mean, rstd;
};

bool golden_norm_valid(const struct golden_norm *norm);

static inline int golden_norm_groups(const struct golden_norm *norm)
{
	return norm->channels / norm->group_channels;
}

// Elements of the arrays: x, y, dx, dy [batch][height][width][channels]; row sums [batch][height][groups]; totals and statistics
// [batch][groups]; the parameters' row sums [batch][height][channels], their totals [channels].
static inline size_t golden_norm_count(const struct golden_norm *norm)
{
	return (size_t)norm->batch * norm->height * norm->width * norm->channels;
}

// Forward.
int golden_norm_row_sums(const struct golden_norm *norm, const uint16_t *x, struct golden_range range,
			 struct golden_norm_sums *row_sums, struct wc_error *err);
// Add the rows of `range` to the totals, which are {+0, +0} before the first row. Also for the gradient.
int golden_norm_combine(const struct golden_norm *norm, const struct golden_norm_sums *row_sums, struct golden_range range,
                        struct golden_norm_sums *totals, struct wc_error *err);
// Of samples [sample_lo, sample_hi). Of x each group's first element is read.
int golden_norm_finish(const struct golden_norm *norm, const uint16_t *x, const struct golden_norm_sums *totals, int sample_lo,
		       int sample_hi, struct golden_norm_statistics *statistics, struct wc_error *err);
// y may be x.
int golden_norm_apply(const struct golden_norm *norm, const uint16_t *x, const struct golden_norm_statistics *statistics,
		      const uint16_t *gamma, const uint16_t *beta, struct golden_range range, uint16_t *y, struct wc_error *err);

// Backward.
int golden_norm_gradient_row_sums(const struct golden_norm *norm, const uint16_t *x, const uint16_t *dy,
				  const struct golden_norm_statistics *statistics, const uint16_t *gamma,
				  struct golden_range range, struct golden_norm_sums *row_sums, struct wc_error *err);
// dx may be x or dy.
int golden_norm_gradient(const struct golden_norm *norm, const uint16_t *x, const uint16_t *dy,
			 const struct golden_norm_statistics *statistics, const uint16_t *gamma,
			 const struct golden_norm_sums *totals, struct golden_range range, uint16_t *dx, struct wc_error *err);

// c1 and c2 of samples [sample_lo, sample_hi) from their totals; both are [batch][groups].
int golden_norm_gradient_means(const struct golden_norm *norm, const struct golden_norm_sums *totals, int sample_lo, int sample_hi,
			       struct golden_norm_sums *means, struct wc_error *err);

// Parameters: `first` belongs to gamma, `second` to beta.
int golden_norm_parameter_row_sums(const struct golden_norm *norm, const uint16_t *x, const uint16_t *dy,
				   const struct golden_norm_statistics *statistics, struct golden_range range,
				   struct golden_norm_sums *row_sums, struct wc_error *err);
int golden_norm_parameter_add(const struct golden_norm *norm, const struct golden_norm_sums *row_sums, struct golden_range range,
                              struct golden_norm_sums *totals, struct wc_error *err);

#endif
