// SPDX-License-Identifier: Apache-2.0
//
// SIMD commands on random shapes: see simd_cases.h.
#include "tests/simd_cases.h"

#include <string.h>

#include "traces/splitmix.h"

struct draw {
	struct simd_case *made;
	const struct wc_device_params *params;
	uint64_t *state;
	uint64_t used; // bytes of the buffer
	int lanes;
};

static int between(struct draw *d, int lo, int hi)
{
	return lo + (int)(splitmix_next(d->state) % (uint64_t)(hi - lo + 1));
}

static uint32_t round_up(uint64_t value, uint32_t to)
{
	return (uint32_t)((value + to - 1) / to * to);
}

// ---- tensors ---------------------------------------------------------------------------------------

static struct simd_tensor *tensor(struct draw *d, int stream, enum simd_kind kind, int h, int w, int c, int bits)
{
	struct simd_tensor *t = &d->made->tensors[stream];
	uint32_t bus = d->params->bus_bytes;

	*t = (struct simd_tensor){.kind = kind, .h = h, .w = w, .c = c, .bits = bits, .used = true};
	t->base = (uint32_t)d->used;
	t->pitch_y = round_up(((uint64_t)w * (uint64_t)c * (uint64_t)bits + 7) / 8, bus) + bus * (uint32_t)between(d, 0, 1);
	t->pitch_n = t->pitch_y * (uint32_t)h + bus * (uint32_t)between(d, 0, 1);
	d->used += (uint64_t)t->pitch_n * (uint64_t)d->made->n;
	return t;
}

static struct simd_tensor *map(struct draw *d, int stream, enum simd_kind kind)
{
	return tensor(d, stream, kind, d->made->h, d->made->w, d->made->c, kind == KIND_HALF ? 16 : 32);
}

// Per sample and channel.
static struct simd_tensor *statistic(struct draw *d, int stream)
{
	return tensor(d, stream, KIND_FLOAT, 1, 1, d->made->c, 32);
}

// Per sample, row and channel.
static struct simd_tensor *row_sums(struct draw *d, int stream)
{
	return tensor(d, stream, KIND_FLOAT, d->made->h, 1, d->made->c, 32);
}

// ---- streams ---------------------------------------------------------------------------------------

struct stream_fields {
	uint32_t *base;
	int32_t *n, *y, *x, *tap_y, *tap_x;
	uint8_t *type;
};

#define FIELDS(c, i) {&(c)->s##i##_base, &(c)->s##i##_stride_n, &(c)->s##i##_stride_y, &(c)->s##i##_stride_x, NULL, NULL, &(c)->type##i}
#define TAP_FIELDS(c, i) {&(c)->s##i##_base, &(c)->s##i##_stride_n, &(c)->s##i##_stride_y, &(c)->s##i##_stride_x, &(c)->s##i##_tap_y, \
			  &(c)->s##i##_tap_x, &(c)->type##i}

static struct stream_fields fields_of(struct wc_simd_command *c, int i)
{
	const struct stream_fields all[] = {TAP_FIELDS(c, 0), TAP_FIELDS(c, 1), TAP_FIELDS(c, 2), TAP_FIELDS(c, 3),
					    FIELDS(c, 4),     FIELDS(c, 5),     FIELDS(c, 6),     FIELDS(c, 7)};

	return all[i];
}

// The stream starts at (y, x) of its tensor and goes y_step rows and x_step pixels at a time; a tap is a row or a pixel.
static void stream(struct draw *d, int i, int y, int x, int y_step, int x_step)
{
	const struct simd_tensor *t = &d->made->tensors[i];
	struct stream_fields f = fields_of(&d->made->command, i);
	int unit = t->kind == KIND_BITS ? 8 : 1, pixel = t->kind == KIND_BITS ? t->c * t->bits : t->c * t->bits / 8;

	*f.base = (uint32_t)((int)t->base * unit + y * (int)t->pitch_y * unit + x * pixel);
	*f.n = (int32_t)t->pitch_n * unit;
	*f.y = y_step * (int32_t)t->pitch_y * unit;
	*f.x = x_step * pixel;
	*f.type = (uint8_t)(t->kind == KIND_HALF ? 0 : t->kind == KIND_FLOAT ? 1 : t->kind == KIND_BITS ? 2 + t->bits : 2);
	if (f.tap_y) {
		*f.tap_y = (int32_t)t->pitch_y * unit;
		*f.tap_x = pixel;
	}
}

