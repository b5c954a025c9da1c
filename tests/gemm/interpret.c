// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "interpret.h"

// The fetch block of a command (commands.def), as it lies at a_base and b_base.
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

struct vector {
	int index[3];
	int64_t address, y, x;
};

struct tap {
	int channels_left; // from the start of this block on
	int r, s, c;
	int64_t offset, y, x;
};

static struct vector vector_first(const struct fetch_fields *f)
{
	return (struct vector){{f->start[0], f->start[1], f->start[2]}, f->base, f->y_start, f->x_start};
}

static void vector_next(const struct fetch_fields *f, struct vector *v)
{
	if (++v->index[0] != f->count[0]) {
		v->address += f->delta[0];
		v->x += f->x_step;
		return;
	}
	v->index[0] = 0;
	v->x = f->x_first;
	if (++v->index[1] != f->count[1]) {
		v->address += f->delta[1];
		v->y += f->y_step;
		return;
	}
	v->index[1] = 0;
	v->y = f->y_first;
	v->index[2]++;
	v->address += f->delta[2];
}

static struct tap tap_first(const struct fetch_fields *f)
{
	if (f->mode == 1)
		return (struct tap){f->chan_total, f->tap_y_start, f->tap_x_start, f->chan_start, 0, f->tap_y_pos, f->tap_x_pos};
	return (struct tap){f->chan_total, 0, 0, 0, 0, 0, 0};
}

static void tap_next(const struct fetch_fields *f, struct tap *t)
{
	int block = t->channels_left < f->chan_block ? t->channels_left : f->chan_block;

	if (++t->c != block)
		return;
	t->c = 0;
	if (++t->s != f->taps_x) {
		t->offset += f->tap_x_delta;
		t->x += f->tap_x_step;
		return;
	}
	t->s = 0;
	t->x = 0;
	if (++t->r != f->taps_y) {
		t->offset += f->tap_y_delta;
		t->y += f->tap_y_step;
		return;
	}
	t->r = 0;
	t->y = 0;
	t->channels_left -= block;
	t->offset += f->block_delta;
	if (!t->channels_left) {
		t->channels_left = f->chan_total;
		t->offset = 0;
	}
}

static float half_to_float(uint16_t half)
{
	_Float16 value;

	memcpy(&value, &half, sizeof(value));
	return (float)value;
}

// One element, +0 in the padding.
static bool element(const struct fetch_fields *f, const struct vector *v, const struct tap *t, int extra, const uint8_t *buffer,
		    uint32_t buffer_bytes, float *value)
{
	int64_t address = v->address + t->offset + t->c * (int64_t)(f->mode == 2 ? f->chan_delta : 2) + 2 * extra;
	int64_t y = v->y + t->y, x = v->x + t->x;
	uint16_t half = 0;

	if (f->mode == 2 || (y >= 0 && y < f->y_size && x >= 0 && x < f->x_size)) {
		if (address < 0 || address + 2 > (int64_t)buffer_bytes)
			return false;
		memcpy(&half, buffer + address, 2);
	}
	*value = half_to_float(half);
	return true;
}

// out[index * k_total + k], index < size
static bool gather(const struct fetch_fields *f, int size, int k_total, const uint8_t *buffer, uint32_t buffer_bytes, float *out)
{
	struct vector v = vector_first(f);
	struct tap t = tap_first(f);

	if (f->mode == 0) {
		for (int index = 0; index < size; index++, vector_next(f, &v)) {
			t = tap_first(f);
			for (int k = 0; k < k_total; k++, tap_next(f, &t))
				if (!element(f, &v, &t, 0, buffer, buffer_bytes, &out[index * k_total + k]))
					return false;
		}
		return true;
	}
	for (int k = 0; k < k_total; k++) {
		if (f->mode == 1) {
			t = tap_first(f);
			for (int index = 0; index < size; index++, tap_next(f, &t))
				if (!element(f, &v, &t, 0, buffer, buffer_bytes, &out[index * k_total + k]))
					return false;
			vector_next(f, &v);
		} else {
			for (int index = 0; index < size; index++)
				if (!element(f, &v, &t, index, buffer, buffer_bytes, &out[index * k_total + k]))
					return false;
			tap_next(f, &t);
		}
	}
	return true;
}

static uint32_t float_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return value != value ? 0x7fc00000 : bits;
}

static uint16_t half_bits(float value)
{
	_Float16 half = (_Float16)value;
	uint16_t bits;

	memcpy(&bits, &half, sizeof(bits));
	return value != value ? 0x7e00 : bits;
}

int gemm_waves(const struct wc_gemm_command *command, int rows)
{
	return command->k_total ? (int)((command->k_total + (uint32_t)rows - 1) / (uint32_t)rows) : 1;
}

bool gemm_interpret(const struct wc_gemm_command *command, int rows, uint8_t *buffer, uint32_t buffer_bytes)
{
	int m_rows = command->m_rows, n_cols = command->n_cols, k_total = (int)command->k_total;
	bool preload = command->flags & 1, fp32 = command->flags & 2;
	struct fetch_fields a, b;
	// The walk of the drained and preloaded rows is a vector walk without an image.
	struct fetch_fields walk = {
		.base = (int32_t)command->out_base,
		.count = {command->out_count0, command->out_count1, command->out_count2},
		.start = {command->out_start0, command->out_start1, command->out_start2},
		.delta = {command->out_delta0, command->out_delta1, command->out_delta2},
	};
	struct vector row = vector_first(&walk);
	float *av = calloc((size_t)m_rows * (size_t)k_total + 1, sizeof(*av));
	float *bv = calloc((size_t)n_cols * (size_t)k_total + 1, sizeof(*bv));
	float *sums = calloc((size_t)m_rows * (size_t)n_cols, sizeof(*sums));
	bool ok;

	memcpy(&a, &command->a_base, sizeof(a));
	memcpy(&b, &command->b_base, sizeof(b));
	ok = gather(&a, m_rows, k_total, buffer, buffer_bytes, av) && gather(&b, n_cols, k_total, buffer, buffer_bytes, bv);

	for (int m = 0; ok && preload && m < m_rows; m++, vector_next(&walk, &row)) {
		int64_t address = (command->flags & 4 ? 0 : row.address - walk.base) + (int64_t)command->pre_base;

		ok = address >= 0 && address + 4 * n_cols <= (int64_t)buffer_bytes;
		if (ok)
			memcpy(&sums[m * n_cols], buffer + address, 4 * (size_t)n_cols);
	}
	// Chunks of the array's height; a tail is filled with +0 x +0, which changes no sum but a wave's -0.
	for (int m = 0; ok && m < m_rows; m++)
		for (int n = 0; n < n_cols; n++)
			for (int k = 0; k < k_total || k == 0; k += rows) {
				float chunk = 0;

				for (int i = k; i < k + rows; i++)
					chunk += i < k_total ? av[m * k_total + i] * bv[n * k_total + i] : 0.0f;
				sums[m * n_cols + n] += chunk;
			}

	row = vector_first(&walk);
	for (int m = 0; ok && m < m_rows; m++, vector_next(&walk, &row)) {
		ok = row.address >= 0 && row.address + (fp32 ? 4 : 2) * n_cols <= (int64_t)buffer_bytes;
		for (int n = 0; ok && n < n_cols; n++) {
			uint32_t bits = fp32 ? float_bits(sums[m * n_cols + n]) : half_bits(sums[m * n_cols + n]);

			memcpy(buffer + row.address + (fp32 ? 4 : 2) * n, &bits, fp32 ? 4 : 2);
		}
	}
	free(av);
	free(bv);
	free(sums);
	return ok;
}
