// SPDX-License-Identifier: Apache-2.0
//
// Whatever is done to a valid `device` schedule of a graph, it is either caught or, by brute force, harmless.
#include <criterion/criterion.h>
#include <stdlib.h>

#include "tests/check/device_graphs.h"
#include "tests/check/graph_machine.h"
#include "tests/check/mutate_graph.h"

static void mutate_many(enum device_name name, int rounds)
{
	const struct graph_case *graph = &device_cases[name];
	struct random random = random_begin(graph->name, 20260201 + (uint64_t)name);
	struct verdicts verdicts = {0};
	struct net net;

	if (getenv("WC_LONG") != NULL)
		rounds *= 20;
	graph_net(&net, graph->yaml);
	for (int i = 0; i < rounds; i++) {
		struct schedule schedule;
		uint64_t seed = random.state;

		fixture_schedule(&schedule, &net, graph->text);
		mutate_graph(&schedule, &net, &random);
		if (random_below(&random, 3) == 0)
			mutate_graph(&schedule, &net, &random);
		judge_graph(&schedule, &net, seed, &verdicts);
		schedule_release(&schedule);
	}
	net_release(&net);
	// A run in which all mutations are caught, or none is, shows nothing.
	cr_assert_gt(verdicts.proven, rounds / 25, "proven %d", verdicts.proven);
	cr_assert_lt(verdicts.proven, rounds / 2, "proven %d", verdicts.proven);
	cr_assert_gt(verdicts.caught[CHECK_ABSENT] + verdicts.caught[CHECK_NOT_STORED], rounds / 20, "absent %d, not stored %d",
		     verdicts.caught[CHECK_ABSENT], verdicts.caught[CHECK_NOT_STORED]);
	cr_assert_gt(verdicts.caught[CHECK_BUFFER], 0);
	if (name == DEVICE_RESIDUAL || name == DEVICE_NORM_STRIPS)
		cr_assert_gt(verdicts.caught[CHECK_STATISTICS] + verdicts.caught[CHECK_ORDER], rounds / 100, "statistics %d, order %d",
			     verdicts.caught[CHECK_STATISTICS], verdicts.caught[CHECK_ORDER]);
	if (name == DEVICE_CONCAT)
		cr_assert_gt(verdicts.caught[CHECK_PARTS], rounds / 100, "parts %d", verdicts.caught[CHECK_PARTS]);
	if (name == DEVICE_NORM_STRIPS)
		cr_assert_gt(verdicts.caught[CHECK_NOT_KEPT], rounds / 100, "not kept %d", verdicts.caught[CHECK_NOT_KEPT]);
}

Test(device_mutations, residual)
{
	mutate_many(DEVICE_RESIDUAL, 600);
}

Test(device_mutations, concatenation)
{
	mutate_many(DEVICE_CONCAT, 600);
}

Test(device_mutations, strips_around_a_norm)
{
	mutate_many(DEVICE_NORM_STRIPS, 600);
}

Test(device_mutations, biases_and_slices)
{
	mutate_many(DEVICE_SLICES, 600);
}

Test(device_mutations, pools)
{
	mutate_many(DEVICE_POOLS, 600);
}

Test(device_mutations, groups)
{
	mutate_many(DEVICE_GROUPS, 600);
}

// The unchanged schedules, and the interpreter itself: it must find each right and agree on the occupancy.
Test(device_mutations, the_unchanged_schedules_agree)
{
	struct verdicts verdicts = {0};

	for (int i = 0; i < DEVICE_COUNT; i++) {
		struct schedule schedule;
		struct net net;

		graph_net(&net, device_cases[i].yaml);
		fixture_schedule(&schedule, &net, device_cases[i].text);
		judge_graph(&schedule, &net, 0, &verdicts);
		schedule_release(&schedule);
		net_release(&net);
	}
	cr_assert_eq(verdicts.proven, DEVICE_COUNT);
}
