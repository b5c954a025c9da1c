// SPDX-License-Identifier: Apache-2.0
//
// Shapes of pools, and max pooling. See pool.h for the order.
#include "csim/golden/pool.h"

#include <string.h>

#include "csim/golden/conv.h"
#include "csim/golden/half.h"
#include "csim/golden/pool_shape.h"
#include "csim/golden/window.h"

bool golden_pool_valid(const struct golden_pool *pool)
{
	return pool->batch > 0 && pool->in_h > 0 && pool->in_w > 0 && pool->channels > 0 && pool->out_h > 0 && pool->out_w > 0 &&
	       pool->kernel_h > 0 && pool->kernel_w > 0 && pool->kernel_h <= GOLDEN_POOL_AREA_MAX / pool->kernel_w &&
	       pool->stride_h > 0 && pool->stride_w > 0 && pool->pad_h >= 0 && pool->pad_w >= 0 && pool->pad_h < pool->kernel_h &&
	       pool->pad_w < pool->kernel_w &&
	       pool->out_h == golden_conv_output(pool->in_h, pool->kernel_h, pool->stride_h, pool->pad_h, 1) &&
	       pool->out_w == golden_conv_output(pool->in_w, pool->kernel_w, pool->stride_w, pool->pad_w, 1);
}

int pool_check(const struct golden_pool *pool, struct golden_range range, int height, struct wc_error *err)
{
	if (!golden_pool_valid(pool))
		return wc_fail(
		    err, WC_ERR_INPUT,
		    "pool %dx%dx%d -> %dx%d, batch %d, kernel %dx%d, stride %dx%d, pad %dx%d: shapes do not belong together, "
		    "or pad is not below the kernel, or the kernel has more than %d taps",
		    pool->in_h, pool->in_w, pool->channels, pool->out_h, pool->out_w, pool->batch, pool->kernel_h, pool->kernel_w,
		    pool->stride_h, pool->stride_w, pool->pad_h, pool->pad_w, GOLDEN_POOL_AREA_MAX);
	return golden_range_check(range, pool->batch, height, err);
}

struct golden_pool golden_pool_global(int batch, int height, int width, int channels)
{
	return (struct golden_pool){
		.batch = batch, .in_h = height, .in_w = width, .channels = channels, .out_h = 1, .out_w = 1,
		.kernel_h = height, .kernel_w = width, .stride_h = 1, .stride_w = 1,
	};
}

int golden_pool_index_bits(const struct golden_pool *pool)
{
	int bits = 0;

	while (1 << bits < pool->kernel_h * pool->kernel_w)
		bits++;
	return bits;
}

size_t golden_pool_index_row_bytes(const struct golden_pool *pool)
{
	return ((size_t)pool->out_w * pool->channels * golden_pool_index_bits(pool) + 7) / 8;
}

// Element `at` of an index row that is zero there.
static void put_index(uint8_t *row, size_t at, int bits, int tap)
{
	for (int i = 0; i < bits; i++) {
		size_t bit = at * bits + i;

		row[bit / 8] |= (uint8_t)((tap >> i & 1) << bit % 8);
	}
}

static int get_index(const uint8_t *row, size_t at, int bits)
{
	int tap = 0;

	for (int i = 0; i < bits; i++) {
		size_t bit = at * bits + i;

		tap |= (row[bit / 8] >> bit % 8 & 1) << i;
	}
	return tap;
}

// The winning tap of window (oy, ox), and its value in `value`.
static int window_max(const struct golden_pool *pool, const uint16_t *x, int n, int oy, int ox, int c, uint16_t *value)
{
	struct window_span rows = window_taps(oy, pool->in_h, pool->kernel_h, pool->stride_h, pool->pad_h);
	struct window_span columns = window_taps(ox, pool->in_w, pool->kernel_w, pool->stride_w, pool->pad_w);
	float largest = 0;
	int winner = -1;

	for (int r = rows.lo; r < rows.hi; r++)
		for (int s = columns.lo; s < columns.hi; s++) {
			uint16_t half = x[pool_in_index(pool, n, oy * pool->stride_h - pool->pad_h + r,
							ox * pool->stride_w - pool->pad_w + s, c)];
			float candidate = golden_half_to_float(half);

			if (winner >= 0 && !(candidate > largest) && !golden_half_is_nan(half))
				continue;
			winner = r * pool->kernel_w + s;
			largest = candidate;
			*value = golden_half_canonical(half);
			if (golden_half_is_nan(half))
				return winner;
		}
	return winner;
}

int golden_max_pool(const struct golden_pool *pool, const uint16_t *x, struct golden_range range, uint16_t *y, uint8_t *index,
		    struct wc_error *err)
{
	int bits, result = pool_check(pool, range, pool->out_h, err);
	size_t row_bytes;

	if (result)
		return result;
	bits = golden_pool_index_bits(pool);
	row_bytes = golden_pool_index_row_bytes(pool);
	for (int n = range.sample_lo; n < range.sample_hi; n++)
		for (int oy = range.row_lo; oy < range.row_hi; oy++) {
			uint8_t *index_row = index ? index + ((size_t)n * pool->out_h + oy) * row_bytes : NULL;

			if (index_row)
				memset(index_row, 0, row_bytes);
			for (int ox = 0; ox < pool->out_w; ox++)
				for (int c = 0; c < pool->channels; c++) {
					int tap = window_max(pool, x, n, oy, ox, c, &y[pool_out_index(pool, n, oy, ox, c)]);

					if (index_row)
						put_index(index_row, (size_t)ox * pool->channels + c, bits, tap);
				}
		}
	return 0;
}

static uint16_t gather_max(const struct golden_pool *pool, const uint16_t *dy, const uint8_t *index, int n, int iy, int ix, int c)
{
	struct window_span rows = window_covering(iy, pool->out_h, pool->kernel_h, pool->stride_h, pool->pad_h);
	struct window_span columns = window_covering(ix, pool->out_w, pool->kernel_w, pool->stride_w, pool->pad_w);
	size_t row_bytes = golden_pool_index_row_bytes(pool);
	int bits = golden_pool_index_bits(pool);
	float sum = 0;

	for (int oy = rows.lo; oy < rows.hi; oy++)
		for (int ox = columns.lo; ox < columns.hi; ox++) {
			int r = iy + pool->pad_h - oy * pool->stride_h, s = ix + pool->pad_w - ox * pool->stride_w;
			int tap =
			    get_index(index + ((size_t)n * pool->out_h + oy) * row_bytes, (size_t)ox * pool->channels + c, bits);

			if (tap == r * pool->kernel_w + s)
				sum += golden_half_to_float(dy[pool_out_index(pool, n, oy, ox, c)]);
		}
	return golden_half_from_float(sum);
}

int golden_max_pool_gradient(const struct golden_pool *pool, const uint16_t *dy, const uint8_t *index, struct golden_range range,
			     uint16_t *dx, struct wc_error *err)
{
	int result = pool_check(pool, range, pool->in_h, err);

	if (result)
		return result;
	for (int n = range.sample_lo; n < range.sample_hi; n++)
		for (int iy = range.row_lo; iy < range.row_hi; iy++)
			for (int ix = 0; ix < pool->in_w; ix++)
				for (int c = 0; c < pool->channels; c++)
					dx[pool_in_index(pool, n, iy, ix, c)] = gather_max(pool, dy, index, n, iy, ix, c);
	return 0;
}
