// SPDX-License-Identifier: Apache-2.0
//
// Whatever is done to a valid schedule of a graph, it is either caught or, by brute force, harmless.
#include <criterion/criterion.h>
#include <stdlib.h>

#include "tests/check/graph_machine.h"
#include "tests/check/graphs.h"
#include "tests/check/mutate_graph.h"

static void mutate_many(enum graph_name name, int rounds)
{
	const struct graph_case *graph = &graph_cases[name];
	struct random random = random_begin(graph->name, 20260101 + (uint64_t)name);
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
	cr_assert_gt(verdicts.proven, rounds / 50, "proven %d", verdicts.proven);
	cr_assert_lt(verdicts.proven, rounds / 2, "proven %d", verdicts.proven);
	cr_assert_gt(verdicts.caught[CHECK_ABSENT] + verdicts.caught[CHECK_NOT_STORED], rounds / 20, "absent %d, not stored %d",
		     verdicts.caught[CHECK_ABSENT], verdicts.caught[CHECK_NOT_STORED]);
	if (name == GRAPH_IDENTITY || name == GRAPH_REGENERATED || name == GRAPH_NORMS_OVERL || name == GRAPH_NORMS_2PS)
		cr_assert_gt(verdicts.caught[CHECK_STATISTICS], rounds / 100);
	if (name == GRAPH_CONCAT)
		cr_assert_gt(verdicts.caught[CHECK_PARTS], rounds / 100);
}

Test(paper_mutations, identity)
{
	mutate_many(GRAPH_IDENTITY, 600);
}

Test(paper_mutations, regenerated)
{
	mutate_many(GRAPH_REGENERATED, 600);
}

Test(paper_mutations, shortcut)
{
	mutate_many(GRAPH_SHORTCUT, 600);
}

Test(paper_mutations, concatenation)
{
	mutate_many(GRAPH_CONCAT, 600);
}

Test(paper_mutations, strips)
{
	mutate_many(GRAPH_STRIPS, 600);
}

Test(paper_mutations, odd)
{
	mutate_many(GRAPH_ODD, 600);
}

Test(paper_mutations, layers)
{
	mutate_many(GRAPH_LAYERS, 600);
}

Test(paper_mutations, fork)
{
	mutate_many(GRAPH_FORK, 600);
}

Test(paper_mutations, norms_with_halos)
{
	mutate_many(GRAPH_NORMS_OVERL, 600);
}

Test(paper_mutations, norms_with_lines_handed_over)
{
	mutate_many(GRAPH_NORMS_2PS, 600);
}

// The unchanged schedules, and the interpreter itself: it must find each right and agree on the occupancy.
Test(paper_mutations, the_unchanged_schedules_agree)
{
	struct verdicts verdicts = {0};

	for (int i = 0; i < GRAPH_COUNT; i++) {
		struct schedule schedule;
		struct net net;

		graph_net(&net, graph_cases[i].yaml);
		fixture_schedule(&schedule, &net, graph_cases[i].text);
		judge_graph(&schedule, &net, 0, &verdicts);
		schedule_release(&schedule);
		net_release(&net);
	}
	cr_assert_eq(verdicts.proven, GRAPH_COUNT);
}
