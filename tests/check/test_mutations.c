// SPDX-License-Identifier: Apache-2.0
//
// Whatever is done to a valid schedule, it is either caught or, by brute force, harmless.
#include <criterion/criterion.h>
#include <stdlib.h>

#include "tests/check/fixture.h"
#include "tests/check/mutate.h"

static void mutate_many(const char *name, const char *text, int rounds)
{
	struct random random = random_begin(name, 20240607);
	struct verdicts verdicts = {0};
	struct net net;

	if (getenv("WC_LONG") != NULL)
		rounds *= 20;
	fixture_small_net(&net);
	for (int i = 0; i < rounds; i++) {
		struct schedule schedule;
		uint64_t seed = random.state;

		fixture_schedule(&schedule, &net, text);
		mutate(&schedule, &net, &random);
		if (random_below(&random, 3) == 0)
			mutate(&schedule, &net, &random);
		judge_schedule(&schedule, &net, seed, &verdicts);
		schedule_release(&schedule);
	}
	net_release(&net);
	// A run in which all mutations are caught, or none is, shows nothing.
	cr_assert_gt(verdicts.proven, rounds / 50);
	cr_assert_gt(verdicts.caught[CHECK_ABSENT], rounds / 50);
	cr_assert_lt(verdicts.proven, rounds / 2);
}

Test(mutations, layerwise)
{
	mutate_many("layerwise", fixture_layerwise, 400);
}

Test(mutations, serialized)
{
	mutate_many("serialized", fixture_serialized, 400);
}

Test(mutations, overl)
{
	mutate_many("overl", fixture_overl, 400);
}

Test(mutations, strips_with_boundaries)
{
	mutate_many("2ps", fixture_2ps, 400);
}

// The unchanged schedules, and the interpreter itself: it must find each proven and agree on the occupancy.
Test(mutations, the_unchanged_schedules_agree)
{
	const char *const texts[] = {fixture_layerwise, fixture_serialized, fixture_overl, fixture_2ps};
	struct verdicts verdicts = {0};
	struct net net;

	fixture_small_net(&net);
	for (int i = 0; i < 4; i++) {
		struct schedule schedule;

		fixture_schedule(&schedule, &net, texts[i]);
		judge_schedule(&schedule, &net, 0, &verdicts);
		schedule_release(&schedule);
	}
	net_release(&net);
	cr_assert_eq(verdicts.proven, 4);
}
