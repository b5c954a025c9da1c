// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "conv.h"

static int min_int(int a, int b)
{
	return a < b ? a : b;
}

static int gcd(int a, int b)
{
	return b ? gcd(b, a % b) : a;
}

// a mod b in [0, b)
static int modulo(int a, int b)
{
	return (a % b + b) % b;
}

// The fields of both fetch blocks have the same layout; this names them for either operand.
struct fetch_fields {
	int32_t base;
	uint8_t mode, merge, taps_y, taps_x;
	uint16_t count[3], start[3];
	int32_t delta[3];
	int16_t y_first, x_first, y_start, x_start, y_step, x_step;
	uint16_t y_size, x_size;
	int16_t tap_y_step, tap_x_step;
	int32_t tap_x_delta, tap_y_delta, block_delta, chan_delta;
	uint16_t chan_total, chan_block;
	uint8_t tap_y_start, tap_x_start;
	uint16_t chan_start;
	int16_t tap_y_pos, tap_x_pos;
	uint16_t run_length, run_start;
};
_Static_assert(sizeof(struct fetch_fields) == 84, "layout of a fetch block");

// A walk over rectangular positions (n, v, u): `step` bytes from u to u + 1, `line` from v to v + 1, `plane` from n to n + 1.
struct positions {
	int count[3]; // u, v, n
	int64_t step, line, plane;
};

static void place_walk(const struct positions *p, int at, uint16_t count[3], uint16_t start[3], int32_t delta[3], int64_t *offset)
{
	int u = at % p->count[0], v = at / p->count[0] % p->count[1], n = at / p->count[0] / p->count[1];

	for (int i = 0; i < 3; i++)
		count[i] = (uint16_t)p->count[i];
	start[0] = (uint16_t)u;
	start[1] = (uint16_t)v;
	start[2] = (uint16_t)n;
	delta[0] = (int32_t)p->step;
	delta[1] = (int32_t)(p->line - (p->count[0] - 1) * p->step);
	delta[2] = (int32_t)(p->plane - (p->count[1] - 1) * p->line - (p->count[0] - 1) * p->step);
	*offset = n * p->plane + v * p->line + u * p->step;
}

// Where the position (v, u) of a walk lies in the image that is checked: y = y_first + v y_step.
static void place_image(struct fetch_fields *f, int y_first, int x_first, int y_step, int x_step, int y_size, int x_size)
{
	f->y_first = (int16_t)y_first;
	f->x_first = (int16_t)x_first;
	f->y_step = (int16_t)y_step;
	f->x_step = (int16_t)x_step;
	f->y_start = (int16_t)(y_first + f->start[1] * y_step);
	f->x_start = (int16_t)(x_first + f->start[0] * x_step);
	f->y_size = (uint16_t)y_size;
	f->x_size = (uint16_t)x_size;
}

// Taps `line` and `step` bytes apart.
static void place_taps(struct fetch_fields *f, int taps_y, int taps_x, int y_step, int x_step, int64_t line, int64_t step, int64_t block)
{
	int64_t last = (taps_y - 1) * line + (taps_x - 1) * step;

	f->taps_y = (uint8_t)taps_y;
	f->taps_x = (uint8_t)taps_x;
	f->tap_y_step = (int16_t)y_step;
	f->tap_x_step = (int16_t)x_step;
	f->tap_x_delta = (int32_t)step;
	f->tap_y_delta = (int32_t)(line - (taps_x - 1) * step);
	f->block_delta = (int32_t)(block - last);
	f->chan_delta = 2;
}

// Rows of the result, and where its preload lies.
static void place_out(struct wc_gemm_command *c, const struct positions *p, int at, uint32_t base)
{
	uint16_t count[3], start[3];
	int32_t delta[3];
	int64_t offset;

	place_walk(p, at, count, start, delta, &offset);
	c->out_base = c->pre_base = (uint32_t)(base + offset);
	c->out_count0 = count[0];
	c->out_count1 = count[1];
	c->out_count2 = count[2];
	c->out_start0 = start[0];
	c->out_start1 = start[1];
	c->out_start2 = start[2];
	c->out_delta0 = delta[0];
	c->out_delta1 = delta[1];
	c->out_delta2 = delta[2];
}

static void command_init(struct wc_gemm_command *c, int m_rows, int n_cols, int k_total, const struct fetch_fields *a, const struct fetch_fields *b)
{
	memset(c, 0, sizeof(*c));
	c->opcode = WC_OP_GEMM;
	c->version = WC_COMMAND_VERSION;
	c->m_rows = (uint16_t)m_rows;
	c->n_cols = (uint16_t)n_cols;
	c->k_total = (uint32_t)k_total;
	memcpy(&c->a_base, a, sizeof(*a));
	memcpy(&c->b_base, b, sizeof(*b));
}

