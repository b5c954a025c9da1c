// SPDX-License-Identifier: Apache-2.0
//
// Windows one by one; gradients scattered.
#include "csim/golden/reference_pool.h"

#include <string.h>

#include "csim/golden/pool_shape.h"

// Index of the pixel under tap (r, s) of window (oy, ox); -1: padding.
static long under(const struct golden_pool *pool, int n, int oy, int ox, int r, int s, int c)
{
	int y = oy * pool->stride_h - pool->pad_h + r, x = ox * pool->stride_w - pool->pad_w + s;

	return y < 0 || y >= pool->in_h || x < 0 || x >= pool->in_w ? -1 : (long)pool_in_index(pool, n, y, x, c);
}

// Index of the first of the largest under the window.
static long largest_under(const struct golden_pool *pool, const double *x, int n, int oy, int ox, int c)
{
	long largest = -1;

	for (int r = 0; r < pool->kernel_h; r++)
		for (int s = 0; s < pool->kernel_w; s++) {
			long at = under(pool, n, oy, ox, r, s, c);

			if (at >= 0 && (largest < 0 || x[at] > x[largest]))
				largest = at;
		}
	return largest;
}

static size_t in_count(const struct golden_pool *pool)
{
	return (size_t)pool->batch * pool->in_h * pool->in_w * pool->channels;
}

void golden_reference_max_pool(const struct golden_pool *pool, const double *x, double *y)
{
	for (int n = 0; n < pool->batch; n++)
	for (int oy = 0; oy < pool->out_h; oy++)
	for (int ox = 0; ox < pool->out_w; ox++)
	for (int c = 0; c < pool->channels; c++)
		y[pool_out_index(pool, n, oy, ox, c)] = x[largest_under(pool, x, n, oy, ox, c)];
}

void golden_reference_max_pool_gradient(const struct golden_pool *pool, const double *x, const double *dy, double *dx)
{
	memset(dx, 0, in_count(pool) * sizeof(*dx));
	for (int n = 0; n < pool->batch; n++)
	for (int oy = 0; oy < pool->out_h; oy++)
	for (int ox = 0; ox < pool->out_w; ox++)
	for (int c = 0; c < pool->channels; c++)
		dx[largest_under(pool, x, n, oy, ox, c)] += dy[pool_out_index(pool, n, oy, ox, c)];
}

void golden_reference_average_pool(const struct golden_pool *pool, const double *x, double *y)
{
	for (int n = 0; n < pool->batch; n++)
	for (int oy = 0; oy < pool->out_h; oy++)
	for (int ox = 0; ox < pool->out_w; ox++)
	for (int c = 0; c < pool->channels; c++) {
		double sum = 0;

		for (int r = 0; r < pool->kernel_h; r++)
			for (int s = 0; s < pool->kernel_w; s++) {
				long at = under(pool, n, oy, ox, r, s, c);

				sum += at < 0 ? 0 : x[at];
			}
		y[pool_out_index(pool, n, oy, ox, c)] = sum / ((double)pool->kernel_h * pool->kernel_w);
	}
}

void golden_reference_average_pool_gradient(const struct golden_pool *pool, const double *dy, double *dx)
{
	memset(dx, 0, in_count(pool) * sizeof(*dx));
	for (int n = 0; n < pool->batch; n++)
	for (int oy = 0; oy < pool->out_h; oy++)
	for (int ox = 0; ox < pool->out_w; ox++)
	for (int c = 0; c < pool->channels; c++)
		for (int r = 0; r < pool->kernel_h; r++)
			for (int s = 0; s < pool->kernel_w; s++) {
				long at = under(pool, n, oy, ox, r, s, c);

				if (at >= 0)
					dx[at] +=
					    dy[pool_out_index(pool, n, oy, ox, c)] / ((double)pool->kernel_h * pool->kernel_w);
			}
}

// Adaptive windows: output o of `count` averages from floor(o in / count) to ceil((o + 1) in / count).
static int adaptive_lo(int o, int in, int count)
{
	return (int)((long)o * in / count);
}

static int adaptive_hi(int o, int in, int count)
{
	long end = (o + 1L) * in;

	return (int)(end / count + (end % count != 0));
}

// One output after the other: its mean into y, or its dy shared out over dx.
static void adaptive(const struct golden_adaptive_pool *pool, const double *x, double *y, const double *dy, double *dx)
{
	size_t at = 0;

	for (int n = 0; n < pool->batch; n++)
	for (int oy = 0; oy < pool->out_h; oy++)
	for (int ox = 0; ox < pool->out_w; ox++)
	for (int c = 0; c < pool->channels; c++, at++) {
		int top = adaptive_lo(oy, pool->in_h, pool->out_h), bottom = adaptive_hi(oy, pool->in_h, pool->out_h);
		int left = adaptive_lo(ox, pool->in_w, pool->out_w), right = adaptive_hi(ox, pool->in_w, pool->out_w);
		double area = (double)(bottom - top) * (right - left), sum = 0;

		for (int iy = top; iy < bottom; iy++)
			for (int ix = left; ix < right; ix++) {
				size_t pixel = (((size_t)n * pool->in_h + iy) * pool->in_w + ix) * pool->channels + c;

				if (y)
					sum += x[pixel];
				else
					dx[pixel] += dy[at] / area;
			}
		if (y)
			y[at] = sum / area;
	}
}

void golden_reference_adaptive_pool(const struct golden_adaptive_pool *pool, const double *x, double *y)
{
	adaptive(pool, x, y, NULL, NULL);
}

void golden_reference_adaptive_pool_gradient(const struct golden_adaptive_pool *pool, const double *dy, double *dx)
{
	memset(dx, 0, (size_t)pool->batch * pool->in_h * pool->in_w * pool->channels * sizeof(*dx));
	adaptive(pool, NULL, NULL, dy, dx);
}
