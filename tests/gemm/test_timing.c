// SPDX-License-Identifier: Apache-2.0
//
// The wave timing that rtl/README.md promises: no idle cycle between waves of at least Rows rows, a bubble of Rows - m cycles
// after a shorter one, next command and drain hidden under the present tile.
#include <criterion/criterion.h>

#include "bench.h"

TestSuite(gemm_timing, .timeout = 120);

// Pointwise convolutions: `tiles` tiles of m_rows x cols, each `waves` waves.
static struct gemm_result pointwise(struct bench *b, int tiles, int m_rows, int waves)
{
	int in_c = waves * b->ops->rows;
	struct conv v = {.batch = tiles, .in_h = 1, .in_w = m_rows, .in_c = in_c, .out_h = 1, .out_w = m_rows, .out_c = b->ops->cols, .kernel_h = 1,
			 .kernel_w = 1, .stride = 1, .dilation = 1};
	struct array_shape array = {b->ops->rows, b->ops->cols, m_rows};

	v.x_pitch = 0; // every sample reads the same image, so that many fit
	v.w = 2 * (uint32_t)(m_rows * in_c);
	v.y_pitch = 2 * (uint32_t)(m_rows * v.out_c);
	v.y = v.w + 2 * (uint32_t)(in_c * v.out_c);
	cr_assert_leq(v.y + (uint32_t)tiles * v.y_pitch, b->data_bytes);
	bench_fill(b, false);
	b->count = conv_forward(&v, &array, true, b->commands, BENCH_COMMANDS_MAX);
	cr_assert_eq(b->count, tiles);
	return bench_run(b, 0, "pointwise");
}

Test(gemm_timing, full_waves_have_no_bubbles)
{
	struct bench *b = bench_create(&gemm_16x16_1, "full_waves_have_no_bubbles");
	struct gemm_result r = pointwise(b, 2, 256, 4);

	cr_assert_eq(r.busy, 2 * 256 * 4);
	cr_assert_eq(r.last_busy - r.first_busy + 1, r.busy, "%d idle cycles between waves of 256 rows", r.last_busy - r.first_busy + 1 - r.busy);
	bench_free(b);
}

// At least 99% over single-wave tiles as well, whose drains take as long as their waves.
Test(gemm_timing, single_wave_tiles)
{
	struct bench *b = bench_create(&gemm_16x16_1, "single_wave_tiles");
	struct gemm_result r = pointwise(b, 5, 256, 1);

	cr_assert_geq(100 * r.busy, 99 * (r.last_busy - r.first_busy + 1), "busy in %d of %d cycles", r.busy, r.last_busy - r.first_busy + 1);
	bench_free(b);
}

// Waves of exactly Rows rows just hide the next one's weights. B is filled at the same rate, and loses cycles where it meets A in
// a bank: those are operand stalls, and the only ones.
Test(gemm_timing, waves_of_rows_rows)
{
	for (int i = 0; i < BENCH_OPS_COUNT; i++) {
		struct bench *b = bench_create(bench_ops[i], "waves_of_rows_rows");
		struct gemm_result r = pointwise(b, 1, b->ops->rows, 12);

		cr_assert_eq(r.last_busy - r.first_busy + 1 - r.busy, r.between[GEMM_STALL_OPERAND], "%dx%d: %d idle cycles, %d for operands",
			     b->ops->rows, b->ops->cols, r.last_busy - r.first_busy + 1 - r.busy, r.between[GEMM_STALL_OPERAND]);
		bench_free(b);
	}
}

// A shorter wave leaves Rows - m idle cycles, counted as stalls for weights; what comes on top is for operands.
Test(gemm_timing, short_waves)
{
	struct bench *b = bench_create(&gemm_16x16_1, "short_waves");

	for (int m = 1; m <= 16; m += 5) {
		struct gemm_result r = pointwise(b, 1, m, 8);
		int idle = r.last_busy - r.first_busy + 1 - r.busy;

		cr_assert_eq(r.between[GEMM_STALL_WEIGHT], 7 * (16 - m), "m = %d: %d idle cycles for weights, expected %d", m,
			     r.between[GEMM_STALL_WEIGHT], 7 * (16 - m));
		cr_assert_eq(idle, r.between[GEMM_STALL_WEIGHT] + r.between[GEMM_STALL_OPERAND]);
		cr_assert_eq(r.bubbles, 0);
	}
	bench_free(b);
}

// Other ports may use the buffer all the time without costing the engine more than a few cycles: port A goes first.
Test(gemm_timing, pressure_costs_little)
{
	struct bench *b = bench_create(&gemm_16x16_1, "pressure_costs_little");
	struct gemm_result quiet = pointwise(b, 2, 256, 4), busy;

	busy = bench_run(b, 100, "pointwise under pressure");
	cr_assert_leq(busy.last_busy - busy.first_busy, quiet.last_busy - quiet.first_busy + 64);
	bench_free(b);
}
