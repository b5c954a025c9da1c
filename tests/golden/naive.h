// SPDX-License-Identifier: Apache-2.0
//
// Single binary32 operations for the tests' own statements of the operators: in double, rounded once by a conversion. Products
// are exact there; a sum's second rounding is innocent, as 53 bits are more than 2 x 24 + 1 (Figueroa 1995).
#ifndef TESTS_GOLDEN_NAIVE_H
#define TESTS_GOLDEN_NAIVE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline float naive_add(float a, float b)
{
	return (float)((double)a + (double)b);
}

static inline float naive_sub(float a, float b)
{
	return (float)((double)a - (double)b);
}

static inline float naive_mul(float a, float b)
{
	return (float)((double)a * (double)b);
}

// The compiler's own conversions.
static inline float naive_widen(uint16_t bits)
{
	_Float16 half;

	memcpy(&half, &bits, sizeof(half));
	return (float)half;
}

static inline uint16_t naive_narrow(float value)
{
	_Float16 half = (_Float16)value;
	uint16_t bits;

	memcpy(&bits, &half, sizeof(bits));
	return isnan(value) ? 0x7e00 : bits;
}

static inline uint32_t naive_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return isnan(value) ? 0x7fc00000 : bits;
}

static inline float naive_of(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

#endif
