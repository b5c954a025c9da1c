// SPDX-License-Identifier: Apache-2.0
//
// Adaptive average pooling: second statement, float64 within the bound, oneDNN window by window, and what it is a case of.
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csim/golden/bound.h"
#include "csim/golden/half.h"
#include "csim/golden/reference_pool.h"
#include "tests/golden/naive_pool.h"
#include "tests/golden/onednn.h"
#include "tests/golden/rig.h"

struct trial {
	struct golden_adaptive_pool pool;
	size_t in, out;
	uint16_t *x, *dy, *y, *dx, *other_y, *other_dx;
};

static struct golden_range all_out(const struct golden_adaptive_pool *pool)
{
	return (struct golden_range){0, pool->batch, 0, pool->out_h};
}

static struct golden_range all_in(const struct golden_adaptive_pool *pool)
{
	return (struct golden_range){0, pool->batch, 0, pool->in_h};
}

static const char *name(const struct golden_adaptive_pool *pool)
{
	static char text[128];

	snprintf(text, sizeof(text), "{%d, %d, %d, %d, %d, %d} WC_SEED=%llu", pool->batch, pool->in_h, pool->in_w, pool->channels,
		 pool->out_h, pool->out_w, (unsigned long long)rig_seed());
	return text;
}

static struct trial trial_create(struct golden_adaptive_pool pool, bool wide, uint64_t *state)
{
	struct trial trial = {.pool = pool};
	struct wc_error err = {0};

	trial.in = (size_t)pool.batch * pool.in_h * pool.in_w * pool.channels;
	trial.out = (size_t)pool.batch * pool.out_h * pool.out_w * pool.channels;
	trial.x = wide ? rig_wide_halves(trial.in, state) : rig_halves(trial.in, state);
	trial.dy = wide ? rig_wide_halves(trial.out, state) : rig_halves(trial.out, state);
	trial.y = rig_zeros(trial.out, sizeof(*trial.y));
	trial.other_y = rig_zeros(trial.out, sizeof(*trial.y));
	trial.dx = rig_zeros(trial.in, sizeof(*trial.dx));
	trial.other_dx = rig_zeros(trial.in, sizeof(*trial.dx));
	cr_assert_eq(golden_adaptive_pool(&pool, trial.x, all_out(&pool), trial.y, &err), 0, "%s", err.text);
	cr_assert_eq(golden_adaptive_pool_gradient(&pool, trial.dy, all_in(&pool), trial.dx, &err), 0, "%s", err.text);
	return trial;
}

static void trial_free(struct trial *trial)
{
	free(trial->x);
	free(trial->dy);
	free(trial->y);
	free(trial->dx);
	free(trial->other_y);
	free(trial->other_dx);
}

static struct golden_adaptive_pool random_shape(int i, uint64_t *state)
{
	static const struct golden_adaptive_pool shapes[] = {
	    {1, 1, 1, 1, 1, 1}, {2, 14, 14, 3, 7, 7}, {1, 13, 10, 4, 7, 7}, {1, 3, 5, 2, 7, 6},
	    {2, 6, 9, 3, 1, 1}, {1, 1, 1, 3, 4, 2},   {1, 5, 16, 2, 5, 6},
	};

	if (i < (int)(sizeof(shapes) / sizeof(shapes[0])))
		return shapes[i];
	return (struct golden_adaptive_pool){
	    rig_between(state, 1, 2), rig_between(state, 1, 20), rig_between(state, 1, 20),
	    rig_between(state, 1, 8), rig_between(state, 1, 9),	 rig_between(state, 1, 9),
	};
}

static bool agrees(struct trial *trial, enum pool_fault fault)
{
	naive_adaptive_pool(&trial->pool, trial->x, trial->other_y, fault);
	naive_adaptive_pool_gradient(&trial->pool, trial->dy, trial->other_dx, fault);
	return rig_difference(trial->y, trial->other_y, trial->out) < 0 &&
	       rig_difference(trial->dx, trial->other_dx, trial->in) < 0;
}

Test(adaptive_pool, bits_are_those_of_the_second_statement_and_of_no_other)
{
	static const enum pool_fault faults[] = {POOL_COLUMNS_FIRST, POOL_WINDOWS_DESCENDING, POOL_SUM_BEFORE_SCALE};
	uint64_t state = rig_seed() + 210;
	int seen[3] = {0};

	for (int i = 0; i < 60; i++) {
		struct trial trial = trial_create(random_shape(i, &state), i % 2, &state);

		cr_assert(agrees(&trial, POOL_RIGHT), "%s", name(&trial.pool));
		for (int j = 0; j < 3; j++)
			seen[j] += !agrees(&trial, faults[j]);
		trial_free(&trial);
	}
	cr_assert(seen[0] > 0 && seen[1] > 0 && seen[2] > 0, "planted faults seen %d, %d, %d times", seen[0], seen[1], seen[2]);
}

