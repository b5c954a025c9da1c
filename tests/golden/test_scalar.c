// SPDX-License-Identifier: Apache-2.0
//
// Reciprocal square root, reciprocal, exp and log: errors in ULP, the steps stated a second time, coefficients derived again,
// specials.
#include <criterion/criterion.h>
#include <math.h>

#include "csim/golden/half.h"
#include "csim/golden/scalar.h"
#include "tests/golden/naive.h"
#include "tests/golden/onednn.h"
#include "tests/golden/rig.h"

enum { BITS_ONE = 0x3f800000, BITS_FOUR = 0x40800000, BITS_INFINITY = 0x7f800000 };

struct function {
	const char *name;
	float (*bits)(float x);
	double (*exact)(double x);
};

static double exact_rsqrt(double x)
{
	return 1 / sqrt(x);
}

static double exact_reciprocal(double x)
{
	return 1 / x;
}

static const struct function rsqrt_function = {"rsqrt", golden_rsqrt, exact_rsqrt};
static const struct function reciprocal_function = {"reciprocal", golden_reciprocal, exact_reciprocal};
static const struct function exp_function = {"exp", golden_exp, exp};
static const struct function log_function = {"log", golden_log, log};

static double error_ulps(const struct function *function, uint32_t bits)
{
	float x = golden_float_of(bits);
	double exact = function->exact(x);
	int exponent;

	frexp(exact, &exponent);
	return fabs(function->bits(x) - exact) / ldexp(1, (exponent < -125 ? -125 : exponent) - 24);
}

// Of every `step`th pattern in [lo, hi).
static double largest_error(const struct function *function, uint64_t lo, uint64_t hi, uint32_t step)
{
	double largest = 0;

	for (uint64_t bits = lo; bits < hi; bits += step) {
		double error = error_ulps(function, (uint32_t)bits);

		if (!(error <= largest))
			largest = error;
	}
	return largest;
}

static void check_error(const struct function *function, uint64_t lo, uint64_t hi, uint32_t step, double limit)
{
	double largest = largest_error(function, lo, hi, step);

	cr_assert_leq(largest, limit, "%s: %.4f ULP in [%08x, %08x)", function->name, largest, (uint32_t)lo, (uint32_t)hi);
	if (step == 1)
		cr_assert_gt(largest, limit - 0.02, "%s: %.4f ULP, %.4f claimed", function->name, largest, limit);
}

// Of exp and log the quick suite tries every 509th x.
static uint32_t step(void)
{
	return rig_long() ? 1 : 509;
}

Test(scalar, exp_is_as_near_as_documented)
{
	check_error(&exp_function, 0, golden_bits_of(GOLDEN_EXP_HIGHEST) + 1, step(), GOLDEN_EXP_ULPS);
	check_error(&exp_function, 0x80000000, (uint64_t)golden_bits_of(GOLDEN_EXP_LOWEST) + 1, step(), GOLDEN_EXP_ULPS);
}

Test(scalar, log_is_as_near_as_documented)
{
	check_error(&log_function, 0x00800000, BITS_INFINITY, step(), GOLDEN_LOG_ULPS);
}

Test(scalar, rsqrt_and_reciprocal_are_as_near_as_documented)
{
	uint64_t state = rig_seed() + 100;

	check_error(&rsqrt_function, BITS_ONE, BITS_FOUR, 1, GOLDEN_RSQRT_ULPS);
	check_error(&rsqrt_function, 0x00800000, 0x01000000, 1, GOLDEN_RSQRT_LOWEST_ULPS);
	check_error(&reciprocal_function, BITS_ONE, BITS_FOUR, 1, GOLDEN_RECIPROCAL_ULPS);
	// Elsewhere
	for (int i = 0; i < 1000000; i++) {
		uint32_t bits = (uint32_t)(0x01000000 + rig_random(&state) % (BITS_INFINITY - 0x01000000));

		cr_assert_leq(error_ulps(&rsqrt_function, bits), GOLDEN_RSQRT_ULPS, "rsqrt of %08x", bits);
		bits = (uint32_t)(0x01000000 + rig_random(&state) % (0x7e000000 - 0x01000000));
		cr_assert_leq(error_ulps(&reciprocal_function, bits), GOLDEN_RECIPROCAL_ULPS, "reciprocal of %08x", bits);
	}
}

