// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/naive_pool.h"

#include <stdlib.h>

#include "tests/golden/naive.h"
#include "tests/golden/rig.h"

// A window as the list of its pixels in order.
struct window {
	int n, c, area, count;
	struct {
		long pixel; // index in x; -1: padding
		int tap;
	} *list;
};

static void list_box(struct window *window, int n, int top, int left, int height, int width, int in_h, int in_w, int channels,
		     int c, bool columns_first)
{
	window->area = height * width;
	window->count = 0;
	for (int i = 0; i < height * width; i++) {
		int r = columns_first ? i % height : i / width, s = columns_first ? i / height : i % width;
		int y = top + r, x = left + s;
		bool outside = y < 0 || x < 0 || y >= in_h || x >= in_w;

		window->list[window->count].pixel = outside ? -1 : (((long)n * in_h + y) * in_w + x) * channels + c;
		window->list[window->count++].tap = r * width + s;
	}
}

// Window number `at` of the pool's output.
static void list_window(struct window *window, const struct golden_pool *pool, long at, enum pool_fault fault)
{
	int c = (int)(at % pool->channels), ox = (int)(at / pool->channels % pool->out_w);
	int oy = (int)(at / pool->channels / pool->out_w % pool->out_h), n = (int)(at / pool->channels / pool->out_w / pool->out_h);

	list_box(window, n, oy * pool->stride_h - pool->pad_h, ox * pool->stride_w - pool->pad_w, pool->kernel_h, pool->kernel_w,
		 pool->in_h, pool->in_w, pool->channels, c, fault == POOL_COLUMNS_FIRST);
}

static void list_adaptive(struct window *window, const struct golden_adaptive_pool *pool, long at, enum pool_fault fault)
{
	int c = (int)(at % pool->channels), ox = (int)(at / pool->channels % pool->out_w);
	int oy = (int)(at / pool->channels / pool->out_w % pool->out_h), n = (int)(at / pool->channels / pool->out_w / pool->out_h);
	int top = (int)floor((double)oy * pool->in_h / pool->out_h), bottom = (int)ceil((oy + 1.0) * pool->in_h / pool->out_h);
	int left = (int)floor((double)ox * pool->in_w / pool->out_w), right = (int)ceil((ox + 1.0) * pool->in_w / pool->out_w);

	list_box(window, n, top, left, bottom - top, right - left, pool->in_h, pool->in_w, pool->channels, c,
		 fault == POOL_COLUMNS_FIRST);
}

static struct window new_window(int area)
{
	struct window window = {0};

	window.list = rig_zeros(area, sizeof(*window.list));
	return window;
}

static long out_count(const struct golden_pool *pool)
{
	return (long)pool->batch * pool->out_h * pool->out_w * pool->channels;
}

static long in_count(const struct golden_pool *pool)
{
	return (long)pool->batch * pool->in_h * pool->in_w * pool->channels;
}

void naive_max_pool(const struct golden_pool *pool, const uint16_t *x, uint16_t *y, int *taps, enum pool_fault fault)
{
	struct window window = new_window(pool->kernel_h * pool->kernel_w);

	for (long at = 0; at < out_count(pool); at++) {
		float best = -INFINITY;

		list_window(&window, pool, at, fault);
		taps[at] = -1;
		for (int i = 0; i < window.count && !(taps[at] >= 0 && isnan(best)); i++) {
			float value = window.list[i].pixel < 0 ? 0 : naive_widen(x[window.list[i].pixel]);

			if (window.list[i].pixel < 0 && fault != POOL_PADDING_IS_ZERO)
				continue;
			if (taps[at] < 0 || value > best || isnan(value) || (fault == POOL_LAST_MAXIMUM && value == best)) {
				best = value;
				taps[at] = window.list[i].tap + (fault == POOL_TAP_OFF_BY_ONE);
			}
		}
		y[at] = naive_narrow(best);
	}
	free(window.list);
}

void naive_pack_index(const struct golden_pool *pool, const int *taps, uint8_t *index)
{
	int bits = (int)ceil(log2((double)pool->kernel_h * pool->kernel_w)), row = pool->out_w * pool->channels;
	uint8_t *byte = index;

	for (int i = 0; i < pool->batch * pool->out_h; i++, byte += (row * bits + 7) / 8)
		for (int bit = 0; bit < row * bits; bit++)
			byte[bit / 8] =
			    (uint8_t)((bit % 8 ? byte[bit / 8] : 0) | (taps[i * row + bit / bits] >> bit % bits & 1) << bit % 8);
}

