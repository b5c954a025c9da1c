// SPDX-License-Identifier: Apache-2.0
//
// The operators as DESIGN's sequences of rounded operations, one element after the other. Of the vector unit only its results are known here: no
// lanes, blocks, strides or taps, but for a program's parts of a group that is wider than a block.
#include "tests/model/simd_expect.h"

#include <stdlib.h>
#include <string.h>

#include "csim/golden/half.h"
#include "csim/golden/scalar.h"

struct at {
	int n, y, x, c;
};

static uint32_t get(const uint8_t *image, const struct simd_tensor *t, struct at at)
{
	uint64_t bit = simd_tensor_at(t, at.n, at.y, at.x, at.c);
	uint32_t value = 0;

	for (int i = 0; i < t->bits; i++)
		value |= (uint32_t)(image[(bit + (uint64_t)i) / 8] >> (bit + (uint64_t)i) % 8 & 1) << i;
	return value;
}

static void put(uint8_t *image, const struct simd_tensor *t, struct at at, uint32_t value)
{
	uint64_t bit = simd_tensor_at(t, at.n, at.y, at.x, at.c);

	for (int i = 0; i < t->bits; i++, bit++)
		image[bit / 8] = (uint8_t)((image[bit / 8] & ~(1 << bit % 8)) | (value >> i & 1) << bit % 8);
}

static float value(const uint8_t *image, const struct simd_tensor *t, struct at at)
{
	uint32_t bits = get(image, t, at);

	return t->bits == 16 ? golden_half_to_float((uint16_t)bits) : golden_float_of(bits);
}

static void store(uint8_t *image, const struct simd_tensor *t, struct at at, float result)
{
	put(image, t, at, t->bits == 16 ? golden_half_from_float(result) : golden_float_bits(result));
}

// ---- element by element ----------------------------------------------------------------------------

static void sgd(const struct simd_case *c, uint8_t *image, struct at at)
{
	const struct simd_tensor *t = c->tensors;
	float k[4], g, w = value(image, &t[1], at), v;

	memcpy(k, &c->command.constant0, sizeof(k));
	g = value(image, &t[0], at) * k[0];
	g = g + k[1] * w;
	v = k[2] * value(image, &t[2], at);
	v = v + g;
	store(image, &t[2], at, v);
	w = w - k[3] * v;
	store(image, &t[1], at, w);
	store(image, &t[3], at, w);
}

static void normalize(const struct simd_case *c, uint8_t *image, struct at at)
{
	const struct simd_tensor *t = c->tensors;
	const struct at s = {.n = at.n, .c = at.c}, p = {.c = at.c};
	bool gradient = c->program == WC_SIMD_NORM_INPUT_GRADIENT;
	float mean = value(image, &t[gradient ? 3 : 1], s), rstd = value(image, &t[gradient ? 4 : 2], s);
	float xhat = (value(image, &t[0], at) - mean) * rstd, g;

	if (!gradient) {
		g = xhat * value(image, &t[3], p);
		store(image, &t[5], at, g + value(image, &t[4], p));
		return;
	}
	g = value(image, &t[1], at) * value(image, &t[2], p);
	g = g - value(image, &t[5], s);
	g = g - xhat * value(image, &t[6], s);
	store(image, &t[7], at, rstd * g);
}

static void each_element(const struct simd_case *c, uint8_t *image)
{
	const struct simd_tensor *t = c->tensors;

	for (int n = 0; n < c->n; n++)
		for (int y = 0; y < c->h; y++)
			for (int x = 0; x < c->w; x++)
				for (int i = 0; i < c->c; i++) {
					struct at at = {n, y, x, i};

					if (c->program == WC_SIMD_COPY)
						store(image, &t[1], at, value(image, &t[0], at));
					else if (c->program == WC_SIMD_ADD)
						store(image, &t[2], at, value(image, &t[0], at) + value(image, &t[1], at));
					else if (c->program == WC_SIMD_SGD)
						sgd(c, image, at);
					else
						normalize(c, image, at);
				}
}

