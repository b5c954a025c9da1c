// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/naive_norm.h"

#include <stdlib.h>

#include "csim/golden/scalar.h"
#include "tests/golden/naive.h"
#include "tests/golden/rig.h"

// One group of one sample.
struct group {
	const struct golden_norm *norm;
	int n, first; // sample, first channel
	enum norm_fault fault;
};

static long element(const struct group *group, int row, int i)
{
	const struct golden_norm *norm = group->norm;
	int x = group->fault == NORM_CHANNELS_OUTSIDE ? i % norm->width : i / norm->group_channels;
	int c = group->fault == NORM_CHANNELS_OUTSIDE ? i / norm->width : i % norm->group_channels;

	return (((long)group->n * norm->height + row) * norm->width + x) * norm->channels + group->first + c;
}

// Sums of a[i] and of a[i] b[i] over the group, arrays indexed as the tensor.
static void sum_pairs(const struct group *group, const float *a, const float *b, float *total_a, float *total_ab)
{
	int rows = group->norm->height;
	float one = 0, two = 0;

	*total_a = *total_ab = 0;
	for (int i = 0; i < rows; i++) {
		int row = group->fault == NORM_ROWS_DESCENDING ? rows - 1 - i : i;

		if (group->fault != NORM_NO_ROWS)
			one = two = 0;
		for (int j = 0; j < group->norm->width * group->norm->group_channels; j++) {
			long at = element(group, row, j);

			one = naive_add(one, a[at]);
			two = group->fault == NORM_FUSED ? (float)((double)a[at] * b[at] + two)
							 : naive_add(two, naive_mul(a[at], b[at]));
		}
		*total_a = group->fault == NORM_NO_ROWS ? one : naive_add(*total_a, one);
		*total_ab = group->fault == NORM_NO_ROWS ? two : naive_add(*total_ab, two);
	}
}

static float inverse(const struct golden_norm *norm, enum norm_fault fault)
{
	double count = (double)norm->height * norm->width * norm->group_channels;

	return (float)(1 / (fault == NORM_ONE_LESS && count > 1 ? count - 1 : count));
}

static void statistics(const struct group *group, const uint16_t *x, float *scratch, float *mean, float *rstd)
{
	int count = group->norm->width * group->norm->group_channels;
	float shift = naive_widen(x[element(group, 0, 0)]), sum, squares, md, var;

	for (int pass = group->fault == NORM_MEAN_FOR_SHIFT ? 0 : 1; pass < 2; pass++) {
		for (int row = 0; row < group->norm->height; row++)
			for (int i = 0; i < count; i++)
				scratch[element(group, row, i)] = naive_sub(naive_widen(x[element(group, row, i)]), shift);
		sum_pairs(group, scratch, scratch, &sum, &squares);
		md = naive_mul(sum, inverse(group->norm, group->fault));
		*mean = naive_add(shift, md);
		if (pass == 0)
			shift = *mean;
	}
	var = naive_sub(naive_mul(squares, inverse(group->norm, group->fault)), naive_mul(md, md));
	if (var <= 0)
		var = 0;
	*rstd = golden_rsqrt(naive_add(var, group->norm->eps));
}

static void backward(const struct group *group, const uint16_t *x, const uint16_t *dy, const uint16_t *gamma, float mean,
		     float rstd, float *g, float *xhat, uint16_t *dx)
{
	int count = group->norm->width * group->norm->group_channels;
	float sum, product, c1, c2;

	for (int row = 0; row < group->norm->height; row++)
		for (int i = 0; i < count; i++) {
			long at = element(group, row, i);
			float weight = naive_widen(gamma[at % group->norm->channels]);

			xhat[at] = naive_mul(naive_sub(naive_widen(x[at]), mean), rstd);
			g[at] = group->fault == NORM_GAMMA_LATE ? naive_widen(dy[at]) : naive_mul(naive_widen(dy[at]), weight);
		}
	sum_pairs(group, g, xhat, &sum, &product);
	c1 = naive_mul(sum, inverse(group->norm, group->fault));
	c2 = naive_mul(product, inverse(group->norm, group->fault));
	for (int row = 0; row < group->norm->height; row++)
		for (int i = 0; i < count; i++) {
			long at = element(group, row, i);
			float rest = naive_sub(naive_sub(g[at], c1), naive_mul(xhat[at], c2));

			if (group->fault == NORM_GAMMA_LATE)
				rest = naive_mul(rest, naive_widen(gamma[at % group->norm->channels]));
			dx[at] = naive_narrow(naive_mul(rstd, rest));
		}
}

static void parameters(const struct golden_norm *norm, const uint16_t *dy, const float *xhat, float *dgamma, float *dbeta,
		       enum norm_fault fault)
{
	int rows = norm->batch * norm->height;

	for (int c = 0; c < norm->channels; c++) {
		float row_gamma = 0, row_beta = 0;

		for (int i = 0; i < rows; i++) {
			long row = fault == NORM_ROWS_DESCENDING ? rows - 1 - i : i;

			if (fault != NORM_NO_ROWS)
				row_gamma = row_beta = 0;
			for (int x = 0; x < norm->width; x++) {
				long at = (row * norm->width + x) * norm->channels + c;

				row_gamma = naive_add(row_gamma, naive_mul(naive_widen(dy[at]), xhat[at]));
				row_beta = naive_add(row_beta, naive_widen(dy[at]));
			}
			dgamma[c] = fault == NORM_NO_ROWS ? row_gamma : naive_add(dgamma[c], row_gamma);
			dbeta[c] = fault == NORM_NO_ROWS ? row_beta : naive_add(dbeta[c], row_beta);
		}
	}
}

struct naive_norm naive_norm_create(const struct golden_norm *norm, const uint16_t *x, const uint16_t *dy, const uint16_t *gamma,
				    const uint16_t *beta, enum norm_fault fault)
{
	size_t count = golden_norm_count(norm), groups = (size_t)norm->batch * (norm->channels / norm->group_channels);
	float *g = rig_zeros(count, sizeof(*g)), *xhat = rig_zeros(count, sizeof(*xhat));
	struct naive_norm result = {
	    .mean = rig_zeros(groups, sizeof(float)),
	    .rstd = rig_zeros(groups, sizeof(float)),
	    .y = rig_zeros(count, sizeof(uint16_t)),
	    .dx = rig_zeros(count, sizeof(uint16_t)),
	    .dgamma = rig_zeros(norm->channels, sizeof(float)),
	    .dbeta = rig_zeros(norm->channels, sizeof(float)),
	};

	for (size_t i = 0; i < groups; i++) {
		int per_sample = norm->channels / norm->group_channels;
		struct group group = {norm, (int)i / per_sample, (int)i % per_sample * norm->group_channels, fault};

		statistics(&group, x, g, &result.mean[i], &result.rstd[i]);
		backward(&group, x, dy, gamma, result.mean[i], result.rstd[i], g, xhat, result.dx);
	}
	for (size_t at = 0; at < count; at++) {
		int c = (int)(at % norm->channels);

		result.y[at] = naive_narrow(naive_add(naive_mul(xhat[at], naive_widen(gamma[c])), naive_widen(beta[c])));
	}
	parameters(norm, dy, xhat, result.dgamma, result.dbeta, fault);
	free(g);
	free(xhat);
	return result;
}

void naive_norm_free(struct naive_norm *result)
{
	free(result->mean);
	free(result->rstd);
	free(result->y);
	free(result->dx);
	free(result->dgamma);
	free(result->dbeta);
}
