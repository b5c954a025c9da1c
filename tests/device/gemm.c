// SPDX-License-Identifier: Apache-2.0
//
// GEMM commands for device tests: see gemm.h.
#include "tests/device/gemm.h"

#include <stdlib.h>

int conv_out_height(const struct conv_tile *t)
{
	return (t->height + 2 * t->pad - t->kernel) / t->stride + 1;
}

int conv_out_width(const struct conv_tile *t)
{
	return (t->width + 2 * t->pad - t->kernel) / t->stride + 1;
}

union command command_conv(const struct conv_tile *t, int rows)
{
	int oh = conv_out_height(t), ow = conv_out_width(t);
	int32_t pixel = 2 * t->channels, line = pixel * t->width, image = line * t->height;
	int32_t out_row = t->n_cols * (t->fp32 ? 4 : 2);
	int n = t->first / (oh * ow), y = t->first / ow % oh, x = t->first % ow;
	union command c = { .gemm = {
		.opcode = WC_OP_GEMM,
		.version = WC_COMMAND_VERSION,
		.flags = (t->preload ? 1 : 0) | (t->fp32 ? 2 : 0),
		.m_rows = t->m_rows,
		.n_cols = t->n_cols,
		.k_total = t->kernel * t->kernel * t->channels,
		.a_base = (int32_t)t->x + n * image + (y * t->stride - t->pad) * line + (x * t->stride - t->pad) * pixel,
		.a_taps_y = t->kernel,
		.a_taps_x = t->kernel,
		.a_count0 = ow,
		.a_count1 = oh,
		.a_count2 = t->batch,
		.a_start0 = x,
		.a_start1 = y,
		.a_start2 = n,
		.a_delta0 = t->stride * pixel,
		.a_delta1 = t->stride * line - (ow - 1) * t->stride * pixel,
		.a_delta2 = image - (oh - 1) * t->stride * line - (ow - 1) * t->stride * pixel,
		.a_y_first = -t->pad,
		.a_x_first = -t->pad,
		.a_y_start = y * t->stride - t->pad,
		.a_x_start = x * t->stride - t->pad,
		.a_y_step = t->stride,
		.a_x_step = t->stride,
		.a_y_size = t->height,
		.a_x_size = t->width,
		.a_tap_y_step = 1,
		.a_tap_x_step = 1,
		.a_tap_x_delta = pixel,
		.a_tap_y_delta = line - (t->kernel - 1) * pixel,
		.a_block_delta = 2 * rows - (t->kernel - 1) * line - (t->kernel - 1) * pixel,
		.a_chan_delta = 2,
		.a_chan_total = t->channels,
		.a_chan_block = rows,
		.b_base = (int32_t)t->w,
		.b_taps_y = t->kernel,
		.b_taps_x = t->kernel,
		.b_count0 = t->n_cols,
		.b_count1 = 1,
		.b_count2 = 1,
		.b_delta0 = t->kernel * t->kernel * pixel,
		.b_y_size = t->kernel,
		.b_x_size = t->kernel,
		.b_tap_y_step = 1,
		.b_tap_x_step = 1,
		.b_tap_x_delta = pixel,
		.b_tap_y_delta = pixel,
		.b_block_delta = 2 * rows - (t->kernel * t->kernel - 1) * pixel,
		.b_chan_delta = 2,
		.b_chan_total = t->channels,
		.b_chan_block = rows,
		.out_base = t->out,
		.out_count0 = t->m_rows,
		.out_count1 = 1,
		.out_count2 = 1,
		.out_delta0 = out_row,
		.pre_base = t->pre,
	} };

	return c;
}

static int least(int a, int b)
{
	return a < b ? a : b;
}

struct conv_tile random_conv(uint64_t *rng, const struct wc_device_params *params)
{
	for (;;) {
		struct conv_tile t = {
			.batch = (int)random_in(rng, 1, 3),
			.height = (int)random_in(rng, 1, 12),
			.width = (int)random_in(rng, 1, 12),
			.channels = (int)random_in(rng, 1, 2 * (uint32_t)params->rows + 3),
			.kernel = (int)random_in(rng, 1, 4),
			.stride = (int)random_in(rng, 1, 3),
			.n_cols = (int)random_in(rng, 1, (uint32_t)params->cols),
			.preload = random_in(rng, 0, 3) == 0,
			.fp32 = random_in(rng, 0, 1),
		};
		uint32_t in_bytes, weight_bytes;
		int pixels;

		t.pad = (int)random_in(rng, 0, (uint32_t)t.kernel - 1);
		if (t.height + 2 * t.pad < t.kernel || t.width + 2 * t.pad < t.kernel)
			continue;
		pixels = t.batch * conv_out_height(&t) * conv_out_width(&t);
		t.first = (int)random_in(rng, 0, (uint32_t)pixels - 1);
		t.m_rows = least(pixels - t.first, params->acc_rows);
		in_bytes = 2u * (uint32_t)(t.batch * t.height * t.width * t.channels);
		weight_bytes = 2u * (uint32_t)(t.n_cols * t.kernel * t.kernel * t.channels);
		t.w = in_bytes;
		t.out = (t.w + weight_bytes + 3) / 4 * 4;
		t.pre = t.out;
		if (t.out + 4u * (uint32_t)(t.m_rows * t.n_cols) <= params->buffer_bytes)
			return t;
	}
}

void buffer_fill_halves(struct bench *b, uint64_t *rng, uint32_t address, uint32_t bytes)
{
	uint16_t *halves = malloc(bytes + 1);

	for (uint32_t i = 0; i < bytes / 2; i++)
		// Sign, exponent 2^-6 .. 2^1, any fraction; one in sixteen is zero.
		halves[i] = random_in(rng, 0, 15) == 0 ? 0 : random_in(rng, 0, 1) << 15 | random_in(rng, 9, 16) << 10 | random_in(rng, 0, 1023);
	bench_buffer_write(b, address, halves, bytes);
	free(halves);
}
