// SPDX-License-Identifier: Apache-2.0
//
// IEEE binary16 and binary32 taken apart by hand: a file format must not depend on the compiler's half type.
#include "traces/wct_value.h"

#include <math.h>

struct layout {
	int mantissa_bits, exponent_bits;
};

static struct layout layout_of(bool is_fp32)
{
	return is_fp32 ? (struct layout){ 23, 8 } : (struct layout){ 10, 5 };
}

static uint32_t magnitude(uint32_t bits, struct layout layout)
{
	return bits & ((UINT32_C(1) << (layout.mantissa_bits + layout.exponent_bits)) - 1);
}

static bool is_negative(uint32_t bits, struct layout layout)
{
	return bits >> (layout.mantissa_bits + layout.exponent_bits) & 1;
}

static bool is_nan(uint32_t bits, struct layout layout)
{
	return magnitude(bits, layout) > ((UINT32_C(1) << layout.exponent_bits) - 1) << layout.mantissa_bits;
}

double wct_value(uint32_t bits, bool is_fp32)
{
	struct layout layout = layout_of(is_fp32);
	uint32_t exponent = magnitude(bits, layout) >> layout.mantissa_bits;
	uint32_t mantissa = bits & ((UINT32_C(1) << layout.mantissa_bits) - 1);
	int bias = (1 << (layout.exponent_bits - 1)) - 1;
	double value;

	if (is_nan(bits, layout))
		return NAN;
	if (exponent == (UINT32_C(1) << layout.exponent_bits) - 1)
		value = INFINITY;
	else if (exponent)
		value = ldexp(mantissa | UINT32_C(1) << layout.mantissa_bits, (int)exponent - bias - layout.mantissa_bits);
	else
		value = ldexp(mantissa, 1 - bias - layout.mantissa_bits);
	return is_negative(bits, layout) ? -value : value;
}

// Values in order of the integers: -0 and +0 share 0.
static int64_t ordinal(uint32_t bits, struct layout layout)
{
	return is_negative(bits, layout) ? -(int64_t)magnitude(bits, layout) : (int64_t)magnitude(bits, layout);
}

uint64_t wct_ulps(uint32_t a, uint32_t b, bool is_fp32)
{
	struct layout layout = layout_of(is_fp32);
	int64_t distance;

	if (a == b)
		return 0;
	if (is_nan(a, layout) || is_nan(b, layout))
		return WCT_ULPS_NAN;
	distance = ordinal(a, layout) - ordinal(b, layout);
	return (uint64_t)(distance < 0 ? -distance : distance);
}
