// SPDX-License-Identifier: Apache-2.0
#include "tests/array/stimulus.h"

#include "tests/array/operands.h"

static uint16_t any_half(struct rng *rng, bool wild)
{
	return wild ? rng_wild_half(rng) : rng_tame_half(rng);
}

static void *get(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (!memory)
		abort();
	return memory;
}

static void place_waves(struct program *p, struct rng *rng, bool bubbles)
{
	// Nothing before cycle 0: the first load may start at once.
	int start = 0, end = 0, load_end = 0;

	for (int i = 0; i < p->waves; i++) {
		struct wave *w = &p->wave[i];
		int late = bubbles && rng_chance(rng, 50) ? rng_below(rng, 2 * p->rows) : 0;

		// The register comes free, row by row, when the wave before starts; the bus when the load before is through.
		w->load = (start > load_end ? start : load_end) + late;
		load_end = w->load + p->rows * p->stages;
		// Row k is needed in cycle start + k * stages and may be used one cycle after it was on the bus.
		late = bubbles && rng_chance(rng, 50) ? rng_below(rng, p->rows) : 0;
		w->start = (end > w->load + 1 ? end : w->load + 1) + late;
		w->length = 1 + rng_below(rng, 3 * p->rows);
		start = w->start;
		end = start + w->length;
	}
	p->cycles = (end > load_end ? end : load_end) + p->rows * p->stages + p->cols + 4;
}

static void fill_waves(struct program *p, struct rng *rng, bool wild, bool bubbles)
{
	for (int t = 0; t < p->cycles; t++)
		p->vector_wave[t] = p->load_wave[t] = -1;
	for (int i = 0; i < p->waves; i++) {
		struct wave *w = &p->wave[i];

		for (int k = 0; k < p->rows; k++) {
			p->load_wave[w->load + k * p->stages] = i;
			p->load_row[w->load + k * p->stages] = k;
			for (int c = 0; c < p->cols; c++)
				w->w[k][c] = any_half(rng, wild);
		}
		for (int t = w->start; t < w->start + w->length; t++) {
			if (bubbles && rng_chance(rng, 10))
				continue;
			p->vector_wave[t] = i;
			for (int r = 0; r < p->rows; r++)
				p->a[t][r] = any_half(rng, wild);
			for (int c = 0; c < p->cols; c++)
				p->sum[t][c] = program_partial(p, t, p->rows - 1, c);
		}
	}
}

struct program *program_create(struct rng *rng, int rows, int cols, int stages, int waves, bool wild, bool bubbles)
{
	struct program *p = get(1, sizeof(*p));

	*p = (struct program){.rows = rows, .cols = cols, .stages = stages, .waves = waves};
	p->wave = get((size_t)waves, sizeof(*p->wave));
	place_waves(p, rng, bubbles);
	p->vector_wave = get((size_t)p->cycles, sizeof(*p->vector_wave));
	p->load_wave = get((size_t)p->cycles, sizeof(*p->load_wave));
	p->load_row = get((size_t)p->cycles, sizeof(*p->load_row));
	p->a = get((size_t)p->cycles, sizeof(*p->a));
	p->sum = get((size_t)p->cycles, sizeof(*p->sum));
	fill_waves(p, rng, wild, bubbles);
	return p;
}

void program_free(struct program *p)
{
	free(p->wave);
	free(p->vector_wave);
	free(p->load_wave);
	free(p->load_row);
	free(p->a);
	free(p->sum);
	free(p);
}

static void put_half(uint32_t *words, int i, uint16_t half)
{
	words[i / 2] = i & 1 ? (words[i / 2] & 0xffff) | (uint32_t)half << 16 : (words[i / 2] & 0xffff0000) | half;
}

static void put_bit(uint32_t *words, int i, bool bit)
{
	words[i / 32] = (words[i / 32] & ~(1u << i % 32)) | (uint32_t)bit << i % 32;
}

void program_inputs(const struct program *p, int t, struct rng *rng, struct trio_inputs *in)
{
	for (int i = 0; i < MAX_LANES / 2; i++) {
		in->a[i] = (uint32_t)rng_next(rng);
		in->w[i] = (uint32_t)rng_next(rng);
	}
	in->rst_n = in->en = true;
	for (int r = 0; r < p->rows; r++) {
		int from = t - r * p->stages;
		int wave = from >= 0 && from < p->cycles ? p->vector_wave[from] : -1;
		bool load = t < p->cycles && p->load_wave[t] >= 0 && p->load_row[t] == r;

		put_bit(in->a_valid, r, wave >= 0);
		put_bit(in->a_sel, r, wave >= 0 ? wave & 1 : rng_chance(rng, 50));
		put_bit(in->w_en, r, load);
		put_bit(in->w_sel, r, load ? p->load_wave[t] & 1 : rng_chance(rng, 50));
		if (wave >= 0)
			put_half(in->a, r, p->a[from][r]);
	}
	for (int c = 0; c < p->cols; c++) {
		int from = t - c;

		if (from >= 0 && from < p->cycles && p->load_wave[from] >= 0)
			put_half(in->w, c, p->wave[p->load_wave[from]].w[p->load_row[from]][c]);
	}
}

int program_vector_at(const struct program *p, int t, int col)
{
	int from = t - p->rows * p->stages - col;

	return from >= 0 && from < p->cycles && p->vector_wave[from] >= 0 ? from : -1;
}

uint32_t program_partial(const struct program *p, int vector, int row, int col)
{
	const struct wave *w = &p->wave[p->vector_wave[vector]];
	uint32_t sum = 0;

	for (int r = 0; r <= row; r++)
		sum = mac_reference(sum, p->a[vector][r], w->w[r][col]);
	return sum;
}
