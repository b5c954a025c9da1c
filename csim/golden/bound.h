// SPDX-License-Identifier: Apache-2.0
//
// How far the bits may be from the mathematics: proven bounds on the rounding errors, in float64.
//
// Sums. A sum of K terms each of which goes through at most k roundings on its way to the result, in whatever order, is within
// gamma_k sum |term| of the exact one, gamma_k = k u / (1 - k u), u = 2^-24 (Higham, Accuracy and Stability of Numerical
// Algorithms, 2002, section 3.1). A convolution's terms are exact products: k = K.
//
// Other operators: a running error analysis. An approximation carries the exact value and a bound on the distance of the computed
// one. Each operation here takes the operands' errors through the exact operation and adds that of its own rounding: u times the
// largest the result may be, and 2^-150 where a product may be subnormal. The value is exact up to float64's own rounding, 2^-29
// of u, for which u is taken 1 + 2^-20 times as large. A value that may have overflowed has an infinite error.
#ifndef WC_GOLDEN_BOUND_H
#define WC_GOLDEN_BOUND_H

#define GOLDEN_UNIT 0x1p-24

double golden_gamma(double roundings);
// gamma times `magnitude`, the sum of the terms' magnitudes.
double golden_bound_sum(double roundings, double magnitude);
// After rounding to fp16 what is within `error` of `value`: 2^-11 of it, or half a subnormal step. Infinite where it may
// overflow.
double golden_bound_half(double value, double error);

// Of golden_add(): `sums` has the exact sums of the first two, three, ... inputs, `count` of them; each is
// rounded to binary32 and fp16, and the errors of those before stay.
double golden_bound_add(const double *sums, int count);

struct golden_approx {
	double value, error;
};

static inline struct golden_approx golden_approx_exact(double value)
{
	return (struct golden_approx){value, 0};
}

// A value rounded to binary32 once, as a constant is.
struct golden_approx golden_approx_rounded(double value);
struct golden_approx golden_approx_add(struct golden_approx a, struct golden_approx b);
struct golden_approx golden_approx_sub(struct golden_approx a, struct golden_approx b);
struct golden_approx golden_approx_mul(struct golden_approx a, struct golden_approx b);
// A sum of approximations in any order, each going through at most `chain` additions. Start from {0}.
struct golden_approx_sum {
	double value, error, largest;
};

void golden_approx_sum_add(struct golden_approx_sum *sum, struct golden_approx term);
struct golden_approx golden_approx_sum_of(const struct golden_approx_sum *sum, double chain);
// The functions of scalar.h, with their own errors as documented there. The operand of rsqrt is known to be at least `lowest`,
// exact and computed; that of reciprocal and log is positive.
struct golden_approx golden_approx_rsqrt(struct golden_approx a, double lowest);
struct golden_approx golden_approx_reciprocal(struct golden_approx a);
struct golden_approx golden_approx_exp(struct golden_approx a);
struct golden_approx golden_approx_log(struct golden_approx a);

#endif
