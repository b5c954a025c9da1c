// SPDX-License-Identifier: Apache-2.0
//
// Pooling as a host runs it, gradients class by class of residues, adaptive pooling class by class of windows, has the golden model's bits.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "csim/golden/half.h"
#include "csim/golden/pool.h"
#include "tests/model/simd_nest.h"

enum { LANES = 8 };
// Places in the buffer.
enum { X = 0, Y = 4096, DX = 6144, INDEX = 10240, WEIGHTS = 12288 };

static uint16_t random_half(uint64_t *state)
{
	return device_between(state, 0, 40) ? golden_half_from_float((float)device_between(state, -40, 40) / 8) : (uint16_t)device_random(state);
}

static uint16_t *random_map(struct device *device, uint32_t at, size_t count, uint64_t *state)
{
	uint16_t *map = malloc(2 * count);

	for (size_t i = 0; i < count; i++)
		map[i] = random_half(state);
	nest_write(device, at, map, 2 * count);
	return map;
}

// Bits from row to row of indices: whole halves, where the golden model has whole bytes.
static int index_pitch(const struct golden_pool *p)
{
	return (p->out_w * p->channels * golden_pool_index_bits(p) + 15) / 16 * 16;
}

// One dimension: which windows cover the pixels of a class, and which tap of the first of them a pixel is.
struct side {
	int first, tap, taps, count;
};

static struct side side(int residue, int size, int kernel, int stride, int pad)
{
	int tap = (residue + pad) % stride, last = tap;

	while (last + stride < kernel)
		last += stride;
	return (struct side){(residue + pad - last) / stride, last, tap < kernel ? (last - tap) / stride + 1 : 0, (size - residue + stride - 1) / stride};
}

static void taps(struct wc_simd_command *c, int ty, int tx, int y, int x, int y_step, int x_step, int y_size, int x_size)
{
	c->taps_y = (uint8_t)ty;
	c->taps_x = (uint8_t)tx;
	c->y_first = (int16_t)y;
	c->x_first = (int16_t)x;
	c->y_step = (int16_t)y_step;
	c->x_step = (int16_t)x_step;
	c->y_size = (uint16_t)y_size;
	c->x_size = (uint16_t)x_size;
	c->tap_y_step = c->tap_x_step = 1;
}

static void forward(struct device *device, const struct golden_pool *p, bool max)
{
	struct wc_simd_command c = nest(max ? WC_SIMD_MAX_POOL : WC_SIMD_AVERAGE, p->batch, p->out_h, p->out_w, p->channels, LANES);
	int pixel = 2 * p->channels, row = p->in_w * pixel, bits = golden_pool_index_bits(p), index_row = index_pitch(p);

	taps(&c, p->kernel_h, p->kernel_w, -p->pad_h, -p->pad_w, p->stride_h, p->stride_w, p->in_h, p->in_w);
	c.tap_y_number = (int16_t)p->kernel_w;
	c.tap_x_number = 1;
	c.constant0 = nest_pattern((float)(1.0 / (p->kernel_h * p->kernel_w)));
	nest_stream(&c, 0, NEST_HALF, X - (uint32_t)(p->pad_h * row + p->pad_w * pixel), p->in_h * row, p->stride_h * row, p->stride_w * pixel);
	nest_taps(&c, 0, row, pixel);
	nest_stream(&c, 1, NEST_HALF, Y, p->out_h * p->out_w * pixel, p->out_w * pixel, pixel);
	nest_stream(&c, 2, bits ? 2 + bits : 0, 8 * INDEX, p->out_h * index_row, index_row, p->channels * bits);
	c.off = max && !bits ? 4 : 0;
	nest_run(device, &c);
}

