// SPDX-License-Identifier: Apache-2.0
//
// Single faults in `device` schedules of graphs that are otherwise right: each is caught, as what it is, at its statement.
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check/device_graphs.h"

enum { END = -1 };

static const struct fault {
	const char *name;
	enum device_name graph;
	const char *from;
	int nth;
	const char *to;
	enum check_kind kind;
	int group, strip, statement; // END: of the whole group, or schedule
} faults[] = {
	// Statistics and sums.
	{"statistics of some rows only", DEVICE_RESIDUAL, "statistics g1=0:6\n", 0, "statistics g1=0:5\n", CHECK_STATISTICS, 0, 0, 10},
	{"a norm of some rows makes none", DEVICE_RESIDUAL, "compute act:g0=0:6\n", 0, "compute act:g0=0:3\ncompute act:g0=3:6\n", CHECK_STATISTICS, 0, 0, 3},
	{"statistics of rows that are not there", DEVICE_RESIDUAL, "compute act:c1=0:6\n", 0, "compute act:c1=0:5\n", CHECK_ABSENT, 0, 0, 8},
	{"statistics made twice", DEVICE_RESIDUAL, "statistics g1=0:6\n", 0, "statistics g1=0:6\nstatistics g1=2:3\n", CHECK_TWICE, 0, 0, 10},
	{"a strip leaves no partial sums", DEVICE_NORM_STRIPS, "statistics g0=0:3\n", 0, "", CHECK_ORDER, 0, 1, 4},
	{"statistics of another strip's row", DEVICE_NORM_STRIPS, "statistics g0=3:8\n", 0, "statistics g0=2:8\n", CHECK_ABSENT, 0, 1, 4},
	{"sums of rows whose gradient is not there", DEVICE_NORM_STRIPS, "statistics g0=4:8\n", 0, "statistics g0=3:8\n", CHECK_ABSENT, 2, 0, 8},
	{"sums before the gradient", DEVICE_NORM_STRIPS, "compute grad:g0=4:8 act\nstatistics g0=4:8\n", 0, "statistics g0=4:8\ncompute grad:g0=4:8 act\n",
	 CHECK_ABSENT, 2, 0, 7},
	{"sums without the norm's input", DEVICE_RESIDUAL, "load act:c0=0:6\nstatistics g0=0:6\n", 0, "statistics g0=0:6\nload act:c0=0:6\n", CHECK_ABSENT, 1, 0, 17},
	{"a gradient taken on before its sums are complete", DEVICE_NORM_STRIPS, "statistics g0=0:4\n", 0, "", CHECK_ORDER, 2, -1, -1},
	{"sums made twice", DEVICE_RESIDUAL, "statistics g0=0:6\n", 0, "statistics g0=0:6\nstatistics g0=0:1\n", CHECK_TWICE, 1, 0, 19},
	{"sums where some have been made", DEVICE_RESIDUAL, "statistics g0=0:6\n", 0, "statistics g0=0:2\n", CHECK_STATISTICS, 1, 0, 19},
	{"a norm made again without its input", DEVICE_NORM_STRIPS, "load act:c0=3:8\n", 0, "load act:c0=4:8\n", CHECK_ABSENT, 2, 0, 3},
	{"resident sums of the last rows", DEVICE_NORM_STRIPS, "wgrad c1 resident\nstrip 0\n", 0, "wgrad c1 resident\nwgrad g0 resident\nstrip 0\n", CHECK_NONE,
	 0, 0, 0},
	// Concatenations.
	{"a concatenation of a piece that is not there", DEVICE_CONCAT, "compute act:pb=0:4\nstore mask:pb=0:4\n", 0, "", CHECK_ABSENT, 0, 0, 5},
	{"a concatenation is no view of its pieces", DEVICE_CONCAT, "compute act:both=0:4\nstore act:both=0:4\n", 0, "", CHECK_ABSENT, 0, 0, 7},
	{"rows of a concatenation are not made", DEVICE_CONCAT, "compute act:both=0:4\n", 0, "compute act:both=0:3\n", CHECK_ABSENT, 0, 0, 8},
	{"a concatenation is not stored", DEVICE_CONCAT, "store act:both=0:4\n", 0, "", CHECK_NOT_STORED, 1, 0, 6},
	{"its pieces' gradients need a split", DEVICE_CONCAT, "split both=0:4\n", 0, "", CHECK_ABSENT, 1, 0, 16},
	{"split before the gradient is complete", DEVICE_CONCAT, "compute grad:both=0:4 by r act\nfree act:r\nsplit both=0:4\n", 0,
	 "split both=0:4\ncompute grad:both=0:4 by r act\nfree act:r\n", CHECK_PARTS, 1, 0, 13},
	{"split of rows that are not there", DEVICE_CONCAT, "compute grad:r=0:4\n", 0, "compute grad:r=0:3\n", CHECK_ABSENT, 1, 0, 13},
	{"split twice", DEVICE_CONCAT, "split both=0:4\n", 0, "split both=0:4\nsplit both=3:4\n", CHECK_TWICE, 1, 0, 16},
	{"a concatenation's slab is given a row twice", DEVICE_CONCAT, "store act:both=0:4\n", 0, "store act:both=0:4\ncompute act:both=3:4\n", CHECK_TWICE, 0, 0, 9},
	// Parts.
	{"parts in forward order", DEVICE_CONCAT, "compute grad:both=0:4 by e\nfree act:both\nload act:r=0:4\naccumulate d=0:4\ncompute grad:r=0:4\ncompute grad:both=0:4 by r act\n",
	 0, "load act:r=0:4\naccumulate d=0:4\ncompute grad:r=0:4\ncompute grad:both=0:4 by r act\ncompute grad:both=0:4 by e\nfree act:both\n", CHECK_ABSENT, 1, 0, 11},
	{"a part is missing", DEVICE_CONCAT, "compute grad:s=0:4 by b2\n", 0, "", CHECK_PARTS, 1, 0, 21},
	{"the sum so far is gone", DEVICE_CONCAT, "accumulate b1=0:4\ncompute grad:s", 0, "accumulate b1=0:4\nfree grad:s\ncompute grad:s", CHECK_ABSENT, 1, 0, 23},
	{"a part added twice", DEVICE_SLICES, "compute grad:c0=0:4 by c1\n", 0, "compute grad:c0=0:4 by c1\ncompute grad:c0=3:4 by c1\n", CHECK_TWICE, 1, 0, 9},
	{"an incomplete gradient enters the weight gradient", DEVICE_SLICES, "compute grad:c0=0:4 by c1\n", 0, "", CHECK_PARTS, 1, 0, 9},
	{"a split whose gradient is not there", DEVICE_RESIDUAL, "compute grad:a=0:6 mask\nsplit a=0:6\n", 0, "split a=0:6\ncompute grad:a=0:6 mask\n", CHECK_ABSENT, 1, 0, 6},
	{"a split that is missing", DEVICE_RESIDUAL, "split a=0:6\n", 0, "", CHECK_ABSENT, 1, 0, 8},
	{"a split of fewer rows", DEVICE_RESIDUAL, "split a=0:6\n", 0, "split a=0:5\n", CHECK_ABSENT, 1, 0, 9},
	{"a part of who does not read it", DEVICE_SLICES, "compute grad:c0=0:4 by sc\n", 0, "compute grad:c0=0:4 by p\n", CHECK_FORM, 1, 0, 5},
	// Masks and pools.
	{"an index never stored", DEVICE_POOLS, "store mask:m=0:3\n", 0, "", CHECK_NOT_STORED, 3, 0, 11},
	{"an index of some rows", DEVICE_POOLS, "load mask:m=0:3\n", 0, "load mask:m=0:2\n", CHECK_ABSENT, 3, 0, 13},
	{"a pool's gradient without its index", DEVICE_CONCAT, "load mask:pb=0:4\n", 0, "", CHECK_ABSENT, 1, 0, 16},
	{"a mask not made in backward", DEVICE_POOLS, "compute act:r=0:6 mask\n", 0, "compute act:r=0:6\n", CHECK_ABSENT, 3, 0, 14},
	{"a pool of rows that are not there", DEVICE_POOLS, "load act:c=0:4\ncompute act:r=0:4\n", 0, "load act:c=0:3\ncompute act:r=0:3\n", CHECK_ABSENT, 1, 0, 2},
	{"a pool's rows made in two groups", DEVICE_POOLS, "load act:m=0:3\ncompute act:k", 0, "compute act:m=0:3\ncompute act:k", CHECK_TWICE, 2, 0, 2},
	// Rows made again.
	{"a slab is given a row twice", DEVICE_POOLS, "load act:c=4:6\ncompute act:r=4:6\n", 0, "load act:c=3:6\ncompute act:r=3:6\n", CHECK_TWICE, 1, 0, 5},
	{"a convolution made again", DEVICE_POOLS, "group forward r gp\nsub_batch 2\nstrip 0\nload act:c=0:6\n", 0,
	 "group forward c gp\nsub_batch 2\nstrip 0\nload act:input=0:6\ncompute act:c=0:6\n", CHECK_TWICE, 2, 0, 1},
	{"rows are forgotten", DEVICE_POOLS, "free act:c\nload act:c=4:6\n", 0, "free act:c\n", CHECK_ABSENT, 1, 0, 4},
	{"a free of what is absent", DEVICE_RESIDUAL, "free act:c1\n", 0, "free act:c1\nfree act:c1\n", CHECK_ABSENT, 1, 0, 11},
	{"a load without a free before", DEVICE_POOLS, "free grad:c\n", 0, "load grad:c=2:4\n", CHECK_TWICE, 4, 0, 3},
	// Strips.
	{"a line is not handed over", DEVICE_NORM_STRIPS, "keep act:r0=3:4\n", 0, "", CHECK_NOT_KEPT, 1, 1, 2},
	{"a gradient's line is not handed over", DEVICE_NORM_STRIPS, "keep grad:c1=2:3\n", 0, "", CHECK_NOT_KEPT, 2, 1, 2},
	{"a line short", DEVICE_NORM_STRIPS, "keep act:input=2:4\n", 0, "keep act:input=3:4\n", CHECK_NOT_KEPT, 0, 1, 0},
	{"a global pool of one strip", DEVICE_NORM_STRIPS, "take act:c1=0:2\n", 0, "", CHECK_ABSENT, 1, 1, 5},
	{"rows loaded that are not read", DEVICE_NORM_STRIPS, "load act:c0=4:8\n", 0, "load act:c0=3:8\n", CHECK_UNUSED, 1, 1, 0},
	// Once, coverage, order.
	{"a fully connected layer is not accumulated", DEVICE_RESIDUAL, "accumulate fc=0:1\n", 0, "", CHECK_COVERAGE, END, END, END},
	{"the sums of a norm are never made", DEVICE_RESIDUAL, "statistics g0=0:6\ncompute grad:c0=0:6\n", 0, "", CHECK_ABSENT, 1, 0, 19},
	{"the logits are not stored", DEVICE_RESIDUAL, "store act:fc=0:1\n", 0, "", CHECK_COVERAGE, END, END, END},
	{"the logits' gradient before the loss", DEVICE_RESIDUAL, "store act:fc=0:1\n", 0, "store act:fc=0:1\nload grad:fc=0:1\n", CHECK_NOT_STORED, 0, 0, 18},
	{"a row of the weight gradient twice", DEVICE_POOLS, "accumulate c=3:6\n", 0, "accumulate c=3:6\naccumulate c=3:4\n", CHECK_TWICE, 4, 0, 8},
	{"a gradient of some rows stored", DEVICE_NORM_STRIPS, "store grad:g0=0:4\n", 0, "store grad:g0=1:4\n", CHECK_NOT_STORED, 3, 0, 0},
	// Form.
	{"a slice that is no multiple of the array", DEVICE_SLICES, "weight sc streamed slice 4", 0, "weight sc streamed slice 3", CHECK_FORM, 1, 0, 5},
	{"a group's data gradient in slices", DEVICE_GROUPS, "wgrad a streamed slice 8", 0, "weight a streamed slice 8", CHECK_FORM, 1, 0, 9},
	{"a depthwise data gradient in slices", DEVICE_GROUPS, "wgrad a streamed slice 8", 0, "weight d streamed slice 8", CHECK_FORM, 1, 0, 4},
	{"resident sums that nothing makes", DEVICE_NORM_STRIPS, "group backward c0 g0\nsub_batch 3\n", 0, "group backward c0 g0\nsub_batch 3\nwgrad g0 resident\n", CHECK_FORM, 3,
	 END, END},
	{"a layer outside its group", DEVICE_NORM_STRIPS, "group backward c0 g0", 0, "group backward c0 c0", CHECK_FORM, 3, 0, 2},
};

