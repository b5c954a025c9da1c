// SPDX-License-Identifier: Apache-2.0
//
// Tensors, streams and nests of SIMD cases: see simd_draw.h.
#include "tests/simd_draw.h"

#include <string.h>

#include "traces/splitmix.h"

int simd_draw_between(struct draw *d, int lo, int hi)
{
	return lo + (int)(splitmix_next(d->state) % (uint64_t)(hi - lo + 1));
}

static uint32_t round_up(uint64_t value, uint32_t to)
{
	return (uint32_t)((value + to - 1) / to * to);
}

// ---- tensors ---------------------------------------------------------------------------------------

struct simd_tensor *simd_draw_tensor(struct draw *d, int stream, enum simd_kind kind, int h, int w, int c, int bits)
{
	struct simd_tensor *t = &d->made->tensors[stream];
	uint32_t bus = d->params->bus_bytes;

	*t = (struct simd_tensor){.kind = kind, .h = h, .w = w, .c = c, .bits = bits, .used = true};
	t->base = (uint32_t)d->used;
	t->pitch_y = round_up(((uint64_t)w * (uint64_t)c * (uint64_t)bits + 7) / 8, bus) + bus * (uint32_t)simd_draw_between(d, 0, 1);
	t->pitch_n = t->pitch_y * (uint32_t)h + bus * (uint32_t)simd_draw_between(d, 0, 1);
	d->used += (uint64_t)t->pitch_n * (uint64_t)d->made->n;
	return t;
}

struct simd_tensor *simd_draw_map_of(struct draw *d, int stream, enum simd_kind kind)
{
	return simd_draw_tensor(d, stream, kind, d->made->h, d->made->w, d->made->c, kind == KIND_HALF ? 16 : 32);
}

// Per sample and channel.
struct simd_tensor *simd_draw_statistic(struct draw *d, int stream)
{
	return simd_draw_tensor(d, stream, KIND_FLOAT, 1, 1, d->made->c, 32);
}

// Per sample, row and channel.
struct simd_tensor *simd_draw_row_sums(struct draw *d, int stream)
{
	return simd_draw_tensor(d, stream, KIND_FLOAT, d->made->h, 1, d->made->c, 32);
}

// ---- streams ---------------------------------------------------------------------------------------

#define FIELDS(c, i) {&(c)->s##i##_base, &(c)->s##i##_stride_n, &(c)->s##i##_stride_y, &(c)->s##i##_stride_x, NULL, NULL, &(c)->type##i}
#define TAP_FIELDS(c, i) {&(c)->s##i##_base, &(c)->s##i##_stride_n, &(c)->s##i##_stride_y, &(c)->s##i##_stride_x, &(c)->s##i##_tap_y, \
			  &(c)->s##i##_tap_x, &(c)->type##i}

struct stream_fields simd_draw_fields(struct wc_simd_command *c, int i)
{
	const struct stream_fields all[] = {TAP_FIELDS(c, 0), TAP_FIELDS(c, 1), TAP_FIELDS(c, 2), TAP_FIELDS(c, 3),
					    FIELDS(c, 4),     FIELDS(c, 5),     FIELDS(c, 6),     FIELDS(c, 7)};

	return all[i];
}

// The stream starts at (y, x) of its tensor and goes y_step rows and x_step pixels at a time; a tap is a row or a pixel.
void simd_draw_stream(struct draw *d, int i, int y, int x, int y_step, int x_step)
{
	const struct simd_tensor *t = &d->made->tensors[i];
	struct stream_fields f = simd_draw_fields(&d->made->command, i);
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

	simd_draw_stream(d, i, 0, 0, t->h > 1, t->w > 1);
}

void simd_draw_plain_all(struct draw *d)
{
	for (int i = 0; i < SIMD_CASE_STREAMS; i++)
		if (d->made->tensors[i].used)
			plain(d, i);
}

// The result goes where the source is.
void simd_draw_in_place(struct draw *d, int result, int source)
{
	if (simd_draw_between(d, 0, 2) == 0)
		d->made->tensors[result] = d->made->tensors[source];
}

// ---- the nest --------------------------------------------------------------------------------------

void simd_draw_nest(struct draw *d, int h, int w)
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

void simd_draw_blocks(struct draw *d, int group, int groups, int step)
{
	struct wc_simd_command *c = &d->made->command;

	c->group = (uint16_t)group;
	c->groups = (uint16_t)groups;
	c->block = (uint16_t)(group * groups);
	c->block_step = (uint32_t)step;
}

// As many channels as there are lanes, or fewer.
void simd_draw_any_blocks(struct draw *d)
{
	int block = simd_draw_between(d, 0, 2) ? d->lanes : simd_draw_between(d, 1, d->lanes);

	simd_draw_blocks(d, 1, block, block);
}

void simd_draw_whole_groups(struct draw *d)
{
	int cpg = d->made->cpg, groups = d->lanes / cpg;

	if (simd_draw_between(d, 0, 3) == 0)
		groups = simd_draw_between(d, 1, groups);
	simd_draw_blocks(d, cpg, groups, cpg * groups);
}

// ---- programs --------------------------------------------------------------------------------------

uint32_t simd_draw_pattern(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

void simd_draw_map(struct draw *d)
{
	struct simd_case *m = d->made;

	m->n = simd_draw_between(d, 1, 3);
	m->h = simd_draw_between(d, 1, 6);
	m->w = simd_draw_between(d, 1, 6);
	m->c = simd_draw_between(d, 0, 2) ? simd_draw_between(d, 1, d->lanes) : simd_draw_between(d, 1, 3 * d->lanes);
}
