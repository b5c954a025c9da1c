// SPDX-License-Identifier: Apache-2.0
//
// Pooling against float64 within the bound, and oneDNN.
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "csim/golden/bound.h"
#include "csim/golden/half.h"
#include "csim/golden/reference_pool.h"
#include "tests/golden/onednn.h"
#include "tests/golden/pool_trial.h"
#include "tests/golden/rig.h"

// How many windows cover a pixel at most.
static double windows(const struct golden_pool *pool)
{
	return ((pool->kernel_h - 1) / pool->stride_h + 1.0) * ((pool->kernel_w - 1) / pool->stride_w + 1.0);
}

// `values`, bits or another's floats, lie within the bound of float64: `magnitude` sums what the K terms of up to `roundings`
// were.
static void check_bound(const char *what, const struct golden_pool *pool, const double *exact, const double *magnitude,
			double roundings, const uint16_t *halves, const float *floats, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		double bound = golden_bound_sum(roundings, magnitude[i]);
		double value = halves ? golden_half_to_float(halves[i]) : floats[i];

		if (halves)
			bound = golden_bound_half(exact[i], bound);
		cr_assert_leq(fabs(value - exact[i]), bound, "%s, element %zu: %a, exactly %a: %s", what, i, value, exact[i],
			      pool_trial_name(pool));
	}
}

static void check_against_references(struct pool_trial *trial)
{
	const struct golden_pool *pool = &trial->pool;
	double *x = rig_doubles(trial->x, trial->in, false), *size_x = rig_doubles(trial->x, trial->in, true);
	double *dy = rig_doubles(trial->dy, trial->out, false), *size_dy = rig_doubles(trial->dy, trial->out, true);
	double *y = rig_zeros(trial->out, sizeof(*y)), *size_y = rig_zeros(trial->out, sizeof(*y));
	double *dx = rig_zeros(trial->in, sizeof(*dx)), *size_dx = rig_zeros(trial->in, sizeof(*dx));
	float *x32 = rig_zeros(trial->in, sizeof(*x32)), *dy32 = rig_zeros(trial->out, sizeof(*dy32));
	float *y32 = rig_zeros(trial->out, sizeof(*y32)), *dx32 = rig_zeros(trial->in, sizeof(*dx32));
	double taps = (double)pool->kernel_h * pool->kernel_w;

	golden_halves_to_floats(x32, trial->x, trial->in);
	golden_halves_to_floats(dy32, trial->dy, trial->out);

	pool_trial_max(trial);
	golden_reference_max_pool(pool, x, y);
	golden_reference_max_pool_gradient(pool, x, dy, dx);
	golden_reference_max_pool_gradient(pool, x, size_dy, size_dx);
	onednn_pool(ONEDNN_MAX_POOL, pool, x32, y32);
	onednn_pool_gradient(ONEDNN_MAX_POOL, pool, x32, dy32, dx32);
	for (size_t i = 0; i < trial->out; i++)
		cr_assert(golden_half_to_float(trial->y[i]) == y[i] && y32[i] == y[i], "max, element %zu: %s", i,
			  pool_trial_name(pool));
	check_bound("max gradient", pool, dx, size_dx, windows(pool), trial->dx, NULL, trial->in);
	check_bound("oneDNN's max gradient", pool, dx, size_dx, windows(pool), NULL, dx32, trial->in);

	pool_trial_average(trial);
	golden_reference_average_pool(pool, x, y);
	golden_reference_average_pool(pool, size_x, size_y);
	golden_reference_average_pool_gradient(pool, dy, dx);
	golden_reference_average_pool_gradient(pool, size_dy, size_dx);
	onednn_pool(ONEDNN_AVERAGE_POOL, pool, x32, y32);
	onednn_pool_gradient(ONEDNN_AVERAGE_POOL, pool, x32, dy32, dx32);
	// The additions, the factor's rounding, the product's; oneDNN may divide each term instead.
	check_bound("average", pool, y, size_y, taps + 2, trial->y, NULL, trial->out);
	check_bound("oneDNN's average", pool, y, size_y, taps + 2, NULL, y32, trial->out);
	check_bound("average gradient", pool, dx, size_dx, windows(pool) + 2, trial->dx, NULL, trial->in);
	check_bound("oneDNN's average gradient", pool, dx, size_dx, windows(pool) + 2, NULL, dx32, trial->in);

	free(x);
	free(size_x);
	free(dy);
	free(size_dy);
	free(y);
	free(size_y);
	free(dx);
	free(size_dx);
	free(x32);
	free(dy32);
	free(y32);
	free(dx32);
}

Test(pool_bound, float64_and_onednn_agree_within_the_bound)
{
	uint64_t state = rig_seed() + 202;

	for (int i = 0; i < pool_shape_count + (rig_long() ? 300 : 30); i++) {
		struct pool_trial trial =
		    pool_trial_create(i < pool_shape_count ? pool_shapes[i] : pool_trial_random(&state), 2, &state);

		check_against_references(&trial);
		pool_trial_free(&trial);
	}
}

// One flipped bit of a result lies outside the bound.
Test(pool_bound, the_bound_sees_a_wrong_bit)
{
	uint64_t state = rig_seed() + 203;
	struct pool_trial trial = pool_trial_create(pool_shapes[2], 0, &state);
	double *x = rig_doubles(trial.x, trial.in, false), *size_x = rig_doubles(trial.x, trial.in, true);
	double *y = rig_zeros(trial.out, sizeof(*y)), *size_y = rig_zeros(trial.out, sizeof(*y));
	int outside = 0;

	pool_trial_average(&trial);
	golden_reference_average_pool(&trial.pool, x, y);
	golden_reference_average_pool(&trial.pool, size_x, size_y);
	for (size_t i = 0; i < trial.out; i++) {
		double bound = golden_bound_half(y[i], golden_bound_sum(11, size_y[i]));

		outside += fabs(golden_half_to_float(trial.y[i] ^ 2) - y[i]) > bound;
	}
	cr_assert_geq(outside, (int)trial.out * 9 / 10, "%d of %zu; where the sum cancels it may hide", outside, trial.out);
	free(x);
	free(size_x);
	free(y);
	free(size_y);
	pool_trial_free(&trial);
}

// Of equal ones the first gets the gradient in float64 too; oneDNN leaves open which.
Test(pool_bound, float64_agrees_where_maxima_are_equal)
{
	uint64_t state = rig_seed() + 205;

	for (int i = 0; i < pool_shape_count; i++) {
		struct pool_trial trial = pool_trial_create(pool_shapes[i], 1, &state);
		double *x = rig_doubles(trial.x, trial.in, false), *dy = rig_doubles(trial.dy, trial.out, false);
		double *size_dy = rig_doubles(trial.dy, trial.out, true), *dx = rig_zeros(trial.in, sizeof(*dx));
		double *size_dx = rig_zeros(trial.in, sizeof(*dx));

		pool_trial_max(&trial);
		golden_reference_max_pool_gradient(&trial.pool, x, dy, dx);
		golden_reference_max_pool_gradient(&trial.pool, x, size_dy, size_dx);
		check_bound("max gradient", &trial.pool, dx, size_dx, windows(&trial.pool), trial.dx, NULL, trial.in);
		free(x);
		free(dy);
		free(size_dy);
		free(dx);
		free(size_dx);
		pool_trial_free(&trial);
	}
}
