// SPDX-License-Identifier: Apache-2.0
//
// Pooling: the bits against a second statement of them, float64 within the bound, and oneDNN; planted faults, strips, specials.
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csim/golden/bound.h"
#include "csim/golden/conv.h"
#include "csim/golden/half.h"
#include "csim/golden/reference_pool.h"
#include "tests/golden/naive_pool.h"
#include "tests/golden/onednn.h"
#include "tests/golden/rig.h"

//  batch  in h w  c     out   kernel stride pad
static const struct golden_pool shapes[] = {
	{1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0, 0},      // 1x1: no index
	{2, 7, 9, 3, 0, 0, 1, 1, 2, 3, 0, 0},      // 1x1 with strides: pixels without a window
	{2, 12, 11, 5, 0, 0, 3, 3, 2, 2, 1, 1},    // ResNet's stem
	{1, 8, 8, 16, 0, 0, 2, 2, 2, 2, 0, 0},     // VGG's
	{2, 9, 7, 4, 0, 0, 3, 3, 1, 1, 1, 1},      // Inception's, overlapping
	{1, 13, 13, 2, 0, 0, 2, 3, 5, 4, 1, 2},    // stride above the kernel, padding
	{1, 3, 4, 3, 0, 0, 6, 7, 1, 2, 5, 6},      // mostly padding
	{3, 6, 5, 7, 0, 0, 6, 5, 1, 1, 0, 0},      // global
	{1, 20, 3, 3, 0, 0, 16, 1, 1, 1, 15, 0},   // one-dimensional, 4 bits
	{1, 19, 18, 1, 0, 0, 17, 16, 1, 1, 8, 3},  // more than 8 bits
};
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

// Shape, operands, results of one pool.
struct trial {
	struct golden_pool pool;
	size_t in, out, index_bytes;
	uint16_t *x, *dy, *y, *dx, *naive_y, *naive_dx;
	uint8_t *index, *naive_index;
	int *taps;
};

static struct golden_pool complete(struct golden_pool pool)
{
	pool.out_h = golden_conv_output(pool.in_h, pool.kernel_h, pool.stride_h, pool.pad_h, 1);
	pool.out_w = golden_conv_output(pool.in_w, pool.kernel_w, pool.stride_w, pool.pad_w, 1);
	return pool;
}

static struct golden_pool random_pool(uint64_t *state)
{
	for (;;) {
		struct golden_pool pool = {
			.batch = rig_between(state, 1, 3), .in_h = rig_between(state, 1, 16), .in_w = rig_between(state, 1, 16), .channels = rig_between(state, 1, 20),
			.kernel_h = rig_between(state, 1, 8), .kernel_w = rig_between(state, 1, 8), .stride_h = rig_between(state, 1, 9),
			.stride_w = rig_between(state, 1, 4),
		};

		pool.pad_h = rig_between(state, 0, pool.kernel_h - 1);
		pool.pad_w = rig_between(state, 0, pool.kernel_w - 1);
		pool = complete(pool);
		if (golden_pool_valid(&pool))
			return pool;
	}
}

static const char *name(const struct golden_pool *pool)
{
	static char text[256];

	snprintf(text, sizeof(text), "{%d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d} WC_SEED=%llu", pool->batch, pool->in_h, pool->in_w, pool->channels,
	         pool->out_h, pool->out_w, pool->kernel_h, pool->kernel_w, pool->stride_h, pool->stride_w, pool->pad_h, pool->pad_w,
	         (unsigned long long)rig_seed());
	return text;
}

static struct golden_range all_out(const struct golden_pool *pool)
{
	return (struct golden_range){0, pool->batch, 0, pool->out_h};
}

static struct golden_range all_in(const struct golden_pool *pool)
{
	return (struct golden_range){0, pool->batch, 0, pool->in_h};
}

// `kind`: 0 as the rig draws them; 1 many ties; 2 no two alike within a window; 3 with NaNs and infinities; 4 of any size.
static struct trial trial_create(struct golden_pool pool, int kind, uint64_t *state)
{
	struct trial trial = {.pool = complete(pool)};