// The claim "every mantissa of two exponents" stands on this: the steps do not know the exponent.
Test(scalar, rsqrt_of_four_times_x_is_half)
{
	uint64_t state = rig_seed() + 101;

	for (int i = 0; i < 1000000; i++) {
		uint32_t bits = (uint32_t)(0x01000000 + rig_random(&state) % (0x7e800000 - 0x01000000));
		float x = golden_float_of(bits);

		cr_assert_eq(golden_bits_of(golden_rsqrt(4 * x)), golden_bits_of(0.5f * golden_rsqrt(x)), "rsqrt of %08x", bits);
	}
}

// The steps again, with patterns in decimal or from their definition, and constants from mathematics.
static float naive_rsqrt(float x)
{
	float y = naive_of(1597463007u - naive_bits(x) / 2), h = naive_mul(0.5f, x);

	for (int i = 0; i < 3; i++)
		y = naive_mul(y, naive_sub(1.5f, naive_mul(naive_mul(h, y), y)));
	return y;
}

static float naive_exp(float x)
{
	double ln2 = 0x1.62e42fefa39efp-1;
	float hi = (float)(floor(ln2 * 65536) / 65536), lo = (float)(ln2 - hi);
	float k = naive_sub(naive_add(naive_mul(x, (float)(1 / ln2)), 12582912), 12582912);
	float r = naive_sub(naive_sub(x, naive_mul(k, hi)), naive_mul(k, lo));
	float sum = golden_exp_coefficients[0];

	for (int i = 1; i < 7; i++)
		sum = naive_add(naive_mul(sum, r), golden_exp_coefficients[i]);
	return (float)ldexp(sum, (int)k);
}

static float naive_log(float x)
{
	double ln2 = 0x1.62e42fefa39efp-1;
	float hi = (float)(floor(ln2 * 65536) / 65536), lo = (float)(ln2 - hi);
	int exponent;
	float m = (float)frexp(x, &exponent), f, z, tail; // m in [1/2, 1)

	if (m < naive_of(0x3f3504f3)) {
		m *= 2;
		exponent--;
	}
	f = naive_sub(m, 1);
	z = naive_mul(f, f);
	tail = golden_log_coefficients[0];
	for (int i = 1; i < 9; i++)
		tail = naive_add(naive_mul(tail, f), golden_log_coefficients[i]);
	tail = naive_mul(naive_mul(tail, f), z);
	tail = naive_add(tail, naive_mul((float)exponent, lo));
	tail = naive_sub(tail, naive_mul(0.5f, z));
	return naive_add(naive_add(tail, f), naive_mul((float)exponent, hi));
}

Test(scalar, the_steps_are_the_documented_ones)
{
	uint64_t state = rig_seed() + 102;

	for (int i = 0; i < 2000000; i++) {
		uint64_t random = rig_random(&state);
		float x = golden_float_of((uint32_t)(1 + random % (BITS_INFINITY - 1)));
		float small = (float)((int32_t)(random >> 32) * 0x1p-31 * 87.3); // within exp's range

		cr_assert_eq(golden_bits_of(golden_rsqrt(x)), naive_bits(naive_rsqrt(x)), "rsqrt of %a", x);
		cr_assert_eq(golden_bits_of(golden_reciprocal(x)), naive_bits(naive_mul(naive_rsqrt(x), naive_rsqrt(x))),
			     "reciprocal of %a", x);
		cr_assert_eq(golden_bits_of(golden_exp(small)), naive_bits(naive_exp(small)), "exp of %a", small);
		if (x >= 0x1p-126f)
			cr_assert_eq(golden_bits_of(golden_log(x)), naive_bits(naive_log(x)), "log of %a", x);
	}
}