Test(adaptive_pool, float64_agrees_within_the_bound)
{
	uint64_t state = rig_seed() + 211;

	for (int i = 0; i < 60; i++) {
		struct trial trial = trial_create(random_shape(i, &state), i % 2, &state);
		const struct golden_adaptive_pool *pool = &trial.pool;
		double *x = rig_doubles(trial.x, trial.in, false), *size_x = rig_doubles(trial.x, trial.in, true);
		double *dy = rig_doubles(trial.dy, trial.out, false), *size_dy = rig_doubles(trial.dy, trial.out, true);
		double *y = rig_zeros(trial.out, sizeof(*y)), *size_y = rig_zeros(trial.out, sizeof(*y));
		double *dx = rig_zeros(trial.in, sizeof(*dx)), *size_dx = rig_zeros(trial.in, sizeof(*dx));
		double taps = (double)pool->in_h * pool->in_w, windows = (double)pool->out_h * pool->out_w; // at most

		golden_reference_adaptive_pool(pool, x, y);
		golden_reference_adaptive_pool(pool, size_x, size_y);
		golden_reference_adaptive_pool_gradient(pool, dy, dx);
		golden_reference_adaptive_pool_gradient(pool, size_dy, size_dx);
		for (size_t at = 0; at < trial.out; at++)
			cr_assert_leq(fabs(golden_half_to_float(trial.y[at]) - y[at]),
				      golden_bound_half(y[at], golden_bound_sum(taps + 2, size_y[at])), "%s", name(pool));
		for (size_t at = 0; at < trial.in; at++)
			cr_assert_leq(fabs(golden_half_to_float(trial.dx[at]) - dx[at]),
				      golden_bound_half(dx[at], golden_bound_sum(windows + 2, size_dx[at])), "%s", name(pool));
		free(x);
		free(size_x);
		free(dy);
		free(size_dy);
		free(y);
		free(size_y);
		free(dx);
		free(size_dx);
		trial_free(&trial);
	}
}

// Each window cut out and averaged by oneDNN; both within the bound of the exact mean.
Test(adaptive_pool, onednn_agrees_window_by_window)
{
	uint64_t state = rig_seed() + 212;

	for (int i = 0; i < 12; i++) {
		struct trial trial = trial_create(random_shape(i, &state), false, &state);
		const struct golden_adaptive_pool *pool = &trial.pool;
		float *window = rig_zeros(trial.in, sizeof(*window)),
		      *mean = rig_zeros((size_t)pool->batch * pool->channels, sizeof(*mean));

		for (int oy = 0; oy < pool->out_h; oy++)
			for (int ox = 0; ox < pool->out_w; ox++) {
				int top = oy * pool->in_h / pool->out_h,
				    bottom = ((oy + 1) * pool->in_h + pool->out_h - 1) / pool->out_h;
				int left = ox * pool->in_w / pool->out_w,
				    right = ((ox + 1) * pool->in_w + pool->out_w - 1) / pool->out_w;
				struct golden_pool global =
				    golden_pool_global(pool->batch, bottom - top, right - left, pool->channels);
				float *to = window;

				for (int n = 0; n < pool->batch; n++)
					for (int y = top; y < bottom; y++, to += (right - left) * pool->channels)
						golden_halves_to_floats(
						    to,
						    trial.x + (((size_t)n * pool->in_h + y) * pool->in_w + left) * pool->channels,
						    (size_t)(right - left) * pool->channels);
				onednn_pool(ONEDNN_AVERAGE_POOL, &global, window, mean);
				for (int n = 0; n < pool->batch; n++)
					for (int c = 0; c < pool->channels; c++) {
						size_t at =
						    (((size_t)n * pool->out_h + oy) * pool->out_w + ox) * pool->channels + c;
						double theirs = mean[n * pool->channels + c];
						// Operands are at most 1, so is the mean magnitude.
						double bound = 2 * golden_bound_sum((bottom - top) * (right - left) + 2.0, 1);

						cr_assert_leq(fabs(golden_half_to_float(trial.y[at]) - theirs),
							      golden_bound_half(theirs, bound), "%s", name(pool));
					}
			}
		free(window);
		free(mean);
		trial_free(&trial);
	}
}

// Where the output divides the image it is the average pool, and with one output the global one: the same bits.
Test(adaptive_pool, even_windows_are_an_average_pool)
{
	uint64_t state = rig_seed() + 213;

	for (int size = 1; size <= 7; size += 6) {
		struct trial trial = trial_create((struct golden_adaptive_pool){2, 14, 21, 5, size, size}, true, &state);
		struct golden_pool pool = {2, 14, 21, 5, size, size, 14 / size, 21 / size, 14 / size, 21 / size, 0, 0};
		struct golden_pool global = golden_pool_global(2, 14, 21, 5);
		struct golden_range range = {0, 2, 0, size};
		struct wc_error err = {0};

		cr_assert_eq(golden_average_pool(&pool, trial.x, range, trial.other_y, &err), 0, "%s", err.text);
		cr_assert_lt(rig_difference(trial.y, trial.other_y, trial.out), 0);
		cr_assert_eq(
		    golden_average_pool_gradient(&pool, trial.dy, (struct golden_range){0, 2, 0, 14}, trial.other_dx, &err), 0);
		cr_assert_lt(rig_difference(trial.dx, trial.other_dx, trial.in), 0);
		if (size == 1) {
			cr_assert_eq(golden_average_pool(&global, trial.x, range, trial.other_y, &err), 0, "%s", err.text);
			cr_assert_lt(rig_difference(trial.y, trial.other_y, trial.out), 0);
		}
		trial_free(&trial);
	}
}

Test(adaptive_pool, bad_shapes_and_ranges_are_refused)
{
	struct golden_adaptive_pool pool = {1, 4, 4, 1, 0, 2}, huge = {1, 8192, 8192, 1, 7, 7}, good = {1, 4, 4, 1, 2, 2};
	uint16_t none = 0;
	struct wc_error err = {0};

	cr_assert_eq(golden_adaptive_pool(&pool, &none, (struct golden_range){0, 1, 0, 0}, &none, &err), WC_ERR_INPUT);
	cr_assert(strstr(err.text, "4x4x1 -> 0x2"));
	cr_assert_eq(golden_adaptive_pool_gradient(&huge, &none, (struct golden_range){0, 1, 0, 1}, &none, &err), WC_ERR_INPUT);
	cr_assert_eq(golden_adaptive_pool(&good, &none, (struct golden_range){0, 1, 0, 3}, &none, &err), WC_ERR_INPUT);
}
