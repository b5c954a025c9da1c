// SPDX-License-Identifier: Apache-2.0
//
// GEMM commands with random walks of every mode against an interpreter that takes rtl/README.md at its word: one element at a
// time, each walked to from the start.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "csim/golden/half.h"
#include "tests/model/device.h"

enum { ROWS = 8, COLS = 4, ACC_ROWS = 16, BUFFER_BYTES = 16384, OUT = 12288 };

// A fetch block as the test thinks of it; copied into the command's a_ and b_ fields.
struct block {
	int base, mode, taps_y, taps_x, count[3], start[3], delta[3];
	int y_first, x_first, y_start, x_start, y_step, x_step, y_size, x_size;
	int tap_y_step, tap_x_step, tap_x_delta, tap_y_delta, block_delta, chan_delta, chan_total, chan_block;
	int tap_y_start, tap_x_start, chan_start;
};

static int draw_delta(uint64_t *state)
{
	return 2 * device_between(state, -40, 40);
}

// Room for `k` and `elements` in the walks; every address lands inside the buffer below OUT.
static struct block draw_block(uint64_t *state, int mode, int k, int elements)
{
	struct block block = {
		.base = 2 * device_between(state, 2800, 3300), .mode = mode, .taps_y = device_between(state, 1, 4), .taps_x = device_between(state, 1, 4),
		.y_first = device_between(state, -3, 3), .x_first = device_between(state, -3, 3), .y_start = device_between(state, -3, 3),
		.x_start = device_between(state, -3, 3), .y_step = device_between(state, -1, 2), .x_step = device_between(state, -2, 2),
		.y_size = device_between(state, 1, 9), .x_size = device_between(state, 1, 9), .tap_y_step = device_between(state, -2, 2),
		.tap_x_step = device_between(state, -2, 2), .tap_x_delta = draw_delta(state), .tap_y_delta = draw_delta(state),
		.block_delta = draw_delta(state), .chan_delta = draw_delta(state), .chan_block = device_between(state, 1, 12),
	};
	int vectors = mode == 1 ? k : mode == 0 ? elements : 1;
	int taps = mode == 1 ? elements : k;
	int positions;

	for (int i = 0; i < 3; i++) {
		block.start[i] = device_between(state, 0, 2);
		block.count[i] = block.start[i] + device_between(state, 1, 5);
		block.delta[i] = 2 * device_between(state, -8, 8);
	}
	block.count[2] = block.start[2] + vectors + 1; // enough, however short the inner ones are
	if (mode == 1) {
		block.tap_y_start = device_between(state, 0, block.taps_y - 1);
		block.tap_x_start = device_between(state, 0, block.taps_x - 1);
		block.chan_start = device_between(state, 0, block.chan_block - 1);
	}
	positions = block.taps_y * block.taps_x;
	block.chan_total = block.chan_block + (taps + positions - 1) / positions + device_between(state, 0, 3);
	return block;
}

struct vector {
	int address, y, x;
};

static struct vector vector_at(const struct block *block, int steps)
{
	struct vector vector = {block->base, block->y_start, block->x_start};
	int index[3] = {block->start[0], block->start[1], block->start[2]};

	while (steps--) {
		if (index[0] < block->count[0] - 1) {
			index[0]++;
			vector.address += block->delta[0];
			vector.x += block->x_step;
			continue;
		}
		index[0] = 0;
		vector.x = block->x_first;
		if (index[1] < block->count[1] - 1) {
			index[1]++;
			vector.address += block->delta[1];
			vector.y += block->y_step;
			continue;
		}
		index[1] = 0;
		vector.y = block->y_first;
		vector.address += block->delta[2];
	}
	return vector;
}

struct tap {
	int offset, channel, y, x; // channel inside the block
};

static struct tap tap_at(const struct block *block, int steps)
{
	int r = block->tap_y_start, s = block->tap_x_start, first = 0;
	struct tap tap = {0, block->chan_start, r * block->tap_y_step, s * block->tap_x_step};

	while (steps--) {
		int left = block->chan_total - first, channels = left < block->chan_block ? left : block->chan_block;

		if (++tap.channel < channels)
			continue;
		tap.channel = 0;
		if (++s < block->taps_x) {
			tap.offset += block->tap_x_delta;
			tap.x += block->tap_x_step;
			continue;
		}
		s = 0;
		tap.x = 0;
		if (++r < block->taps_y) {
			tap.offset += block->tap_y_delta;
			tap.y += block->tap_y_step;
			continue;
		}
		r = 0;
		tap.y = 0;
		tap.offset += block->block_delta;
		first += channels;
	}
	return tap;
}

static uint16_t element(const uint8_t *buffer, const struct block *block, int index, int k)
{
	struct vector vector = vector_at(block, block->mode == 0 ? index : block->mode == 1 ? k : 0);
	struct tap tap = tap_at(block, block->mode == 1 ? index : k);
	int y = vector.y + tap.y, x = vector.x + tap.x;
	int address = block->mode == 2 ? block->base + tap.offset + tap.channel * block->chan_delta + 2 * index : vector.address + tap.offset + 2 * tap.channel;
	uint16_t half;

	if (block->mode != 2 && (y < 0 || y >= block->y_size || x < 0 || x >= block->x_size))
		return 0;
	cr_assert(address >= 0 && address <= OUT - 2, "the test's own address %d", address);
	memcpy(&half, buffer + address, sizeof(half));
	return half;
}

