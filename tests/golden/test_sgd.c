// SPDX-License-Identifier: Apache-2.0
//
// SGD: a second statement of the bits, float64 within the bound, planted faults, specials.
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "csim/golden/bound_sgd.h"
#include "csim/golden/half.h"
#include "csim/golden/reference.h"
#include "tests/golden/naive.h"
#include "tests/golden/rig.h"

enum { COUNT = 2000 };

static const struct golden_sgd settings[] = {
	{1.0f / 1024, 1e-4f, 0.9f, 0.1f}, {1, 0, 0, 1}, {1, 0.01f, 0.99f, 1e-3f}, {0x1p-20f, 5e-4f, 0.5f, 3},
};
enum { SETTINGS = sizeof(settings) / sizeof(settings[0]) };

static float draw(uint64_t *state, int exponent)
{
	return ldexpf((float)(int32_t)(rig_random(state) >> 32), exponent - 31 - (int)(rig_random(state) % 30));
}

enum fault { RIGHT, DECAY_LAST, FUSED, OLD_MOMENTUM, DECAY_OF_W16, FAULTS };

struct parameter {
	float w, v;
	uint16_t w16;
};

static struct parameter naive(const struct golden_sgd *sgd, float gradient, float w, float v, enum fault fault)
{
	struct parameter result;
	float g = naive_mul(gradient, sgd->inv_scale), old = v;

	if (fault == DECAY_OF_W16)
		g = naive_add(g, naive_mul(sgd->decay, naive_widen(naive_narrow(w))));
	else if (fault != DECAY_LAST)
		g = naive_add(g, naive_mul(sgd->decay, w));
	v = fault == FUSED ? (float)((double)sgd->mu * v + g) : naive_add(naive_mul(sgd->mu, v), g);
	if (fault == DECAY_LAST)
		v = naive_add(v, naive_mul(sgd->decay, w));
	result.v = v;
	result.w = naive_sub(w, naive_mul(sgd->lr, fault == OLD_MOMENTUM ? old : v));
	result.w16 = naive_narrow(result.w);
	return result;
}

Test(sgd, bits_are_those_of_the_second_statement_and_of_no_other)
{
	uint64_t state = rig_seed() + 700;
	int seen[FAULTS] = {0};

	for (int i = 0; i < SETTINGS * COUNT; i++) {
		const struct golden_sgd *sgd = &settings[i % SETTINGS];
		float gradient = draw(&state, 10), w = draw(&state, 0), v = draw(&state, 0), new_w = w, new_v = v;
		uint16_t w16;

		golden_sgd(sgd, &gradient, 1, &new_w, &new_v, &w16);
		for (int fault = RIGHT; fault < FAULTS; fault++) {
			struct parameter other = naive(sgd, gradient, w, v, fault);
			bool same = golden_bits_of(new_w) == naive_bits(other.w) &&
				    golden_bits_of(new_v) == naive_bits(other.v) && w16 == other.w16;

			seen[fault] += !same;
		}
		cr_assert_eq(seen[RIGHT], 0, "gradient %a, w %a, v %a, setting %d, WC_SEED=%llu", gradient, w, v, i % SETTINGS,
			     (unsigned long long)rig_seed());
	}
	for (int fault = RIGHT + 1; fault < FAULTS; fault++)
		cr_assert_gt(seen[fault], 0, "fault %d", fault);
}

// Steps follow one another: each is held to float64 from where the bits stand.
Test(sgd, float64_agrees_within_the_bound)
{
	static float gradient[COUNT], w[COUNT], v[COUNT];
	static double exact_gradient[COUNT], exact_w[COUNT], exact_v[COUNT];
	static struct golden_bound_sgd bounds[COUNT];
	static uint16_t w16[COUNT];
	uint64_t state = rig_seed() + 701;
	int seen = 0;

	for (int i = 0; i < COUNT; i++)
		w[i] = draw(&state, 0);
	for (int step = 0; step < 12; step++) {
		const struct golden_sgd *sgd = &settings[step % SETTINGS];

		for (int i = 0; i < COUNT; i++) {
			gradient[i] = draw(&state, step % 4 == 3 ? -120 : 4); // tiny ones too
			exact_gradient[i] = gradient[i];
			exact_w[i] = w[i];
			exact_v[i] = v[i];
			bounds[i] = golden_bound_sgd(sgd, gradient[i], w[i], v[i]);
		}
		golden_sgd(sgd, gradient, COUNT, w, v, w16);
		golden_reference_sgd(sgd, exact_gradient, COUNT, exact_w, exact_v);
		for (int i = 0; i < COUNT; i++) {
			cr_assert_leq(fabs(w[i] - exact_w[i]), bounds[i].w.error, "step %d: w %a, exactly %a", step, w[i],
				      exact_w[i]);
			cr_assert_leq(fabs(v[i] - exact_v[i]), bounds[i].v.error, "step %d: v %a, exactly %a", step, v[i],
				      exact_v[i]);
			cr_assert_leq(fabs(golden_half_to_float(w16[i]) - exact_w[i]), bounds[i].w16.error, "step %d", step);
			seen += fabs(golden_float_of(golden_bits_of(w[i]) ^ 32) - exact_w[i]) > bounds[i].w.error;
		}
	}
	cr_assert_gt(seen, 12 * COUNT / 2, "a wrong bit is seen in %d of %d", seen, 12 * COUNT);
}

Test(sgd, specials_stay_in_one_form)
{
	struct golden_sgd sgd = {1, 0.5f, 0.5f, 1};
	float gradient[4] = {golden_float_of(0xffc12345), INFINITY, 0, 0x1p-149f}, w[4] = {1, 1, 100000, 0}, v[4] = {0};
	uint16_t w16[4];

	golden_sgd(&sgd, gradient, 4, w, v, w16);
	cr_assert(golden_bits_of(w[0]) == 0x7fc00000 && golden_bits_of(v[0]) == 0x7fc00000 && w16[0] == 0x7e00);
	cr_assert(w[1] == -INFINITY && v[1] == INFINITY && w16[1] == 0xfc00);
	cr_assert(w[2] == 50000 && w16[2] == golden_half_from_float(50000));
	cr_assert(v[3] == 0x1p-149f && w[3] == -0x1p-149f && w16[3] == 0x8000, "subnormals are kept");
}
