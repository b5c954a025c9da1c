// SPDX-License-Identifier: Apache-2.0
//
// The values at which floating-point units go wrong, and the references that they are held to.
#ifndef WC_TESTS_ARRAY_OPERANDS_H
#define WC_TESTS_ARRAY_OPERANDS_H

#include <stdint.h>
#include <string.h>

static const uint16_t special_halves[] = {
	0x0000, 0x8000, 0x0001, 0x8001, 0x0002, 0x0003, 0x0010, 0x0155, 0x0200, 0x03fe, 0x03ff, 0x83ff,
	0x0400, 0x8400, 0x0401, 0x07ff, 0x0800, 0x1400, 0x1401, 0x2e66, 0x3555, 0x37ff, 0x3800, 0x3801,
	0x3bff, 0x3c00, 0xbc00, 0x3c01, 0x3e00, 0x3fff, 0x4000, 0xc000, 0x4200, 0x4248, 0x5555, 0xd555,
	0x63ff, 0x6400, 0x6401, 0x77ff, 0x7800, 0x7bfe, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7c01, 0x7dff,
	0x7e00, 0xfe00, 0x7fff, 0xffff, 0x2001, 0x1001, 0x0c03, 0x9003, 0x4a01, 0xca01, 0x5bff, 0x6bff,
	0x0801, 0x8802, 0x3400, 0xb400,
};

static const uint32_t special_floats[] = {
	0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x00000002, 0x00000007, 0x003fffff, 0x00400000,
	0x007ffffe, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000, 0x00800001, 0x00ffffff, 0x01000000,
	0x01000001, 0x0b800000, 0x27800000, 0x27800001, 0x33000000, 0x33800000, 0xb3800000, 0x33ffffff,
	0x34000000, 0x38000000, 0x38800000, 0x387fffff, 0x3f000000, 0x3f7fffff, 0x3f800000, 0xbf800000,
	0x3f800001, 0xbf800001, 0x3fffffff, 0x40000000, 0x40490fdb, 0x4b000000, 0x4b7fffff, 0x4b800000,
	0x4b800001, 0xcb800001, 0x4c000000, 0x4f7fe001, 0x4f800000, 0x57800000, 0x73000000, 0x7e7fffff,
	0x7e800000, 0x7f000000, 0x7f7ffffe, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7f800001,
	0x7fbfffff, 0x7fc00000, 0xffc00000, 0x7fffffff,
};

enum {
	SPECIAL_HALVES = sizeof(special_halves) / sizeof(special_halves[0]),
	SPECIAL_FLOATS = sizeof(special_floats) / sizeof(special_floats[0]),
};

static inline float float_of(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

// Bits with a canonical NaN.
static inline uint32_t bits_of(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return value != value ? 0x7fc00000 : bits;
}

static inline float float_of_half(uint16_t bits)
{
	_Float16 half;

	memcpy(&half, &bits, sizeof(half));
	return (float)half;
}

static inline uint16_t half_bits_of(float value)
{
	_Float16 half = (_Float16)value;
	uint16_t bits;

	memcpy(&bits, &half, sizeof(bits));
	return value != value ? 0x7e00 : bits;
}

// The definition: an exact product, one rounded addition.
static inline uint32_t mac_reference(uint32_t psum, uint16_t a, uint16_t b)
{
	float product = float_of_half(a) * float_of_half(b);

	return bits_of(float_of(psum) + product);
}

#endif
