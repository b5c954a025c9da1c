// SPDX-License-Identifier: Apache-2.0
//
// Rule: checker and accounting, written apart, count the same of a `paper` schedule, whoever wrote it: bytes, MACs, footprint, and
// the most bytes in the buffer. (Mutations are compared where they are judged.)
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check/compare.h"
#include "tests/check/graphs.h"

static struct check_result agree(const char *yaml, const char *text)
{
	struct check_result result;
	struct schedule schedule;
	struct net net;
	struct wc_error err = {""};

	graph_net(&net, yaml);
	fixture_schedule(&schedule, &net, text);
	cr_assert_eq(schedule_check(&schedule, &net, &result, &err), 0, "%s", err.text);
	compare_paper_account(&schedule, &net, &result, text);
	schedule_release(&schedule);
	net_release(&net);
	return result;
}

Test(paper_account, hand_written_schedules)
{
	for (int i = 0; i < GRAPH_COUNT; i++)
		agree(graph_cases[i].yaml, graph_cases[i].text);
}

// The views of 4 rows of the add's gradient share its room; that of g1 has 8 rows, and room of its own.
Test(paper_account, views_with_and_without_room_of_their_own)
{
	const struct graph_case *graph = &graph_cases[GRAPH_LAYERS];
	char *split = fixture_replace(graph->text, "split a=0:8 view\n", 0, "load grad:a=0:4\nsplit a=0:4 view\nsplit a=4:8 view\n");
	char *more = fixture_replace(split, "split a=4:8 view\n", 0, "split a=4:8 view\nload grad:g1=4:8\n");

	cr_expect_eq(agree(graph->yaml, split).peak_bytes, 3 * 256);
	cr_expect_eq(agree(graph->yaml, more).peak_bytes, 3 * (256 + 512));
	free(split);
	free(more);
}

// Masks stream whether or not they are named; by name, in rows that may exceed those needed.
Test(paper_account, masks_named_or_not)
{
	const struct graph_case *graph = &graph_cases[GRAPH_IDENTITY];
	static const char relu[] = "compute grad:a=0:8 mask";
	struct check_result unnamed, named;
	char *text;

	cr_assert_not_null(strstr(graph->text, relu), "%s", graph->text);
	unnamed = agree(graph->yaml, graph->text);
	text = fixture_replace(graph->text, relu, 0, "compute grad:a=0:8 mask from mask:r1");
	named = agree(graph->yaml, text);
	cr_expect_gt(unnamed.read_bytes[WC_CLASS_MASK], 0);
	cr_expect_eq(named.read_bytes[WC_CLASS_MASK], unnamed.read_bytes[WC_CLASS_MASK]);
	free(text);
}

// Of a concatenation in `from`, the piece that the operator reads.
Test(paper_account, a_piece_of_what_is_named)
{
	const struct graph_case *graph = &graph_cases[GRAPH_ODD];
	char *text = fixture_replace(graph->text, "compute grad:ad=0:3 by s\n", 0, "compute grad:ad=0:3 by s from grad:out\n");
	const struct check_result whole = agree(graph->yaml, graph->text), piece = agree(graph->yaml, text);

	// grad:s, 3 rows of 3 pixels and 2 channels, 2 samples, once more.
	cr_expect_eq(piece.read_bytes[WC_CLASS_GRADIENT], whole.read_bytes[WC_CLASS_GRADIENT] + 2 * 3 * 3 * 2 * 2);
	free(text);
}
