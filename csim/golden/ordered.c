// SPDX-License-Identifier: Apache-2.0
//
// Forward and data gradient as implicit GEMMs, weight gradient cut by cut. See ordered.h for the order of the sums.
#include "csim/golden/ordered.h"

#include <string.h>

#include "csim/golden/half.h"
#include "csim/golden/implicit.h"
#include "csim/golden/wave.h"
#include "traces/alloc.h"

static int check(const struct golden_conv *conv, int rows, struct golden_range range, int height, struct wc_error *err)
{
	if (!golden_conv_valid(conv))
		return wc_fail(err, WC_ERR_INPUT, "convolution %dx%dx%d -> %dx%dx%d, batch %d, kernel %dx%d: shapes do not belong together", conv->in_h, conv->in_w,
		               conv->in_c, conv->out_h, conv->out_w, conv->out_c, conv->batch, conv->kernel_h, conv->kernel_w);
	if (rows < 1)
		return wc_fail(err, WC_ERR_INPUT, "array of %d rows: at least 1 is needed", rows);
	return golden_range_check(range, conv->batch, height, err);
}

int golden_forward(const struct golden_conv *conv, int rows, const uint16_t *x, const uint16_t *w, struct golden_range range, uint16_t *y,
                   struct wc_error *err)
{
	return golden_forward_bias(conv, rows, x, w, NULL, range, y, err);
}

int golden_forward_bias(const struct golden_conv *conv, int rows, const uint16_t *x, const uint16_t *w, const uint16_t *bias, struct golden_range range,
                        uint16_t *y, struct wc_error *err)
{
	struct implicit_gemm gemm = {
		.rows = rows, .height = conv->in_h, .width = conv->in_w, .channels = conv->in_c, .channel_hi = conv->in_c, .columns = conv->out_c,
		.column_stride = (size_t)conv->kernel_h * conv->kernel_w * conv->in_c, .channel_stride = 1, .bias = bias,
	};
	int result = check(conv, rows, range, conv->out_h, err);

	if (result)
		return result;
	result = implicit_init(&gemm, conv->kernel_h * conv->kernel_w, err);
	if (result)
		return result;
	for (int r = 0; r < conv->kernel_h; r++)
		for (int s = 0; s < conv->kernel_w; s++)
			implicit_add_tap(&gemm, r * conv->dilation_h, s * conv->dilation_w, golden_weight_index(conv, 0, r, s, 0));
	result = implicit_set_weights(&gemm, w, err);
	for (int n = range.sample_lo; !result && n < range.sample_hi; n++) {
		implicit_set_source(&gemm, x + golden_in_index(conv, n, 0, 0, 0), y);
		for (int oy = range.row_lo; oy < range.row_hi; oy++)
			for (int ox = 0; ox < conv->out_w; ox++)
				implicit_add_pixel(&gemm, oy * conv->stride_h - conv->pad_h, ox * conv->stride_w - conv->pad_w, golden_out_index(conv, n, oy, ox, 0));
		implicit_flush(&gemm);
	}
	implicit_release(&gemm);
	return result;
}

// The first tap that reaches positions of residue class `class`; -1: none does.
static int first_tap(int class, int kernel, int stride, int pad, int dilation)
{
	for (int r = 0; r < kernel; r++)
		if ((class + pad - r * dilation) % stride == 0)
			return r;
	return -1;
}

// What a data gradient is made of, and where it goes: dx, or else the sums over a slice of output channels.
struct gradient {
	const struct golden_conv *conv;
	int rows;
	const uint16_t *dy, *w;
	int channel_lo, channel_hi;
	uint16_t *dx;
	float *sums;
};

