// SPDX-License-Identifier: Apache-2.0
//
// IEEE 754 binary16 in portable C: conversions to and from binary32, canonical NaNs, distances in ULPs.
//
// Round to nearest even, subnormals kept, overflow to infinity. A NaN is always the canonical one,
// 0x7e00 or 0x7fc00000, whatever sign and payload it came with.
#ifndef WC_GOLDEN_HALF_H
#define WC_GOLDEN_HALF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { GOLDEN_HALF_NAN = 0x7e00, GOLDEN_FLOAT_NAN = 0x7fc00000 };

// What the two ulp functions return when exactly one of the values is a NaN.
#define GOLDEN_ULPS_NAN UINT32_MAX

static inline uint32_t golden_bits_of(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static inline float golden_float_of(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static inline bool golden_half_is_nan(uint16_t half)
{
	return (half & 0x7fff) > 0x7c00;
}

// The bits of a binary32 value as they are stored: NaN made canonical.
static inline uint32_t golden_float_bits(float value)
{
	uint32_t bits = golden_bits_of(value);

	return (bits & 0x7fffffff) > 0x7f800000 ? (uint32_t)GOLDEN_FLOAT_NAN : bits;
}

// The bits of a binary16 value as they are stored: NaN made canonical.
static inline uint16_t golden_half_canonical(uint16_t half)
{
	return golden_half_is_nan(half) ? GOLDEN_HALF_NAN : half;
}

// Exact. The magnitude's bits, moved into a binary32's place, have an exponent that is 112 too low;
// the multiplication puts that right and makes subnormals normal.
static inline float golden_half_to_float(uint16_t half)
{
	uint32_t magnitude = half & 0x7fffu;
	uint32_t sign = (half & 0x8000u) << 16;
	uint32_t finite = golden_bits_of(golden_float_of(magnitude << 13) * 0x1p112f) | sign;
	uint32_t special = magnitude > 0x7c00 ? (uint32_t)GOLDEN_FLOAT_NAN : sign | 0x7f800000u;

	return golden_float_of(magnitude >= 0x7c00 ? special : finite);
}

// Rounded to nearest even. A normal result drops 13 bits of the pattern with its exponent re-biased, and
// a carry runs into the exponent as it should. Below 2^-14 adding 0.5, whose last place is binary16's smallest
// subnormal, lets the adder round.
static inline uint16_t golden_half_from_float(float value)
{
	uint32_t bits = golden_bits_of(value);
	uint32_t magnitude = bits & 0x7fffffff;
	uint32_t sign = bits >> 16 & 0x8000;
	uint32_t normal = (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
	uint32_t small = golden_bits_of(golden_float_of(magnitude) + 0.5f) - 0x3f000000u;
	uint32_t half = magnitude < 113u << 23 ? small : normal;

	half = magnitude >= 143u << 23 ? 0x7c00 : half; // 2^16 and above, which `normal` has no room for
	return (uint16_t)(magnitude > 0x7f800000 ? (uint32_t)GOLDEN_HALF_NAN : half | sign);
}

// The same for arrays. Source and result must not overlap.
void golden_halves_to_floats(float *restrict floats, const uint16_t *restrict halves, size_t count);
void golden_floats_to_halves(uint16_t *restrict halves, const float *restrict floats, size_t count);

// How many representable values lie between two, counted along the number line: 0 for equal bits, for
// +0 and -0, and for two NaNs.
uint32_t golden_half_ulps(uint16_t a, uint16_t b);
uint32_t golden_float_ulps(uint32_t a_bits, uint32_t b_bits);

#endif
