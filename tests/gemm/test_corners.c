// SPDX-License-Identifier: Apache-2.0
//
// What the lowering of a network reaches seldom or never: operands exchanged (so that A is fetched as B usually is), sums of
// nothing, tiles of one row or one column, preloads under fp16 drains, many tiny tiles in flight.
#include <criterion/criterion.h>
#include <string.h>

#include "bench.h"

TestSuite(gemm_corners, .timeout = 300);

// The commands were made for an array with acc_rows columns and `cols` accumulator rows; exchange A and B. The transposed tiles go
// densely to [out, out + room). Returns false if one does not fit.
static bool exchange(struct bench *b, uint32_t out, uint32_t room)
{
	for (int i = 0; i < b->count; i++) {
		struct wc_gemm_command *c = &b->commands[i];
		uint8_t fields[84];
		uint16_t m_rows = c->m_rows;
		uint32_t width;

		memcpy(fields, &c->a_base, 84);
		memcpy(&c->a_base, &c->b_base, 84);
		memcpy(&c->b_base, fields, 84);
		c->m_rows = c->n_cols;
		c->n_cols = m_rows;
		c->flags = (uint16_t)(rng_below(&b->rng, 2) * 2);
		width = (c->flags & 2 ? 4u : 2u) * c->n_cols;
		if (width * c->m_rows > room)
			return false;
		c->out_base = out;
		c->pre_base = 0;
		c->out_count0 = c->m_rows;
		c->out_count1 = c->out_count2 = 1;
		c->out_start0 = c->out_start1 = c->out_start2 = 0;
		c->out_delta0 = (int32_t)width;
		c->wait_gemm = 0;
	}
	return true;
}

static void exchanged(const struct gemm_ops *ops, const char *test)
{
	struct bench *b = bench_create(ops, test);
	struct array_shape array = {ops->rows, ops->acc_rows, ops->cols};
	int runs = 0;

	for (int i = 0; i < 40; i++) {
		uint32_t dw;
		struct conv v = bench_conv(b, 0, &dw);
		bool merge = rng_chance(&b->rng, 70);

		for (int pass = 0; pass < 3; pass++) {
			b->count = pass == 0 ? conv_forward(&v, &array, merge, b->commands, BENCH_COMMANDS_MAX)
				 : pass == 1 ? conv_data_gradient(&v, &array, b->commands, BENCH_COMMANDS_MAX)
					     : conv_weight_gradient(&v, &array, dw, 0, v.batch, true, merge, b->commands, BENCH_COMMANDS_MAX);
			if (b->count < 0 || !exchange(b, dw, b->data_bytes - dw))
				continue;
			bench_fill(b, rng_chance(&b->rng, 50));
			bench_run(b, rng_below(&b->rng, 60), pass == 0 ? "exchanged forward" : pass == 1 ? "exchanged data gradient" : "exchanged weight gradient");
			runs++;
		}
	}
	cr_assert_gt(runs, 20, "only %d of 120 runs fitted", runs);
	bench_free(b);
}

Test(gemm_corners, exchanged_8x4)
{
	exchanged(&gemm_8x4_1, "exchanged_8x4");
}

Test(gemm_corners, exchanged_16x16)
{
	exchanged(&gemm_16x16_1, "exchanged_16x16");
}

Test(gemm_corners, exchanged_4x8_two_stages)
{
	exchanged(&gemm_4x8_2, "exchanged_4x8_two_stages");
}

// Plain matrices, A[m][k] and B[n][k] with rows of `pitch` bytes.
static void matrices(struct wc_gemm_command *c, int m_rows, int n_cols, int k_total, uint32_t a, uint32_t b, uint32_t pitch)
{
	memset(c, 0, sizeof(*c));
	c->opcode = WC_OP_GEMM;
	c->version = WC_COMMAND_VERSION;
	c->m_rows = (uint16_t)m_rows;
	c->n_cols = (uint16_t)n_cols;
	c->k_total = (uint32_t)k_total;
	c->a_base = (int32_t)a;
	c->b_base = (int32_t)b;
	c->a_count0 = c->b_count0 = 65535;
	c->a_count1 = c->a_count2 = c->b_count1 = c->b_count2 = 1;
	c->a_delta0 = c->b_delta0 = (int32_t)pitch;
	c->a_taps_y = c->a_taps_x = c->b_taps_y = c->b_taps_x = 1;
	c->a_y_size = c->a_x_size = c->b_y_size = c->b_x_size = 1;
	c->a_chan_total = c->a_chan_block = c->b_chan_total = c->b_chan_block = (uint16_t)(k_total ? k_total : 1);
}