#define PUT_BLOCK(command, p, block)                                                                                                  \
	((command)->p##base = (block)->base, (command)->p##mode = (uint8_t)(block)->mode, (command)->p##taps_y = (uint8_t)(block)->taps_y,     \
	 (command)->p##taps_x = (uint8_t)(block)->taps_x, (command)->p##count0 = (uint16_t)(block)->count[0],                               \
	 (command)->p##count1 = (uint16_t)(block)->count[1], (command)->p##count2 = (uint16_t)(block)->count[2],                            \
	 (command)->p##start0 = (uint16_t)(block)->start[0], (command)->p##start1 = (uint16_t)(block)->start[1],                            \
	 (command)->p##start2 = (uint16_t)(block)->start[2], (command)->p##delta0 = (block)->delta[0],                                      \
	 (command)->p##delta1 = (block)->delta[1], (command)->p##delta2 = (block)->delta[2],                                                \
	 (command)->p##y_first = (int16_t)(block)->y_first, (command)->p##x_first = (int16_t)(block)->x_first,                              \
	 (command)->p##y_start = (int16_t)(block)->y_start, (command)->p##x_start = (int16_t)(block)->x_start,                              \
	 (command)->p##y_step = (int16_t)(block)->y_step, (command)->p##x_step = (int16_t)(block)->x_step,                                  \
	 (command)->p##y_size = (uint16_t)(block)->y_size, (command)->p##x_size = (uint16_t)(block)->x_size,                                \
	 (command)->p##tap_y_step = (int16_t)(block)->tap_y_step, (command)->p##tap_x_step = (int16_t)(block)->tap_x_step,                  \
	 (command)->p##tap_x_delta = (block)->tap_x_delta, (command)->p##tap_y_delta = (block)->tap_y_delta,                                \
	 (command)->p##block_delta = (block)->block_delta, (command)->p##chan_delta = (block)->chan_delta,                                  \
	 (command)->p##chan_total = (uint16_t)(block)->chan_total, (command)->p##chan_block = (uint16_t)(block)->chan_block,                \
	 (command)->p##tap_y_start = (uint8_t)(block)->tap_y_start, (command)->p##tap_x_start = (uint8_t)(block)->tap_x_start,              \
	 (command)->p##chan_start = (uint16_t)(block)->chan_start,                                                                          \
	 (command)->p##tap_y_pos = (int16_t)((block)->tap_y_start * (block)->tap_y_step),                                                   \
	 (command)->p##tap_x_pos = (int16_t)((block)->tap_x_start * (block)->tap_x_step))

Test(walks, random_commands_agree_with_the_text)
{
	const struct wc_device_params params = {.rows = ROWS, .cols = COLS, .acc_rows = ACC_ROWS, .mac_stages = 1, .buffer_bytes = BUFFER_BYTES, .bus_bytes = 16, .cores = 1};
	uint64_t state = device_seed() + 100;
	struct device device;
	uint8_t *buffer = malloc(BUFFER_BYTES);
	long nonzero = 0;

	device_open(&device, &params, 1);
	for (uint32_t i = 0; i < OUT; i += 2) {
		uint16_t half = golden_half_from_float((float)(int32_t)device_random(&state) * 0x1p-31f);

		memcpy(buffer + i, &half, sizeof(half));
	}
	device.backend->ops->buffer_write(device.backend, 0, buffer, OUT);
	for (int trial = 0; trial < (getenv("WC_LONG") ? 20000 : 2000); trial++) {
		int m_rows = device_between(&state, 1, ACC_ROWS), n_cols = device_between(&state, 1, COLS), k_total = device_between(&state, 0, 45);
		struct block a = draw_block(&state, device_between(&state, 0, 2), k_total, m_rows);
		struct block b = draw_block(&state, device_between(&state, 0, 2), k_total, n_cols);
		struct wc_gemm_command command = {
			.opcode = WC_OP_GEMM, .version = WC_COMMAND_VERSION, .flags = 2, .m_rows = (uint16_t)m_rows, .n_cols = (uint16_t)n_cols,
			.k_total = (uint32_t)k_total, .out_base = OUT, .out_count0 = 3, .out_count1 = 2, .out_count2 = 10, .out_start0 = 2,
			.out_delta0 = 4 * COLS, .out_delta1 = 4 * COLS + 16, .out_delta2 = 4 * COLS + 32,
		};
		uint32_t address = OUT;
		enum wc_status status;

		PUT_BLOCK(&command, a_, &a);
		PUT_BLOCK(&command, b_, &b);
		status = device_execute(&device, &command);
		cr_assert_eq(status, WC_STATUS_OK, "status %d, trial %d, WC_SEED=%llu", status, trial, (unsigned long long)device_seed());
		for (int m = 0; m < m_rows; m++) {
			for (int n = 0; n < n_cols; n++) {
				float acc = 0;
				uint32_t got;

				for (int first = 0; first < k_total; first += ROWS) {
					float sum = 0;

					for (int k = first; k < first + ROWS && k < k_total; k++)
						sum += golden_half_to_float(element(buffer, &a, m, k)) * golden_half_to_float(element(buffer, &b, n, k));
					acc += sum;
				}
				device.backend->ops->buffer_read(device.backend, address + 4 * (uint32_t)n, &got, sizeof(got));
				cr_assert_eq(got, golden_bits_of(acc), "trial %d, modes %d and %d, m %d, n %d: got %08x, expected %08x, WC_SEED=%llu", trial, a.mode,
				             b.mode, m, n, got, golden_bits_of(acc), (unsigned long long)device_seed());
				nonzero += acc != 0;
			}
			// out starts at index 2 of 3, in row 0 of 2
			address += (m + 3) % 3 != 0 ? 4 * COLS : (m / 3) % 2 == 0 ? 4 * COLS + 16 : 4 * COLS + 32;
		}
	}
	cr_assert_gt(nonzero, 10000);
	device_close(&device);
	free(buffer);
}
