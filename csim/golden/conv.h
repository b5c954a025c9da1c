// SPDX-License-Identifier: Apache-2.0
//
// The shape of a convolution, as every golden operator takes it.
//
// Tensors are dense: feature maps NHWC, weights and weight gradients KRSC (K output channels, R x S taps,
// C input channels). The arrays behind them belong to the caller.
//
//     y[n][oy][ox][k] = sum over r, s, c of x[n][oy stride_h - pad_h + r dilation_h][ox stride_w - pad_w + s dilation_w][c] w[k][r][s][c]
//
// where x is +0 outside the image.
#ifndef WC_GOLDEN_CONV_H
#define WC_GOLDEN_CONV_H

#include <stdbool.h>
#include <stddef.h>

#include "csim/golden/range.h"

enum { GOLDEN_KERNEL_MAX = 255 }; // taps along one axis

struct golden_conv {
	int batch;
	int in_h, in_w, in_c;
	int out_h, out_w, out_c; // out_h and out_w as golden_conv_output() gives them
	int kernel_h, kernel_w;
	int stride_h, stride_w;
	int pad_h, pad_w;        // the same on both sides
	int dilation_h, dilation_w;
};

// Length of the output along one axis; 0 or less: the kernel does not fit.
static inline int golden_conv_output(int in, int kernel, int stride, int pad, int dilation)
{
	int room = in + 2 * pad - dilation * (kernel - 1) - 1;

	return room < 0 ? 0 : room / stride + 1;
}

// Whether all sizes are positive, the kernel is within its limit, and the output's size belongs to the input's.
static inline bool golden_conv_valid(const struct golden_conv *conv)
{
	return conv->batch > 0 && conv->in_h > 0 && conv->in_w > 0 && conv->in_c > 0 && conv->out_h > 0 && conv->out_w > 0 && conv->out_c > 0 &&
	       conv->kernel_h > 0 && conv->kernel_w > 0 && conv->kernel_h <= GOLDEN_KERNEL_MAX && conv->kernel_w <= GOLDEN_KERNEL_MAX &&
	       conv->stride_h > 0 && conv->stride_w > 0 && conv->pad_h >= 0 && conv->pad_w >= 0 && conv->dilation_h > 0 && conv->dilation_w > 0 &&
	       conv->out_h == golden_conv_output(conv->in_h, conv->kernel_h, conv->stride_h, conv->pad_h, conv->dilation_h) &&
	       conv->out_w == golden_conv_output(conv->in_w, conv->kernel_w, conv->stride_w, conv->pad_w, conv->dilation_w);
}

// Elements of the three tensors.
static inline size_t golden_conv_in_count(const struct golden_conv *conv)
{
	return (size_t)conv->batch * conv->in_h * conv->in_w * conv->in_c;
}

static inline size_t golden_conv_out_count(const struct golden_conv *conv)
{
	return (size_t)conv->batch * conv->out_h * conv->out_w * conv->out_c;
}

static inline size_t golden_conv_weight_count(const struct golden_conv *conv)
{
	return (size_t)conv->out_c * conv->kernel_h * conv->kernel_w * conv->in_c;
}

// Index of an element of the input (and its gradient), the output (and its gradient), the weights.
static inline size_t golden_in_index(const struct golden_conv *conv, int n, int y, int x, int c)
{
	return (((size_t)n * conv->in_h + y) * conv->in_w + x) * conv->in_c + c;
}

static inline size_t golden_out_index(const struct golden_conv *conv, int n, int y, int x, int k)
{
	return (((size_t)n * conv->out_h + y) * conv->out_w + x) * conv->out_c + k;
}

static inline size_t golden_weight_index(const struct golden_conv *conv, int k, int r, int s, int c)
{
	return (((size_t)k * conv->kernel_h + r) * conv->kernel_w + s) * conv->in_c + c;
}

// All of the input's, or the output's, rows.
static inline struct golden_range golden_range_in(const struct golden_conv *conv)
{
	return (struct golden_range){0, conv->batch, 0, conv->in_h};
}

static inline struct golden_range golden_range_out(const struct golden_conv *conv)
{
	return (struct golden_range){0, conv->batch, 0, conv->out_h};
}

#endif