// Two rounds of Newton's iteration instead of three, a rounding left out, and a wrong split of ln 2 are seen.
Test(scalar, wrong_steps_differ)
{
	uint64_t state = rig_seed() + 103;
	int rounds = 0, fused = 0, split = 0;

	for (int i = 0; i < 1000; i++) {
		float x = 1 + (float)(rig_random(&state) >> 40) * 0x1p-24f * 60;
		float y = naive_of(1597463007u - naive_bits(x) / 2), h = 0.5f * x, t, k;

		for (int j = 0; j < 2; j++)
			y = naive_mul(y, naive_sub(1.5f, naive_mul(naive_mul(h, y), y)));
		rounds += naive_bits(y) != golden_bits_of(golden_rsqrt(x));
		t = (float)(1.5 - (double)naive_mul(h, y) * y);
		fused += naive_bits(naive_mul(y, t)) != golden_bits_of(golden_rsqrt(x));
		k = naive_sub(naive_add(naive_mul(x, 0x1.715476p+0f), 12582912), 12582912);
		t = naive_sub(x, naive_mul(k, 0x1.62e43p-1f)); // ln 2 in one part
		y = golden_exp_coefficients[0];
		for (int j = 1; j < 7; j++)
			y = naive_add(naive_mul(y, t), golden_exp_coefficients[j]);
		split += naive_bits((float)ldexp(y, (int)k)) != golden_bits_of(golden_exp(x));
	}
	cr_assert(rounds > 20 && fused > 20 && split > 20, "%d %d %d of 1000", rounds, fused, split);
}

// Newton's divided differences at `count` Chebyshev nodes of [lo, hi], multiplied out: coefficients[i] of power i.
static void interpolate(double (*function)(double), double lo, double hi, int count, double *coefficients)
{
	double nodes[16], values[16], centre = (lo + hi) / 2, half = (hi - lo) / 2;

	for (int i = 0; i < count; i++) {
		nodes[i] = centre + half * cos(M_PI * (2 * i + 1) / (2 * count));
		values[i] = function(nodes[i]);
	}
	for (int order = 1; order < count; order++)
		for (int i = count - 1; i >= order; i--)
			values[i] = (values[i] - values[i - 1]) / (nodes[i] - nodes[i - order]);
	memset(coefficients, 0, count * sizeof(*coefficients));
	for (int i = count - 1; i >= 0; i--) {
		for (int power = count - 1; power > 0; power--)
			coefficients[power] = coefficients[power - 1] - nodes[i] * coefficients[power];
		coefficients[0] = values[i] - nodes[i] * coefficients[0];
	}
}

// As series, which do not cancel near 0.
static double exp_tail(double r)
{
	double sum = 0, term = 0.5;

	for (int k = 3; k < 30; term *= r / k++)
		sum += term;
	return sum;
}

static double log_tail(double f)
{
	double sum = 0, power = 1;

	for (int k = 3; k < 90; k++, power *= -f)
		sum += power / k;
	return sum;
}

Test(scalar, coefficients_follow_from_their_derivation)
{
	double exp_powers[5], log_powers[9];

	interpolate(exp_tail, -M_LN2 / 2, M_LN2 / 2, 5, exp_powers);
	interpolate(log_tail, M_SQRT1_2 - 1, M_SQRT2 - 1, 9, log_powers);
	cr_assert_eq(golden_exp_coefficients[GOLDEN_EXP_DEGREE], 1);
	cr_assert_eq(golden_exp_coefficients[GOLDEN_EXP_DEGREE - 1], 1);
	for (int i = 0; i < 5; i++)
		cr_assert_leq(
		    golden_float_ulps(golden_bits_of(golden_exp_coefficients[4 - i]), golden_bits_of((float)exp_powers[i])), 0,
		    "exp, r^%d", i + 2);
	for (int i = 0; i < 9; i++)
		cr_assert_leq(
		    golden_float_ulps(golden_bits_of(golden_log_coefficients[8 - i]), golden_bits_of((float)log_powers[i])), 0,
		    "log, f^%d", i + 3);
}

static void check_value(const char *what, float got, uint32_t expected)
{
	cr_assert_eq(golden_bits_of(got), expected, "%s: %08x, expected %08x", what, golden_bits_of(got), expected);
}

