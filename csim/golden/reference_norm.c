// SPDX-License-Identifier: Apache-2.0
#include "csim/golden/reference_norm.h"

#include <math.h>
#include <string.h>

#include "csim/golden/norm_shape.h"

// Mean over group `group` of sample n of what `term` makes of each element.
static double group_mean(const struct golden_norm *norm, int n, int group, double (*term)(const void *operands, size_t at, int c),
			 const void *operands)
{
	double sum = 0;

	for (int y = 0; y < norm->height; y++)
		for (int x = 0; x < norm->width; x++)
			for (int c = group * norm->group_channels; c < (group + 1) * norm->group_channels; c++)
				sum += term(operands, norm_index(norm, n, y, x, c), c);
	return sum / ((double)norm->height * norm->width * norm->group_channels);
}

// x, and what is subtracted from it.
struct deviation {
	const double *x;
	double mean;
};

static double term_value(const void *operands, size_t at, int c)
{
	const struct deviation *of = operands;

	(void)c;
	return of->x[at];
}

static double term_square(const void *operands, size_t at, int c)
{
	const struct deviation *of = operands;

	(void)c;
	return (of->x[at] - of->mean) * (of->x[at] - of->mean);
}

void golden_reference_norm(const struct golden_norm *norm, const double *x, const double *gamma, const double *beta, double *mean,
			   double *rstd, double *y)
{
	for (int n = 0; n < norm->batch; n++)
		for (int group = 0; group < golden_norm_groups(norm); group++) {
			size_t at = norm_group(norm, n, group);
			struct deviation of = {x, 0};

			of.mean = mean[at] = group_mean(norm, n, group, term_value, &of);
			rstd[at] = 1 / sqrt(group_mean(norm, n, group, term_square, &of) + norm->eps);
		}
	for (int n = 0; n < norm->batch; n++)
		for (int iy = 0; iy < norm->height; iy++)
			for (int ix = 0; ix < norm->width; ix++)
				for (int c = 0; c < norm->channels; c++) {
					size_t at = norm_index(norm, n, iy, ix, c),
					       group = norm_group(norm, n, c / norm->group_channels);

					y[at] = (x[at] - mean[group]) * rstd[group] * gamma[c] + beta[c];
				}
}

struct backward {
	const double *x, *dy, *gamma;
	double mean, rstd;
};

static double term_g(const void *operands, size_t at, int c)
{
	const struct backward *of = operands;

	return of->dy[at] * of->gamma[c];
}

static double term_g_xhat(const void *operands, size_t at, int c)
{
	const struct backward *of = operands;

	return of->dy[at] * of->gamma[c] * ((of->x[at] - of->mean) * of->rstd);
}

void golden_reference_norm_gradient(const struct golden_norm *norm, const double *x, const double *dy, const double *gamma,
				    const double *mean, const double *rstd, double *dx, double *dgamma, double *dbeta)
{
	memset(dgamma, 0, norm->channels * sizeof(*dgamma));
	memset(dbeta, 0, norm->channels * sizeof(*dbeta));
	for (int n = 0; n < norm->batch; n++)
		for (int group = 0; group < golden_norm_groups(norm); group++) {
			size_t of = norm_group(norm, n, group);
			struct backward operands = {x, dy, gamma, mean[of], rstd[of]};
			double mean_g = group_mean(norm, n, group, term_g, &operands),
			       mean_g_xhat = group_mean(norm, n, group, term_g_xhat, &operands);

			for (int iy = 0; iy < norm->height; iy++)
				for (int ix = 0; ix < norm->width; ix++)
					for (int c = group * norm->group_channels; c < (group + 1) * norm->group_channels; c++) {
						size_t at = norm_index(norm, n, iy, ix, c);
						double xhat = (x[at] - mean[of]) * rstd[of];

						dx[at] = rstd[of] * (dy[at] * gamma[c] - mean_g - xhat * mean_g_xhat);
						dgamma[c] += dy[at] * xhat;
						dbeta[c] += dy[at];
					}
		}
}