	cr_assert(golden_pool_valid(&trial.pool), "%s", name(&trial.pool));
	trial.in = (size_t)pool.batch * pool.in_h * pool.in_w * pool.channels;
	trial.out = (size_t)pool.batch * trial.pool.out_h * trial.pool.out_w * pool.channels;
	trial.index_bytes = golden_pool_index_bytes(&trial.pool);
	trial.x = kind == 4 ? rig_wide_halves(trial.in, state) : rig_halves(trial.in, state);
	trial.dy = kind == 4 ? rig_wide_halves(trial.out, state) : rig_halves(trial.out, state);
	for (size_t i = 0; i < trial.in; i++) {
		uint64_t random = rig_random(state);

		if (kind == 1)
			trial.x[i] = (uint16_t)(random % 3 << 10 | (random >> 8 & 1) << 15);
		else if (kind == 2)
			trial.x[i] = (uint16_t)(1 + i * 7919 % 31743) | (uint16_t)(i << 15);
		else if (kind == 3 && random % 16 < 3)
			trial.x[i] = (uint16_t[]){0xfe01, 0x7c00, 0xfc00}[random % 16];
	}
	trial.y = rig_zeros(trial.out, sizeof(*trial.y));
	trial.dx = rig_zeros(trial.in, sizeof(*trial.dx));
	trial.naive_y = rig_zeros(trial.out, sizeof(*trial.y));
	trial.naive_dx = rig_zeros(trial.in, sizeof(*trial.dx));
	trial.index = rig_zeros(trial.index_bytes, 1);
	trial.naive_index = rig_zeros(trial.index_bytes, 1);
	trial.taps = rig_zeros(trial.out, sizeof(*trial.taps));
	memset(trial.index, 0xff, trial.index_bytes);
	return trial;
}

static void trial_free(struct trial *trial)
{
	free(trial->x);
	free(trial->dy);
	free(trial->y);
	free(trial->dx);
	free(trial->naive_y);
	free(trial->naive_dx);
	free(trial->index);
	free(trial->naive_index);
	free(trial->taps);
}

static void run_max(struct trial *trial)
{
	struct wc_error err = {0};

	cr_assert_eq(golden_max_pool(&trial->pool, trial->x, all_out(&trial->pool), trial->y, trial->index, &err), 0, "%s", err.text);
	cr_assert_eq(golden_max_pool_gradient(&trial->pool, trial->dy, trial->index, all_in(&trial->pool), trial->dx, &err), 0, "%s", err.text);
}

static void run_average(struct trial *trial)
{
	struct wc_error err = {0};

	cr_assert_eq(golden_average_pool(&trial->pool, trial->x, all_out(&trial->pool), trial->y, &err), 0, "%s", err.text);
	cr_assert_eq(golden_average_pool_gradient(&trial->pool, trial->dy, all_in(&trial->pool), trial->dx, &err), 0, "%s", err.text);
}

// Whether the trial's results are those of the second statement, with `fault`.
static bool max_agrees(struct trial *trial, enum pool_fault fault)
{
	naive_max_pool(&trial->pool, trial->x, trial->naive_y, trial->taps, fault);
	naive_pack_index(&trial->pool, trial->taps, trial->naive_index);
	naive_max_pool_gradient(&trial->pool, trial->taps, trial->dy, trial->naive_dx, fault);
	return rig_difference(trial->y, trial->naive_y, trial->out) < 0 && memcmp(trial->index, trial->naive_index, trial->index_bytes) == 0 &&
	       rig_difference(trial->dx, trial->naive_dx, trial->in) < 0;
}

static bool average_agrees(struct trial *trial, enum pool_fault fault)
{
	naive_average_pool(&trial->pool, trial->x, trial->naive_y, fault);
	naive_average_pool_gradient(&trial->pool, trial->dy, trial->naive_dx, fault);
	return rig_difference(trial->y, trial->naive_y, trial->out) < 0 && rig_difference(trial->dx, trial->naive_dx, trial->in) < 0;
}

Test(pool, bits_are_those_of_the_second_statement)
{
	uint64_t state = rig_seed() + 200;

	for (int i = 0; i < SHAPES + 40; i++)
		for (int kind = 0; kind < 5; kind++) {
			struct trial trial = trial_create(i < SHAPES ? shapes[i] : random_pool(&state), kind, &state);

			run_max(&trial);
			cr_assert(max_agrees(&trial, POOL_RIGHT), "max, operands %d: %s", kind, name(&trial.pool));
			run_average(&trial);
			cr_assert(average_agrees(&trial, POOL_RIGHT), "average, operands %d: %s", kind, name(&trial.pool));
			trial_free(&trial);
		}
}

Test(pool, planted_faults_are_seen)
{
	uint64_t state = rig_seed() + 201;
	int seen[POOL_SUM_BEFORE_SCALE + 1] = {0};

	for (int i = 0; i < SHAPES; i++)
		for (int kind = 0; kind < 5; kind++) {
			struct trial trial = trial_create(shapes[i], kind, &state);

			run_max(&trial);
			for (int fault = POOL_LAST_MAXIMUM; fault <= POOL_TAP_OFF_BY_ONE; fault++)
				seen[fault] += !max_agrees(&trial, fault);
			run_average(&trial);
			for (int fault = POOL_PADDING_NOT_COUNTED; fault <= POOL_WINDOWS_DESCENDING; fault++)
				seen[fault] += !average_agrees(&trial, fault);
			trial_free(&trial);
		}
	for (int fault = POOL_LAST_MAXIMUM; fault <= POOL_WINDOWS_DESCENDING; fault++)
		cr_assert_gt(seen[fault], 0, "fault %d", fault);
}

