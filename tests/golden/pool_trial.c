// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/pool_trial.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csim/golden/conv.h"
#include "tests/golden/rig.h"

//  batch  in h w  c     out   kernel stride pad
const struct golden_pool pool_shapes[] = {
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
const int pool_shape_count = sizeof(pool_shapes) / sizeof(pool_shapes[0]);
struct golden_pool pool_trial_complete(struct golden_pool pool)
{
	pool.out_h = golden_conv_output(pool.in_h, pool.kernel_h, pool.stride_h, pool.pad_h, 1);
	pool.out_w = golden_conv_output(pool.in_w, pool.kernel_w, pool.stride_w, pool.pad_w, 1);
	return pool;
}

struct golden_pool pool_trial_random(uint64_t *state)
{
	for (;;) {
		struct golden_pool pool = {
		    .batch = rig_between(state, 1, 3),
		    .in_h = rig_between(state, 1, 16),
		    .in_w = rig_between(state, 1, 16),
		    .channels = rig_between(state, 1, 20),
		    .kernel_h = rig_between(state, 1, 8),
		    .kernel_w = rig_between(state, 1, 8),
		    .stride_h = rig_between(state, 1, 9),
		    .stride_w = rig_between(state, 1, 4),
		};

		pool.pad_h = rig_between(state, 0, pool.kernel_h - 1);
		pool.pad_w = rig_between(state, 0, pool.kernel_w - 1);
		pool = pool_trial_complete(pool);
		if (golden_pool_valid(&pool))
			return pool;
	}
}

const char *pool_trial_name(const struct golden_pool *pool)
{
	static char text[256];

	snprintf(text, sizeof(text), "{%d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d} WC_SEED=%llu", pool->batch, pool->in_h,
		 pool->in_w, pool->channels, pool->out_h, pool->out_w, pool->kernel_h, pool->kernel_w, pool->stride_h,
		 pool->stride_w, pool->pad_h, pool->pad_w, (unsigned long long)rig_seed());
	return text;
}

struct golden_range pool_all_out(const struct golden_pool *pool)
{
	return (struct golden_range){0, pool->batch, 0, pool->out_h};
}

struct golden_range pool_all_in(const struct golden_pool *pool)
{
	return (struct golden_range){0, pool->batch, 0, pool->in_h};
}

struct pool_trial pool_trial_create(struct golden_pool pool, int kind, uint64_t *state)
{
	struct pool_trial trial = {.pool = pool_trial_complete(pool)};

	cr_assert(golden_pool_valid(&trial.pool), "%s", pool_trial_name(&trial.pool));
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

void pool_trial_free(struct pool_trial *trial)
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

void pool_trial_max(struct pool_trial *trial)
{
	struct wc_error err = {0};

	cr_assert_eq(golden_max_pool(&trial->pool, trial->x, pool_all_out(&trial->pool), trial->y, trial->index, &err), 0, "%s",
		     err.text);
	cr_assert_eq(golden_max_pool_gradient(&trial->pool, trial->dy, trial->index, pool_all_in(&trial->pool), trial->dx, &err), 0,
		     "%s", err.text);
}

void pool_trial_average(struct pool_trial *trial)
{
	struct wc_error err = {0};

	cr_assert_eq(golden_average_pool(&trial->pool, trial->x, pool_all_out(&trial->pool), trial->y, &err), 0, "%s", err.text);
	cr_assert_eq(golden_average_pool_gradient(&trial->pool, trial->dy, pool_all_in(&trial->pool), trial->dx, &err), 0, "%s",
		     err.text);
}