// dx of one class, from dy at Y.
static void class_gradient(struct device *device, const struct golden_pool *p, bool max, int ry, int rx)
{
	struct side y = side(ry, p->in_h, p->kernel_h, p->stride_h, p->pad_h), x = side(rx, p->in_w, p->kernel_w, p->stride_w, p->pad_w);
	struct wc_simd_command c = nest(max ? WC_SIMD_MAX_POOL_GRADIENT : WC_SIMD_AVERAGE, p->batch, y.count, x.count, p->channels, LANES);
	int pixel = 2 * p->channels, row = p->out_w * pixel, bits = golden_pool_index_bits(p), index_row = index_pitch(p);
	int in_row = p->in_w * pixel;

	if (y.taps && x.taps)
		taps(&c, y.taps, x.taps, y.first, x.first, 1, 1, p->out_h, p->out_w);
	else
		taps(&c, 1, 1, -1, -1, 0, 0, 1, 1); // no window: none inside
	c.tap_first = (int16_t)(y.tap * p->kernel_w + x.tap);
	c.tap_y_number = (int16_t)(-p->stride_h * p->kernel_w);
	c.tap_x_number = (int16_t)-p->stride_w;
	c.constant0 = nest_pattern((float)(1.0 / (p->kernel_h * p->kernel_w)));
	nest_stream(&c, 0, NEST_HALF, (uint32_t)(Y + y.first * row + x.first * pixel), p->out_h * row, row, pixel);
	nest_taps(&c, 0, row, pixel);
	if (max) {
		nest_stream(&c, 1, bits ? 2 + bits : 0, (uint32_t)(8 * INDEX + y.first * index_row + x.first * p->channels * bits), p->out_h * index_row, index_row,
			    p->channels * bits);
		nest_taps(&c, 1, index_row, p->channels * bits);
		c.zero = bits ? 0 : 2;
	}
	nest_stream(&c, max ? 2 : 1, NEST_HALF, (uint32_t)(DX + ry * in_row + rx * pixel), p->in_h * in_row, p->stride_h * in_row, p->stride_w * pixel);
	nest_run(device, &c);
}

static void gradient(struct device *device, const struct golden_pool *p, bool max)
{
	for (int ry = 0; ry < p->stride_h && ry < p->in_h; ry++)
		for (int rx = 0; rx < p->stride_w && rx < p->in_w; rx++)
			class_gradient(device, p, max, ry, rx);
}

static void check(struct device *device, const struct golden_pool *p, uint64_t *state)
{
	size_t in = (size_t)p->batch * p->in_h * p->in_w * p->channels, out = (size_t)p->batch * p->out_h * p->out_w * p->channels;
	const struct golden_range rows = {0, p->batch, 0, p->out_h}, in_rows = {0, p->batch, 0, p->in_h};
	uint16_t *x = random_map(device, X, in, state), *y = malloc(2 * out), *dx = malloc(2 * in), *dy;
	uint8_t *index = calloc(golden_pool_index_bytes(p) + 1, 1);
	struct wc_error err = {0};

	cr_assert(2 * in <= 4096 && 2 * out <= 2048);
	forward(device, p, true);
	cr_assert_eq(golden_max_pool(p, x, rows, y, index, &err), 0, "%s", err.text);
	nest_expect(device, Y, y, 2 * out, "max");
	for (int i = 0; golden_pool_index_bits(p) && i < p->batch * p->out_h; i++)
		nest_expect(device, (uint32_t)(INDEX + i * index_pitch(p) / 8), index + i * golden_pool_index_row_bytes(p), golden_pool_index_row_bytes(p), "index");
	dy = random_map(device, Y, out, state);
	gradient(device, p, true);
	cr_assert_eq(golden_max_pool_gradient(p, dy, index, in_rows, dx, &err), 0, "%s", err.text);
	nest_expect(device, DX, dx, 2 * in, "gradient of max");
	gradient(device, p, false);
	cr_assert_eq(golden_average_pool_gradient(p, dy, in_rows, dx, &err), 0, "%s", err.text);
	nest_expect(device, DX, dx, 2 * in, "gradient of average");
	forward(device, p, false);
	cr_assert_eq(golden_average_pool(p, x, rows, y, &err), 0, "%s", err.text);
	nest_expect(device, Y, y, 2 * out, "average");
	free(x);
	free(y);
	free(dx);
	free(dy);
	free(index);
}