// ---- pooling ---------------------------------------------------------------------------------------

static bool inside(int at, int size)
{
	return at >= 0 && at < size;
}

// One window: average, weighted sum, or maximum and its tap.
static void window(const struct simd_case *c, uint8_t *image, struct at out)
{
	const struct simd_tensor *t = c->tensors;
	float sum = 0, best = 0;
	int tap = -1;

	for (int r = 0; r < c->kh; r++)
		for (int s = 0; s < c->kw; s++) {
			struct at at = {out.n, out.y * c->sh - c->ph + r, out.x * c->sw - c->pw + s, out.c};
			float x;

			if (!inside(at.y, c->h) || !inside(at.x, c->w))
				continue;
			x = value(image, &t[0], at);
			if (c->program == WC_SIMD_WEIGHTED_SUM)
				sum = sum + x * value(image, &t[1], (struct at){.y = r, .x = s});
			else
				sum = sum + x;
			if (tap < 0 || (best == best && !(x <= best))) {
				best = x;
				tap = r * c->kw + s;
			}
		}
	if (c->program == WC_SIMD_WEIGHTED_SUM) {
		store(image, &t[2], out, sum);
	} else if (c->program == WC_SIMD_AVERAGE) {
		store(image, &t[1], out, sum * golden_float_of(c->command.constant0));
	} else {
		store(image, &t[1], out, best);
		if (!(c->command.off & 4))
			put(image, &t[2], out, (uint32_t)tap);
	}
}

// One pixel of dx: windows ascending.
static void gradient(const struct simd_case *c, uint8_t *image, struct at at)
{
	const struct simd_tensor *t = c->tensors;
	bool max = c->program == WC_SIMD_MAX_POOL_GRADIENT;
	float sum = 0;

	for (int oy = 0; oy < c->oh; oy++)
		for (int ox = 0; ox < c->ow; ox++) {
			struct at out = {at.n, oy, ox, at.c};
			int r = at.y + c->ph - oy * c->sh, s = at.x + c->pw - ox * c->sw;

			if (inside(r, c->kh) && inside(s, c->kw) && (!max || get(image, &t[1], out) == (uint32_t)(r * c->kw + s)))
				sum = sum + value(image, &t[0], out);
		}
	store(image, &t[max ? 2 : 1], at, max ? sum : sum * golden_float_of(c->command.constant0));
}

// The last byte of a row of indices is filled with zeros.
static void clear_tails(const struct simd_case *c, uint8_t *image, const struct simd_tensor *t)
{
	for (int n = 0; n < c->n; n++)
		for (int y = 0; y < t->h; y++) {
			uint64_t end = simd_tensor_at(t, n, y, t->w, 0);

			if (end % 8)
				image[end / 8] &= (uint8_t)((1 << end % 8) - 1);
		}
}

static void pooling(const struct simd_case *c, uint8_t *image)
{
	bool is_gradient = c->gradient || c->program == WC_SIMD_MAX_POOL_GRADIENT;

	for (int n = 0; n < c->n; n++)
		for (int y = is_gradient ? c->class_y : 0; y < (is_gradient ? c->h : c->oh); y += is_gradient ? c->sh : 1)
			for (int x = is_gradient ? c->class_x : 0; x < (is_gradient ? c->w : c->ow); x += is_gradient ? c->sw : 1)
				for (int i = 0; i < c->c; i++) {
					if (is_gradient)
						gradient(c, image, (struct at){n, y, x, i});
					else
						window(c, image, (struct at){n, y, x, i});
				}
	if (c->program == WC_SIMD_MAX_POOL && !(c->command.off & 4))
		clear_tails(c, image, &c->tensors[2]);
}

// ---- a constant ------------------------------------------------------------------------------------