static void narrow_all(const float *sums, long count, float scale, uint16_t *halves)
{
	for (long i = 0; i < count; i++)
		halves[i] = naive_narrow(naive_mul(sums[i], scale));
}

void naive_max_pool_gradient(const struct golden_pool *pool, const int *taps, const uint16_t *dy, uint16_t *dx,
			     enum pool_fault fault)
{
	struct window window = new_window(pool->kernel_h * pool->kernel_w);
	float *sums = rig_zeros(in_count(pool), sizeof(*sums));

	for (long i = 0; i < out_count(pool); i++) {
		long at = fault == POOL_WINDOWS_DESCENDING ? out_count(pool) - 1 - i : i, pixel;

		list_window(&window, pool, at, POOL_RIGHT);
		pixel = taps[at] < window.count ? window.list[taps[at]].pixel : -1;
		if (pixel >= 0)
			sums[pixel] = naive_add(sums[pixel], naive_widen(dy[at]));
	}
	narrow_all(sums, in_count(pool), 1, dx);
	free(sums);
	free(window.list);
}

static float sum_window(const struct window *window, const uint16_t *x, int *inside)
{
	float sum = 0;

	*inside = 0;
	for (int i = 0; i < window->count; i++)
		if (window->list[i].pixel >= 0) {
			sum = naive_add(sum, naive_widen(x[window->list[i].pixel]));
			++*inside;
		}
	return sum;
}

void naive_average_pool(const struct golden_pool *pool, const uint16_t *x, uint16_t *y, enum pool_fault fault)
{
	struct window window = new_window(pool->kernel_h * pool->kernel_w);

	for (long at = 0; at < out_count(pool); at++) {
		int inside;
		float sum;

		list_window(&window, pool, at, fault);
		sum = sum_window(&window, x, &inside);
		y[at] = naive_narrow(naive_mul(sum, (float)(1.0 / (fault == POOL_PADDING_NOT_COUNTED ? inside : window.area))));
	}
	free(window.list);
}

void naive_average_pool_gradient(const struct golden_pool *pool, const uint16_t *dy, uint16_t *dx, enum pool_fault fault)
{
	struct window window = new_window(pool->kernel_h * pool->kernel_w);
	float *sums = rig_zeros(in_count(pool), sizeof(*sums));

	for (long i = 0; i < out_count(pool); i++) {
		long at = fault == POOL_WINDOWS_DESCENDING ? out_count(pool) - 1 - i : i;

		list_window(&window, pool, at, POOL_RIGHT);
		for (int j = 0; j < window.count; j++)
			if (window.list[j].pixel >= 0)
				sums[window.list[j].pixel] = naive_add(sums[window.list[j].pixel], naive_widen(dy[at]));
	}
	narrow_all(sums, in_count(pool), (float)(1.0 / (pool->kernel_h * pool->kernel_w)), dx);
	free(sums);
	free(window.list);
}

void naive_adaptive_pool(const struct golden_adaptive_pool *pool, const uint16_t *x, uint16_t *y, enum pool_fault fault)
{
	struct window window = new_window(pool->in_h * pool->in_w);

	for (long at = 0; at < (long)pool->batch * pool->out_h * pool->out_w * pool->channels; at++) {
		int inside;
		float sum;

		list_adaptive(&window, pool, at, fault);
		sum = sum_window(&window, x, &inside);
		y[at] = naive_narrow(naive_mul(sum, (float)(1.0 / window.area)));
	}
	free(window.list);
}

void naive_adaptive_pool_gradient(const struct golden_adaptive_pool *pool, const uint16_t *dy, uint16_t *dx, enum pool_fault fault)
{
	struct window window = new_window(pool->in_h * pool->in_w);
	long count = (long)pool->batch * pool->out_h * pool->out_w * pool->channels,
	     pixels = (long)pool->batch * pool->in_h * pool->in_w * pool->channels;
	float *sums = rig_zeros(pixels, sizeof(*sums)), scale = 1;

	for (long i = 0; i < count; i++) {
		long at = fault == POOL_WINDOWS_DESCENDING ? count - 1 - i : i;

		list_adaptive(&window, pool, at, POOL_RIGHT);
		for (int j = 0; j < window.count; j++) {
			float *sum = &sums[window.list[j].pixel], q = (float)(1.0 / window.area);

			if (fault == POOL_SUM_BEFORE_SCALE)
				scale = q;
			*sum = naive_add(*sum, fault == POOL_SUM_BEFORE_SCALE ? naive_widen(dy[at])
									      : naive_mul(naive_widen(dy[at]), q));
		}
	}
	narrow_all(sums, pixels, scale, dx);
	free(sums);
	free(window.list);
}