Test(simd_pool, windows_have_the_golden_bits)
{
	uint64_t state = device_seed() + 800;
	struct device device;

	device_open(&device, &device_small, 1);
	for (int i = 0; i < 200; i++) {
		struct golden_pool p = {.batch = 2, .in_h = device_between(&state, 1, 8), .in_w = device_between(&state, 1, 8),
					.channels = device_between(&state, 1, 8), .kernel_h = device_between(&state, 1, 4), .kernel_w = device_between(&state, 1, 4),
					.stride_h = device_between(&state, 1, 3), .stride_w = device_between(&state, 1, 3)};

		p.pad_h = device_between(&state, 0, p.kernel_h - 1);
		p.pad_w = device_between(&state, 0, p.kernel_w - 1);
		p.out_h = (p.in_h + 2 * p.pad_h - p.kernel_h) / p.stride_h + 1;
		p.out_w = (p.in_w + 2 * p.pad_w - p.kernel_w) / p.stride_w + 1;
		// Two blocks: of an even number of bits an index, as a block ends with a half.
		if (i % 4 == 0 && golden_pool_index_bits(&p) % 2 == 0)
			p.channels = 16;
		if (p.in_h + 2 * p.pad_h < p.kernel_h || p.in_w + 2 * p.pad_w < p.kernel_w || p.batch * p.out_h * p.out_w * p.channels > 1024)
			continue;
		check(&device, &p, &state);
	}
	device_close(&device);
}

Test(simd_pool, the_whole_image_is_a_window)
{
	const struct golden_pool p = golden_pool_global(2, 7, 7, 12);
	uint64_t state = device_seed() + 801;
	struct device device;

	device_open(&device, &device_small, 1);
	check(&device, &p, &state);
	device_close(&device);
}

// ---- adaptive ------------------------------------------------------------------------------------

static int divisor(int a, int b)
{
	return b ? divisor(b, a % b) : a;
}

// Windows of one dimension: [lo, hi) of window o.
static int lo(int o, int in, int out)
{
	return o * in / out;
}

static int hi(int o, int in, int out)
{
	return ((o + 1) * in + out - 1) / out;
}

// Windows repeat after out / g of them, which is in / g pixels.
static void adaptive_forward(struct device *device, const struct golden_adaptive_pool *p, int oy, int ox)
{
	int gy = divisor(p->in_h, p->out_h), gx = divisor(p->in_w, p->out_w), py = p->out_h / gy, px = p->out_w / gx;
	int y = lo(oy, p->in_h, p->out_h), x = lo(ox, p->in_w, p->out_w), ty = hi(oy, p->in_h, p->out_h) - y, tx = hi(ox, p->in_w, p->out_w) - x;
	struct wc_simd_command c = nest(WC_SIMD_AVERAGE, p->batch, gy, gx, p->channels, LANES);
	int pixel = 2 * p->channels, row = p->in_w * pixel, out_row = p->out_w * pixel;

	taps(&c, ty, tx, y, x, p->in_h / gy, p->in_w / gx, p->in_h, p->in_w);
	c.constant0 = nest_pattern((float)(1.0 / (ty * tx)));
	nest_stream(&c, 0, NEST_HALF, (uint32_t)(X + y * row + x * pixel), p->in_h * row, p->in_h / gy * row, p->in_w / gx * pixel);
	nest_taps(&c, 0, row, pixel);
	nest_stream(&c, 1, NEST_HALF, (uint32_t)(Y + oy * out_row + ox * pixel), p->out_h * out_row, py * out_row, px * pixel);
	nest_run(device, &c);
}