// How many windows cover a pixel at most.
static double windows(const struct golden_pool *pool)
{
	return ((pool->kernel_h - 1) / pool->stride_h + 1.0) * ((pool->kernel_w - 1) / pool->stride_w + 1.0);
}

// `values`, bits or another's floats, lie within the bound of float64: `magnitude` sums what the K terms of up to `roundings` were.
static void check_bound(const char *what, const struct golden_pool *pool, const double *exact, const double *magnitude, double roundings,
                        const uint16_t *halves, const float *floats, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		double bound = golden_bound_sum(roundings, magnitude[i]);
		double value = halves ? golden_half_to_float(halves[i]) : floats[i];

		if (halves)
			bound = golden_bound_half(exact[i], bound);
		cr_assert_leq(fabs(value - exact[i]), bound, "%s, element %zu: %a, exactly %a: %s", what, i, value, exact[i], name(pool));
	}
}

static void check_against_references(struct trial *trial)
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

	run_max(trial);
	golden_reference_max_pool(pool, x, y);
	golden_reference_max_pool_gradient(pool, x, dy, dx);
	golden_reference_max_pool_gradient(pool, x, size_dy, size_dx);
	onednn_pool(ONEDNN_MAX_POOL, pool, x32, y32);
	onednn_pool_gradient(ONEDNN_MAX_POOL, pool, x32, dy32, dx32);
	for (size_t i = 0; i < trial->out; i++)
		cr_assert(golden_half_to_float(trial->y[i]) == y[i] && y32[i] == y[i], "max, element %zu: %s", i, name(pool));
	check_bound("max gradient", pool, dx, size_dx, windows(pool), trial->dx, NULL, trial->in);
	check_bound("oneDNN's max gradient", pool, dx, size_dx, windows(pool), NULL, dx32, trial->in);

	run_average(trial);
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

Test(pool, float64_and_onednn_agree_within_the_bound)
{
	uint64_t state = rig_seed() + 202;

	for (int i = 0; i < SHAPES + (rig_long() ? 300 : 30); i++) {
		struct trial trial = trial_create(i < SHAPES ? shapes[i] : random_pool(&state), 2, &state);

		check_against_references(&trial);
		trial_free(&trial);
	}
}

// One flipped bit of a result lies outside the bound.
Test(pool, the_bound_sees_a_wrong_bit)
{
	uint64_t state = rig_seed() + 203;
	struct trial trial = trial_create(shapes[2], 0, &state);
	double *x = rig_doubles(trial.x, trial.in, false), *size_x = rig_doubles(trial.x, trial.in, true);
	double *y = rig_zeros(trial.out, sizeof(*y)), *size_y = rig_zeros(trial.out, sizeof(*y));
	int outside = 0;

	run_average(&trial);
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
	trial_free(&trial);
}

Test(pool, strips_give_the_same_bits_and_leave_the_rest)
{
	uint64_t state = rig_seed() + 204;

	for (int i = 0; i < SHAPES; i++) {
		struct trial trial = trial_create(shapes[i], 1, &state);
		const struct golden_pool *pool = &trial.pool;
		int cut = rig_between(&state, 0, pool->out_h), in_cut = rig_between(&state, 0, pool->in_h), n = rig_between(&state, 0, pool->batch - 1);
		struct golden_range range = {n, n + 1, cut, pool->out_h};
		size_t row = (size_t)pool->out_w * pool->channels, row_bytes = golden_pool_index_row_bytes(pool), first = (size_t)n * pool->out_h + cut;
		struct wc_error err = {0};

		run_max(&trial);
		memset(trial.naive_y, 0xa5, trial.out * sizeof(*trial.y));
		memset(trial.naive_index, 0xa5, trial.index_bytes);
		cr_assert_eq(golden_max_pool(pool, trial.x, range, trial.naive_y, trial.naive_index, &err), 0);
		for (size_t at = 0; at < trial.out; at++) {
			bool inside = at / row >= first && at / row < (size_t)(n + 1) * pool->out_h;

			cr_assert_eq(trial.naive_y[at], inside ? trial.y[at] : 0xa5a5, "%s", name(pool));
		}
		for (size_t at = 0; at < trial.index_bytes; at++) {
			bool inside = at / row_bytes >= first && at / row_bytes < (size_t)(n + 1) * pool->out_h;

			cr_assert_eq(trial.naive_index[at], inside ? trial.index[at] : 0xa5, "%s", name(pool));
		}
		// Gradients in two strips
		cr_assert_eq(golden_max_pool_gradient(pool, trial.dy, trial.index, (struct golden_range){0, pool->batch, 0, in_cut}, trial.naive_dx, &err), 0);
		cr_assert_eq(golden_max_pool_gradient(pool, trial.dy, trial.index, (struct golden_range){0, pool->batch, in_cut, pool->in_h}, trial.naive_dx, &err), 0);
		cr_assert_lt(rig_difference(trial.dx, trial.naive_dx, trial.in), 0, "%s", name(pool));
		run_average(&trial);
		cr_assert_eq(golden_average_pool_gradient(pool, trial.dy, (struct golden_range){0, pool->batch, 0, in_cut}, trial.naive_dx, &err), 0);
		cr_assert_eq(golden_average_pool_gradient(pool, trial.dy, (struct golden_range){0, pool->batch, in_cut, pool->in_h}, trial.naive_dx, &err), 0);
		cr_assert_lt(rig_difference(trial.dx, trial.naive_dx, trial.in), 0, "%s", name(pool));
		trial_free(&trial);
	}
}

