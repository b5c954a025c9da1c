// SPDX-License-Identifier: Apache-2.0
//
// The steps, one rounded operation a line.
#include "csim/golden/scalar.h"

#include <math.h>
#include <stdint.h>

#include "csim/golden/half.h"

const float golden_exp_coefficients[] = {
	0x1.6d10fcp-10f, // r^6
	0x1.120b62p-7f,
	0x1.55551ap-5f,
	0x1.5554dep-3f,
	0x1p-1f,
	0x1p+0f,
	0x1p+0f,         // 1
};

const float golden_log_coefficients[] = {
	0x1.1d8ea6p-4f,  // f^11
	-0x1.d635bcp-4f,
	0x1.dea282p-4f,
	-0x1.fcf4c6p-4f,
	0x1.23d21ap-3f,
	-0x1.555b4ap-3f,
	0x1.999d5ap-3f,
	-0x1.fffffcp-3f,
	0x1.555554p-2f,  // f^3
};

static float nan_one(void)
{
	return golden_float_of(GOLDEN_FLOAT_NAN);
}

float golden_rsqrt(float x)
{
	float y, h;

	if (!(x >= 0))
		return nan_one();
	if (x == 0)
		return INFINITY;
	if (x == INFINITY)
		return 0;
	y = golden_float_of(GOLDEN_RSQRT_SEED - (golden_bits_of(x) >> 1));
	h = 0.5f * x;
	for (int i = 0; i < GOLDEN_RSQRT_ROUNDS; i++) {
		float t;

		t = h * y;
		t = t * y;
		t = 1.5f - t;
		y = y * t;
	}
	return golden_float_of(golden_float_bits(y));
}

float golden_reciprocal(float x)
{
	float r = golden_rsqrt(x);

	return golden_float_of(golden_float_bits(r * r));
}

float golden_exp(float x)
{
	const float shift = golden_float_of(GOLDEN_SCALAR_SHIFT);
	float t, k, r, p;
	uint32_t n;

	if (isnan(x))
		return nan_one();
	if (x < GOLDEN_EXP_LOWEST)
		return 0;
	if (x > GOLDEN_EXP_HIGHEST)
		return INFINITY;
	// x = n ln 2 + r
	t = x * golden_float_of(GOLDEN_LOG2E);
	t = t + shift;
	n = golden_bits_of(t) - GOLDEN_SCALAR_SHIFT; // a negative n modulo 2^32
	k = t - shift;
	t = k * golden_float_of(GOLDEN_LN2_HI);
	r = x - t;
	t = k * golden_float_of(GOLDEN_LN2_LO);
	r = r - t;
	// e^r
	p = golden_exp_coefficients[0];
	for (int i = 1; i <= GOLDEN_EXP_DEGREE; i++) {
		p = p * r;
		p = p + golden_exp_coefficients[i];
	}
	// times 2^n
	return golden_float_of(golden_bits_of(p) + (n << 23));
}

float golden_log(float x)
{
	const float shift = golden_float_of(GOLDEN_SCALAR_SHIFT);
	uint32_t bits = golden_bits_of(x), exponent;
	float e, f, z, p, t;

	if (isnan(x) || x <= -0x1p-149f)
		return nan_one();
	if (x < 0x1p-126f)
		return -INFINITY;
	if (x == INFINITY)
		return INFINITY;
	// x = 2^e m, m from the split up to twice that
	bits = bits - GOLDEN_LOG_SPLIT;
	exponent = (bits >> 23) - (bits >> 31 << 9); // shifted with its sign
	e = golden_float_of(GOLDEN_SCALAR_SHIFT + exponent);
	e = e - shift;
	f = golden_float_of((bits & 0x7fffff) + GOLDEN_LOG_SPLIT);
	f = f - 1.0f;
	// log m = f - f^2/2 + f^3 p(f)
	p = golden_log_coefficients[0];
	for (int i = 1; i <= GOLDEN_LOG_DEGREE; i++) {
		p = p * f;
		p = p + golden_log_coefficients[i];
	}
	z = f * f;
	p = p * f;
	p = p * z;
	// the small parts first
	t = e * golden_float_of(GOLDEN_LN2_LO);
	p = p + t;
	t = 0.5f * z;
	p = p - t;
	p = p + f;
	t = e * golden_float_of(GOLDEN_LN2_HI);
	return p + t;
}
