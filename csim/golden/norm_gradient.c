// SPDX-License-Identifier: Apache-2.0
//
// Group normalization backward. See norm.h for the steps.
#include "csim/golden/norm_shape.h"

static float xhat_of(uint16_t x, struct golden_norm_statistics group)
{
	float centred = golden_half_to_float(x) - group.mean;

	return centred * group.rstd;
}

int golden_norm_gradient_row_sums(const struct golden_norm *norm, const uint16_t *x, const uint16_t *dy,
				  const struct golden_norm_statistics *statistics, const uint16_t *gamma,
				  struct golden_range range, struct golden_norm_sums *row_sums, struct wc_error *err)
{
	int result = norm_check(norm, range, err);

	if (result)
		return result;
	for (int n = range.sample_lo; n < range.sample_hi; n++)
	for (int y = range.row_lo; y < range.row_hi; y++)
	for (int group = 0; group < golden_norm_groups(norm); group++) {
		struct golden_norm_statistics of = statistics[norm_group(norm, n, group)];
		struct golden_norm_sums sums = {0, 0};

		for (int ix = 0; ix < norm->width; ix++)
			for (int c = group * norm->group_channels; c < (group + 1) * norm->group_channels; c++) {
				size_t at = norm_index(norm, n, y, ix, c);
				float g = golden_half_to_float(dy[at]) * golden_half_to_float(gamma[c]);

				sums.first += g;
				sums.second += g * xhat_of(x[at], of);
			}
		row_sums[norm_row_group(norm, n, y, group)] = norm_canonical(sums);
	}
	return 0;
}

// c1 and c2 of one group.
static struct golden_norm_sums means_of(struct golden_norm_sums total, float inverse_count)
{
	return (struct golden_norm_sums){total.first * inverse_count, total.second * inverse_count};
}

int golden_norm_gradient_means(const struct golden_norm *norm, const struct golden_norm_sums *totals, int sample_lo, int sample_hi,
			       struct golden_norm_sums *means, struct wc_error *err)
{
	int result = norm_check(norm, (struct golden_range){sample_lo, sample_hi, 0, norm->height}, err);

	if (result)
		return result;
	for (size_t i = norm_group(norm, sample_lo, 0); i < norm_group(norm, sample_hi, 0); i++)
		means[i] = norm_canonical(means_of(totals[i], norm_inverse_count(norm)));
	return 0;
}

int golden_norm_gradient(const struct golden_norm *norm, const uint16_t *x, const uint16_t *dy,
			 const struct golden_norm_statistics *statistics, const uint16_t *gamma,
			 const struct golden_norm_sums *totals, struct golden_range range, uint16_t *dx, struct wc_error *err)
{
	int result = norm_check(norm, range, err);
	float inverse_count;

	if (result)
		return result;
	inverse_count = norm_inverse_count(norm);
	for (int n = range.sample_lo; n < range.sample_hi; n++)
	for (int y = range.row_lo; y < range.row_hi; y++)
	for (int ix = 0; ix < norm->width; ix++)
	for (int c = 0; c < norm->channels; c++) {
		size_t at = norm_index(norm, n, y, ix, c), group = norm_group(norm, n, c / norm->group_channels);
		struct golden_norm_sums means = means_of(totals[group], inverse_count);
		float value = golden_half_to_float(dy[at]) * golden_half_to_float(gamma[c]);
		float part = xhat_of(x[at], statistics[group]) * means.second;

		value = value - means.first;
		value = value - part;
		dx[at] = golden_half_from_float(statistics[group].rstd * value);
	}
	return 0;
}

int golden_norm_parameter_row_sums(const struct golden_norm *norm, const uint16_t *x, const uint16_t *dy,
				   const struct golden_norm_statistics *statistics, struct golden_range range,
				   struct golden_norm_sums *row_sums, struct wc_error *err)
{
	int result = norm_check(norm, range, err);

	if (result)
		return result;
	for (int n = range.sample_lo; n < range.sample_hi; n++)
	for (int y = range.row_lo; y < range.row_hi; y++)
	for (int c = 0; c < norm->channels; c++) {
		struct golden_norm_statistics group = statistics[norm_group(norm, n, c / norm->group_channels)];
		struct golden_norm_sums sums = {0, 0};

		for (int ix = 0; ix < norm->width; ix++) {
			size_t at = norm_index(norm, n, y, ix, c);

			sums.first += golden_half_to_float(dy[at]) * xhat_of(x[at], group);
			sums.second += golden_half_to_float(dy[at]);
		}
		row_sums[((size_t)n * norm->height + y) * norm->channels + c] = norm_canonical(sums);
	}
	return 0;
}

int golden_norm_parameter_add(const struct golden_norm *norm, const struct golden_norm_sums *row_sums, struct golden_range range,
                              struct golden_norm_sums *totals, struct wc_error *err)
{
	int result = norm_check(norm, range, err);

	if (result)
		return result;
	for (int n = range.sample_lo; n < range.sample_hi; n++)
	for (int y = range.row_lo; y < range.row_hi; y++)
	for (int c = 0; c < norm->channels; c++) {
		const struct golden_norm_sums *row = &row_sums[((size_t)n * norm->height + y) * norm->channels + c];

		totals[c] = norm_canonical((struct golden_norm_sums){totals[c].first + row->first, totals[c].second + row->second});
	}
	return 0;
}