// Rows and pixels one by one; what has one row or one pixel stands still.
static void plain(struct draw *d, int i)
{
	const struct simd_tensor *t = &d->made->tensors[i];

	stream(d, i, 0, 0, t->h > 1, t->w > 1);
}

static void plain_all(struct draw *d)
{
	for (int i = 0; i < SIMD_CASE_STREAMS; i++)
		if (d->made->tensors[i].used)
			plain(d, i);
}

// The result goes where the source is.
static void in_place(struct draw *d, int result, int source)
{
	if (between(d, 0, 2) == 0)
		d->made->tensors[result] = d->made->tensors[source];
}

// ---- the nest --------------------------------------------------------------------------------------

static void nest(struct draw *d, int h, int w)
{
	struct wc_simd_command *c = &d->made->command;

	c->opcode = WC_OP_SIMD;
	c->version = WC_COMMAND_VERSION;
	c->program = (uint8_t)d->made->program;
	c->count_n = (uint16_t)d->made->n;
	c->count_y = (uint16_t)h;
	c->count_x = (uint16_t)w;
	c->channels = (uint32_t)d->made->c;
	c->taps_y = c->taps_x = 1;
	c->y_size = c->x_size = 1;
}

static void blocks(struct draw *d, int group, int groups, int step)
{
	struct wc_simd_command *c = &d->made->command;

	c->group = (uint16_t)group;
	c->groups = (uint16_t)groups;
	c->block = (uint16_t)(group * groups);
	c->block_step = (uint32_t)step;
}

// As many channels as there are lanes, or fewer.
static void any_blocks(struct draw *d)
{
	int block = between(d, 0, 2) ? d->lanes : between(d, 1, d->lanes);

	blocks(d, 1, block, block);
}

static void whole_groups(struct draw *d)
{
	int cpg = d->made->cpg, groups = d->lanes / cpg;

	if (between(d, 0, 3) == 0)
		groups = between(d, 1, groups);
	blocks(d, cpg, groups, cpg * groups);
}

// ---- programs --------------------------------------------------------------------------------------

