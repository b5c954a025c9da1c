// SPDX-License-Identifier: Apache-2.0
//
// The device's memories and registers behind the model: see state.h.
#include "csim/rtl/shim/state.h"

#include <string.h>

#include "csim/array/half.h"

// Where the byte lies, as rtl/gbuf_place.v places it: bank {hash of line[top:1], line[0]}, row line / 8.
static uint8_t *place(const struct device_state *state, uint32_t address)
{
	uint32_t line = address / state->line_bytes;
	uint32_t fold = line >> 1;

	for (int shift = 16; shift >= 2; shift /= 2)
		fold ^= fold >> shift;
	return state->banks[(fold & 3) << 1 | (line & 1)] + (size_t)(line / 8) * state->line_bytes + address % state->line_bytes;
}

// Bytes from `address` to the end of its line, at most `count`.
static uint32_t in_line(const struct device_state *state, uint32_t address, uint32_t count)
{
	uint32_t left = state->line_bytes - address % state->line_bytes;

	return left < count ? left : count;
}

void state_buffer_read(const struct device_state *state, uint32_t address, void *bytes, uint32_t count)
{
	uint8_t *to = bytes;

	for (uint32_t part; count; count -= part, address += part, to += part) {
		part = in_line(state, address, count);
		memcpy(to, place(state, address), part);
	}
}

void state_buffer_write(const struct device_state *state, uint32_t address, const void *bytes, uint32_t count)
{
	const uint8_t *from = bytes;

	for (uint32_t part; count; count -= part, address += part, from += part) {
		part = in_line(state, address, count);
		memcpy(place(state, address), from, part);
	}
}

static size_t pe_index(const struct device_state *state, int row, int column)
{
	return (size_t)(state->rows * state->cols - 1 - (row * state->cols + column));
}

void state_flip_weight(const struct device_state *state, int row, int column, int sel, int bit)
{
	uint32_t *weight;
	uint16_t half;

	if (state->macro) {
		array_macro_flip_weight(state->macro, row, column, sel, bit);
		return;
	}
	weight = &state->weights[sel][pe_index(state, row, column)];
	half = array_half_of_exact(array_float_of(*weight)) ^ (uint16_t)(1u << bit);
	*weight = array_float_bits(array_half_to_float(half));
}

void state_flip_accumulator(const struct device_state *state, int side, int row, int column, int bit)
{
	state->accumulator[side][(size_t)row * state->cols + column] ^= 1u << bit;
}

void state_column(const struct device_state *state, int column, uint32_t *psum)
{
	if (state->macro) {
		array_macro_column(state->macro, column, psum);
		return;
	}
	for (int row = 0; row < state->rows; row++)
		psum[row] = state->psum[pe_index(state, row, column)];
}