// im2col of x: positions are those of y.
static void im2col(struct fetch_fields *f, const struct conv *v, const struct positions *p, int at)
{
	int64_t offset;

	place_walk(p, at, f->count, f->start, f->delta, &offset);
	f->base = (int32_t)((int64_t)v->x + offset - (int64_t)v->pad * v->x_pitch - (int64_t)v->pad * v->in_c * 2);
	place_image(f, -v->pad, -v->pad, v->stride, v->stride, v->in_h, v->in_w);
}

int conv_forward(const struct conv *v, const struct array_shape *array, bool merge, struct wc_gemm_command *commands, int limit)
{
	int pixels = v->batch * v->out_h * v->out_w, taps = v->kernel_h * v->kernel_w, count = 0;
	int64_t pixel = 2 * v->in_c;
	struct positions in = {{v->out_w, v->out_h, v->batch}, v->stride * pixel, (int64_t)v->stride * v->x_pitch, (int64_t)v->in_h * v->x_pitch};
	struct positions out = {{v->out_w, v->out_h, v->batch}, 2 * v->out_c, v->y_pitch, (int64_t)v->out_h * v->y_pitch};
	struct positions filters = {{v->out_c, 1, 1}, taps * pixel, 0, 0};
	bool one_block = v->in_c <= array->rows;

	for (int m = 0; m < pixels; m += array->acc_rows)
		for (int n = 0; n < v->out_c; n += array->cols) {
			int m_rows = min_int(array->acc_rows, pixels - m), n_cols = min_int(array->cols, v->out_c - n);
			struct fetch_fields a = {0}, b = {0};
			int64_t offset;

			if (count == limit)
				return -1;
			im2col(&a, v, &in, m);
			place_taps(&a, v->kernel_h, v->kernel_w, v->dilation, v->dilation, (int64_t)v->dilation * v->x_pitch,
				   v->dilation * pixel, 2 * array->rows);
			a.merge = merge && one_block && v->dilation == 1;
			place_walk(&filters, n, b.count, b.start, b.delta, &offset);
			b.base = (int32_t)(v->w + offset);
			place_image(&b, 0, 0, 0, 0, 1, v->kernel_w);
			place_taps(&b, v->kernel_h, v->kernel_w, 0, 1, v->kernel_w * pixel, pixel, 2 * array->rows);
			b.merge = merge && one_block;
			a.chan_total = b.chan_total = (uint16_t)v->in_c;
			a.chan_block = b.chan_block = (uint16_t)array->rows;
			a.run_length = b.run_length = (uint16_t)(v->kernel_w * v->in_c);
			command_init(&commands[count], m_rows, n_cols, taps * v->in_c, &a, &b);
			place_out(&commands[count], &out, m, v->y + 2 * (uint32_t)n);
			count++;
		}
	return count;
}

// Tiles of the dx pixels with y mod stride = class_y, x mod stride = class_x.
static int data_gradient_class(const struct conv *v, const struct array_shape *array, int class_y, int class_x, struct wc_gemm_command *commands,
			       int limit)
{
	// Taps r with (y + pad - r dilation) divisible by the stride: r0, r0 + step, ...; successive ones lie `back` rows of dy apart.
	int step = v->stride / gcd(v->dilation, v->stride), back = step * v->dilation / v->stride;
	int r0 = 0, s0 = 0, taps_y = 0, taps_x = 0, count = 0;
	int high = (v->in_h - class_y + v->stride - 1) / v->stride, wide = (v->in_w - class_x + v->stride - 1) / v->stride;
	int64_t pixel = 2 * v->out_c, filter = 2 * v->kernel_h * v->kernel_w * v->in_c;
	struct positions in = {{wide, high, v->batch}, pixel, v->y_pitch, (int64_t)v->out_h * v->y_pitch};
	struct positions out = {{wide, high, v->batch}, 2 * v->stride * v->in_c, (int64_t)v->stride * v->x_pitch, (int64_t)v->in_h * v->x_pitch};

	for (int r = v->kernel_h - 1; r >= 0; r--)
		if (!modulo(class_y + v->pad - r * v->dilation, v->stride)) {
			r0 = r;
			taps_y++;
		}
	for (int s = v->kernel_w - 1; s >= 0; s--)
		if (!modulo(class_x + v->pad - s * v->dilation, v->stride)) {
			s0 = s;
			taps_x++;
		}
	for (int m = 0; m < high * wide * v->batch; m += array->acc_rows)
		for (int n = 0; n < v->in_c; n += array->cols) {
			int m_rows = min_int(array->acc_rows, high * wide * v->batch - m), n_cols = min_int(array->cols, v->in_c - n);
			int y0 = (class_y + v->pad - r0 * v->dilation) / v->stride, x0 = (class_x + v->pad - s0 * v->dilation) / v->stride;
			int used_y = taps_x ? taps_y : 0, used_x = taps_y ? taps_x : 0;
			struct fetch_fields a = {0}, b = {.mode = 2};
			int64_t offset;

			if (count == limit)
				return -1;
			place_walk(&in, m, a.count, a.start, a.delta, &offset);
			a.base = (int32_t)((int64_t)v->y + offset + (int64_t)y0 * v->y_pitch + x0 * pixel);
			place_image(&a, y0, x0, 1, 1, v->out_h, v->out_w);
			// A class without taps still has a well-formed walk, of which no element is used.
			place_taps(&a, used_y ? used_y : 1, used_x ? used_x : 1, -back, -back, -(int64_t)back * v->y_pitch, -back * pixel, 2 * array->rows);
			b.base = (int32_t)(v->w + (uint32_t)(2 * ((r0 * v->kernel_w + s0) * v->in_c + n)));
			b.count[0] = b.count[1] = b.count[2] = b.y_size = b.x_size = 1;
			place_taps(&b, a.taps_y, a.taps_x, 0, 0, (int64_t)step * v->kernel_w * v->in_c * 2, (int64_t)step * v->in_c * 2,
				   filter * array->rows);
			b.chan_delta = (int32_t)filter;
			a.chan_total = b.chan_total = (uint16_t)v->out_c;
			a.chan_block = b.chan_block = (uint16_t)array->rows;
			command_init(&commands[count], m_rows, n_cols, used_y * used_x * v->out_c, &a, &b);
			place_out(&commands[count], &out, m,
				  v->x + (uint32_t)class_y * v->x_pitch + 2 * (uint32_t)(class_x * v->in_c + n));
			count++;
		}
	return count;
}

