// SPDX-License-Identifier: Apache-2.0
//
// The three forms of the array show the same at every port in every cycle, whatever comes in: inputs here follow no
// protocol beyond one weight row per cycle.
#include <criterion/criterion.h>

#include "tests/array/models.h"
#include "tests/array/random.h"

// How busy a stretch of cycles is, in percent.
struct mood {
	int enable, valid, row_valid, load;
	bool wild;
};

static void random_bits(struct rng *rng, uint32_t *words, int bits, int percent)
{
	memset(words, 0, MAX_LANES / 8);
	for (int i = 0; i < bits; i++)
		words[i / 32] |= (uint32_t)rng_chance(rng, percent) << i % 32;
}

static void random_inputs(struct rng *rng, const struct trio_ops *ops, const struct mood *mood, struct trio_inputs *in)
{
	for (int i = 0; i < MAX_LANES; i++) {
		((uint16_t *)in->a)[i] = mood->wild ? rng_wild_half(rng) : rng_tame_half(rng);
		((uint16_t *)in->w)[i] = mood->wild ? rng_wild_half(rng) : rng_tame_half(rng);
	}
	random_bits(rng, in->a_valid, ops->rows, rng_chance(rng, mood->valid) ? mood->row_valid : 0);
	random_bits(rng, in->a_sel, ops->rows, rng_chance(rng, 10) ? 50 : rng_chance(rng, 50) * 100);
	random_bits(rng, in->w_sel, ops->rows, 50);
	memset(in->w_en, 0, sizeof(in->w_en));
	if (rng_chance(rng, mood->load)) {
		int row = rng_below(rng, ops->rows);

		in->w_en[row / 32] = 1u << row % 32;
	}
	in->rst_n = true;
	in->en = rng_chance(rng, mood->enable);
}

// Registers come up undefined and different in each form: load all of them.
static void load_everything(struct rng *rng, const struct trio_ops *ops, void *model)
{
	struct trio_outputs out[FORMS];
	struct trio_inputs in;

	for (int i = 0; i < 2 * ops->rows + ops->cols; i++) {
		int row = i % ops->rows;

		random_inputs(rng, ops, &(struct mood){100, 0, 0, 0, false}, &in);
		if (i < 2 * ops->rows)
			in.w_en[row / 32] = 1u << row % 32;
		memset(in.w_sel, i < ops->rows ? 0 : 0xff, sizeof(in.w_sel));
		ops->clock(model, &in, out);
	}
}

static void reset(const struct trio_ops *ops, void *model)
{
	struct trio_outputs out[FORMS];
	struct trio_inputs in = {.rst_n = true};

	ops->clock(model, &in, out);
	in.rst_n = false;
	ops->clock(model, &in, out);
}

// Returns how many valid, nonzero sums were compared.
static long compare(const struct trio_ops *ops, const struct trio_outputs out[FORMS], long cycle)
{
	long seen = 0;

	for (int c = 0; c < ops->cols; c++) {
		bool valid = out[FORM_FAST].valid[c / 32] >> c % 32 & 1;

		for (int form = 0; form < FORMS; form++) {
			bool form_valid = out[form].valid[c / 32] >> c % 32 & 1;

			cr_assert(out[form].psum[c] == out[FORM_FAST].psum[c] && form_valid == valid,
				  "%s, cycle %ld, column %d: form %d shows %08x valid %d, array_fast %08x valid %d", ops->name,
				  cycle, c, form, out[form].psum[c], form_valid, out[FORM_FAST].psum[c], valid);
		}
		cr_assert(valid || out[FORM_FAST].psum[c] == 0, "%s, cycle %ld, column %d: invalid but not zero", ops->name,
			  cycle, c);
		seen += valid && out[FORM_FAST].psum[c] != 0;
	}
	return seen;
}

static void run(const struct trio_ops *ops, int stretches)
{
	struct rng rng = rng_start(ops->name);
	void *model = ops->create();
	long seen = 0, cycle = 0;

	reset(ops, model);
	load_everything(&rng, ops, model);
	for (int s = 0; s < stretches; s++) {
		static const int levels[] = {0, 3, 50, 97, 100};
		struct mood mood = {
			.enable = levels[1 + rng_below(&rng, 4)],
			.valid = levels[rng_below(&rng, 5)],
			.row_valid = levels[2 + rng_below(&rng, 3)],
			.load = levels[rng_below(&rng, 5)],
			.wild = rng_chance(&rng, 40),
		};

		if (rng_chance(&rng, 10))
			reset(ops, model);
		for (int i = rng_below(&rng, 4 * (ops->rows + ops->cols)); i >= 0; i--) {
			struct trio_outputs out[FORMS];
			struct trio_inputs in;

			random_inputs(&rng, ops, &mood, &in);
			ops->clock(model, &in, out);
			seen += compare(ops, out, cycle++);
		}
	}
	ops->free(model);
	cr_assert_gt(seen, cycle, "%s: only %ld sums seen in %ld cycles", ops->name, seen, cycle);
}

Test(equal, forms_4x4)
{
	run(&trio_4x4_1, 2000);
}

Test(equal, forms_4x8_two_stages)
{
	run(&trio_4x8_2, 2000);
}

Test(equal, forms_16x16)
{
	run(&trio_16x16_1, 400);
}

Test(equal, forms_8x32_two_stages)
{
	run(&trio_8x32_2, 400);
}

Test(equal, forms_128x64)
{
	run(&trio_128x64_1, 40);
}
