// SPDX-License-Identifier: Apache-2.0
//
// Addition: every rounding, the order of several inputs, oneDNN, and the bound.
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "csim/golden/add.h"
#include "csim/golden/bound.h"
#include "csim/golden/half.h"
#include "csim/golden/reference.h"
#include "tests/golden/naive.h"
#include "tests/golden/onednn.h"
#include "tests/golden/rig.h"

enum { COUNT = 4096, INPUTS = 4 };

static void add(uint16_t *const *inputs, int input_count, uint16_t *y)
{
	struct wc_error err = {0};

	cr_assert_eq(golden_add((const uint16_t *const *)inputs, input_count, COUNT, y, &err), 0, "%s", err.text);
}

static void draw(uint16_t **inputs, uint64_t *state, bool wide)
{
	for (int i = 0; i < INPUTS; i++)
		inputs[i] = wide ? rig_wide_halves(COUNT, state) : rig_halves(COUNT, state);
}

static void release(uint16_t **inputs)
{
	for (int i = 0; i < INPUTS; i++)
		free(inputs[i]);
}

Test(add, bits_are_those_of_pairs_from_the_left)
{
	uint64_t state = rig_seed() + 300;
	uint16_t *inputs[INPUTS], y[COUNT];
	int last_first = 0, rounded_once = 0;

	for (int trial = 0; trial < 8; trial++) {
		int count = 2 + trial % 3;

		draw(inputs, &state, trial % 2);
		if (trial < 4)
			inputs[0][trial] = 0xfd00; // a NaN
		add(inputs, count, y);
		for (int i = 0; i < COUNT; i++) {
			uint16_t sum = naive_narrow(naive_widen(inputs[0][i])),
				 backwards = naive_narrow(naive_widen(inputs[count - 1][i]));
			float whole = naive_widen(inputs[0][i]);

			for (int j = 1; j < count; j++) {
				sum = naive_narrow(naive_add(naive_widen(sum), naive_widen(inputs[j][i])));
				backwards = naive_narrow(naive_add(naive_widen(backwards), naive_widen(inputs[count - 1 - j][i])));
				whole = naive_add(whole, naive_widen(inputs[j][i]));
			}
			cr_assert_eq(y[i], sum, "element %d of %d inputs: %04x, expected %04x, WC_SEED=%llu", i, count, y[i], sum,
				     (unsigned long long)rig_seed());
			last_first += y[i] != backwards;
			rounded_once += y[i] != naive_narrow(whole);
		}
		release(inputs);
	}
	cr_assert(last_first > 0 && rounded_once > 0, "another order and a single rounding must be seen: %d, %d", last_first,
		  rounded_once);
}

Test(add, float64_and_onednn_agree_within_the_bound)
{
	uint64_t state = rig_seed() + 301;
	uint16_t *inputs[INPUTS], y[COUNT], pair[COUNT];
	float *a = rig_zeros(COUNT, sizeof(*a)), *b = rig_zeros(COUNT, sizeof(*b)), *theirs = rig_zeros(COUNT, sizeof(*theirs));
	double *exact = rig_zeros(COUNT, sizeof(*exact)), *doubles[INPUTS];

	draw(inputs, &state, false);
	for (int j = 0; j < INPUTS; j++)
		doubles[j] = rig_doubles(inputs[j], COUNT, false);
	add(inputs, INPUTS, y);
	add(inputs, 2, pair);
	golden_reference_add((const double *const *)doubles, INPUTS, COUNT, exact);
	golden_halves_to_floats(a, inputs[0], COUNT);
	golden_halves_to_floats(b, inputs[1], COUNT);
	onednn_add(a, b, COUNT, theirs);
	for (int i = 0; i < COUNT; i++) {
		double sums[INPUTS - 1], sum = doubles[0][i], error;

		for (int j = 1; j < INPUTS; j++)
			sums[j - 1] = sum += doubles[j][i];
		error = golden_bound_add(sums, INPUTS - 1);
		cr_assert_leq(fabs(golden_half_to_float(y[i]) - exact[i]), error, "element %d: %a, exactly %a", i,
			      golden_half_to_float(y[i]), exact[i]);
		// One binary32 addition is one rounding for them too.
		cr_assert_eq(pair[i], golden_half_from_float(theirs[i]), "element %d", i);
		if (fabs(exact[i]) > 0.25)
			cr_assert_gt(fabs(golden_half_to_float(y[i] ^ 16) - exact[i]), error, "a wrong bit is seen");
	}
	for (int j = 0; j < INPUTS; j++)
		free(doubles[j]);
	release(inputs);
	free(a);
	free(b);
	free(theirs);
	free(exact);
}

Test(add, the_result_may_be_an_input)
{
	uint64_t state = rig_seed() + 302;
	uint16_t *inputs[INPUTS], y[COUNT];

	draw(inputs, &state, true);
	add(inputs, INPUTS, y);
	add(inputs, INPUTS, inputs[2]);
	cr_assert_lt(rig_difference(y, inputs[2], COUNT), 0);
	release(inputs);
}

Test(add, one_input_is_refused)
{
	uint16_t x[1] = {0}, y[1];
	const uint16_t *inputs[1] = {x};
	struct wc_error err = {0};

	cr_assert_eq(golden_add(inputs, 1, 1, y, &err), WC_ERR_INPUT);
	cr_assert(strstr(err.text, "1 tensors"));
}