ParameterizedTestParameters(device_faults, caught)
{
	static int indices[sizeof(faults) / sizeof(faults[0])];

	for (size_t i = 0; i < sizeof(indices) / sizeof(indices[0]); i++)
		indices[i] = (int)i;
	return cr_make_param_array(int, indices, sizeof(indices) / sizeof(indices[0]));
}

ParameterizedTest(int *index, device_faults, caught)
{
	const struct fault *fault = &faults[*index];
	struct check_result result;
	const struct check_violation *violation = &result.violation;

	device_check_replaced(&device_cases[fault->graph], fault->from, fault->nth, fault->to, &result);
	cr_assert_eq(violation->kind, fault->kind, "%s: %s: %s", fault->name, check_kind_name(violation->kind), violation->text);
	if (fault->kind == CHECK_NONE)
		return;
	cr_assert_eq(violation->place.group, fault->group, "%s: %s", fault->name, violation->text);
	cr_assert_eq(violation->place.strip, fault->strip, "%s: %s", fault->name, violation->text);
	cr_assert_eq(violation->place.statement, fault->statement, "%s: %s", fault->name, violation->text);
}

// The parser refuses it already, so it is made in memory.
Test(device_faults, a_slice_that_cuts_a_group)
{
	const struct graph_case *graph = &device_cases[DEVICE_GROUPS];
	struct check_result result;
	struct schedule schedule;
	struct net net;

	graph_net(&net, graph->yaml);
	fixture_schedule(&schedule, &net, graph->text);
	schedule.groups[1].wgrad[net_find(&net, "a")].slice = 4;
	cr_expect_eq(schedule_check(&schedule, &net, &result, NULL), WC_ERR_INPUT);
	cr_expect_eq(result.violation.kind, CHECK_FORM);
	cr_expect_eq(result.violation.place.group, 1);
	cr_expect(strstr(result.violation.text, "cuts a group"), "%s", result.violation.text);
	schedule_release(&schedule);
	net_release(&net);
}

