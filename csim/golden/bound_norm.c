// SPDX-License-Identifier: Apache-2.0
#include "csim/golden/bound_norm.h"

#include <math.h>

#include "csim/golden/norm_shape.h"

double golden_bound_norm_chain(const struct golden_norm *norm)
{
	return (double)norm->width * norm->group_channels + norm->height;
}

double golden_bound_norm_parameter_chain(const struct golden_norm *norm)
{
	return (double)norm->width + (double)norm->batch * norm->height;
}

// Computed from the stored statistics.
static struct golden_approx xhat_of(double x, struct golden_approx mean, struct golden_approx rstd)
{
	return golden_approx_mul(golden_approx_sub(golden_approx_exact(x), mean), rstd);
}

void golden_bound_norm_statistics(const struct golden_norm *norm, const double *x, struct golden_approx *mean,
				  struct golden_approx *rstd)
{
	struct golden_approx inverse = golden_approx_rounded(1 / ((double)norm->height * norm->width * norm->group_channels));

	for (int n = 0; n < norm->batch; n++)
	for (int group = 0; group < golden_norm_groups(norm); group++) {
		int first = group * norm->group_channels;
		struct golden_approx shift = golden_approx_exact(x[norm_index(norm, n, 0, 0, first)]), md, var;
		struct golden_approx_sum one = {0}, two = {0};

		for (int y = 0; y < norm->height; y++)
			for (int ix = 0; ix < norm->width; ix++)
				for (int c = first; c < first + norm->group_channels; c++) {
					struct golden_approx d =
					    golden_approx_sub(golden_approx_exact(x[norm_index(norm, n, y, ix, c)]), shift);

					golden_approx_sum_add(&one, d);
					golden_approx_sum_add(&two, golden_approx_mul(d, d));
				}
		md = golden_approx_mul(golden_approx_sum_of(&one, golden_bound_norm_chain(norm)), inverse);
		var = golden_approx_sub(golden_approx_mul(golden_approx_sum_of(&two, golden_bound_norm_chain(norm)), inverse),
					golden_approx_mul(md, md));
		var.value = fmax(var.value, 0); // float64's own rounding may have taken it below
		mean[norm_group(norm, n, group)] = golden_approx_add(shift, md);
		rstd[norm_group(norm, n, group)] =
		    golden_approx_rsqrt(golden_approx_add(var, golden_approx_exact(norm->eps)), norm->eps);
	}
}

static struct golden_approx stored(struct golden_approx value, bool binary32)
{
	if (!binary32)
		value.error = golden_bound_half(value.value, value.error);
	return value;
}

void golden_bound_norm_apply(const struct golden_norm *norm, const double *x, const struct golden_approx *mean,
			     const struct golden_approx *rstd, const double *gamma, const double *beta, bool binary32,
			     struct golden_approx *y)
{
	for (size_t at = 0; at < golden_norm_count(norm); at++) {
		int c = (int)(at % norm->channels), n = (int)(at / norm->channels / norm->width / norm->height);
		size_t group = norm_group(norm, n, c / norm->group_channels);
		struct golden_approx value =
		    golden_approx_mul(xhat_of(x[at], mean[group], rstd[group]), golden_approx_exact(gamma[c]));

		y[at] = stored(golden_approx_add(value, golden_approx_exact(beta[c])), binary32);
	}
}

static void gradient_group(const struct golden_norm *norm, double chain, int n, int group, const double *x, const double *dy,
			   struct golden_approx mean, struct golden_approx rstd, const double *gamma, bool binary32,
			   struct golden_approx *dx)
{
	struct golden_approx inverse = golden_approx_rounded(1 / ((double)norm->height * norm->width * norm->group_channels)), c1,
			     c2;
	struct golden_approx_sum one = {0}, two = {0};

	for (int pass = 0; pass < 2; pass++) {
		for (int y = 0; y < norm->height; y++)
			for (int ix = 0; ix < norm->width; ix++)
				for (int c = group * norm->group_channels; c < (group + 1) * norm->group_channels; c++) {
					size_t at = norm_index(norm, n, y, ix, c);
					struct golden_approx g =
					    golden_approx_mul(golden_approx_exact(dy[at]), golden_approx_exact(gamma[c]));
					struct golden_approx xhat = xhat_of(x[at], mean, rstd);

					if (pass == 0) {
						golden_approx_sum_add(&one, g);
						golden_approx_sum_add(&two, golden_approx_mul(g, xhat));
					} else {
						struct golden_approx rest =
						    golden_approx_sub(golden_approx_sub(g, c1), golden_approx_mul(xhat, c2));

						dx[at] = stored(golden_approx_mul(rstd, rest), binary32);
					}
				}
		c1 = golden_approx_mul(golden_approx_sum_of(&one, chain), inverse);
		c2 = golden_approx_mul(golden_approx_sum_of(&two, chain), inverse);
	}
}

void golden_bound_norm_gradient(const struct golden_norm *norm, double chain, const double *x, const double *dy,
				const struct golden_approx *mean, const struct golden_approx *rstd, const double *gamma,
				bool binary32, struct golden_approx *dx)
{
	for (int n = 0; n < norm->batch; n++)
		for (int group = 0; group < golden_norm_groups(norm); group++) {
			size_t of = norm_group(norm, n, group);

			gradient_group(norm, chain, n, group, x, dy, mean[of], rstd[of], gamma, binary32, dx);
		}
}

void golden_bound_norm_parameters(const struct golden_norm *norm, double chain, const double *x, const double *dy,
				  const struct golden_approx *mean, const struct golden_approx *rstd,
				  struct golden_approx *dgamma, struct golden_approx *dbeta)
{
	for (int c = 0; c < norm->channels; c++) {
		struct golden_approx_sum gamma = {0}, beta = {0};

		for (int n = 0; n < norm->batch; n++)
			for (int y = 0; y < norm->height; y++)
				for (int ix = 0; ix < norm->width; ix++) {
					size_t at = norm_index(norm, n, y, ix, c),
					       group = norm_group(norm, n, c / norm->group_channels);
					struct golden_approx gradient = golden_approx_exact(dy[at]);

					golden_approx_sum_add(
					    &gamma, golden_approx_mul(gradient, xhat_of(x[at], mean[group], rstd[group])));
					golden_approx_sum_add(&beta, gradient);
				}
		dgamma[c] = golden_approx_sum_of(&gamma, chain);
		dbeta[c] = golden_approx_sum_of(&beta, chain);
	}
}
