// SPDX-License-Identifier: Apache-2.0
//
// Checker and accounting count the same bytes, class by class, of every schedule that is proven.
#include <criterion/criterion.h>

#include "tests/check/compare.h"
#include "tests/check/fixture.h"
#include "tests/check/mutate.h"

static const char *const texts[] = {fixture_layerwise, fixture_serialized, fixture_overl, fixture_2ps};
static const char *const names[] = {"layerwise", "serialized", "overl", "2ps"};

Test(account, equals_the_checker_on_schedules_by_hand)
{
	struct net net;

	fixture_small_net(&net);
	for (int i = 0; i < 4; i++) {
		struct schedule schedule;
		struct check_result result;

		fixture_schedule(&schedule, &net, texts[i]);
		cr_assert_eq(schedule_check(&schedule, &net, &result, NULL), 0);
		compare_account(&schedule, &net, &result, names[i]);
		schedule_release(&schedule);
	}
	net_release(&net);
}

// Mutations that remain right: other policies, sub-batches, cuts, repeated work.
Test(account, equals_the_checker_on_mutations_that_are_proven)
{
	struct random random = random_begin("account", 77);
	struct net net;
	int compared = 0;

	fixture_small_net(&net);
	for (int i = 0; i < 3000; i++) {
		struct schedule schedule;
		struct check_result result;

		fixture_schedule(&schedule, &net, texts[i % 4]);
		for (int changes = 1 + i % 3; changes > 0; changes--)
			mutate(&schedule, &net, &random);
		if (schedule_check(&schedule, &net, &result, NULL) == 0) {
			compare_account(&schedule, &net, &result, names[i % 4]);
			compared++;
		}
		schedule_release(&schedule);
	}
	net_release(&net);
	cr_assert_gt(compared, 100);
}