// The windows over the pixels (y, x) + multiples of (in_h / gy, in_w / gx), with their areas as weights.
static void adaptive_gradient(struct device *device, const struct golden_adaptive_pool *p, int y, int x)
{
	int gy = divisor(p->in_h, p->out_h), gx = divisor(p->in_w, p->out_w);
	int oy = 0, ox = 0, ty = 0, tx = 0, pixel = 2 * p->channels, row = p->out_w * pixel, in_row = p->in_w * pixel;
	struct wc_simd_command c = nest(WC_SIMD_WEIGHTED_SUM, p->batch, gy, gx, p->channels, LANES);
	float weights[64];

	while (hi(oy, p->in_h, p->out_h) <= y)
		oy++;
	while (hi(ox, p->in_w, p->out_w) <= x)
		ox++;
	while (oy + ty < p->out_h && lo(oy + ty, p->in_h, p->out_h) <= y)
		ty++;
	while (ox + tx < p->out_w && lo(ox + tx, p->in_w, p->out_w) <= x)
		tx++;
	cr_assert_leq(ty * tx, 64);
	for (int i = 0; i < ty * tx; i++) {
		int r = oy + i / tx, s = ox + i % tx;

		weights[i] = (float)(1.0 / ((hi(r, p->in_h, p->out_h) - lo(r, p->in_h, p->out_h)) * (hi(s, p->in_w, p->out_w) - lo(s, p->in_w, p->out_w))));
	}
	nest_write(device, WEIGHTS, weights, (size_t)(ty * tx) * 4);
	taps(&c, ty, tx, oy, ox, p->out_h / gy, p->out_w / gx, p->out_h, p->out_w);
	nest_stream(&c, 0, NEST_HALF, (uint32_t)(Y + oy * row + ox * pixel), p->out_h * row, p->out_h / gy * row, p->out_w / gx * pixel);
	nest_taps(&c, 0, row, pixel);
	nest_stream(&c, 1, NEST_ONE, WEIGHTS, 0, 0, 0);
	nest_taps(&c, 1, 4 * tx, 4);
	nest_stream(&c, 2, NEST_HALF, (uint32_t)(DX + y * in_row + x * pixel), p->in_h * in_row, p->in_h / gy * in_row, p->in_w / gx * pixel);
	nest_run(device, &c);
}

static void check_adaptive(struct device *device, const struct golden_adaptive_pool *p, uint64_t *state)
{
	size_t in = (size_t)p->batch * p->in_h * p->in_w * p->channels, out = (size_t)p->batch * p->out_h * p->out_w * p->channels;
	int gy = divisor(p->in_h, p->out_h), gx = divisor(p->in_w, p->out_w);
	uint16_t *x = random_map(device, X, in, state), *y = malloc(2 * out), *dx = malloc(2 * in), *dy;
	struct wc_error err = {0};

	for (int oy = 0; oy < p->out_h / gy; oy++)
		for (int ox = 0; ox < p->out_w / gx; ox++)
			adaptive_forward(device, p, oy, ox);
	cr_assert_eq(golden_adaptive_pool(p, x, (struct golden_range){0, p->batch, 0, p->out_h}, y, &err), 0, "%s", err.text);
	nest_expect(device, Y, y, 2 * out, "adaptive");
	dy = random_map(device, Y, out, state);
	for (int iy = 0; iy < p->in_h / gy; iy++)
		for (int ix = 0; ix < p->in_w / gx; ix++)
			adaptive_gradient(device, p, iy, ix);
	cr_assert_eq(golden_adaptive_pool_gradient(p, dy, (struct golden_range){0, p->batch, 0, p->in_h}, dx, &err), 0, "%s", err.text);
	nest_expect(device, DX, dx, 2 * in, "gradient of adaptive");
	free(x);
	free(y);
	free(dx);
	free(dy);
}

Test(simd_pool, adaptive_windows_have_the_golden_bits)
{
	uint64_t state = device_seed() + 802;
	struct device device;

	device_open(&device, &device_small, 1);
	for (int i = 0; i < 60; i++) {
		struct golden_adaptive_pool p = {2, device_between(&state, 1, 9), device_between(&state, 1, 9), device_between(&state, 1, 9),
						 device_between(&state, 1, 6), device_between(&state, 1, 6)};

		check_adaptive(&device, &p, &state);
	}
	device_close(&device);
}
