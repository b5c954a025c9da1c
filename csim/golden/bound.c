// SPDX-License-Identifier: Apache-2.0
#include "csim/golden/bound.h"

#include <float.h>
#include <math.h>

#include "csim/golden/scalar.h"

#define MARGIN (1 + 0x1p-20)
#define ULP 0x1p-23 // the largest distance between two neighbours, relative to either

double golden_gamma(double roundings)
{
	return roundings * GOLDEN_UNIT / (1 - roundings * GOLDEN_UNIT);
}

double golden_bound_sum(double roundings, double magnitude)
{
	return golden_gamma(roundings) * magnitude * MARGIN;
}

double golden_bound_half(double value, double error)
{
	double largest = fabs(value) + error;

	return largest >= 65520 ? INFINITY : error + fmax(largest * 0x1p-11, 0x1p-25);
}

double golden_bound_add(const double *sums, int count)
{
	double error = 0;

	for (int i = 0; i < count; i++)
		error = golden_bound_half(sums[i], error + GOLDEN_UNIT * MARGIN * (fabs(sums[i]) + error));
	return error;
}

// `error` and that of one rounding on top.
static struct golden_approx rounded(double value, double error)
{
	double largest = fabs(value) + error;

	return (struct golden_approx){value, largest > FLT_MAX ? INFINITY : error + GOLDEN_UNIT * MARGIN * largest};
}

struct golden_approx golden_approx_rounded(double value)
{
	return rounded(value, 0x1p-150);
}

struct golden_approx golden_approx_add(struct golden_approx a, struct golden_approx b)
{
	return rounded(a.value + b.value, a.error + b.error);
}

struct golden_approx golden_approx_sub(struct golden_approx a, struct golden_approx b)
{
	return rounded(a.value - b.value, a.error + b.error);
}

struct golden_approx golden_approx_mul(struct golden_approx a, struct golden_approx b)
{
	return rounded(a.value * b.value, fabs(a.value) * b.error + fabs(b.value) * a.error + a.error * b.error + 0x1p-150);
}

void golden_approx_sum_add(struct golden_approx_sum *sum, struct golden_approx term)
{
	sum->value += term.value;
	sum->error += term.error;
	sum->largest += fabs(term.value) + term.error;
}

struct golden_approx golden_approx_sum_of(const struct golden_approx_sum *sum, double chain)
{
	double error = sum->error + golden_bound_sum(chain, sum->largest);

	// No partial sum is larger than all terms with one sign.
	return (struct golden_approx){sum->value, sum->largest * 2 > FLT_MAX ? INFINITY : error};
}

// A function's value of what lies between `low` and `high`, itself within `ulps`.
static struct golden_approx evaluated(double value, double low, double high, double ulps)
{
	double error = fmax(fabs(high - value), fabs(low - value));
	double largest = fabs(value) + error;

	return (struct golden_approx){value,
				      largest > FLT_MAX || isnan(error) ? INFINITY : (error + ulps * ULP * largest) * MARGIN};
}

struct golden_approx golden_approx_rsqrt(struct golden_approx a, double lowest)
{
	double low = fmax(a.value - a.error, lowest);

	if (!(low >= 0x1p-126))
		return (struct golden_approx){1 / sqrt(a.value), INFINITY};
	return evaluated(1 / sqrt(a.value), 1 / sqrt(a.value + a.error), 1 / sqrt(low),
			 low >= 0x1p-125 ? GOLDEN_RSQRT_ULPS : GOLDEN_RSQRT_LOWEST_ULPS);
}

struct golden_approx golden_approx_reciprocal(struct golden_approx a)
{
	double low = a.value - a.error, high = a.value + a.error;

	if (!(low >= 0x1p-125 && high <= 0x1p125))
		return (struct golden_approx){1 / a.value, INFINITY};
	return evaluated(1 / a.value, 1 / high, 1 / low, GOLDEN_RECIPROCAL_ULPS);
}

struct golden_approx golden_approx_exp(struct golden_approx a)
{
	struct golden_approx result = evaluated(exp(a.value), exp(a.value - a.error), exp(a.value + a.error), GOLDEN_EXP_ULPS);

	// Below 2^-126 the computed one is +0.
	if (result.value - result.error < 0x1p-126)
		result.error += 0x1p-126;
	return result;
}

struct golden_approx golden_approx_log(struct golden_approx a)
{
	double low = a.value - a.error;

	if (!(low >= 0x1p-126))
		return (struct golden_approx){log(a.value), INFINITY};
	return evaluated(log(a.value), log(low), log(a.value + a.error), GOLDEN_LOG_ULPS);
}
