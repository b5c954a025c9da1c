// SPDX-License-Identifier: Apache-2.0
//
// Group normalization forward. See norm.h for the steps.
#include "csim/golden/norm.h"

#include <math.h>

#include "csim/golden/norm_shape.h"
#include "csim/golden/scalar.h"

bool golden_norm_valid(const struct golden_norm *norm)
{
	return norm->batch > 0 && norm->height > 0 && norm->width > 0 && norm->channels > 0 && norm->group_channels > 0 &&
	       norm->channels % norm->group_channels == 0 &&
	       (double)norm->height * norm->width * norm->group_channels <= GOLDEN_NORM_GROUP_MAX && norm->eps >= 0x1p-126f &&
	       norm->eps < INFINITY;
}

int norm_check(const struct golden_norm *norm, struct golden_range range, struct wc_error *err)
{
	if (!golden_norm_valid(norm))
		return wc_fail(err, WC_ERR_INPUT,
			       "normalization of %dx%dx%d, batch %d, %d channels a group, eps %g: sizes must be positive, groups "
			       "divide the channels and have at most "
			       "%d elements, eps be at least 2^-126",
			       norm->height, norm->width, norm->channels, norm->batch, norm->group_channels, (double)norm->eps,
			       GOLDEN_NORM_GROUP_MAX);
	return golden_range_check(range, norm->batch, norm->height, err);
}

static float shift_of(const struct golden_norm *norm, const uint16_t *x, int n, int group)
{
	return golden_half_to_float(x[norm_index(norm, n, 0, 0, group * norm->group_channels)]);
}

static struct golden_norm_sums sum_row(const struct golden_norm *norm, const uint16_t *x, int n, int y, int group)
{
	float shift = shift_of(norm, x, n, group);
	struct golden_norm_sums sums = {0, 0};

	for (int ix = 0; ix < norm->width; ix++)
		for (int c = 0; c < norm->group_channels; c++) {
			float d = golden_half_to_float(x[norm_index(norm, n, y, ix, group * norm->group_channels + c)]) - shift;

			sums.first += d;
			sums.second += d * d;
		}
	return norm_canonical(sums);
}

int golden_norm_row_sums(const struct golden_norm *norm, const uint16_t *x, struct golden_range range,
			 struct golden_norm_sums *row_sums, struct wc_error *err)
{
	int result = norm_check(norm, range, err);

	if (result)
		return result;
	for (int n = range.sample_lo; n < range.sample_hi; n++)
		for (int y = range.row_lo; y < range.row_hi; y++)
			for (int group = 0; group < golden_norm_groups(norm); group++)
				row_sums[norm_row_group(norm, n, y, group)] = sum_row(norm, x, n, y, group);
	return 0;
}

int golden_norm_combine(const struct golden_norm *norm, const struct golden_norm_sums *row_sums, struct golden_range range,
                        struct golden_norm_sums *totals, struct wc_error *err)
{
	int result = norm_check(norm, range, err);

	if (result)
		return result;
	for (int n = range.sample_lo; n < range.sample_hi; n++)
		for (int y = range.row_lo; y < range.row_hi; y++)
			for (int group = 0; group < golden_norm_groups(norm); group++) {
				struct golden_norm_sums *total = &totals[norm_group(norm, n, group)];
				const struct golden_norm_sums *row = &row_sums[norm_row_group(norm, n, y, group)];

				*total = norm_canonical(
				    (struct golden_norm_sums){total->first + row->first, total->second + row->second});
			}
	return 0;
}

static struct golden_norm_statistics statistics_of(struct golden_norm_sums total, float shift, float inverse_count, float eps)
{
	float md = total.first * inverse_count;
	float square = md * md;
	float var = total.second * inverse_count;

	var = var - square;
	var = var > 0 || isnan(var) ? var : 0;
	return (struct golden_norm_statistics){golden_float_of(golden_float_bits(shift + md)), golden_rsqrt(var + eps)};
}

int golden_norm_finish(const struct golden_norm *norm, const uint16_t *x, const struct golden_norm_sums *totals, int sample_lo,
		       int sample_hi, struct golden_norm_statistics *statistics, struct wc_error *err)
{
	int result = norm_check(norm, (struct golden_range){sample_lo, sample_hi, 0, norm->height}, err);

	if (result)
		return result;
	for (int n = sample_lo; n < sample_hi; n++)
		for (int group = 0; group < golden_norm_groups(norm); group++)
			statistics[norm_group(norm, n, group)] = statistics_of(
			    totals[norm_group(norm, n, group)], shift_of(norm, x, n, group), norm_inverse_count(norm), norm->eps);
	return 0;
}

int golden_norm_apply(const struct golden_norm *norm, const uint16_t *x, const struct golden_norm_statistics *statistics,
		      const uint16_t *gamma, const uint16_t *beta, struct golden_range range, uint16_t *y, struct wc_error *err)
{
	int result = norm_check(norm, range, err);

	if (result)
		return result;
	for (int n = range.sample_lo; n < range.sample_hi; n++)
	for (int iy = range.row_lo; iy < range.row_hi; iy++)
	for (int ix = 0; ix < norm->width; ix++)
	for (int c = 0; c < norm->channels; c++) {
		struct golden_norm_statistics group = statistics[norm_group(norm, n, c / norm->group_channels)];
		size_t at = norm_index(norm, n, iy, ix, c);
		float value = golden_half_to_float(x[at]) - group.mean;

		value = value * group.rstd;
		value = value * golden_half_to_float(gamma[c]);
		value = value + golden_half_to_float(beta[c]);
		y[at] = golden_half_from_float(value);
	}
	return 0;
}
