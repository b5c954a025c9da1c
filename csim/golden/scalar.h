// SPDX-License-Identifier: Apache-2.0
//
// Reciprocal square root, reciprocal, exp and log of one binary32 value, as fixed lists of steps.
//
// A step is one binary32 addition, subtraction or multiplication, rounded to nearest even with subnormals kept, or an operation
// on the pattern as an integer. Hardware that does the same steps has the same bits. The steps are scalar.c, one a line; their
// constants are here. Results are canonical where they are NaN.
//
//     function      ULP    where                     seen over
//     rsqrt         2.19   x >= 2^-125               every mantissa of two exponents; x times 4 halves or keeps every value of the steps
//                   3.15   2^-126 <= x < 2^-125      every x: 0.5 x is subnormal and rounded there
//     reciprocal    4.77   2^-125 <= x <= 2^125      every mantissa of two exponents
//     exp           1.24   results of 2^-126 and up  every x
//     log           0.83   x >= 2^-126               every x
//
// are the largest errors against float64, an ULP being the distance between the binary32 values round the exact result. The tests
// measure them again (exp and log over every x in the long suite).
//
// The polynomials interpolate at Chebyshev nodes c + h cos(pi (2 i + 1) / (2 n)), i < n, of the interval [c - h, c + h] and have
// their coefficients rounded to binary32 (the tests derive them again):
//     exp   n = 5, (e^r - 1 - r) / r^2           on [-ln 2 / 2, ln 2 / 2]; with 1 + r before it, degree 6
//     log   n = 9, (log(1+f) - f + f^2/2) / f^3  on [sqrt(1/2) - 1, sqrt(2) - 1]; with f - f^2/2 before it, degree 11
#ifndef WC_GOLDEN_SCALAR_H
#define WC_GOLDEN_SCALAR_H

// Patterns are binary32 bits.
enum {
	GOLDEN_RSQRT_SEED = 0x5f3759df,  // y = seed - bits(x) / 2 is within 3.5% of 1/sqrt(x)
	GOLDEN_RSQRT_ROUNDS = 3,         // of Newton's iteration y (1.5 - x/2 y y)
	GOLDEN_SCALAR_SHIFT = 0x4b400000, // 12582912 = 1.5 x 2^23: a small integer n added to it is added to its pattern
	GOLDEN_LOG2E = 0x3fb8aa3b,       // 1 / ln 2
	GOLDEN_LN2_HI = 0x3f317200,      // ln 2 to 16 bits: its products with integers up to 2^8 are exact
	GOLDEN_LN2_LO = 0x35bfbe8e,      // ln 2 - hi
	GOLDEN_LOG_SPLIT = 0x3f3504f3,   // the largest binary32 value below sqrt(1/2), where log's mantissas begin
	GOLDEN_EXP_DEGREE = 6,
	GOLDEN_LOG_DEGREE = 8,           // of the factor behind f^3
};

// exp gives +0 below the first (e^x < 2^-126) and +infinity above the second (e^x > 2^128 (1 - 2^-25)).
#define GOLDEN_EXP_LOWEST -0x1.5d589ep+6f  // -87.3365402
#define GOLDEN_EXP_HIGHEST 0x1.62e42ep+6f  // 88.7228317

// The largest errors as above, for error analyses.
#define GOLDEN_RSQRT_ULPS 2.19
#define GOLDEN_RSQRT_LOWEST_ULPS 3.15
#define GOLDEN_RECIPROCAL_ULPS 4.77
#define GOLDEN_EXP_ULPS 1.24
#define GOLDEN_LOG_ULPS 0.83

// Highest power first, as Horner's rule takes them.
extern const float golden_exp_coefficients[GOLDEN_EXP_DEGREE + 1];
extern const float golden_log_coefficients[GOLDEN_LOG_DEGREE + 1];

// 1/sqrt(x). NaN of a NaN or x < 0; +infinity of +0 and -0; +0 of +infinity. Of a subnormal what the steps say, which is of no
// use.
float golden_rsqrt(float x);
// 1/x for x > 0, as rsqrt(x) squared; of other values what the steps say: NaN of a NaN or x < 0, +infinity of +0 and -0, +0 of
// +infinity.
float golden_reciprocal(float x);
// e^x. NaN of a NaN; +0 where the result would be subnormal, and of -infinity.
float golden_exp(float x);
// Natural logarithm. NaN of a NaN or x < 0; -infinity of +0, -0 and positive subnormals; +infinity of +infinity.
float golden_log(float x);

#endif