// Each room, by a buffer that is a byte too small for it. The buffer is a multiple of 4096 in the text alone.
static void expect_peak(enum device_name name, const char *from, const char *to, int group, int statement)
{
	const struct graph_case *graph = &device_cases[name];
	char *text = fixture_replace(graph->text, from, 0, to);
	struct check_result result;
	struct schedule schedule;
	uint64_t peak;
	struct net net;

	graph_net(&net, graph->yaml);
	fixture_schedule(&schedule, &net, text);
	cr_assert_eq(schedule_check(&schedule, &net, &result, NULL), 0, "%s", result.violation.text);
	peak = result.peak_bytes;
	cr_expect_eq(result.peak.group, group, "%d", result.peak.group);
	cr_expect_eq(result.peak.statement, statement, "%d", result.peak.statement);
	schedule.buffer_bytes = (uint32_t)peak;
	cr_expect_eq(schedule_check(&schedule, &net, &result, NULL), 0, "%s", result.violation.text);
	schedule.buffer_bytes = (uint32_t)peak - 1;
	cr_expect_neq(schedule_check(&schedule, &net, &result, NULL), 0);
	cr_expect_eq(result.violation.kind, CHECK_BUFFER, "%s", result.violation.text);
	cr_expect_eq(result.violation.place.group, group, "%s", result.violation.text);
	cr_expect_eq(result.violation.place.statement, statement, "%s", result.violation.text);
	schedule_release(&schedule);
	net_release(&net);
	free(text);
}