// Output rows and preload rows of `width` bytes.
static void rows_at(struct wc_gemm_command *c, uint32_t out, uint32_t pre, uint32_t width)
{
	c->out_base = out;
	c->pre_base = pre;
	c->out_count0 = 65535;
	c->out_count1 = c->out_count2 = 1;
	c->out_delta0 = (int32_t)width;
}

// Tiles of random sizes, down to one row, one column and no k at all, some preloaded, some with one row for all, follow each other as closely as they
// can.
static void small_tiles(const struct gemm_ops *ops, const char *test)
{
	struct bench *b = bench_create(ops, test);

	for (int round = 0; round < 20; round++) {
		uint32_t at = 8192;

		b->count = 0;
		for (;;) {
			int m_rows = 1 + rng_below(&b->rng, rng_chance(&b->rng, 60) ? 6 : ops->acc_rows);
			int n_cols = 1 + rng_below(&b->rng, ops->cols), k_total = rng_below(&b->rng, 5 * ops->rows);
			bool fp32 = rng_chance(&b->rng, 50), preload = rng_chance(&b->rng, 50), same = preload && rng_chance(&b->rng, 40);
			uint32_t width = (fp32 || preload ? 4u : 2u) * (uint32_t)n_cols, out = at;
			struct wc_gemm_command *c = &b->commands[b->count];

			at += width * (uint32_t)m_rows;
			if (at + width * (uint32_t)m_rows > b->data_bytes || b->count == BENCH_COMMANDS_MAX)
				break;
			matrices(c, m_rows, n_cols, k_total, 2 * (uint32_t)rng_below(&b->rng, 100), 2 * (uint32_t)rng_below(&b->rng, 100), 2 * (uint32_t)rng_below(&b->rng, 10));
			rows_at(c, out, at, width);
			c->flags = (uint16_t)((fp32 ? 2 : 0) | (preload ? 1 : 0) | (same ? 4 : 0));
			if (preload)
				at += width * (uint32_t)m_rows;
			b->count++;
		}
		bench_fill(b, round & 1);
		bench_run(b, round < 10 ? 0 : 80, "small tiles");
	}
	bench_free(b);
}

Test(gemm_corners, small_tiles_8x4)
{
	small_tiles(&gemm_8x4_1, "small_tiles_8x4");
}

Test(gemm_corners, small_tiles_16x16)
{
	small_tiles(&gemm_16x16_1, "small_tiles_16x16");
}

Test(gemm_corners, small_tiles_4x8_two_stages)
{
	small_tiles(&gemm_4x8_2, "small_tiles_4x8_two_stages");
}

// The padding lanes of a short k and the columns beyond n_cols see neither stale operands nor infinities left in the buffers.
Test(gemm_corners, tails_ignore_stale_operands)
{
	struct bench *b = bench_create(&gemm_16x16_1, "tails_ignore_stale_operands");

	bench_fill(b, false);
	for (uint32_t i = 0; i < 4096; i += 2)
		memcpy(b->buffer + i, &(uint16_t){0x7c00}, 2);
	b->wild = true;
	// Full waves of infinities into both sides, then short ones of finite values.
	for (int i = 0; i < 4; i++) {
		matrices(&b->commands[i], 16, 16, i < 2 ? 32 : 3, i < 2 ? 0 : 8192, i < 2 ? 0 : 8192, 64);
		rows_at(&b->commands[i], 16384 + 2048 * (uint32_t)i, 0, 64);
		b->commands[i].flags = 2;
		if (i >= 2)
			b->commands[i].n_cols = 5;
	}
	b->count = 4;
	bench_run(b, 0, "short waves after infinities");
	for (int row = 0; row < 16; row++)
		for (int col = 0; col < 5; col++) {
			float value;

			memcpy(&value, b->buffer + 16384 + 4096 + 64 * row + 4 * col, 4);
			cr_assert(value > -100 && value < 100, "row %d column %d is %g", row, col, (double)value);
		}
	bench_free(b);
}
