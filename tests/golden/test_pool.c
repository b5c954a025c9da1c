// SPDX-License-Identifier: Apache-2.0
//
// Pooling: the bits against a second statement of them, planted faults, strips, specials.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/golden/naive_pool.h"
#include "tests/golden/pool_trial.h"
#include "tests/golden/rig.h"

// Whether the trial's results are those of the second statement, with `fault`.
static bool max_agrees(struct pool_trial *trial, enum pool_fault fault)
{
	naive_max_pool(&trial->pool, trial->x, trial->naive_y, trial->taps, fault);
	naive_pack_index(&trial->pool, trial->taps, trial->naive_index);
	naive_max_pool_gradient(&trial->pool, trial->taps, trial->dy, trial->naive_dx, fault);
	return rig_difference(trial->y, trial->naive_y, trial->out) < 0 &&
	       memcmp(trial->index, trial->naive_index, trial->index_bytes) == 0 &&
	       rig_difference(trial->dx, trial->naive_dx, trial->in) < 0;
}

static bool average_agrees(struct pool_trial *trial, enum pool_fault fault)
{
	naive_average_pool(&trial->pool, trial->x, trial->naive_y, fault);
	naive_average_pool_gradient(&trial->pool, trial->dy, trial->naive_dx, fault);
	return rig_difference(trial->y, trial->naive_y, trial->out) < 0 &&
	       rig_difference(trial->dx, trial->naive_dx, trial->in) < 0;
}

Test(pool, bits_are_those_of_the_second_statement)
{
	uint64_t state = rig_seed() + 200;

	for (int i = 0; i < pool_shape_count + 40; i++)
		for (int kind = 0; kind < 5; kind++) {
			struct pool_trial trial =
			    pool_trial_create(i < pool_shape_count ? pool_shapes[i] : pool_trial_random(&state), kind, &state);

			pool_trial_max(&trial);
			cr_assert(max_agrees(&trial, POOL_RIGHT), "max, operands %d: %s", kind, pool_trial_name(&trial.pool));
			pool_trial_average(&trial);
			cr_assert(average_agrees(&trial, POOL_RIGHT), "average, operands %d: %s", kind,
				  pool_trial_name(&trial.pool));
			pool_trial_free(&trial);
		}
}

Test(pool, planted_faults_are_seen)
{
	uint64_t state = rig_seed() + 201;
	int seen[POOL_SUM_BEFORE_SCALE + 1] = {0};

	for (int i = 0; i < pool_shape_count; i++)
		for (int kind = 0; kind < 5; kind++) {
			struct pool_trial trial = pool_trial_create(pool_shapes[i], kind, &state);

			pool_trial_max(&trial);
			for (int fault = POOL_LAST_MAXIMUM; fault <= POOL_TAP_OFF_BY_ONE; fault++)
				seen[fault] += !max_agrees(&trial, fault);
			pool_trial_average(&trial);
			for (int fault = POOL_PADDING_NOT_COUNTED; fault <= POOL_WINDOWS_DESCENDING; fault++)
				seen[fault] += !average_agrees(&trial, fault);
			pool_trial_free(&trial);
		}
	for (int fault = POOL_LAST_MAXIMUM; fault <= POOL_WINDOWS_DESCENDING; fault++)
		cr_assert_gt(seen[fault], 0, "fault %d", fault);
}

Test(pool, strips_give_the_same_bits_and_leave_the_rest)
{
	uint64_t state = rig_seed() + 204;

	for (int i = 0; i < pool_shape_count; i++) {
		struct pool_trial trial = pool_trial_create(pool_shapes[i], 1, &state);
		const struct golden_pool *pool = &trial.pool;
		int cut = rig_between(&state, 0, pool->out_h), in_cut = rig_between(&state, 0, pool->in_h),
		    n = rig_between(&state, 0, pool->batch - 1);
		struct golden_range range = {n, n + 1, cut, pool->out_h};
		size_t row = (size_t)pool->out_w * pool->channels, row_bytes = golden_pool_index_row_bytes(pool),
		       first = (size_t)n * pool->out_h + cut;
		struct wc_error err = {0};

		pool_trial_max(&trial);
		memset(trial.naive_y, 0xa5, trial.out * sizeof(*trial.y));
		memset(trial.naive_index, 0xa5, trial.index_bytes);
		cr_assert_eq(golden_max_pool(pool, trial.x, range, trial.naive_y, trial.naive_index, &err), 0);
		for (size_t at = 0; at < trial.out; at++) {
			bool inside = at / row >= first && at / row < (size_t)(n + 1) * pool->out_h;

			cr_assert_eq(trial.naive_y[at], inside ? trial.y[at] : 0xa5a5, "%s", pool_trial_name(pool));
		}
		for (size_t at = 0; at < trial.index_bytes; at++) {
			bool inside = at / row_bytes >= first && at / row_bytes < (size_t)(n + 1) * pool->out_h;

			cr_assert_eq(trial.naive_index[at], inside ? trial.index[at] : 0xa5, "%s", pool_trial_name(pool));
		}
		// Gradients in two strips
		cr_assert_eq(golden_max_pool_gradient(pool, trial.dy, trial.index,
						      (struct golden_range){0, pool->batch, 0, in_cut}, trial.naive_dx, &err),
			     0);
		cr_assert_eq(golden_max_pool_gradient(pool, trial.dy, trial.index,
						      (struct golden_range){0, pool->batch, in_cut, pool->in_h}, trial.naive_dx,
						      &err),
			     0);
		cr_assert_lt(rig_difference(trial.dx, trial.naive_dx, trial.in), 0, "%s", pool_trial_name(pool));
		pool_trial_average(&trial);
		cr_assert_eq(golden_average_pool_gradient(pool, trial.dy, (struct golden_range){0, pool->batch, 0, in_cut},
							  trial.naive_dx, &err),
			     0);
		cr_assert_eq(golden_average_pool_gradient(
				 pool, trial.dy, (struct golden_range){0, pool->batch, in_cut, pool->in_h}, trial.naive_dx, &err),
			     0);
		cr_assert_lt(rig_difference(trial.dx, trial.naive_dx, trial.in), 0, "%s", pool_trial_name(pool));
		pool_trial_free(&trial);
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
	struct golden_pool pool = pool_trial_complete((struct golden_pool){2, 12, 11, 5, 0, 0, 3, 3, 2, 2, 1, 1});

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
	struct golden_pool pool = pool_trial_complete(pool_shapes[2]), wrong = pool;
	struct golden_range range = pool_all_out(&pool), rows = pool_all_in(&pool);
	uint16_t none = 0;
	uint8_t index = 0;
	struct wc_error err = {0};

	wrong.pad_h = wrong.kernel_h;
	wrong = pool_trial_complete(wrong);
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