Test(device_faults, a_buffer_a_byte_too_small)
{
	expect_peak(DEVICE_RESIDUAL, "sub_batch 3", "sub_batch 3", 1, 9);
	expect_peak(DEVICE_RESIDUAL, "wgrad c1 resident\n", "", 1, 9);
	expect_peak(DEVICE_CONCAT, "sub_batch 2", "sub_batch 2", 1, 13);
	expect_peak(DEVICE_NORM_STRIPS, "sub_batch 2", "sub_batch 2", 2, 9);
	expect_peak(DEVICE_SLICES, "sub_batch 2", "sub_batch 2", 1, 8);
	expect_peak(DEVICE_POOLS, "sub_batch 2", "sub_batch 2", 3, 13);
}

// A batch whose logits do not fit, and an update that takes what fits.
Test(device_faults, loss_and_update_need_room)
{
	const struct graph_case *graph = &device_cases[DEVICE_POOLS];
	struct check_options both = {true, true}, update = {.update = true};
	struct check_result result;
	struct schedule schedule;
	struct net net;

	graph_net(&net, graph->yaml);
	fixture_schedule(&schedule, &net, graph->text);
	schedule.batch = 79;
	// Two rows of 16 bytes a sample, 316 of labels and losses, padded to 320, 948 of softmax, padded to 960.
	cr_assert_neq(schedule_check_with(&schedule, &net, &both, &result, NULL), 0);
	cr_expect_eq(result.violation.kind, CHECK_BUFFER);
	cr_expect_eq(result.violation.place.group, -1);
	cr_expect_not_null(strstr(result.violation.text, "the loss of the batch needs 4128 bytes, it has 4096"), "%s", result.violation.text);
	schedule.batch = 78;
	cr_expect_eq(schedule_check_with(&schedule, &net, &both, &result, NULL), 0, "%s", result.violation.text);
	cr_expect_eq(result.peak.group, -1);
	cr_expect_eq(result.peak_bytes, 2 * 78 * 16 + 2 * 320 + 944);
	schedule.batch = 79;
	cr_expect_eq(schedule_check_with(&schedule, &net, &update, &result, NULL), 0, "%s", result.violation.text);
	schedule_release(&schedule);
	net_release(&net);
}

// Forward alone: the loss runs, there is nothing to update.
Test(device_faults, forward_alone_has_a_loss)
{
	const struct graph_case *graph = &device_cases[DEVICE_CONCAT];
	char *text = fixture_replace(graph->text, "group backward", 0, "#");
	struct check_result result;

	*strchr(text, '#') = '\0';
	cr_assert_eq(device_check(graph, text, &result), 0, "%s", result.violation.text);
	cr_expect(result.forward_only);
	cr_expect_eq(result.write_bytes[WC_CLASS_GRADIENT], 32);
	cr_expect_eq(result.read_bytes[WC_CLASS_OPTIMIZER] + result.write_bytes[WC_CLASS_WEIGHT], 0);
	free(text);
}
