// SPDX-License-Identifier: Apache-2.0
//
// SIMD commands in random programs: what one does to the buffer, access by access, whatever its fields say.
#include <stdlib.h>

#include "tests/device/fuzz.h"
#include "wc_programs.h"

enum { CYCLES_MAX = 300000 };

struct look {
	struct program *program;
	const struct bench *bench;
	const struct wc_simd_command *command;
	const struct wc_simd_text *text;
	uint64_t cycles; // at most
	bool *stored;    // bytes
	bool ended;      // an access is refused, or nobody waits for the end
};

struct place {
	uint32_t n, block, y, x, r, s;
};

#define BASE(c, i) { (c)->s##i##_base, (uint32_t)(c)->s##i##_stride_n, (uint32_t)(c)->s##i##_stride_y, (uint32_t)(c)->s##i##_stride_x, (c)->type##i }

static void access(struct look *l, enum wc_simd_part part, const struct place *p, int stream, bool write)
{
	const struct wc_simd_command *c = l->command;
	const uint32_t all[][5] = { BASE(c, 0), BASE(c, 1), BASE(c, 2), BASE(c, 3), BASE(c, 4), BASE(c, 5), BASE(c, 6), BASE(c, 7) };
	const int32_t taps[][2] = { { c->s0_tap_y, c->s0_tap_x }, { c->s1_tap_y, c->s1_tap_x }, { c->s2_tap_y, c->s2_tap_x }, { c->s3_tap_y, c->s3_tap_x } };
	const uint32_t *s = all[stream];
	uint32_t type = s[4], left = c->channels - (l->text->is_flat ? p->x : p->block) * c->block_step, lanes = left < c->block ? left : c->block;
	uint32_t width = type == 0 ? 16 : type <= 2 ? 32 : type - 2, unit = type > 2 ? 1 : 8;
	uint32_t step = type == 2 ? 0 : c->block_step * width / unit, address = s[0] + p->n * s[1] + p->block * step;
	bool inner = part == WC_SIMD_PART_PIXEL || part == WC_SIMD_PART_PIXEL_END || part == WC_SIMD_PART_TAP;
	uint64_t first, end;

	if (inner || part == WC_SIMD_PART_ROW || part == WC_SIMD_PART_ROW_END)
		address += p->y * s[2];
	if (inner)
		address += p->x * (l->text->is_flat ? step : s[3]);
	if (part == WC_SIMD_PART_TAP && stream < 4)
		address += p->r * (uint32_t)taps[stream][0] + p->s * (uint32_t)taps[stream][1];
	first = (uint64_t)address * unit;
	end = first + (type == 2 ? 32 : (uint64_t)lanes * width);
	if (end > 8 * (uint64_t)l->bench->params.buffer_bytes) {
		l->ended = true;
		return;
	}
	for (uint64_t byte = first / 8; byte < (end + 7) / 8; byte++) {
		// Reads run ahead of writes.
		if (!write && l->stored[byte])
			l->program->has_order = false;
		l->stored[byte] |= write;
	}
}

static void execute(struct look *l, enum wc_simd_part part, const struct place *p)
{
	const struct wc_simd_command *c = l->command;
	const struct wc_simd_code *code = wc_simd_code + l->text->first[part];

	l->cycles++;
	for (int i = 0; i < l->text->count[part] && !l->ended; i++, code++) {
		l->cycles += code->op == WC_SIMD_OP_LOOP ? 1 + (uint64_t)code->b * (code->a ? c->block : c->group) : 3;
		if (code->op == WC_SIMD_OP_LOOP)
			continue;
		for (int j = 0; j < 2; j++) {
			int source = j ? code->b : code->a;

			if (source >= WC_SIMD_STREAM && source < WC_SIMD_CONSTANT && !(c->zero >> (source - WC_SIMD_STREAM) & 1))
				access(l, part, p, source - WC_SIMD_STREAM, false);
		}
		if (code->d >= WC_SIMD_STREAM && !(c->off >> (code->d - WC_SIMD_STREAM) & 1))
			access(l, part, p, code->d - WC_SIMD_STREAM, true);
	}
	if (l->cycles > CYCLES_MAX) {
		l->program->is_long = true;
		l->ended = true;
	}
}

static void walk_pixel(struct look *l, struct place *p)
{
	const struct wc_simd_command *c = l->command;

	execute(l, WC_SIMD_PART_PIXEL, p);
	for (p->r = 0; p->r < c->taps_y && l->text->count[WC_SIMD_PART_TAP] && !l->ended; p->r++)
		for (p->s = 0; p->s < c->taps_x && !l->ended; p->s++) {
			uint32_t y = (uint32_t)c->y_first + p->y * (uint32_t)c->y_step + p->r * (uint32_t)c->tap_y_step;
			uint32_t x = (uint32_t)c->x_first + p->x * (uint32_t)c->x_step + p->s * (uint32_t)c->tap_x_step;

			l->cycles++;
			if (y < c->y_size && x < c->x_size)
				execute(l, WC_SIMD_PART_TAP, p);
		}
	if (!l->ended)
		execute(l, WC_SIMD_PART_PIXEL_END, p);
}

static void walk_block(struct look *l, struct place *p, uint32_t blocks)
{
	const struct wc_simd_text *t = l->text;
	uint32_t count_x = t->is_flat ? blocks : l->command->count_x;
	bool pixels = t->count[WC_SIMD_PART_PIXEL] || t->count[WC_SIMD_PART_TAP] || t->count[WC_SIMD_PART_PIXEL_END];

	execute(l, WC_SIMD_PART_PROLOGUE, p);
	for (p->y = 0; (pixels || t->count[WC_SIMD_PART_ROW]) && p->y < l->command->count_y && !l->ended; p->y++) {
		p->x = 0;
		execute(l, WC_SIMD_PART_ROW, p);
		for (; pixels && p->x < count_x && !l->ended; p->x++)
			walk_pixel(l, p);
		p->x = pixels ? count_x - 1 : 0;
		if (!l->ended)
			execute(l, WC_SIMD_PART_ROW_END, p);
	}
	if (!l->ended)
		execute(l, WC_SIMD_PART_EPILOGUE, p);
}

// Fields outside their limits: the command is refused before it does anything.
static bool is_refused(const struct bench *b, const struct wc_simd_command *c)
{
	return c->program >= WC_SIMD_PROGRAMS || c->block < 1 || c->block > wc_device_lanes(&b->params) || c->group < 1 || c->channels < 1 ||
	       c->channels > b->params.buffer_bytes || c->block_step < 1;
}

void fuzz_look_at_simd(struct program *p, const struct bench *b, const struct wc_simd_command *c)
{
	struct look l = { .program = p, .bench = b, .command = c };
	uint32_t blocks;

	if (is_refused(b, c))
		return;
	l.text = &wc_simd_texts[c->program];
	l.stored = calloc(b->params.buffer_bytes, sizeof *l.stored);
	blocks = c->channels / c->block_step + (c->channels % c->block_step != 0);
	for (uint32_t n = 0; n < c->count_n && !l.ended; n++)
		for (uint32_t block = 0; block < (l.text->is_flat ? 1 : blocks) && !l.ended; block++)
			walk_block(&l, &(struct place){ .n = n, .block = block }, blocks);
	free(l.stored);
}
