// SPDX-License-Identifier: Apache-2.0
//
// SIMD: streams. A vector of fp16, fp32 or bit fields between the global buffer and the lanes.
#include "csim/golden/half.h"
#include "csim/model/simd.h"

#define STREAM(c, i) {.base = (c)->s##i##_base, .stride_n = (uint32_t)(c)->s##i##_stride_n, .stride_y = (uint32_t)(c)->s##i##_stride_y, \
		      .stride_x = (uint32_t)(c)->s##i##_stride_x, .type = (c)->type##i}

void simd_streams_init(struct simd_run *run)
{
	const struct wc_simd_command *c = run->command;
	const struct simd_stream streams[SIMD_STREAMS] = {STREAM(c, 0), STREAM(c, 1), STREAM(c, 2), STREAM(c, 3),
							  STREAM(c, 4), STREAM(c, 5), STREAM(c, 6), STREAM(c, 7)};
	const int32_t taps[SIMD_TAP_STREAMS][2] = {
		{c->s0_tap_y, c->s0_tap_x}, {c->s1_tap_y, c->s1_tap_x}, {c->s2_tap_y, c->s2_tap_x}, {c->s3_tap_y, c->s3_tap_x}};

	for (int i = 0; i < SIMD_STREAMS; i++) {
		struct simd_stream *stream = &run->streams[i];

		*stream = streams[i];
		stream->is_zero = c->zero >> i & 1;
		stream->is_off = c->off >> i & 1;
		if (i < SIMD_TAP_STREAMS) {
			stream->tap_y = (uint32_t)taps[i][0];
			stream->tap_x = (uint32_t)taps[i][1];
		}
		if (stream->type == SIMD_HALF)
			stream->stride_block = 2 * c->block_step;
		else if (stream->type == SIMD_FLOAT)
			stream->stride_block = 4 * c->block_step;
		else if (stream->type > SIMD_BITS)
			stream->stride_block = (uint32_t)(stream->type - SIMD_BITS) * c->block_step;
		if (run->text->is_flat)
			stream->stride_x = stream->stride_block;
	}
}

// Parts that belong to a block, a row, a pixel and a tap know as much of the place.
static uint32_t address_of(const struct simd_run *run, const struct simd_stream *stream, enum wc_simd_part part)
{
	const struct simd_place *p = &run->place;
	uint32_t address = stream->base + p->n * stream->stride_n + p->block * stream->stride_block;

	if (part == WC_SIMD_PART_PROLOGUE || part == WC_SIMD_PART_EPILOGUE)
		return address;
	address += p->y * stream->stride_y;
	if (part == WC_SIMD_PART_ROW || part == WC_SIMD_PART_ROW_END)
		return address;
	address += p->x * stream->stride_x;
	if (part != WC_SIMD_PART_TAP)
		return address;
	return address + p->tap_y * stream->tap_y + p->tap_x * stream->tap_x;
}

static uint32_t bits_of(const struct simd_run *run, const struct simd_stream *stream)
{
	if (stream->type == SIMD_SCALAR)
		return 32;
	return run->active * (uint32_t)(stream->type == SIMD_HALF ? 16 : stream->type == SIMD_FLOAT ? 32 : stream->type - SIMD_BITS);
}

// The range first, then the alignment.
static model_result check(const struct simd_run *run, const struct simd_stream *stream, uint32_t address, bool write)
{
	bool is_fields = stream->type > SIMD_BITS;
	uint64_t first_bit = is_fields ? address : 8 * (uint64_t)address, end_bit = first_bit + bits_of(run, stream);

	if (end_bit > 8 * (uint64_t)run->model->base.params.buffer_bytes)
		return WC_STATUS_BUFFER_RANGE;
	if (!is_fields && address % 2 != 0)
		return WC_STATUS_MISALIGNED;
	if (is_fields && write && address % 16 != 0 && !(run->has_fields && run->fields_end == address))
		return WC_STATUS_MISALIGNED;
	return 0;
}

static uint32_t get(const uint8_t *bytes, int count)
{
	uint32_t value = 0;

	for (int i = 0; i < count; i++)
		value |= (uint32_t)bytes[i] << 8 * i;
	return value;
}

