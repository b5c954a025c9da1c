// SPDX-License-Identifier: Apache-2.0
#include "csim/lanes/stream.h"

#include <string.h>

#include "csim/array/half.h"

enum { TYPE_HALF, TYPE_FLOAT, TYPE_SCALAR, TYPE_BITS = 2 };

static uint32_t word_at(const uint8_t *bytes)
{
	uint32_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

static void expand_halves(uint32_t *restrict vector, const uint8_t *restrict bytes, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint16_t half;

		memcpy(&half, bytes + i * sizeof(half), sizeof(half));
		vector[i] = array_canonical_bits(array_float_bits(array_half_to_float(half)));
	}
}

static void expand_floats(uint32_t *restrict vector, const uint8_t *restrict bytes, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		vector[i] = array_canonical_bits(word_at(bytes + i * sizeof(*vector)));
}

static void expand_fields(uint32_t *restrict vector, const uint8_t *restrict bytes, uint32_t width, uint32_t bit, uint32_t count)
{
	uint32_t mask = width < 8 ? (1u << width) - 1 : 0xff;

	for (uint32_t i = 0; i < count; i++, bit += width)
		vector[i] = (uint32_t)(bytes[bit / 8] | bytes[bit / 8 + 1] << 8) >> bit % 8 & mask;
}

void lane_stream_expand(uint32_t *restrict vector, const uint8_t *restrict lines, int type, int shift, uint32_t active, uint32_t lanes)
{
	uint32_t count = active < lanes ? active : lanes;

	switch (type) {
	case TYPE_HALF:
		expand_halves(vector, lines, count);
		break;
	case TYPE_FLOAT:
		expand_floats(vector, lines, count);
		break;
	case TYPE_SCALAR:
		for (count = 0; count < lanes; count++)
			vector[count] = word_at(lines);
		break;
	default:
		expand_fields(vector, lines, (uint32_t)(type - TYPE_BITS), (uint32_t)shift, count);
		break;
	}
	for (uint32_t i = count; i < lanes; i++)
		vector[i] = 0;
}