Test(pool, the_first_nan_wins_and_padding_does_not)
{
	struct golden_pool pool = {1, 2, 2, 1, 1, 1, 3, 3, 2, 2, 1, 1};
	uint16_t x[4] = {0x7c00, 0xfe01, 0x7d00, 0xbc00}, y, dy = 0x3c00, dx[4];
	uint8_t index = 0xff;
	struct wc_error err = {0};

	cr_assert_eq(golden_max_pool(&pool, x, (struct golden_range){0, 1, 0, 1}, &y, &index, &err), 0);
	cr_assert(y == 0x7e00 && index == 1 * 3 + 2, "%04x, tap %d", y, index);
	cr_assert_eq(golden_max_pool_gradient(&pool, &dy, &index, (struct golden_range){0, 1, 0, 2}, dx, &err), 0);
	cr_assert(dx[0] == 0 && dx[1] == 0x3c00 && dx[2] == 0 && dx[3] == 0);
	for (int i = 0; i < 4; i++)
		x[i] = (uint16_t)(0xbc03 - i); // -1 and a little more: all below the padding's 0
	cr_assert_eq(golden_max_pool(&pool, x, (struct golden_range){0, 1, 0, 1}, &y, &index, &err), 0);
	cr_assert(y == 0xbc00 && index == 2 * 3 + 2);
	x[0] = 0x8000;
	x[1] = 0;
	cr_assert_eq(golden_max_pool(&pool, x, (struct golden_range){0, 1, 0, 1}, &y, NULL, &err), 0);
	cr_assert_eq(y, 0x8000, "of -0 and +0 the first wins");
}

Test(pool, index_bits_and_rows_are_counted_up)
{
	struct golden_pool pool = complete((struct golden_pool){2, 12, 11, 5, 0, 0, 3, 3, 2, 2, 1, 1});

	cr_assert_eq(golden_pool_index_bits(&pool), 4);
	cr_assert_eq(golden_pool_index_row_bytes(&pool), 15); // 6 x 5 x 4 bits
	cr_assert_eq(golden_pool_index_bytes(&pool), 2 * 6 * 15);
	pool.kernel_h = pool.kernel_w = 2;
	cr_assert_eq(golden_pool_index_bits(&pool), 2);
	pool.kernel_w = 1;
	cr_assert_eq(golden_pool_index_bits(&pool), 1);
	pool.kernel_h = 1;
	cr_assert_eq(golden_pool_index_row_bytes(&pool), 0);
}

Test(pool, bad_shapes_and_ranges_are_refused)
{
	struct golden_pool pool = complete(shapes[2]), wrong = pool;
	struct golden_range range = all_out(&pool), rows = all_in(&pool);
	uint16_t none = 0;
	uint8_t index = 0;
	struct wc_error err = {0};

	wrong.pad_h = wrong.kernel_h;
	wrong = complete(wrong);
	cr_assert_eq(golden_max_pool(&wrong, &none, range, &none, &index, &err), WC_ERR_INPUT);
	cr_assert(strstr(err.text, "pad"));
	cr_assert_eq(golden_max_pool_gradient(&wrong, &none, &index, rows, &none, &err), WC_ERR_INPUT);
	cr_assert_eq(golden_average_pool(&wrong, &none, range, &none, &err), WC_ERR_INPUT);
	cr_assert_eq(golden_average_pool_gradient(&wrong, &none, rows, &none, &err), WC_ERR_INPUT);
	range.row_hi++;
	cr_assert_eq(golden_max_pool(&pool, &none, range, &none, &index, &err), WC_ERR_INPUT);
	cr_assert(strstr(err.text, "0:7"));
	wrong = golden_pool_global(1, 8192, 8192, 1);
	cr_assert_not(golden_pool_valid(&wrong));
	cr_assert_eq(golden_average_pool(&wrong, &none, (struct golden_range){0, 1, 0, 1}, &none, &err), WC_ERR_INPUT);
	cr_assert(strstr(err.text, "16777216"));
}