static void put(uint8_t *bytes, int count, uint32_t value)
{
	for (int i = 0; i < count; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
}

static uint32_t canonical(uint32_t bits)
{
	return (bits & 0x7fffffff) > 0x7f800000 ? 0x7fc00000 : bits;
}

model_result simd_read(const struct simd_run *run, int index, enum wc_simd_part part, uint32_t *lanes)
{
	const struct simd_stream *stream = &run->streams[index];
	uint32_t address = address_of(run, stream, part);
	const uint8_t *buffer = run->model->buffer;
	model_result result;

	for (uint32_t lane = 0; lane < run->lanes; lane++)
		lanes[lane] = 0;
	if (stream->is_zero)
		return 0;
	if ((result = check(run, stream, address, false)))
		return result;
	if (stream->type == SIMD_SCALAR)
		for (uint32_t lane = 0; lane < run->lanes; lane++)
			lanes[lane] = get(buffer + address, 4);
	for (uint32_t lane = 0; lane < run->active && stream->type != SIMD_SCALAR; lane++) {
		if (stream->type == SIMD_HALF) {
			lanes[lane] = golden_bits_of(golden_half_to_float((uint16_t)get(buffer + address + 2 * lane, 2)));
		} else if (stream->type == SIMD_FLOAT) {
			lanes[lane] = canonical(get(buffer + address + 4 * lane, 4));
		} else {
			int width = stream->type - SIMD_BITS;

			for (int i = 0; i < width; i++) {
				uint32_t bit = address + lane * (uint32_t)width + (uint32_t)i;

				lanes[lane] |= (uint32_t)(buffer[bit / 8] >> bit % 8 & 1) << i;
			}
		}
	}
	return 0;
}

// Halves are written whole up to the last byte that has a field: what came before in the first one is written again, what follows in the
// last byte is 0.
static void write_fields(struct simd_run *run, const struct simd_stream *stream, uint32_t address, const uint32_t *lanes)
{
	uint32_t width = (uint32_t)(stream->type - SIMD_BITS), end = address + bits_of(run, stream);
	uint8_t *buffer = run->model->buffer;

	if (address % 16 != 0)
		put(buffer + address / 16 * 2, (end + 7) / 8 - address / 16 * 2 > 1 ? 2 : 1, run->fields_rest);
	for (uint32_t bit = address; bit < end; bit++) {
		uint32_t field = bit - address;
		uint8_t value = lanes[field / width] >> field % width & 1;

		if (bit % 16 == 0)
			run->fields_rest = 0;
		if (bit % 8 == 0)
			buffer[bit / 8] = 0;
		buffer[bit / 8] |= (uint8_t)(value << bit % 8);
		run->fields_rest |= (uint16_t)(value << bit % 16);
	}
	run->has_fields = true;
	run->fields_end = end;
}

// A planted fault in one lane of this vector.
static void strike_lane(struct simd_run *run, uint32_t *lanes)
{
	const struct wc_fault *fault = &run->model->fault;

	if (run->written++ == (uint64_t)fault->row && (uint32_t)fault->column < run->lanes && model_fault_strikes(run->model, WC_FAULT_LANE, run->index))
		lanes[fault->column] ^= 1u << fault->bit % 32;
}

model_result simd_write(struct simd_run *run, int index, enum wc_simd_part part, uint32_t *lanes)
{
	const struct simd_stream *stream = &run->streams[index];
	uint32_t address = address_of(run, stream, part);
	uint8_t *buffer = run->model->buffer;
	model_result result;

	if (stream->is_off)
		return 0;
	if ((result = check(run, stream, address, true)))
		return result;
	strike_lane(run, lanes);
	if (stream->type == SIMD_SCALAR)
		put(buffer + address, 4, canonical(lanes[0]));
	else if (stream->type > SIMD_BITS)
		write_fields(run, stream, address, lanes);
	for (uint32_t lane = 0; lane < run->active; lane++) {
		if (stream->type == SIMD_HALF)
			put(buffer + address + 2 * lane, 2, golden_half_from_float(golden_float_of(lanes[lane])));
		else if (stream->type == SIMD_FLOAT)
			put(buffer + address + 4 * lane, 4, canonical(lanes[lane]));
	}
	return 0;
}
