// SPDX-License-Identifier: Apache-2.0
//
// SIMD cases of pooling.
#include "tests/simd_draw.h"

static void draw_pool(struct draw *d)
{
	struct simd_case *m = d->made;

	m->n = simd_draw_between(d, 1, 2);
	m->kh = simd_draw_between(d, 1, 4);
	m->kw = simd_draw_between(d, 1, 4);
	m->sh = simd_draw_between(d, 1, 3);
	m->sw = simd_draw_between(d, 1, 3);
	m->ph = simd_draw_between(d, 0, m->kh - 1);
	m->pw = simd_draw_between(d, 0, m->kw - 1);
	m->h = simd_draw_between(d, 1, 8);
	m->w = simd_draw_between(d, 1, 8);
	m->h = m->h + 2 * m->ph < m->kh ? m->kh : m->h;
	m->w = m->w + 2 * m->pw < m->kw ? m->kw : m->w;
	m->oh = (m->h + 2 * m->ph - m->kh) / m->sh + 1;
	m->ow = (m->w + 2 * m->pw - m->kw) / m->sw + 1;
	m->c = simd_draw_between(d, 0, 2) ? simd_draw_between(d, 1, d->lanes) : simd_draw_between(d, 1, 2 * d->lanes);
	m->command.constant0 = simd_draw_pattern(1.0f / (float)(m->kh * m->kw));
}

static int index_bits(const struct simd_case *m)
{
	int bits = 1;

	while (1 << bits < m->kh * m->kw)
		bits++;
	return bits;
}

// Fields of several blocks do not share a half.
static void align_fields(struct draw *d)
{
	struct simd_case *m = d->made;

	if (m->c <= m->command.block)
		return;
	m->c = (m->c + 15) / 16 * 16;
	m->command.channels = (uint32_t)m->c;
	simd_draw_blocks(d, 1, d->lanes / 16 ? d->lanes / 16 * 16 : d->lanes, d->lanes / 16 ? d->lanes / 16 * 16 : d->lanes);
	if (m->command.block % 16 && index_bits(m) % 2)
		m->c = (int)(m->command.channels = m->command.block);
}

static void windows(struct draw *d)
{
	struct simd_case *m = d->made;
	struct wc_simd_command *c = &m->command;

	simd_draw_nest(d, m->oh, m->ow);
	simd_draw_any_blocks(d);
	c->taps_y = (uint8_t)m->kh;
	c->taps_x = (uint8_t)m->kw;
	c->y_first = (int16_t)-m->ph;
	c->x_first = (int16_t)-m->pw;
	c->y_step = (int16_t)m->sh;
	c->x_step = (int16_t)m->sw;
	c->y_size = (uint16_t)m->h;
	c->x_size = (uint16_t)m->w;
	c->tap_y_step = c->tap_x_step = 1;
	c->tap_y_number = (int16_t)m->kw;
	c->tap_x_number = 1;
}

void simd_draw_pool(struct draw *d)
{
	struct simd_case *m = d->made;

	draw_pool(d);
	windows(d);
	if (m->program == WC_SIMD_MAX_POOL)
		align_fields(d);
	simd_draw_tensor(d, 0, KIND_HALF, m->h, m->w, m->c, 16);
	simd_draw_tensor(d, 1, KIND_HALF, m->oh, m->ow, m->c, 16);
	simd_draw_stream(d, 0, -m->ph, -m->pw, m->sh, m->sw);
	simd_draw_stream(d, 1, 0, 0, 1, 1);
	if (m->program == WC_SIMD_MAX_POOL) {
		simd_draw_tensor(d, 2, KIND_BITS, m->oh, m->ow, m->c, index_bits(m));
		simd_draw_stream(d, 2, 0, 0, 1, 1);
		if (simd_draw_between(d, 0, 4) == 0)
			m->command.off = 4;
	}
}

// One dimension of a residue class of a gradient: windows from the first to the last that cover its pixels, taps of the kernel downwards.
struct class_side {
	int first, last_tap, taps, count;
};

static struct class_side class_side(int residue, int size, int kernel, int stride, int pad)
{
	int tap = (residue + pad) % stride, taps = tap < kernel ? (kernel - tap + stride - 1) / stride : 0;
	int last = tap + (taps - 1) * stride;

	return (struct class_side){(residue + pad - last) / stride, last, taps, (size - residue + stride - 1) / stride};
}

void simd_draw_pool_gradient(struct draw *d)
{
	struct simd_case *m = d->made;
	struct wc_simd_command *c = &m->command;
	struct class_side y, x;
	int out = m->program == WC_SIMD_AVERAGE ? 1 : 2;

	draw_pool(d);
	m->class_y = simd_draw_between(d, 0, m->sh - 1 < m->h - 1 ? m->sh - 1 : m->h - 1);
	m->class_x = simd_draw_between(d, 0, m->sw - 1 < m->w - 1 ? m->sw - 1 : m->w - 1);
	y = class_side(m->class_y, m->h, m->kh, m->sh, m->ph);
	x = class_side(m->class_x, m->w, m->kw, m->sw, m->pw);
	simd_draw_nest(d, y.count, x.count);
	simd_draw_any_blocks(d);
	c->taps_y = (uint8_t)(y.taps ? y.taps : 1);
	c->taps_x = (uint8_t)(x.taps ? x.taps : 1);
	c->y_first = (int16_t)(y.taps ? y.first : -1000); // no window: none inside
	c->x_first = (int16_t)(x.taps ? x.first : -1000);
	c->y_step = c->x_step = c->tap_y_step = c->tap_x_step = 1;
	c->y_size = (uint16_t)m->oh;
	c->x_size = (uint16_t)m->ow;
	c->tap_first = (int16_t)(y.last_tap * m->kw + x.last_tap);
	c->tap_y_number = (int16_t)(-m->sh * m->kw);
	c->tap_x_number = (int16_t)-m->sw;
	simd_draw_tensor(d, 0, KIND_HALF, m->oh, m->ow, m->c, 16);
	simd_draw_tensor(d, out, KIND_HALF, m->h, m->w, m->c, 16);
	simd_draw_stream(d, 0, c->y_first, c->x_first, 1, 1);
	simd_draw_stream(d, out, m->class_y, m->class_x, m->sh, m->sw);
	if (m->program == WC_SIMD_MAX_POOL_GRADIENT) {
		simd_draw_tensor(d, 1, KIND_BITS, m->oh, m->ow, m->c, index_bits(m));
		simd_draw_stream(d, 1, c->y_first, c->x_first, 1, 1);
	}
}

// A window of taps whose weights are one value each.
void simd_draw_weighted_sum(struct draw *d)
{
	struct simd_case *m = d->made;

	draw_pool(d);
	windows(d);
	simd_draw_tensor(d, 0, KIND_HALF, m->h, m->w, m->c, 16);
	simd_draw_tensor(d, 1, KIND_ONE, m->kh, m->kw, 1, 32);
	simd_draw_tensor(d, 2, KIND_HALF, m->oh, m->ow, m->c, 16);
	simd_draw_stream(d, 0, -m->ph, -m->pw, m->sh, m->sw);
	simd_draw_stream(d, 1, 0, 0, 0, 0);
	simd_draw_stream(d, 2, 0, 0, 1, 1);
	m->command.s1_stride_n = 0;
}