// One residue class: the pixels (y, x) of dx with y % stride_h == class_y, x % stride_w == class_x.
static int data_gradient_class(const struct gradient *gradient, struct golden_range range, int class_y, int class_x, struct wc_error *err)
{
	const struct golden_conv *conv = gradient->conv;
	int first_r = first_tap(class_y, conv->kernel_h, conv->stride_h, conv->pad_h, conv->dilation_h);
	int first_s = first_tap(class_x, conv->kernel_w, conv->stride_w, conv->pad_w, conv->dilation_w);
	struct implicit_gemm gemm = {
		.rows = gradient->rows, .height = conv->out_h, .width = conv->out_w, .channels = conv->out_c,
		.channel_lo = gradient->channel_lo, .channel_hi = gradient->channel_hi, .columns = conv->in_c,
		.column_stride = 1, .channel_stride = (size_t)conv->kernel_h * conv->kernel_w * conv->in_c,
	};
	int row_lo = range.row_lo + (class_y - range.row_lo % conv->stride_h + conv->stride_h) % conv->stride_h;
	int result;

	result = implicit_init(&gemm, conv->kernel_h * conv->kernel_w, err);
	if (result)
		return result;
	// The position (y, x) lies over dy row (y + pad - r dilation) / stride, column likewise: given by its first tap, from which
	// each further one lies up or left.
	for (int r = first_r; first_r >= 0 && first_s >= 0 && r < conv->kernel_h; r++)
		for (int s = first_s; s < conv->kernel_w; s++) {
			int up = (r - first_r) * conv->dilation_h, left = (s - first_s) * conv->dilation_w;

			if (up % conv->stride_h == 0 && left % conv->stride_w == 0)
				implicit_add_tap(&gemm, -(up / conv->stride_h), -(left / conv->stride_w), golden_weight_index(conv, 0, r, s, 0));
		}
	result = implicit_set_weights(&gemm, gradient->w, err);
	for (int n = range.sample_lo; !result && n < range.sample_hi; n++) {
		const uint16_t *source = gradient->dy + golden_out_index(conv, n, 0, 0, 0);

		if (gradient->sums)
			implicit_set_sums(&gemm, source, gradient->sums);
		else
			implicit_set_source(&gemm, source, gradient->dx);
		for (int y = row_lo; y < range.row_hi; y += conv->stride_h)
			for (int x = class_x; x < conv->in_w; x += conv->stride_w)
				implicit_add_pixel(&gemm, (y + conv->pad_h - first_r * conv->dilation_h) / conv->stride_h,
				                   (x + conv->pad_w - first_s * conv->dilation_w) / conv->stride_w, golden_in_index(conv, n, y, x, 0));
		implicit_flush(&gemm);
	}
	implicit_release(&gemm);
	return result;
}

static int data_gradient(const struct gradient *gradient, struct golden_range range, struct wc_error *err)
{
	int result = 0;

	for (int class_y = 0; !result && class_y < gradient->conv->stride_h; class_y++)
		for (int class_x = 0; !result && class_x < gradient->conv->stride_w; class_x++)
			result = data_gradient_class(gradient, range, class_y, class_x, err);
	return result;
}

int golden_data_gradient(const struct golden_conv *conv, int rows, const uint16_t *dy, const uint16_t *w, struct golden_range range, uint16_t *dx,
                         struct wc_error *err)
{
	const struct gradient gradient = {.conv = conv, .rows = rows, .dy = dy, .w = w, .channel_hi = conv->out_c, .dx = dx};
	int result = check(conv, rows, range, conv->in_h, err);

	return result ? result : data_gradient(&gradient, range, err);
}

int golden_data_gradient_add(const struct golden_conv *conv, int rows, const uint16_t *dy, const uint16_t *w, int channel_lo, int channel_hi,
                             struct golden_range range, float *sums, struct wc_error *err)
{
	const struct gradient gradient = {
		.conv = conv, .rows = rows, .dy = dy, .w = w, .channel_lo = channel_lo, .channel_hi = channel_hi, .sums = sums,
	};
	int result = check(conv, rows, range, conv->in_h, err);

	if (result)
		return result;
	if (channel_lo < 0 || channel_lo >= channel_hi || channel_hi > conv->out_c || channel_lo % rows)
		return wc_fail(err, WC_ERR_INPUT, "output channels %d to %d of %d: a slice must begin at a multiple of %d", channel_lo, channel_hi, conv->out_c,
		               rows);
	return data_gradient(&gradient, range, err);
}

// The weight gradient's operands of one chunk: a[m][lane] = dy of pixel `lane`, b[lane][j] = the x that tap and channel j see from there.
struct chunk {
	const struct golden_conv *conv;
	int rows, columns, padded;
	float *a, *b;
	int lanes; // filled so far
};

