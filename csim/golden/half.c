// SPDX-License-Identifier: Apache-2.0
//
// Array conversions, which the compiler spreads over vector lanes, and ULP distances.
#include "csim/golden/half.h"

void golden_halves_to_floats(float *restrict floats, const uint16_t *restrict halves, size_t count)
{
	for (size_t i = 0; i < count; i++)
		floats[i] = golden_half_to_float(halves[i]);
}

void golden_floats_to_halves(uint16_t *restrict halves, const float *restrict floats, size_t count)
{
	for (size_t i = 0; i < count; i++)
		halves[i] = golden_half_from_float(floats[i]);
}

// Sign and magnitude to an integer that grows with the value and has one zero.
static int64_t position(uint32_t magnitude, bool negative)
{
	return negative ? -(int64_t)magnitude : (int64_t)magnitude;
}

static uint32_t distance(int64_t a, int64_t b)
{
	return (uint32_t)(a < b ? b - a : a - b);
}

uint32_t golden_half_ulps(uint16_t a, uint16_t b)
{
	bool a_nan = golden_half_is_nan(a), b_nan = golden_half_is_nan(b);

	if (a_nan || b_nan)
		return a_nan && b_nan ? 0 : GOLDEN_ULPS_NAN;
	return distance(position(a & 0x7fff, a >> 15), position(b & 0x7fff, b >> 15));
}

uint32_t golden_float_ulps(uint32_t a_bits, uint32_t b_bits)
{
	uint32_t a = a_bits & 0x7fffffff, b = b_bits & 0x7fffffff;
	bool a_nan = a > 0x7f800000, b_nan = b > 0x7f800000;

	if (a_nan || b_nan)
		return a_nan && b_nan ? 0 : GOLDEN_ULPS_NAN;
	return distance(position(a, a_bits >> 31), position(b, b_bits >> 31));
}