Test(scalar, specials_are_as_documented)
{
	static const uint32_t nans[] = {0x7f800001, 0x7fc00000, 0xffc00000, 0xffffffff};
	float (*const functions[])(float) = {golden_rsqrt, golden_reciprocal, golden_exp, golden_log};

	for (int i = 0; i < 4; i++)
		for (int j = 0; j < 4; j++)
			check_value("NaN", functions[j](golden_float_of(nans[i])), 0x7fc00000);
	for (int j = 0; j < 2; j++) {
		check_value("rsqrt of +0", functions[j](0.0f), BITS_INFINITY);
		check_value("rsqrt of -0", functions[j](-0.0f), BITS_INFINITY);
		check_value("rsqrt of -2^-149", functions[j](-0x1p-149f), 0x7fc00000);
		check_value("rsqrt of -infinity", functions[j](-INFINITY), 0x7fc00000);
		check_value("rsqrt of infinity", functions[j](INFINITY), 0);
	}
	check_value("exp of +0", golden_exp(0.0f), BITS_ONE);
	check_value("exp of -0", golden_exp(-0.0f), BITS_ONE);
	check_value("exp of -infinity", golden_exp(-INFINITY), 0);
	check_value("exp of infinity", golden_exp(INFINITY), BITS_INFINITY);
	check_value("exp above its range", golden_exp(nextafterf(GOLDEN_EXP_HIGHEST, INFINITY)), BITS_INFINITY);
	check_value("exp below its range", golden_exp(nextafterf(GOLDEN_EXP_LOWEST, -INFINITY)), 0);
	cr_assert_lt(golden_exp(GOLDEN_EXP_HIGHEST), INFINITY);
	cr_assert_geq(golden_exp(GOLDEN_EXP_LOWEST), 0x1p-126f);
	check_value("log of 1", golden_log(1.0f), 0);
	check_value("log of +0", golden_log(0.0f), 0xff800000);
	check_value("log of -0", golden_log(-0.0f), 0xff800000);
	check_value("log of a subnormal", golden_log(0x1.fffffcp-127f), 0xff800000);
	check_value("log of -2^-149", golden_log(-0x1p-149f), 0x7fc00000);
	check_value("log of -infinity", golden_log(-INFINITY), 0x7fc00000);
	check_value("log of infinity", golden_log(INFINITY), BITS_INFINITY);
}

// oneDNN's exp is within 4 ULP (and 0 below about -86.9), its log within 2^-18 of the larger of 1 and the result: each is held to
// float64 first.
Test(scalar, exp_and_log_agree_with_onednn)
{
	enum { COUNT = 100000 };
	static float x[COUNT], y[COUNT];
	uint64_t state = rig_seed() + 104;

	for (int i = 0; i < COUNT; i++)
		x[i] = (float)((int32_t)(rig_random(&state) >> 32) * 0x1p-31 * 86);
	onednn_eltwise(ONEDNN_EXP, x, COUNT, y);
	for (int i = 0; i < COUNT; i++) {
		cr_assert_leq(fabs(y[i] - exp(x[i])), 4 * 0x1p-23 * exp(x[i]), "exp of %a: oneDNN %a", x[i], y[i]);
		cr_assert_leq(fabs((double)y[i] - golden_exp(x[i])), (4 + GOLDEN_EXP_ULPS) * 0x1p-23 * exp(x[i]),
			      "exp of %a: %a, oneDNN %a", x[i], golden_exp(x[i]), y[i]);
	}
	for (int i = 0; i < COUNT; i++)
		x[i] = golden_float_of((uint32_t)(0x00800000 + rig_random(&state) % (BITS_INFINITY - 0x00800000)));
	onednn_eltwise(ONEDNN_LOG, x, COUNT, y);
	for (int i = 0; i < COUNT; i++) {
		double size = fmax(1, fabs(log(x[i])));

		cr_assert_leq(fabs(y[i] - log(x[i])), 0x1p-18 * size, "log of %a: oneDNN %a", x[i], y[i]);
		cr_assert_leq(fabs((double)y[i] - golden_log(x[i])), (0x1p-18 + GOLDEN_LOG_ULPS * 0x1p-23) * size,
			      "log of %a: %a, oneDNN %a", x[i], golden_log(x[i]), y[i]);
	}
}