int conv_data_gradient(const struct conv *v, const struct array_shape *array, struct wc_gemm_command *commands, int limit)
{
	int count = 0;

	for (int y = 0; y < min_int(v->stride, v->in_h); y++)
		for (int x = 0; x < min_int(v->stride, v->in_w); x++) {
			int more = data_gradient_class(v, array, y, x, commands + count, limit - count);

			if (more < 0)
				return -1;
			count += more;
		}
	return count;
}

int conv_weight_gradient(const struct conv *v, const struct array_shape *array, uint32_t dw, int first, int last, bool zero, bool merge,
			 struct wc_gemm_command *commands, int limit)
{
	int width = v->kernel_h * v->kernel_w * v->in_c, count = 0;
	int64_t pixel = 2 * v->in_c;
	struct positions in = {{v->out_w, v->out_h, v->batch}, v->stride * pixel, (int64_t)v->stride * v->x_pitch, (int64_t)v->in_h * v->x_pitch};
	struct positions dy = {{v->out_w, v->out_h, v->batch}, 2 * v->out_c, v->y_pitch, (int64_t)v->out_h * v->y_pitch};
	struct positions out = {{v->out_c, 1, 1}, 4 * width, 0, 0};
	int at = first * v->out_h * v->out_w, pixels = (last - first) * v->out_h * v->out_w;

	for (int m = 0; m < v->out_c; m += array->acc_rows)
		for (int n = 0; n < width; n += array->cols) {
			int m_rows = min_int(array->acc_rows, v->out_c - m), n_cols = min_int(array->cols, width - n);
			int r = n / v->in_c / v->kernel_w, s = n / v->in_c % v->kernel_w, c = n % v->in_c;
			struct fetch_fields a = {.mode = 1}, b = {.mode = 1};
			int64_t offset;

			if (count == limit)
				return -1;
			place_walk(&dy, at, a.count, a.start, a.delta, &offset);
			a.base = (int32_t)(v->y + offset);
			place_image(&a, 0, 0, 0, 0, 1, 1);
			place_taps(&a, 1, 1, 0, 0, 0, 0, 0);
			a.chan_total = a.chan_block = (uint16_t)v->out_c;
			a.chan_start = (uint16_t)m;
			im2col(&b, v, &in, at);
			b.base += (int32_t)((int64_t)r * v->dilation * v->x_pitch + s * v->dilation * pixel);
			place_taps(&b, v->kernel_h, v->kernel_w, v->dilation, v->dilation, (int64_t)v->dilation * v->x_pitch, v->dilation * pixel, 0);
			b.chan_total = b.chan_block = (uint16_t)v->in_c;
			b.tap_y_start = (uint8_t)r;
			b.tap_x_start = (uint8_t)s;
			b.chan_start = (uint16_t)c;
			b.tap_y_pos = (int16_t)(r * v->dilation);
			b.tap_x_pos = (int16_t)(s * v->dilation);
			b.merge = merge && v->dilation == 1;
			b.run_length = (uint16_t)(v->kernel_w * v->in_c);
			b.run_start = (uint16_t)(s * v->in_c + c);
			command_init(&commands[count], m_rows, n_cols, pixels, &a, &b);
			commands[count].flags = (uint16_t)(2 | (zero ? 0 : 1));
			place_out(&commands[count], &out, m, dw + 4 * (uint32_t)n);
			count++;
		}
	return count;
}