static uint32_t pattern(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static void draw_map(struct draw *d)
{
	struct simd_case *m = d->made;

	m->n = between(d, 1, 3);
	m->h = between(d, 1, 6);
	m->w = between(d, 1, 6);
	m->c = between(d, 0, 2) ? between(d, 1, d->lanes) : between(d, 1, 3 * d->lanes);
}

static void draw_pool(struct draw *d)
{
	struct simd_case *m = d->made;

	m->n = between(d, 1, 2);
	m->kh = between(d, 1, 4);
	m->kw = between(d, 1, 4);
	m->sh = between(d, 1, 3);
	m->sw = between(d, 1, 3);
	m->ph = between(d, 0, m->kh - 1);
	m->pw = between(d, 0, m->kw - 1);
	m->h = between(d, 1, 8);
	m->w = between(d, 1, 8);
	m->h = m->h + 2 * m->ph < m->kh ? m->kh : m->h;
	m->w = m->w + 2 * m->pw < m->kw ? m->kw : m->w;
	m->oh = (m->h + 2 * m->ph - m->kh) / m->sh + 1;
	m->ow = (m->w + 2 * m->pw - m->kw) / m->sw + 1;
	m->c = between(d, 0, 2) ? between(d, 1, d->lanes) : between(d, 1, 2 * d->lanes);
	m->command.constant0 = pattern(1.0f / (float)(m->kh * m->kw));
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
	blocks(d, 1, d->lanes / 16 ? d->lanes / 16 * 16 : d->lanes, d->lanes / 16 ? d->lanes / 16 * 16 : d->lanes);
	if (m->command.block % 16 && index_bits(m) % 2)
		m->c = (int)(m->command.channels = m->command.block);
}

static void windows(struct draw *d)
{
	struct simd_case *m = d->made;
	struct wc_simd_command *c = &m->command;

	nest(d, m->oh, m->ow);
	any_blocks(d);
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

static void pool(struct draw *d)
{
	struct simd_case *m = d->made;

	draw_pool(d);
	windows(d);
	if (m->program == WC_SIMD_MAX_POOL)
		align_fields(d);
	tensor(d, 0, KIND_HALF, m->h, m->w, m->c, 16);
	tensor(d, 1, KIND_HALF, m->oh, m->ow, m->c, 16);
	stream(d, 0, -m->ph, -m->pw, m->sh, m->sw);
	stream(d, 1, 0, 0, 1, 1);
	if (m->program == WC_SIMD_MAX_POOL) {
		tensor(d, 2, KIND_BITS, m->oh, m->ow, m->c, index_bits(m));
		stream(d, 2, 0, 0, 1, 1);
		if (between(d, 0, 4) == 0)
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

static void pool_gradient(struct draw *d)
{
	struct simd_case *m = d->made;
	struct wc_simd_command *c = &m->command;
	struct class_side y, x;
	int out = m->program == WC_SIMD_AVERAGE ? 1 : 2;

	draw_pool(d);
	m->class_y = between(d, 0, m->sh - 1 < m->h - 1 ? m->sh - 1 : m->h - 1);
	m->class_x = between(d, 0, m->sw - 1 < m->w - 1 ? m->sw - 1 : m->w - 1);
	y = class_side(m->class_y, m->h, m->kh, m->sh, m->ph);
	x = class_side(m->class_x, m->w, m->kw, m->sw, m->pw);
	nest(d, y.count, x.count);
	any_blocks(d);
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
	tensor(d, 0, KIND_HALF, m->oh, m->ow, m->c, 16);
	tensor(d, out, KIND_HALF, m->h, m->w, m->c, 16);
	stream(d, 0, c->y_first, c->x_first, 1, 1);
	stream(d, out, m->class_y, m->class_x, m->sh, m->sw);
	if (m->program == WC_SIMD_MAX_POOL_GRADIENT) {
		tensor(d, 1, KIND_BITS, m->oh, m->ow, m->c, index_bits(m));
		stream(d, 1, c->y_first, c->x_first, 1, 1);
	}
}

// A window of taps whose weights are one value each.
static void weighted_sum(struct draw *d)
{
	struct simd_case *m = d->made;

	draw_pool(d);
	windows(d);
	tensor(d, 0, KIND_HALF, m->h, m->w, m->c, 16);
	tensor(d, 1, KIND_ONE, m->kh, m->kw, 1, 32);
	tensor(d, 2, KIND_HALF, m->oh, m->ow, m->c, 16);
	stream(d, 0, -m->ph, -m->pw, m->sh, m->sw);
	stream(d, 1, 0, 0, 0, 0);
	stream(d, 2, 0, 0, 1, 1);
	m->command.s1_stride_n = 0;
}

static void elementwise(struct draw *d)
{
	struct simd_case *m = d->made;

	draw_map(d);
	nest(d, m->h, m->w);
	any_blocks(d);
	if (m->program == WC_SIMD_SGD) {
		map(d, 0, KIND_FLOAT);
		map(d, 1, KIND_FLOAT);
		map(d, 2, KIND_FLOAT);
		map(d, 3, KIND_HALF);
		m->command.constant0 = pattern(1.0f / 1024);
		m->command.constant1 = pattern(1e-4f);
		m->command.constant2 = pattern(0.9f);
		m->command.constant3 = pattern(0.1f);
	} else if (m->program == WC_SIMD_ADD) {
		map(d, 0, KIND_HALF);
		map(d, 1, KIND_HALF);
		map(d, 2, KIND_HALF);
		in_place(d, 2, between(d, 0, 1));
	} else {
		map(d, 0, between(d, 0, 1) ? KIND_HALF : KIND_FLOAT);
		map(d, 1, between(d, 0, 2) ? KIND_HALF : KIND_FLOAT);
	}
	plain_all(d);
}

static void draw_groups(struct draw *d)
{
	struct simd_case *m = d->made;
	int groups;

	draw_map(d);
	m->cpg = between(d, 1, d->lanes);
	if (between(d, 0, 1))
		m->cpg = 1 << between(d, 0, 31 - __builtin_clz((unsigned)d->lanes));
	groups = between(d, 1, 2 * d->lanes / m->cpg + 1);
	m->c = groups * m->cpg;
	m->command.constant0 = pattern(1.0f / (float)(m->h * m->w * m->cpg));
	// Variances that are zero or negative reach the root where epsilon does not help.
	m->command.constant1 = pattern(between(d, 0, 3) ? 1e-5f : (float)between(d, -1, 0));
}

// Taps are the parts of a group.
static void cut_groups(struct draw *d, int groups)
{
	struct simd_case *m = d->made;
	struct wc_simd_command *c = &m->command;
	int parts = between(d, 2, 3), part = between(d, 1, d->lanes);

	m->cpg = parts * part;
	m->c = groups * m->cpg;
	nest(d, m->h, m->w);
	blocks(d, part, 1, m->cpg);
	c->taps_x = (uint8_t)parts;
	c->tap_x_step = 1;
	c->x_size = (uint16_t)parts;
}

// A tap goes on by the lanes of a block.
static void part_taps(struct draw *d, int i)
{
	struct stream_fields f = fields_of(&d->made->command, i);

	*f.tap_y = 0;
	*f.tap_x = (int32_t)d->made->command.block * d->made->tensors[i].bits / 8;
}

static void norm_sums(struct draw *d)
{
	struct simd_case *m = d->made;
	bool wide = m->program == WC_SIMD_NORM_SUMS_WIDE || m->program == WC_SIMD_NORM_BACKWARD_SUMS_WIDE;
	bool backward = m->program == WC_SIMD_NORM_BACKWARD_SUMS || m->program == WC_SIMD_NORM_BACKWARD_SUMS_WIDE;

	draw_groups(d);
	if (wide) {
		cut_groups(d, between(d, 1, 3));
	} else {
		nest(d, m->h, m->w);
		whole_groups(d);
	}
	map(d, 0, KIND_HALF);
	if (backward) {
		map(d, 1, KIND_HALF);
		tensor(d, 2, KIND_HALF, 1, 1, m->c, 16);
		statistic(d, 3);
		statistic(d, 4);
		row_sums(d, 5);
		row_sums(d, 6);
	} else {
		m->tensors[1] = m->tensors[0];
		row_sums(d, 3);
		row_sums(d, 4);
	}
	plain_all(d);
	if (backward)
		m->command.s2_stride_n = 0;
	for (int i = 0; wide && i < 3; i++)
		if (m->tensors[i].used)
			part_taps(d, i);
}

static void norm_stats(struct draw *d)
{
	struct simd_case *m = d->made;

	draw_groups(d);
	nest(d, m->h, 1);
	whole_groups(d);
	row_sums(d, 0);
	row_sums(d, 1);
	statistic(d, 2);
	statistic(d, 3);
	if (m->program == WC_SIMD_NORM_STATS)
		tensor(d, 4, KIND_HALF, 1, 1, m->c, 16);
	else
		statistic(d, 4);
	statistic(d, 5);
	if (m->program == WC_SIMD_NORM_STATS)
		statistic(d, 6);
	plain_all(d);
	// The first strip of several, the last, one in the middle, or the only one.
	if (between(d, 0, 1))
		m->command.zero = 0x0c;
	if (between(d, 0, 1))
		m->command.off = 0x0c;
}

static void norm_apply(struct draw *d)
{
	struct simd_case *m = d->made;
	bool gradient = m->program == WC_SIMD_NORM_INPUT_GRADIENT, parameters = m->program == WC_SIMD_NORM_PARAMETER_GRADIENT;

	draw_map(d);
	nest(d, m->h, m->w);
	any_blocks(d);
	map(d, 0, KIND_HALF);
	if (parameters) {
		map(d, 1, KIND_HALF);
		statistic(d, 2);
		statistic(d, 3);
		row_sums(d, 4);
		row_sums(d, 5);
	} else if (gradient) {
		map(d, 1, KIND_HALF);
		tensor(d, 2, KIND_HALF, 1, 1, m->c, 16);
		for (int i = 3; i < 7; i++)
			statistic(d, i);
		map(d, 7, KIND_HALF);
		in_place(d, 7, 1);
	} else {
		statistic(d, 1);
		statistic(d, 2);
		tensor(d, 3, KIND_HALF, 1, 1, m->c, 16);
		tensor(d, 4, KIND_HALF, 1, 1, m->c, 16);
		map(d, 5, KIND_HALF);
		in_place(d, 5, 0);
	}
	plain_all(d);
	if (gradient)
		m->command.s2_stride_n = 0;
	else if (!parameters)
		m->command.s3_stride_n = m->command.s4_stride_n = 0;
}

static void sum_rows(struct draw *d)
{
	struct simd_case *m = d->made;

	draw_map(d);
	nest(d, m->h, 1);
	any_blocks(d);
	row_sums(d, 0);
	statistic(d, 1);
	plain_all(d);
	if (between(d, 0, 1))
		m->command.zero = 2;
}

static void softmax(struct draw *d)
{
	struct simd_case *m = d->made;
	int first = m->program == WC_SIMD_SOFTMAX_MAX ? 1 : m->program == WC_SIMD_SOFTMAX_SUM ? 2 : 6;

	m->n = between(d, 1, 4);
	m->h = m->w = 1;
	m->c = between(d, 1, 4 * d->lanes);
	nest(d, 1, 1);
	any_blocks(d);
	map(d, 0, KIND_HALF);
	for (int i = 1; i <= (m->program == WC_SIMD_SOFTMAX_SUM ? 3 : first); i++) {
		if (m->program == WC_SIMD_SOFTMAX_GRADIENT && i == 5)
			map(d, i, KIND_HALF);
		else
			tensor(d, i, m->program == WC_SIMD_SOFTMAX_GRADIENT && i == 4 ? KIND_LABEL : KIND_ONE, 1, 1, 1, 32);
	}
	plain_all(d);
	m->command.constant0 = pattern(1024.0f / 32);
}

static void draw_program(struct draw *d)
{
	switch (d->made->program) {
	case WC_SIMD_AVERAGE:
		if (between(d, 0, 1)) {
			pool(d);
		} else {
			d->made->gradient = true;
			pool_gradient(d);
		}
		break;
	case WC_SIMD_MAX_POOL:
		pool(d);
		break;
	case WC_SIMD_MAX_POOL_GRADIENT:
		pool_gradient(d);
		break;
	case WC_SIMD_WEIGHTED_SUM:
		weighted_sum(d);
		break;
	case WC_SIMD_NORM_SUMS:
	case WC_SIMD_NORM_SUMS_WIDE:
	case WC_SIMD_NORM_BACKWARD_SUMS:
	case WC_SIMD_NORM_BACKWARD_SUMS_WIDE:
		norm_sums(d);
		break;
	case WC_SIMD_NORM_STATS:
	case WC_SIMD_NORM_BACKWARD_STATS:
		norm_stats(d);
		break;
	case WC_SIMD_NORM_APPLY:
	case WC_SIMD_NORM_INPUT_GRADIENT:
	case WC_SIMD_NORM_PARAMETER_GRADIENT:
		norm_apply(d);
		break;
	case WC_SIMD_SUM_ROWS:
		sum_rows(d);
		break;
	case WC_SIMD_SOFTMAX_MAX:
	case WC_SIMD_SOFTMAX_SUM:
	case WC_SIMD_SOFTMAX_GRADIENT:
		softmax(d);
		break;
	default:
		elementwise(d);
		break;
	}
}

void simd_case_draw(struct simd_case *drawn, enum wc_simd_program program, const struct wc_device_params *params, uint64_t *state)
{
	struct draw d = {.made = drawn, .params = params, .state = state, .lanes = (int)wc_device_lanes(params)};

	do {
		*drawn = (struct simd_case){.program = program};
		// Somewhere in the buffer.
		d.used = params->bus_bytes * (uint32_t)between(&d, 0, 20);
		drawn->wild = between(&d, 0, 3) == 0;
		draw_program(&d);
	} while (d.used > params->buffer_bytes);
}

// ---- data ------------------------------------------------------------------------------------------

static void put(uint8_t *image, uint64_t bit, int bits, uint32_t value)
{
	for (int i = 0; i < bits; i++, bit++)
		image[bit / 8] = (uint8_t)((image[bit / 8] & ~(1 << bit % 8)) | (value >> i & 1) << bit % 8);
}

// Tame numbers lie within a few powers of two of 1, a few are zero or equal to others; wild ones are any bits, one in 8 a NaN.
static uint32_t datum(const struct simd_case *drawn, const struct simd_tensor *t, uint64_t random)
{
	uint32_t bits = (uint32_t)(random >> 32), special = random >> 8 & 0xff;

	if (t->kind == KIND_LABEL)
		return bits % (uint32_t)drawn->c;
	if (t->kind == KIND_BITS)
		return bits % (uint32_t)(drawn->kh * drawn->kw);
	if (drawn->wild)
		return t->bits == 16 && special < 32 ? bits | 0x7c00 : special < 32 ? bits | 0x7f800000 : bits;
	if (special < 8)
		return special & 1 ? 1u << (t->bits - 1) : 0;
	if (t->bits == 16)
		return (bits & 0x83ff) | (13 + random % 4) << 10 | (special < 40 ? 0x0300 : 0);
	return (bits & 0x807fffff) | (125 + (uint32_t)(random % 4)) << 23;
}

void simd_case_fill(const struct simd_case *drawn, uint8_t *image, uint64_t *state)
{
	for (int i = 0; i < SIMD_CASE_STREAMS; i++) {
		const struct simd_tensor *t = &drawn->tensors[i];

		for (int n = 0; t->used && n < drawn->n; n++)
			for (int y = 0; y < t->h; y++)
				for (int e = 0; e < t->w * t->c; e++)
					put(image, simd_tensor_at(t, n, y, 0, e), t->bits, datum(drawn, t, splitmix_next(state)));
	}
}
