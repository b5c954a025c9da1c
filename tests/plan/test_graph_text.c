// SPDX-License-Identifier: Apache-2.0
//
// What planners' schedules for the device look like: nothing is moved, kept or made again that need not be. Proofs and counts of bytes do not see that.
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/plan/check/check.h"
#include "tests/plan/common.h"

static const char directory[] = "tests/plan/expected/";

static char *read_text(const char *path)
{
	FILE *file = fopen(path, "r"), *copy;
	char *text = NULL;
	size_t bytes;
	int c;

	cr_assert_not_null(file, "%s is missing; WC_REFRESH=1 writes it", path);
	copy = open_memstream(&text, &bytes);
	cr_assert_not_null(copy);
	while ((c = getc(file)) != EOF)
		putc(c, copy);
	fclose(copy);
	fclose(file);
	return text;
}

static void expect(const char *planner, uint32_t buffer_bytes, int strips, enum plan_phases phases, const char *name)
{
	const struct plan_options options = { .batch = 3, .cores = 1, .rows = 8, .cols = 8, .acc_rows = 256, .buffer_bytes = buffer_bytes, .bus_bytes = 16,
					      .strips = strips, .phases = phases, .accounting = SCHED_DEVICE };
	struct schedule schedule;
	struct check_result check;
	char path[200], *text, *expected;
	struct wc_error err;
	struct net net;

	snprintf(path, sizeof(path), "%ssmall.yaml", directory);
	cr_assert_eq(net_read(&net, path, &err), 0, "%s", err.text);
	common_plan(&schedule, planner, &net, &options);
	cr_expect_eq(schedule_check(&schedule, &net, &check, &err), 0, "%s", err.text);
	text = common_write(&schedule, &net);
	snprintf(path, sizeof(path), "%s%s", directory, name);
	if (getenv("WC_REFRESH")) {
		FILE *file = fopen(path, "w");

		cr_assert_not_null(file, "%s", path);
		fputs(text, file);
		fclose(file);
	}
	expected = read_text(path);
	cr_expect_str_eq(text, expected, "%s is not as planned; WC_REFRESH=1 refreshes it after review. Got:\n%s", path, text);
	free(expected);
	free(text);
	schedule_release(&schedule);
	net_release(&net);
}

// Everything streams, in blocks; nothing is stored for a backward that does not follow.
Test(graph_text, blocks_forward)
{
	expect("baseline", 4096, 0, PLAN_FORWARD, "blocks-forward.schedule");
}

// The same forward and backward: sums of normalizations, views in DRAM, masks.
Test(graph_text, blocks)
{
	expect("baseline", 4096, 0, PLAN_ALL, "blocks.schedule");
}

// Everything stays: gradients are added up, split and freed.
Test(graph_text, sub_batches)
{
	expect("mbs2", 8192, 0, PLAN_ALL, "sub-batches.schedule");
}

// A normalization and its ReLU are made again for each reader, and chains unrolled.
Test(graph_text, made_again)
{
	expect("hybrid", 8192, 0, PLAN_ALL, "made-again.schedule");
}

// Strips whose halo passes a max pool, and statistics on the way.
Test(graph_text, strips_with_a_halo)
{
	expect("overl-h", 8192, 2, PLAN_ALL, "strips.schedule");
}
