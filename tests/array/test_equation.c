// SPDX-License-Identifier: Apache-2.0
//
// The array against its defining equation, played as a correct feeder plays it: every sum in its column and cycle, nothing else
// valid, ports frozen in stalls, and every PE's partial sum where the probes look.
#include <criterion/criterion.h>

#include "csim/array/array_macro.h"
#include "tests/array/stimulus.h"

static void start(const struct trio_ops *ops, void *model)
{
	struct trio_outputs out[FORMS];
	struct trio_inputs in = {.rst_n = true};

	ops->clock(model, &in, out);
	in.rst_n = false;
	ops->clock(model, &in, out);
}

static int check_ports(const struct trio_ops *ops, const struct program *p, int t, const struct trio_outputs out[FORMS])
{
	int seen = 0;

	for (int c = 0; c < ops->cols; c++) {
		int vector = program_vector_at(p, t, c);
		uint32_t want = vector < 0 ? 0 : p->sum[vector][c];

		for (int form = 0; form < FORMS; form++) {
			bool valid = out[form].valid[c / 32] >> c % 32 & 1;

			cr_assert(valid == (vector >= 0) && out[form].psum[c] == want,
				  "%s, form %d, cycle %d, column %d: got %08x valid %d, expected %08x valid %d", ops->name, form,
				  t, c, out[form].psum[c], valid, want, vector >= 0);
		}
		seen += vector >= 0;
	}
	return seen;
}

// After the edge that ends cycle t - 1, PE (r, c) holds the sum of the vector that entered r * stages + c + stages cycles before t.
static void check_probes(const struct trio_ops *ops, void *model, const struct program *p, int t, int c)
{
	const struct array_macro *macro = array_macro_find(ops->dpi_name(model));
	const uint32_t *fast = ops->fast_psum(model);
	uint32_t column[MAX_LANES];

	cr_assert(macro);
	array_macro_column(macro, c, column);
	for (int r = 0; r < ops->rows; r++) {
		int vector = t - (r + 1) * ops->stages - c;
		bool there = vector >= 0 && vector < p->cycles && p->vector_wave[vector] >= 0;
		uint32_t want = there ? program_partial(p, vector, r, c) : 0;

		cr_assert(column[r] == want, "%s, cycle %d, PE (%d, %d): macro holds %08x, expected %08x", ops->name, t, r, c,
			  column[r], want);
		cr_assert(fast[ops->rows * ops->cols - 1 - (r * ops->cols + c)] == want,
			  "%s, cycle %d, PE (%d, %d) of array_fast is wrong", ops->name, t, r, c);
	}
}

static void run(const struct trio_ops *ops, struct rng *rng, int waves, bool wild, bool bubbles)
{
	struct program *p = program_create(rng, ops->rows, ops->cols, ops->stages, waves, wild, bubbles);
	void *model = ops->create();
	struct trio_outputs out[FORMS];
	int seen = 0, want = 0;

	for (int t = 0; t < p->cycles; t++)
		want += p->vector_wave[t] >= 0;
	start(ops, model);
	for (int t = 0; t < p->cycles; t++) {
		struct trio_inputs in = {0};

		// A stalled cycle's inputs are noise, and the ports keep what they show.
		while (bubbles && rng_chance(rng, 20)) {
			program_inputs(p, rng_below(rng, p->cycles), rng, &in);
			in.en = false;
			ops->clock(model, &in, out);
			check_ports(ops, p, t, out);
		}
		program_inputs(p, t, rng, &in);
		ops->clock(model, &in, out);
		seen += check_ports(ops, p, t + 1, out);
		if (t % 8 == 0)
			check_probes(ops, model, p, t + 1, rng_below(rng, ops->cols));
	}
	ops->free(model);
	program_free(p);
	cr_assert_eq(seen, want * ops->cols, "%s: %d sums came out of %d", ops->name, seen, want * ops->cols);
}

static void run_all(const struct trio_ops *ops, int waves)
{
	struct rng rng = rng_start(ops->name);

	run(ops, &rng, waves, false, false);
	run(ops, &rng, waves, false, true);
	run(ops, &rng, waves, true, true);
}

Test(equation, sums_4x4)
{
	run_all(&trio_4x4_1, 200);
}

Test(equation, sums_4x8_two_stages)
{
	run_all(&trio_4x8_2, 200);
}

Test(equation, sums_16x16)
{
	run_all(&trio_16x16_1, 30);
}

Test(equation, sums_8x32_two_stages)
{
	run_all(&trio_8x32_2, 40);
}

Test(equation, sums_128x64)
{
	run_all(&trio_128x64_1, 4);
}