static void constant(const struct simd_case *c, uint8_t *image)
{
	const struct simd_tensor *t = &c->tensors[0];
	uint32_t bits = c->command.constant0;

	for (int n = 0; n < c->n; n++)
		for (int y = 0; y < t->h; y++)
			for (int x = 0; x < t->w; x++)
				for (int i = 0; i < t->c; i++) {
					if (t->kind == KIND_BITS)
						put(image, t, (struct at){n, y, x, i}, bits);
					else
						store(image, t, (struct at){n, y, x, i}, golden_float_of(bits));
				}
	if (t->kind == KIND_BITS)
		clear_tails(c, image, t);
}

// ---- normalization: sums ---------------------------------------------------------------------------

// Row sums of one group. The buffer has more in the lanes behind the first one, which mean nothing.
static void group_row(const struct simd_case *c, uint8_t *image, int n, int y, int first)
{
	const struct simd_tensor *t = c->tensors;
	bool backward = simd_case_sums_backward(c);
	struct at sums = {n, y, 0, first};
	float s1 = 0, s2 = 0, shift = value(image, &t[0], (struct at){n, 0, 0, first});

	for (int x = 0; x < c->w; x++)
		for (int i = 0; i < c->cpg; i++) {
			struct at at = {n, y, x, first + i}, stat = {n, 0, 0, first + i % c->command.block};

			if (backward) {
				float xhat = (value(image, &t[0], at) - value(image, &t[3], stat)) * value(image, &t[4], stat);
				float g = value(image, &t[1], at) * value(image, &t[2], (struct at){.c = first + i});

				s1 = s1 + g;
				s2 = s2 + g * xhat;
			} else {
				float d = value(image, &t[0], at) - shift;

				s1 = s1 + d;
				s2 = s2 + d * d;
			}
		}
	store(image, &t[backward ? 5 : 3], sums, s1);
	store(image, &t[backward ? 6 : 4], sums, s2);
}

static void group_sums(const struct simd_case *c, uint8_t *image)
{
	for (int n = 0; n < c->n; n++)
		for (int y = 0; y < c->h; y++)
			for (int first = 0; first < c->c; first += c->cpg)
				group_row(c, image, n, y, first);
}

static void parameter_sums(const struct simd_case *c, uint8_t *image)
{
	const struct simd_tensor *t = c->tensors;

	for (int n = 0; n < c->n; n++)
		for (int y = 0; y < c->h; y++)
			for (int i = 0; i < c->c; i++) {
				struct at sums = {n, y, 0, i}, stat = {n, 0, 0, i};
				float pg = 0, pb = 0;

				for (int x = 0; x < c->w; x++) {
					struct at at = {n, y, x, i};
					float dy = value(image, &t[1], at);

					pg = pg + dy * ((value(image, &t[0], at) - value(image, &t[2], stat)) * value(image, &t[3], stat));
					pb = pb + dy;
				}
				store(image, &t[4], sums, pg);
				store(image, &t[5], sums, pb);
			}
}

// Rows of `from` ascending, continued from `running` or +0.
static float rows(const struct simd_case *c, const uint8_t *image, int from, int running, int n, int channel)
{
	float sum = c->command.zero >> running & 1 ? 0 : value(image, &c->tensors[running], (struct at){n, 0, 0, channel});

	for (int y = 0; y < c->h; y++)
		sum = sum + value(image, &c->tensors[from], (struct at){n, y, 0, channel});
	return sum;
}

static void statistics(const struct simd_case *c, uint8_t *image, int n, int channel)
{
	const struct simd_tensor *t = c->tensors;
	bool backward = c->program == WC_SIMD_NORM_BACKWARD_STATS;
	int first = channel - channel % c->cpg;
	struct at at = {n, 0, 0, channel};
	float inverse = golden_float_of(c->command.constant0), epsilon = golden_float_of(c->command.constant1);
	float a = rows(c, image, 0, 2, n, first) * inverse, b = rows(c, image, 1, 3, n, first) * inverse;

	if (backward) {
		store(image, &t[4], at, a);
		store(image, &t[5], at, b);
	} else {
		float variance = b - a * a;

		if (variance <= 0)
			variance = 0;
		store(image, &t[5], at, value(image, &t[4], (struct at){n, 0, 0, first}) + a);
		store(image, &t[6], at, golden_rsqrt(variance + epsilon));
	}
}

