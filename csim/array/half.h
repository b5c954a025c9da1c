// SPDX-License-Identifier: Apache-2.0
//
// fp16 <-> float for the array macro, which stands for hardware and therefore shares no code with the golden model.
#ifndef WC_ARRAY_HALF_H
#define WC_ARRAY_HALF_H

#include <stdint.h>
#include <string.h>

static inline uint32_t array_float_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static inline float array_float_of(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

// The bits as they leave the array: every NaN is 0x7fc00000.
static inline uint32_t array_canonical_bits(uint32_t bits)
{
	return (bits & 0x7fffffff) > 0x7f800000 ? 0x7fc00000 : bits;
}

// Exact. Scaling by 2^112 re-biases the exponent and makes subnormals normal.
static inline float array_half_to_float(uint16_t half)
{
	uint32_t magnitude = half & 0x7fffu;
	uint32_t finite = array_float_bits(array_float_of(magnitude << 13) * 0x1p112f);
	uint32_t special = magnitude << 13 | 0x7f800000;

	return array_float_of((magnitude >= 0x7c00 ? special : finite) | (half & 0x8000u) << 16);
}

// Inverse of array_half_to_float(); `value` must be the float of some half. A NaN comes back as 0x7e00.
static inline uint16_t array_half_of_exact(float value)
{
	uint32_t bits = array_float_bits(value);
	uint32_t magnitude = bits & 0x7fffffff;
	uint32_t sign = bits >> 16 & 0x8000;

	if (magnitude > 0x7f800000)
		return 0x7e00;
	if (magnitude == 0x7f800000)
		return (uint16_t)(sign | 0x7c00);
	return (uint16_t)(sign | array_float_bits(array_float_of(magnitude) * 0x1p-112f) >> 13);
}

#endif
