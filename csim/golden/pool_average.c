// SPDX-License-Identifier: Apache-2.0
//
// Average pooling with fixed and adaptive windows. See pool.h for the order.
#include "csim/golden/half.h"
#include "csim/golden/pool.h"
#include "csim/golden/pool_shape.h"
#include "csim/golden/window.h"

// Rounded once, as both operands are binary32 values.
static float inverse(int area)
{
	return 1.0f / (float)area;
}

int golden_average_pool(const struct golden_pool *pool, const uint16_t *x, struct golden_range range, uint16_t *y,
			struct wc_error *err)
{
	int result = pool_check(pool, range, pool->out_h, err);
	float q;

	if (result)
		return result;
	q = inverse(pool->kernel_h * pool->kernel_w);
	for (int n = range.sample_lo; n < range.sample_hi; n++)
	for (int oy = range.row_lo; oy < range.row_hi; oy++)
	for (int ox = 0; ox < pool->out_w; ox++) {
		struct window_span rows = window_taps(oy, pool->in_h, pool->kernel_h, pool->stride_h, pool->pad_h);
		struct window_span columns = window_taps(ox, pool->in_w, pool->kernel_w, pool->stride_w, pool->pad_w);

		for (int c = 0; c < pool->channels; c++) {
			float sum = 0;

			for (int r = rows.lo; r < rows.hi; r++)
				for (int s = columns.lo; s < columns.hi; s++)
					sum +=
					    golden_half_to_float(x[pool_in_index(pool, n, oy * pool->stride_h - pool->pad_h + r,
										 ox * pool->stride_w - pool->pad_w + s, c)]);
			y[pool_out_index(pool, n, oy, ox, c)] = golden_half_from_float(sum * q);
		}
	}
	return 0;
}

int golden_average_pool_gradient(const struct golden_pool *pool, const uint16_t *dy, struct golden_range range, uint16_t *dx,
				 struct wc_error *err)
{
	int result = pool_check(pool, range, pool->in_h, err);
	float q;

	if (result)
		return result;
	q = inverse(pool->kernel_h * pool->kernel_w);
	for (int n = range.sample_lo; n < range.sample_hi; n++)
	for (int iy = range.row_lo; iy < range.row_hi; iy++)
	for (int ix = 0; ix < pool->in_w; ix++) {
		struct window_span rows = window_covering(iy, pool->out_h, pool->kernel_h, pool->stride_h, pool->pad_h);
		struct window_span columns = window_covering(ix, pool->out_w, pool->kernel_w, pool->stride_w, pool->pad_w);

		for (int c = 0; c < pool->channels; c++) {
			float sum = 0;

			for (int oy = rows.lo; oy < rows.hi; oy++)
				for (int ox = columns.lo; ox < columns.hi; ox++)
					sum += golden_half_to_float(dy[pool_out_index(pool, n, oy, ox, c)]);
			dx[pool_in_index(pool, n, iy, ix, c)] = golden_half_from_float(sum * q);
		}
	}
	return 0;
}

bool golden_adaptive_pool_valid(const struct golden_adaptive_pool *pool)
{
	return pool->batch > 0 && pool->in_h > 0 && pool->in_w > 0 && pool->channels > 0 && pool->out_h > 0 && pool->out_w > 0 &&
	       pool->in_h <= GOLDEN_POOL_AREA_MAX / pool->in_w;
}

static int adaptive_check(const struct golden_adaptive_pool *pool, struct golden_range range, int height, struct wc_error *err)
{
	if (!golden_adaptive_pool_valid(pool))
		return wc_fail(err, WC_ERR_INPUT,
			       "adaptive pool %dx%dx%d -> %dx%d, batch %d: all must be positive, an image at most %d pixels",
			       pool->in_h, pool->in_w, pool->channels, pool->out_h, pool->out_w, pool->batch,
			       GOLDEN_POOL_AREA_MAX);
	return golden_range_check(range, pool->batch, height, err);
}

static size_t adaptive_in(const struct golden_adaptive_pool *pool, int n, int y, int x, int c)
{
	return (((size_t)n * pool->in_h + y) * pool->in_w + x) * pool->channels + c;
}

static size_t adaptive_out(const struct golden_adaptive_pool *pool, int n, int y, int x, int c)
{
	return (((size_t)n * pool->out_h + y) * pool->out_w + x) * pool->channels + c;
}

int golden_adaptive_pool(const struct golden_adaptive_pool *pool, const uint16_t *x, struct golden_range range, uint16_t *y,
			 struct wc_error *err)
{
	int result = adaptive_check(pool, range, pool->out_h, err);

	if (result)
		return result;
	for (int n = range.sample_lo; n < range.sample_hi; n++)
	for (int oy = range.row_lo; oy < range.row_hi; oy++)
	for (int ox = 0; ox < pool->out_w; ox++) {
		struct window_span rows = window_adaptive(oy, pool->in_h, pool->out_h);
		struct window_span columns = window_adaptive(ox, pool->in_w, pool->out_w);
		float q = inverse((rows.hi - rows.lo) * (columns.hi - columns.lo));

		for (int c = 0; c < pool->channels; c++) {
			float sum = 0;

			for (int iy = rows.lo; iy < rows.hi; iy++)
				for (int ix = columns.lo; ix < columns.hi; ix++)
					sum += golden_half_to_float(x[adaptive_in(pool, n, iy, ix, c)]);
			y[adaptive_out(pool, n, oy, ox, c)] = golden_half_from_float(sum * q);
		}
	}
	return 0;
}

static uint16_t gather_adaptive(const struct golden_adaptive_pool *pool, const uint16_t *dy, int n, int iy, int ix, int c)
{
	struct window_span out_rows = window_adaptive_covering(iy, pool->in_h, pool->out_h);
	struct window_span out_columns = window_adaptive_covering(ix, pool->in_w, pool->out_w);
	float sum = 0;

	for (int oy = out_rows.lo; oy < out_rows.hi; oy++)
		for (int ox = out_columns.lo; ox < out_columns.hi; ox++) {
			struct window_span rows = window_adaptive(oy, pool->in_h, pool->out_h);
			struct window_span columns = window_adaptive(ox, pool->in_w, pool->out_w);

			sum += golden_half_to_float(dy[adaptive_out(pool, n, oy, ox, c)]) *
			       inverse((rows.hi - rows.lo) * (columns.hi - columns.lo));
		}
	return golden_half_from_float(sum);
}

int golden_adaptive_pool_gradient(const struct golden_adaptive_pool *pool, const uint16_t *dy, struct golden_range range,
				  uint16_t *dx, struct wc_error *err)
{
	int result = adaptive_check(pool, range, pool->in_h, err);

	if (result)
		return result;
	for (int n = range.sample_lo; n < range.sample_hi; n++)
		for (int iy = range.row_lo; iy < range.row_hi; iy++)
			for (int ix = 0; ix < pool->in_w; ix++)
				for (int c = 0; c < pool->channels; c++)
					dx[adaptive_in(pool, n, iy, ix, c)] = gather_adaptive(pool, dy, n, iy, ix, c);
	return 0;
}