static void chunk_add_pixel(struct chunk *chunk, const uint16_t *x, const uint16_t *dy, int n, int oy, int ox)
{
	const struct golden_conv *conv = chunk->conv;
	const uint16_t *gradient = dy + golden_out_index(conv, n, oy, ox, 0);
	float *row = chunk->b + (size_t)chunk->lanes * chunk->padded;

	for (int k = 0; k < conv->out_c; k++)
		chunk->a[(size_t)k * chunk->rows + chunk->lanes] = golden_half_to_float(gradient[k]);
	for (int r = 0; r < conv->kernel_h; r++)
		for (int s = 0; s < conv->kernel_w; s++, row += conv->in_c) {
			int iy = oy * conv->stride_h - conv->pad_h + r * conv->dilation_h;
			int ix = ox * conv->stride_w - conv->pad_w + s * conv->dilation_w;

			if (iy < 0 || iy >= conv->in_h || ix < 0 || ix >= conv->in_w)
				memset(row, 0, conv->in_c * sizeof(*row));
			else
				golden_halves_to_floats(row, x + golden_in_index(conv, n, iy, ix, 0), conv->in_c);
		}
	chunk->lanes++;
}

static void chunk_finish(struct chunk *chunk, float *acc)
{
	golden_wave_add(acc, chunk->padded, chunk->a, chunk->rows, chunk->b, chunk->padded, chunk->conv->out_c, chunk->padded, chunk->lanes);
	chunk->lanes = 0;
}

int golden_weight_gradient_add(const struct golden_conv *conv, int rows, const uint16_t *x, const uint16_t *dy, struct golden_range cut, float *sums,
                               struct wc_error *err)
{
	struct chunk chunk = {.conv = conv, .rows = rows};
	float *acc = NULL;
	int result = check(conv, rows, cut, conv->out_h, err);

	if (result)
		return result;
	chunk.columns = conv->kernel_h * conv->kernel_w * conv->in_c;
	chunk.padded = golden_wave_pad(chunk.columns);
	acc = wc_alloc((size_t)conv->out_c * chunk.padded, sizeof(*acc));
	chunk.a = wc_alloc((size_t)conv->out_c * rows, sizeof(*chunk.a));
	chunk.b = wc_alloc((size_t)rows * chunk.padded, sizeof(*chunk.b));
	if (!acc || !chunk.a || !chunk.b) {
		result = wc_fail(err, WC_ERR_SYSTEM, "out of memory for a weight gradient of %dx%d sums", conv->out_c, chunk.columns);
		goto free_buffers;
	}
	for (int k = 0; k < conv->out_c; k++)
		memcpy(acc + (size_t)k * chunk.padded, sums + (size_t)k * chunk.columns, chunk.columns * sizeof(*sums));
	for (int n = cut.sample_lo; n < cut.sample_hi; n++)
		for (int oy = cut.row_lo; oy < cut.row_hi; oy++)
			for (int ox = 0; ox < conv->out_w; ox++) {
				chunk_add_pixel(&chunk, x, dy, n, oy, ox);
				if (chunk.lanes == rows)
					chunk_finish(&chunk, acc);
			}
	if (chunk.lanes)
		chunk_finish(&chunk, acc);
	for (int k = 0; k < conv->out_c; k++)
		for (int j = 0; j < chunk.columns; j++)
			sums[(size_t)k * chunk.columns + j] = golden_float_of(golden_float_bits(acc[(size_t)k * chunk.padded + j]));

free_buffers:
	wc_free(chunk.b);
	wc_free(chunk.a);
	wc_free(acc);
	return result;
}

int golden_bias_gradient_add(const struct golden_conv *conv, int rows, const uint16_t *dy, struct golden_range cut, float *sums, struct wc_error *err)
{
	int result = check(conv, rows, cut, conv->out_h, err);

	if (result)
		return result;
	for (int k = 0; k < conv->out_c; k++) {
		float acc = sums[k], sum = 0;
		int lane = 0;

		for (int n = cut.sample_lo; n < cut.sample_hi; n++)
			for (int oy = cut.row_lo; oy < cut.row_hi; oy++)
				for (int ox = 0; ox < conv->out_w; ox++) {
					sum += golden_half_to_float(dy[golden_out_index(conv, n, oy, ox, k)]);
					if (++lane < rows)
						continue;
					acc += sum;
					sum = 0;
					lane = 0;
				}
		if (lane)
			acc += sum;
		sums[k] = golden_float_of(golden_float_bits(acc));
	}
	return 0;
}
