// SPDX-License-Identifier: Apache-2.0
//
// The running error analysis by itself: operands moved by as much as their errors allow, operations in binary32, and the result
// within the bound; without the operation's own part it would not be.
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>

#include "csim/golden/bound.h"
#include "csim/golden/half.h"
#include "csim/golden/scalar.h"
#include "tests/golden/rig.h"

enum { TRIALS = 200000 };

enum operation { ADD, SUB, MUL, RSQRT, RECIPROCAL, EXP, LOG, OPERATIONS };

static const char *const names[OPERATIONS] = {"add", "sub", "mul", "rsqrt", "reciprocal", "exp", "log"};

static float compute(enum operation operation, float a, float b)
{
	switch (operation) {
	case ADD:
		return a + b;
	case SUB:
		return a - b;
	case MUL:
		return a * b;
	case RSQRT:
		return golden_rsqrt(a);
	case RECIPROCAL:
		return golden_reciprocal(a);
	case EXP:
		return golden_exp(a);
	default:
		return golden_log(a);
	}
}

static struct golden_approx bound(enum operation operation, struct golden_approx a, struct golden_approx b)
{
	switch (operation) {
	case ADD:
		return golden_approx_add(a, b);
	case SUB:
		return golden_approx_sub(a, b);
	case MUL:
		return golden_approx_mul(a, b);
	case RSQRT:
		return golden_approx_rsqrt(a, 0x1p-100);
	case RECIPROCAL:
		return golden_approx_reciprocal(a);
	case EXP:
		return golden_approx_exp(a);
	default:
		return golden_approx_log(a);
	}
}

// A computed operand, and an exact one at a distance of up to `relative` of it.
static struct golden_approx draw(enum operation operation, double relative, float *computed, uint64_t *state)
{
	double unit = (double)(int64_t)rig_random(state) * 0x1p-63;
	struct golden_approx a;

	*computed = (float)(operation == EXP ? unit * 80 : ldexp(1 + fabs(unit), rig_between(state, -20, 20)));
	if (operation < RSQRT && unit < 0)
		*computed = -*computed;
	a.error = fabs(*computed) * relative;
	a.value = *computed + a.error * (rig_between(state, 0, 1) ? 1 : -1); // as far away as it may be
	a.error *= 1 + 0x1p-40;
	return a;
}

// The largest error seen, as a part of the bound.
static double worst_part(enum operation operation, double relative, uint64_t *state)
{
	double worst = 0;

	for (int i = 0; i < TRIALS; i++) {
		float x, y;
		struct golden_approx a = draw(operation, relative, &x, state), b = draw(operation, relative, &y, state);
		struct golden_approx result = bound(operation, a, b);
		double part = fabs(compute(operation, x, y) - result.value) / result.error;

		cr_assert_leq(part, 1, "%s of %a and %a, off by %g: %g of the bound, WC_SEED=%llu", names[operation], x, y, relative, part,
			      (unsigned long long)rig_seed());
		worst = fmax(worst, part);
	}
	return worst;
}

Test(bound, each_operation_is_within_it_and_comes_near)
{
	uint64_t state = rig_seed() + 800;

	for (enum operation operation = ADD; operation < OPERATIONS; operation++) {
		cr_assert_gt(worst_part(operation, 0, &state), operation < RSQRT ? 0.9 : 0.5, "exact operands: %s", names[operation]);
		cr_assert_gt(worst_part(operation, 0x1p-12, &state), 0.9, "operands with errors: %s", names[operation]);
	}
}

Test(bound, sums_in_any_order_are_within_it)
{
	uint64_t state = rig_seed() + 801;
	double worst = 0;

	for (int trial = 0; trial < 2000; trial++) {
		struct golden_approx_sum forwards = {0};
		int count = rig_between(&state, 2, 40);
		float terms[40], up = 0, down = 0;
		struct golden_approx result;

		for (int i = 0; i < count; i++) {
			golden_approx_sum_add(&forwards, draw(ADD, trial % 2 ? 0x1p-20 : 0, &terms[i], &state));
			up += terms[i];
		}
		for (int i = count; i-- > 0;)
			down += terms[i];
		result = golden_approx_sum_of(&forwards, count);
		worst = fmax(worst, fmax(fabs(up - result.value), fabs(down - result.value)) / result.error);
	}
	cr_assert(worst <= 1 && worst > 0.2, "%g of the bound", worst);
}

Test(bound, what_may_overflow_or_vanish_has_no_bound)
{
	struct golden_approx largest = golden_approx_exact(FLT_MAX), wide = {1, 2};

	cr_assert(isinf(golden_approx_add(largest, largest).error));
	cr_assert(isinf(golden_approx_mul(largest, golden_approx_exact(2)).error));
	cr_assert(isinf(golden_approx_exp(golden_approx_exact(89)).error));
	cr_assert(isinf(golden_approx_log(wide).error) && isinf(golden_approx_reciprocal(wide).error));
	cr_assert(isinf(golden_approx_rsqrt(wide, 0).error) && isfinite(golden_approx_rsqrt(wide, 0.5).error));
	cr_assert(isinf(golden_bound_half(65519, 1)) && isfinite(golden_bound_half(65519, 0.5)));
	cr_assert_leq(golden_exp(-87.34f), golden_approx_exp(golden_approx_exact(-87.34f)).error, "what is flushed to +0");
}