static void row_totals(const struct simd_case *c, uint8_t *image)
{
	for (int n = 0; n < c->n; n++) {
		for (int i = 0; i < c->c && c->program != WC_SIMD_SUM_ROWS; i++)
			statistics(c, image, n, i);
		for (int i = 0; i < c->c; i++) {
			struct at at = {n, 0, 0, i};

			if (c->program == WC_SIMD_SUM_ROWS) {
				store(image, &c->tensors[1], at, rows(c, image, 0, 1, n, i));
			} else if (!(c->command.off & 4)) {
				store(image, &c->tensors[2], at, rows(c, image, 0, 2, n, i));
				store(image, &c->tensors[3], at, rows(c, image, 1, 3, n, i));
			}
		}
	}
}

// ---- softmax ---------------------------------------------------------------------------------------

static void softmax(const struct simd_case *c, uint8_t *image, int n)
{
	const struct simd_tensor *t = c->tensors;
	struct at one = {.n = n};
	float m = value(image, &t[1], one), sum = 0;

	for (int k = 0; k < c->c; k++) {
		struct at at = {n, 0, 0, k};
		float z = value(image, &t[0], at);

		if (c->program == WC_SIMD_SOFTMAX_MAX) {
			if (k == 0 || (m == m && !(z <= m)))
				m = z;
		} else if (c->program == WC_SIMD_SOFTMAX_SUM) {
			sum = sum + golden_exp(z - m);
		} else {
			bool is_label = get(image, &t[4], one) == (uint32_t)k;
			float p = golden_exp(z - m) * value(image, &t[2], one);

			store(image, &t[5], at, (p - (float)is_label) * golden_float_of(c->command.constant0));
			if (is_label)
				store(image, &t[6], one, value(image, &t[3], one) - (z - m));
		}
	}
	if (c->program == WC_SIMD_SOFTMAX_MAX) {
		store(image, &t[1], one, m);
	} else if (c->program == WC_SIMD_SOFTMAX_SUM) {
		store(image, &t[2], one, golden_reciprocal(sum));
		store(image, &t[3], one, golden_log(sum));
	}
}

void simd_expect(const struct simd_case *c, uint8_t *image)
{
	switch (c->program) {
	case WC_SIMD_FILL:
		constant(c, image);
		break;
	case WC_SIMD_AVERAGE:
	case WC_SIMD_WEIGHTED_SUM:
	case WC_SIMD_MAX_POOL:
	case WC_SIMD_MAX_POOL_GRADIENT:
		pooling(c, image);
		break;
	case WC_SIMD_NORM_SUMS:
	case WC_SIMD_NORM_SUMS_WIDE:
	case WC_SIMD_NORM_SUMS_SINGLE:
	case WC_SIMD_NORM_BACKWARD_SUMS:
	case WC_SIMD_NORM_BACKWARD_SUMS_WIDE:
	case WC_SIMD_NORM_BACKWARD_SUMS_SINGLE:
		group_sums(c, image);
		break;
	case WC_SIMD_NORM_PARAMETER_GRADIENT:
		parameter_sums(c, image);
		break;
	case WC_SIMD_NORM_STATS:
	case WC_SIMD_NORM_BACKWARD_STATS:
	case WC_SIMD_SUM_ROWS:
		row_totals(c, image);
		break;
	case WC_SIMD_SOFTMAX_MAX:
	case WC_SIMD_SOFTMAX_SUM:
	case WC_SIMD_SOFTMAX_GRADIENT:
		for (int n = 0; n < c->n; n++)
			softmax(c, image, n);
		break;
	default:
		each_element(c, image);
		break;
	}
}
