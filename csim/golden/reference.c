// SPDX-License-Identifier: Apache-2.0
//
// Float64 reference operators: the equations of reference.h, loop by loop.
#include "csim/golden/reference.h"

#include <math.h>

static bool inside(const struct golden_conv *conv, int y, int x)
{
	return y >= 0 && y < conv->in_h && x >= 0 && x < conv->in_w;
}

void golden_reference_forward(const struct golden_conv *conv, const double *x, const double *w, double *y)
{
	for (int n = 0; n < conv->batch; n++)
	for (int oy = 0; oy < conv->out_h; oy++)
	for (int ox = 0; ox < conv->out_w; ox++)
	for (int k = 0; k < conv->out_c; k++) {
		double sum = 0;

		for (int r = 0; r < conv->kernel_h; r++)
		for (int s = 0; s < conv->kernel_w; s++) {
			int iy = oy * conv->stride_h - conv->pad_h + r * conv->dilation_h;
			int ix = ox * conv->stride_w - conv->pad_w + s * conv->dilation_w;

			if (!inside(conv, iy, ix))
				continue;
			for (int c = 0; c < conv->in_c; c++)
				sum += x[golden_in_index(conv, n, iy, ix, c)] * w[golden_weight_index(conv, k, r, s, c)];
		}
		y[golden_out_index(conv, n, oy, ox, k)] = sum;
	}
}

void golden_reference_forward_bias(const struct golden_conv *conv, const double *x, const double *w, const double *bias, double *y)
{
	golden_reference_forward(conv, x, w, y);
	for (size_t i = 0; i < golden_conv_out_count(conv); i++)
		y[i] += bias[i % conv->out_c];
}

void golden_reference_bias_gradient(const struct golden_conv *conv, const double *dy, double *db)
{
	for (int k = 0; k < conv->out_c; k++) {
		db[k] = 0;
		for (size_t i = k; i < golden_conv_out_count(conv); i += conv->out_c)
			db[k] += dy[i];
	}
}

void golden_reference_data_gradient(const struct golden_conv *conv, const double *dy, const double *w, double *dx)
{
	for (int n = 0; n < conv->batch; n++)
	for (int iy = 0; iy < conv->in_h; iy++)
	for (int ix = 0; ix < conv->in_w; ix++)
	for (int c = 0; c < conv->in_c; c++) {
		double sum = 0;

		for (int r = 0; r < conv->kernel_h; r++)
		for (int s = 0; s < conv->kernel_w; s++) {
			int y = iy + conv->pad_h - r * conv->dilation_h;
			int x = ix + conv->pad_w - s * conv->dilation_w;

			if (y < 0 || x < 0 || y % conv->stride_h != 0 || x % conv->stride_w != 0)
				continue;
			y /= conv->stride_h;
			x /= conv->stride_w;
			if (y >= conv->out_h || x >= conv->out_w)
				continue;
			for (int k = 0; k < conv->out_c; k++)
				sum += dy[golden_out_index(conv, n, y, x, k)] * w[golden_weight_index(conv, k, r, s, c)];
		}
		dx[golden_in_index(conv, n, iy, ix, c)] = sum;
	}
}

void golden_reference_weight_gradient(const struct golden_conv *conv, const double *x, const double *dy, double *dw)
{
	for (int k = 0; k < conv->out_c; k++)
	for (int r = 0; r < conv->kernel_h; r++)
	for (int s = 0; s < conv->kernel_w; s++)
	for (int c = 0; c < conv->in_c; c++) {
		double sum = 0;

		for (int n = 0; n < conv->batch; n++)
		for (int oy = 0; oy < conv->out_h; oy++)
		for (int ox = 0; ox < conv->out_w; ox++) {
			int iy = oy * conv->stride_h - conv->pad_h + r * conv->dilation_h;
			int ix = ox * conv->stride_w - conv->pad_w + s * conv->dilation_w;

			if (inside(conv, iy, ix))
				sum += dy[golden_out_index(conv, n, oy, ox, k)] * x[golden_in_index(conv, n, iy, ix, c)];
		}
		dw[golden_weight_index(conv, k, r, s, c)] = sum;
	}
}

void golden_reference_relu(const double *x, size_t count, double *y)
{
	for (size_t i = 0; i < count; i++)
		y[i] = x[i] > 0 || isnan(x[i]) ? x[i] : 0;
}

void golden_reference_relu_gradient(const double *x, const double *dy, size_t count, double *dx)
{
	for (size_t i = 0; i < count; i++)
		dx[i] = x[i] > 0 || isnan(x[i]) ? dy[i] : 0;
}

void golden_reference_add(const double *const *inputs, int input_count, size_t count, double *y)
{
	for (size_t i = 0; i < count; i++) {
		y[i] = 0;
		for (int j = 0; j < input_count; j++)
			y[i] += inputs[j][i];
	}
}

void golden_reference_sgd(const struct golden_sgd *sgd, const double *gradient, size_t count, double *w, double *v)
{
	for (size_t i = 0; i < count; i++) {
		v[i] = sgd->mu * v[i] + gradient[i] * sgd->inv_scale + sgd->decay * w[i];
		w[i] -= sgd->lr * v[i];
	}
}
