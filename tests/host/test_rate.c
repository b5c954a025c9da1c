// SPDX-License-Identifier: Apache-2.0
//
// Rule: the learning rate climbs to its peak, and stays there or falls to what is above 0 if the peak is.
#include <criterion/criterion.h>

#include "driver/host/rate.h"

static void expect_rates(struct rate rate, const float *expected)
{
	for (uint64_t step = 0; step < rate.length; step++)
		cr_expect_eq(rate_at(&rate, step), expected[step], "step %d: %.9g, expected %.9g", (int)step, (double)rate_at(&rate, step), (double)expected[step]);
}

Test(rate, is_constant_behind_the_warm_up)
{
	expect_rates((struct rate){.peak = 0.1, .decay = RATE_CONSTANT, .warmup = 0, .length = 3}, (const float[]){0.1f, 0.1f, 0.1f});
	expect_rates((struct rate){.peak = 0.5, .decay = RATE_CONSTANT, .warmup = 3, .length = 5}, (const float[]){0.125f, 0.25f, 0.375f, 0.5f, 0.5f});
}

Test(rate, falls_in_a_line_to_the_last_step)
{
	expect_rates((struct rate){.peak = 0.5, .decay = RATE_LINEAR, .warmup = 0, .length = 4}, (const float[]){0.5f, 0.375f, 0.25f, 0.125f});
	expect_rates((struct rate){.peak = 0.5, .decay = RATE_LINEAR, .warmup = 1, .length = 5}, (const float[]){0.25f, 0.5f, 0.375f, 0.25f, 0.125f});
	expect_rates((struct rate){.peak = 0.3, .decay = RATE_LINEAR, .warmup = 0, .length = 1}, (const float[]){0.3f});
}

Test(rate, of_a_training_that_is_all_warm_up_only_climbs)
{
	expect_rates((struct rate){.peak = 0.5, .decay = RATE_LINEAR, .warmup = 7, .length = 3}, (const float[]){0.0625f, 0.125f, 0.1875f});
}
