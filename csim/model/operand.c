// SPDX-License-Identifier: Apache-2.0
//
// Operand fetch by mode: K inside a vector (0), over vectors (1), over taps (2).
#include "csim/model/operand.h"

#include <string.h>

#include "csim/golden/half.h"

static int minimum(int a, int b)
{
	return a < b ? a : b;
}

// `count` elements of the tap walk as runs.
static enum operand_result list_runs(struct operand *operand, struct tap_walk *taps, int count)
{
	operand->run_count = 0;
	for (int at = 0; at < count;) {
		int length = minimum(taps->channels - taps->c, count - at);

		if (taps->ended)
			return OPERAND_RANGE;
		operand->runs[operand->run_count++] = (struct operand_run){taps->offset + 2u * (uint32_t)taps->c, taps->y, taps->x, at, length};
		tap_walk_advance(taps, length);
		at += length;
	}
	return OPERAND_OK;
}

enum operand_result operand_init(struct operand *operand, const struct fetch_fields *fields, int elements, int rows, uint32_t k_total,
                                 struct operand_run *runs, uint16_t *halves)
{
	*operand = (struct operand){.fields = *fields, .elements = elements, .rows = rows, .runs = runs, .halves = halves};
	vector_walk_init(&operand->vectors, &operand->fields);
	tap_walk_init(&operand->taps, &operand->fields);
	if (operand->fields.mode == 1 && k_total != 0) {
		struct tap_walk taps;

		tap_walk_init_start(&taps, &operand->fields);
		return list_runs(operand, &taps, elements);
	}
	return OPERAND_OK;
}

// The runs of the vector at the walk's position.
static enum operand_result read_vector(const struct operand *operand, const struct vector_walk *vector, const uint8_t *buffer, uint32_t buffer_bytes, uint16_t *to)
{
	for (int i = 0; i < operand->run_count; i++) {
		const struct operand_run *run = &operand->runs[i];
		// As the design's: a negative position is a great one.
		uint32_t y = (uint32_t)vector->y + (uint32_t)run->y, x = (uint32_t)vector->x + (uint32_t)run->x;
		uint32_t address = vector->address + run->offset;
		size_t bytes = (size_t)run->count * sizeof(*to);

		if (y >= (uint32_t)operand->fields.y_size || x >= (uint32_t)operand->fields.x_size) {
			memset(to + run->at, 0, bytes);
			continue;
		}
		if (address + (uint64_t)bytes > buffer_bytes)
			return OPERAND_RANGE;
		memcpy(to + run->at, buffer + address, bytes);
	}
	return OPERAND_OK;
}

static enum operand_result wave_inside(struct operand *operand, const uint8_t *buffer, uint32_t buffer_bytes, int lanes)
{
	enum operand_result result = list_runs(operand, &operand->taps, lanes);

	vector_walk_init(&operand->vectors, &operand->fields);
	for (int i = 0; result == OPERAND_OK && i < operand->elements; i++) {
		if (operand->vectors.ended)
			return OPERAND_RANGE;
		result = read_vector(operand, &operand->vectors, buffer, buffer_bytes, operand->halves + (size_t)i * operand->rows);
		vector_walk_step(&operand->vectors);
	}
	return result;
}

static enum operand_result wave_over_vectors(struct operand *operand, const uint8_t *buffer, uint32_t buffer_bytes, int lanes)
{
	enum operand_result result = OPERAND_OK;

	for (int lane = 0; result == OPERAND_OK && lane < lanes; lane++) {
		if (operand->vectors.ended)
			return OPERAND_RANGE;
		result = read_vector(operand, &operand->vectors, buffer, buffer_bytes, operand->halves + (size_t)lane * operand->elements);
		vector_walk_step(&operand->vectors);
	}
	return result;
}

static enum operand_result wave_over_taps(struct operand *operand, const uint8_t *buffer, uint32_t buffer_bytes, int lanes)
{
	size_t bytes = (size_t)operand->elements * sizeof(*operand->halves);

	for (int lane = 0; lane < lanes; lane++) {
		uint32_t address = operand->fields.base + operand->taps.offset + (uint32_t)operand->taps.c * operand->fields.chan_delta;

		if (operand->taps.ended)
			return OPERAND_RANGE;
		if (address + (uint64_t)bytes > buffer_bytes)
			return OPERAND_RANGE;
		memcpy(operand->halves + (size_t)lane * operand->elements, buffer + address, bytes);
		tap_walk_advance(&operand->taps, 1);
	}
	return OPERAND_OK;
}

enum operand_result operand_wave(struct operand *operand, const uint8_t *buffer, uint32_t buffer_bytes, int lanes)
{
	if (lanes < operand->rows)
		memset(operand->halves, 0, (size_t)operand->elements * operand->rows * sizeof(*operand->halves));
	if (lanes == 0)
		return OPERAND_OK;
	if (operand->fields.mode == 0)
		return wave_inside(operand, buffer, buffer_bytes, lanes);
	if (operand->fields.mode == 1)
		return wave_over_vectors(operand, buffer, buffer_bytes, lanes);
	return wave_over_taps(operand, buffer, buffer_bytes, lanes);
}

void operand_floats(const struct operand *operand, float *floats, size_t element_stride, size_t lane_stride)
{
	bool inside = operand->fields.mode == 0;
	int outer = inside ? operand->elements : operand->rows, inner = inside ? operand->rows : operand->elements;
	size_t outer_stride = inside ? element_stride : lane_stride, inner_stride = inside ? lane_stride : element_stride;

	for (int i = 0; i < outer; i++) {
		const uint16_t *from = operand->halves + (size_t)i * inner;
		float *to = floats + i * outer_stride;

		if (inner_stride == 1)
			golden_halves_to_floats(to, from, inner);
		else
			for (int j = 0; j < inner; j++)
				to[j * inner_stride] = golden_half_to_float(from[j]);
	}
}
