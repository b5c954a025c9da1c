// SPDX-License-Identifier: Apache-2.0
//
// A flipped bit shows in its column from its cycle on, and nowhere else: in array_fast through its public state, in the C
// macro through its interface.
#include <criterion/criterion.h>

#include "csim/array/array_macro.h"
#include "tests/array/stimulus.h"

struct fault {
	int row, col, sel;
	int cycle; // flipped before the edge that ends this cycle
	bool psum; // a partial sum of the macro, else a weight of both forms
};

static void plant(const struct trio_ops *ops, void *model, const struct fault *fault)
{
	struct array_macro *macro = array_macro_find(ops->dpi_name(model));

	cr_assert(macro);
	if (fault->psum) {
		array_macro_flip_psum(macro, fault->row, fault->col, 31);
		return;
	}
	array_macro_flip_weight(macro, fault->row, fault->col, fault->sel, 15);
	ops->fast_w(model, fault->sel)[ops->rows * ops->cols - 1 - (fault->row * ops->cols + fault->col)] ^= 0x80000000;
}

// Whether the sum that shows in column `col` in cycle t has met the fault.
static bool hit(const struct trio_ops *ops, const struct program *p, const struct fault *fault, int t, int col)
{
	int vector = program_vector_at(p, t, col);
	int meets;

	if (vector < 0 || col != fault->col)
		return false;
	// A weight is met in its own PE, a sum is taken in by the PE below.
	meets = vector + (fault->row + fault->psum) * ops->stages + col;
	if (fault->psum)
		return meets == fault->cycle;
	if (meets < fault->cycle || (p->vector_wave[vector] & 1) != fault->sel)
		return false;
	// The register stays wrong until it is loaded again: by the captures in cycles fault->cycle .. meets - 1.
	for (int t2 = fault->cycle; t2 < meets; t2++) {
		int at = t2 - col;

		if (at >= 0 && p->load_wave[at] >= 0 && p->load_row[at] == fault->row && (p->load_wave[at] & 1) == fault->sel)
			return false;
	}
	return true;
}

// Returns how many wrong sums came out.
static int run(const struct trio_ops *ops, struct rng *rng, const struct program *p, const struct fault *fault)
{
	void *model = ops->create();
	struct trio_outputs out[FORMS];
	struct trio_inputs in = {.rst_n = false};
	int wrong = 0;

	ops->clock(model, &in, out);
	for (int t = 0; t < p->cycles; t++) {
		program_inputs(p, t, rng, &in);
		if (t == fault->cycle)
			plant(ops, model, fault);
		ops->clock(model, &in, out);
		for (int c = 0; c < ops->cols; c++) {
			bool bad = hit(ops, p, fault, t + 1, c);
			int vector = program_vector_at(p, t + 1, c);
			uint32_t good = vector < 0 ? 0 : p->sum[vector][c];

			cr_assert((out[FORM_DPI].psum[c] != good) == bad,
				  "%s, fault in PE (%d, %d) cycle %d: macro's column %d in cycle %d", ops->name, fault->row,
				  fault->col, fault->cycle, c, t + 1);
			cr_assert((out[FORM_FAST].psum[c] != good) == (bad && !fault->psum),
				  "%s, fault in PE (%d, %d) cycle %d: array_fast's column %d in cycle %d", ops->name,
				  fault->row, fault->col, fault->cycle, c, t + 1);
			wrong += bad;
		}
	}
	ops->free(model);
	return wrong;
}

static void run_all(const struct trio_ops *ops)
{
	struct rng rng = rng_start(ops->name);
	int weights = 0, sums = 0;

	for (int i = 0; i < 60; i++) {
		struct program *p = program_create(&rng, ops->rows, ops->cols, ops->stages, 6, false, i & 1);
		struct fault fault = {
			.row = rng_below(&rng, ops->rows - 1),
			.col = rng_below(&rng, ops->cols),
			.sel = rng_below(&rng, 2),
			.cycle = 1 + rng_below(&rng, p->cycles - 1),
			.psum = i % 3 == 0,
		};

		*(fault.psum ? &sums : &weights) += run(ops, &rng, p, &fault);
		program_free(p);
	}
	cr_assert_gt(weights, 20, "%s: flipped weights made only %d sums wrong", ops->name, weights);
	cr_assert_gt(sums, 4, "%s: flipped sums made only %d sums wrong", ops->name, sums);
}

Test(fault, seen_where_planted_4x4)
{
	run_all(&trio_4x4_1);
}

Test(fault, seen_where_planted_4x8_two_stages)
{
	run_all(&trio_4x8_2);
}

Test(fault, seen_where_planted_16x16)
{
	run_all(&trio_16x16_1);
}
