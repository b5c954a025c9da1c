// SPDX-License-Identifier: Apache-2.0
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "interpret.h"

const struct gemm_ops *const bench_ops[BENCH_OPS_COUNT] = {&gemm_8x4_1, &gemm_16x16_1, &gemm_4x8_2};

struct bench *bench_create(const struct gemm_ops *ops, const char *test)
{
	struct bench *b = calloc(1, sizeof(*b));

	b->ops = ops;
	b->rng = rng_start(test);
	b->array = (struct array_shape){ops->rows, ops->cols, ops->acc_rows};
	b->model = ops->create(rng_next(&b->rng));
	b->data_bytes = (uint32_t)ops->gbuf_bytes - BENCH_SCRATCH_BYTES;
	b->buffer = calloc(1, (size_t)ops->gbuf_bytes);
	return b;
}

void bench_free(struct bench *b)
{
	b->ops->destroy(b->model);
	free(b->buffer);
	free(b);
}

void bench_fill(struct bench *b, bool wild)
{
	b->wild = wild;
	for (uint32_t i = 0; i < b->data_bytes; i += 2) {
		uint16_t half = wild ? rng_wild_half(&b->rng) : rng_tame_half(&b->rng);

		memcpy(b->buffer + i, &half, 2);
	}
}

struct gemm_result bench_run(struct bench *b, int pressure_percent, const char *what)
{
	uint32_t bytes = (uint32_t)b->ops->gbuf_bytes;
	uint8_t *got = malloc(bytes);
	struct gemm_result result;
	struct gemm_run run = {
		.commands = b->commands,
		.count = b->count,
		.first_index = (uint32_t)rng_next(&b->rng),
		.pressure_percent = pressure_percent,
		.seed = rng_next(&b->rng),
		.scratch_address = b->data_bytes,
		.halt_cycle = -1,
		.cycles_max = 1000000,
	};
	int waves = 0, causes = 0;

	b->ops->write(b->model, b->buffer);
	b->ops->run(b->model, &run, &result);
	b->ops->read(b->model, got);
	for (int i = 0; i < b->count; i++) {
		cr_assert(gemm_interpret(&b->commands[i], b->ops->rows, b->buffer, b->data_bytes), "%s: command %d leaves the data area", what, i);
		waves += gemm_waves(&b->commands[i], b->ops->rows);
	}
	cr_assert(!result.error, "%s: stopped with status %d", what, result.error_status);
	cr_assert_eq(result.done, b->count, "%s: %d of %d commands done after %d cycles", what, result.done, b->count, result.cycles);
	cr_assert(result.in_order, "%s: completion out of order", what);
	for (uint32_t i = 0; i < b->data_bytes; i += 2)
		cr_assert(!memcmp(got + i, b->buffer + i, 2), "%s: %dx%d, byte %u: got %02x%02x, expected %02x%02x", what, b->ops->rows,
			  b->ops->cols, i, got[i + 1], got[i], b->buffer[i + 1], b->buffer[i]);
	cr_assert_eq(result.read_errors, 0, "%s: %d wrong answers at the store and vector ports", what, result.read_errors);
	cr_assert_eq(result.stray_operands, 0, "%s: %d operands beyond k_total or n_cols are not +0", what, result.stray_operands);
	// An infinity times +0 is a NaN.
	if (!b->wild)
		cr_assert_eq(result.stray_sums, 0, "%s: %d sums beyond n_cols are not +0", what, result.stray_sums);
	cr_assert_eq(result.waves, waves, "%s: %d waves, expected %d", what, result.waves, waves);
	cr_assert_eq(result.bubbles, 0, "%s: %d bubbles", what, result.bubbles);
	for (int i = 0; i < GEMM_STALLS; i++)
		causes += result.stalls[i];
	cr_assert_eq(result.busy + causes, result.cycles + 1, "%s: %d busy and %d stalled of %d cycles", what, result.busy, causes,
		     result.cycles + 1);
	free(got);
	return result;
}

static uint32_t round_up(uint32_t bytes, uint32_t to)
{
	return (bytes + to - 1) / to * to;
}

struct conv bench_conv(struct bench *b, int kernel, uint32_t *dw)
{
	struct rng *rng = &b->rng;
	struct conv v;
	uint32_t end;

	do {
		uint32_t weights;

		v = (struct conv){
			.batch = 1 + rng_below(rng, 3),
			.in_h = 1 + rng_below(rng, 12),
			.in_w = 1 + rng_below(rng, 12),
			.in_c = 1 + rng_below(rng, rng_chance(rng, 50) ? 4 : 2 * b->ops->rows + 3),
			.out_c = 1 + rng_below(rng, 2 * (b->ops->rows > b->ops->cols ? b->ops->rows : b->ops->cols) + 3),
			.kernel_h = kernel ? kernel : 1 + rng_below(rng, 11),
			.kernel_w = kernel && rng_chance(rng, 70) ? kernel : 1 + rng_below(rng, 11),
			.stride = 1 + rng_below(rng, 4),
			.pad = rng_below(rng, 6),
			.dilation = rng_chance(rng, 70) ? 1 : 1 + rng_below(rng, 3),
		};
		v.out_h = v.in_h + 2 * v.pad - v.dilation * (v.kernel_h - 1) - 1;
		v.out_w = v.in_w + 2 * v.pad - v.dilation * (v.kernel_w - 1) - 1;
		v.out_h = v.out_h < 0 ? 0 : v.out_h / v.stride + 1;
		v.out_w = v.out_w < 0 ? 0 : v.out_w / v.stride + 1;
		v.x_pitch = round_up(2 * (uint32_t)(v.in_w * v.in_c), 16);
		v.y_pitch = round_up(2 * (uint32_t)(v.out_w * v.out_c), 16);
		weights = (uint32_t)(v.kernel_h * v.kernel_w * v.in_c * v.out_c);
		v.x = 2 * (uint32_t)rng_below(rng, 32);
		v.w = v.x + (uint32_t)(v.batch * v.in_h) * v.x_pitch;
		v.y = round_up(v.w + 2 * weights, 2);
		*dw = round_up(v.y + (uint32_t)(v.batch * v.out_h) * v.y_pitch, 4);
		end = *dw + 4 * weights;
	} while (v.out_h < 1 || v.out_w < 1 || end > b->data_bytes);
	return v;
}
