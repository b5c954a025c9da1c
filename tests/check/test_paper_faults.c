// SPDX-License-Identifier: Apache-2.0
//
// Single faults in `paper` schedules that are otherwise right: each is caught, as what it is, at its statement.
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check/graphs.h"

enum { END = -1 };

static const struct fault {
	const char *name;
	enum graph_name graph;
	const char *from;
	int nth;
	const char *to;
	enum check_kind kind;
	int group, strip, statement; // END: of the whole group, or schedule
} faults[] = {
	// Operands, in the slab or streaming.
	{"a load dropped", GRAPH_IDENTITY, "load act:input=0:8\n", 0, "", CHECK_ABSENT, 0, 0, 0},
	{"a stream dropped", GRAPH_IDENTITY, " from act:r0", 0, "", CHECK_ABSENT, 1, 0, 7},
	{"a stored operand never stored", GRAPH_IDENTITY, "store act:r0=0:8\n", 0, "", CHECK_NOT_STORED, 1, 0, 7},
	{"a stream of rows that DRAM lacks", GRAPH_IDENTITY, "store act:r0=0:8\n", 0, "store act:r0=0:7\n", CHECK_NOT_STORED, 1, 0, 7},
	{"a mask never made", GRAPH_IDENTITY, "compute act:r1=0:8 mask to mask:r1", 0, "compute act:r1=0:8", CHECK_NOT_STORED, 1, 0, 4},
	{"a pool of rows that are not there", GRAPH_STRIPS, "compute act:c0=0:6\n", 0, "compute act:c0=0:5\n", CHECK_ABSENT, 0, 0, 3},
	{"an average of rows that are not there", GRAPH_STRIPS, "compute act:c1=2:6\n", 0, "compute act:c1=2:5\n", CHECK_ABSENT, 0, 1, 7},
	{"a fully connected layer of some rows", GRAPH_STRIPS, "take act:v=0:1\n", 0, "", CHECK_ABSENT, 0, 1, 9},
	{"one input of an add is missing", GRAPH_IDENTITY, "compute act:g1=0:8\n", 0, "", CHECK_ABSENT, 0, 0, 8},
	{"a piece of a concatenation is missing", GRAPH_CONCAT, "compute act:b1=0:6\n", 0, "", CHECK_ABSENT, 0, 0, 5},
	{"explicit rows of a stream fall short", GRAPH_REGENERATED, "from act:c0=3:8", 0, "from act:c0=4:8", CHECK_ABSENT, 1, 1, 0},
	{"explicit rows of a stream reach into the strip before", GRAPH_REGENERATED, "from act:c0=3:8", 0, "from act:c0=2:8", CHECK_UNUSED, 1, 1, 0},
	{"a gradient of the output before backward", GRAPH_IDENTITY, "store act:fc=0:1\n", 0, "store act:fc=0:1\nload grad:fc=0:1\n", CHECK_NOT_STORED, 0, 0, 15},
	// Slabs end.
	{"a free too early", GRAPH_SHORTCUT, "compute act:c1=0:4 to act:c1\nfree act:c0\n", 0, "free act:c0\ncompute act:c1=0:4 to act:c1\n", CHECK_ABSENT, 0, 0,
	 3},
	{"a free of what is absent", GRAPH_SHORTCUT, "free act:c0\n", 0, "free act:c0\nfree act:c0\n", CHECK_ABSENT, 0, 0, 4},
	{"a free of what streamed", GRAPH_SHORTCUT, "free act:c0\n", 0, "free act:c1\n", CHECK_ABSENT, 0, 0, 3},
	{"a load without a free before", GRAPH_SHORTCUT, "free act:c0\n", 0, "load act:c0=0:8\n", CHECK_TWICE, 0, 0, 3},
	// Parts of gradients.
	{"a part is missing", GRAPH_CONCAT, "compute grad:s=0:6 by b2\n", 0, "", CHECK_PARTS, 1, 0, 10},
	{"the first part is missing", GRAPH_CONCAT, "compute grad:s=0:6 by pb\n", 0, "", CHECK_ABSENT, 1, 0, 8},
	{"parts in forward order", GRAPH_CONCAT, "compute grad:s=0:6 by pb\naccumulate b2=0:6 from act:s\ncompute grad:s=0:6 by b2\n", 0,
	 "accumulate b2=0:6 from act:s\ncompute grad:s=0:6 by b2\ncompute grad:s=0:6 by pb\n", CHECK_ABSENT, 1, 0, 8},
	{"a part added twice", GRAPH_CONCAT, "compute grad:s=0:6 by b2\n", 0, "compute grad:s=0:6 by b2\ncompute grad:s=0:6 by b2\n", CHECK_TWICE, 1, 0, 10},
	{"an incomplete gradient enters the weight gradient", GRAPH_CONCAT, "accumulate b2=0:6 from act:s\n", 0, "", CHECK_COVERAGE, END, END, END},
	{"a gradient read before it is complete", GRAPH_CONCAT, "compute grad:both=0:6 by r mask\ncompute grad:s=0:6 by pb\n", 0,
	 "compute grad:s=0:6 by pb\ncompute grad:both=0:6 by r mask\n", CHECK_PARTS, 1, 0, 6},
	{"an incomplete sum read back", GRAPH_SHORTCUT, "compute grad:c0=0:8 by c1 from grad:c0\naccumulate c0=0:8 from act:input", 0,
	 "accumulate c0=0:8 from grad:c0,act:input", CHECK_PARTS, 1, 0, 8},
	{"the sum so far is forgotten", GRAPH_SHORTCUT, "by c1 from grad:c0", 0, "by c1", CHECK_ABSENT, 1, 0, 8},
	{"a sum that is not there", GRAPH_SHORTCUT, "by sc to grad:c0", 0, "by sc from grad:c0 to grad:c0", CHECK_FORM, 1, 0, 5},
	{"a sum stored again", GRAPH_SHORTCUT, "accumulate c1=0:4 from act:c0\n", 0, "accumulate c1=0:4 from act:c0\nload grad:c0=0:8\nstore grad:c0=0:8\n",
	 CHECK_TWICE, 1, 0, 9},
	{"a part of who does not read it", GRAPH_CONCAT, "compute grad:s=0:6 by b2", 0, "compute grad:s=0:6 by d", CHECK_FORM, 1, 0, 9},
	{"a part of a piece", GRAPH_CONCAT, "compute grad:both=0:6 by e", 0, "compute grad:b1=0:6 by e", CHECK_FORM, 1, 0, 3},
	// Splits and views.
	{"no split", GRAPH_IDENTITY, "split a=0:8 view\n", 0, "", CHECK_ABSENT, 1, 0, 5},
	{"a split twice", GRAPH_IDENTITY, "split a=0:8 view\n", 0, "split a=0:8 view\nsplit a=0:8 view\n", CHECK_TWICE, 1, 0, 6},
	{"a split of some rows", GRAPH_IDENTITY, "split a=0:8 view\n", 0, "split a=0:7 view\n", CHECK_ABSENT, 1, 0, 6},
	{"a split of what is not there", GRAPH_IDENTITY, "compute grad:a=0:8 mask\nsplit a=0:8 view\n", 0, "split a=0:8 view\ncompute grad:a=0:8 mask\n", CHECK_ABSENT,
	 1, 0, 4},
	{"a view overwritten while another is needed", GRAPH_CONCAT,
	 "compute grad:both=0:6 by e\naccumulate d=0:6 using act:both from act:both\ncompute grad:r=0:6\n", 0,
	 "compute grad:both=0:6 by e\naccumulate d=0:6 using act:both from act:both\nfree grad:d\ncompute grad:r=0:6\n", CHECK_ABSENT, 1, 0, 6},
	{"a view lost with the sum in its room", GRAPH_IDENTITY,
	 "compute grad:c1=0:8 from act:c1\naccumulate c1=0:8 from act:r0\ncompute grad:r0=0:8 by c1\n", 0,
	 "compute grad:c1=0:8 from act:c1\naccumulate c1=0:8 from act:r0\ncompute grad:r0=0:8 by c1\nstore grad:g1=0:8\n", CHECK_ABSENT, 1, 0, 9},
	{"a view of a part that is added", GRAPH_ODD, "split a=0:7\n", 0, "split a=0:7 view\n", CHECK_FORM, 1, 0, 8},
	{"a view of what DRAM lacks", GRAPH_LAYERS, "from grad:r1 to grad:a\n", 0, "from grad:r1\n", CHECK_NOT_STORED, 12, 0, 0},
	{"a view in DRAM made a sum too early", GRAPH_LAYERS, "by c1 from grad:c1,grad:r0 to grad:r0", 0, "by c1 from grad:c1 to grad:r0", CHECK_ABSENT, 12, 0, 2},
	{"a view that moves", GRAPH_IDENTITY, "split a=0:8 view\n", 0, "split a=0:8 from grad:a view\n", CHECK_FORM, 1, 0, 5},
	// Statistics and sums.
	{"a norm of some rows", GRAPH_IDENTITY, "compute act:g0=0:8\n", 0, "compute act:g0=0:4\ncompute act:g0=4:8\n", CHECK_STATISTICS, 0, 0, 3},
	{"statistics of some rows, then a norm of all", GRAPH_IDENTITY, "compute act:g0=0:8\n", 0, "statistics g0=0:4\ncompute act:g0=0:8\n", CHECK_STATISTICS, 0, 0, 4},
	{"statistics of a strip are missing", GRAPH_REGENERATED, "statistics g0=0:4\n", 0, "", CHECK_STATISTICS, 1, 0, 0},
	{"statistics of a row are missing", GRAPH_REGENERATED, "statistics g0=4:8\n", 0, "statistics g0=5:8\n", CHECK_STATISTICS, 1, 0, 0},
	{"statistics counted twice", GRAPH_REGENERATED, "statistics g0=4:8\n", 0, "statistics g0=3:8\n", CHECK_ABSENT, 0, 1, 1},
	{"statistics counted again", GRAPH_REGENERATED, "statistics g0=4:8\n", 0, "statistics g0=4:8\nstatistics g0=0:4 from act:c0\n", CHECK_TWICE, 0, 1, 2},
	{"statistics of what has gone by", GRAPH_REGENERATED, "statistics g0=0:4\n", 0, "load act:input=0:1\nstatistics g0=0:4\n", CHECK_ABSENT, 0, 0, 2},
	{"statistics of what is not there", GRAPH_REGENERATED, "compute act:c0=0:4 from act:input to act:c0\nstatistics g0=0:4\n", 0,
	 "statistics g0=0:4\ncompute act:c0=0:4 from act:input to act:c0\n", CHECK_ABSENT, 0, 0, 0},
	{"statistics behind a norm that made them", GRAPH_IDENTITY, "compute act:g0=0:8\n", 0, "compute act:g0=0:8\nstatistics g0=0:8 from act:c0\n", CHECK_TWICE, 0, 0, 4},
	{"a norm's gradient in parts", GRAPH_IDENTITY, "compute grad:c0=0:8 from act:c0\n", 0,
	 "compute grad:c0=0:4 from act:c0\ncompute grad:c0=4:8 from act:c0\n", CHECK_STATISTICS, 1, 0, 10},
	{"sums of some rows", GRAPH_IDENTITY, "compute grad:c0=0:8 from act:c0\n", 0, "statistics g0=0:4 from act:c0\ncompute grad:c0=0:8 from act:c0\n",
	 CHECK_STATISTICS, 1, 0, 11},
	{"sums twice", GRAPH_IDENTITY, "compute grad:c0=0:8 from act:c0\n", 0, "statistics g0=0:8 from act:c0\nstatistics g0=0:1 from act:c0\n", CHECK_TWICE, 1, 0, 11},
	{"sums never made", GRAPH_SHORTCUT, "compute grad:sc=0:4 from act:sc\naccumulate sc=0:4 from act:c0\n", 0, "", CHECK_ABSENT, 1, 0, 3},
	// Operands made on the way.
	{"a chain over a convolution", GRAPH_REGENERATED, "compute grad:c0=0:8 through g0,r0 from act:c0", 0,
	 "compute grad:c0=0:8 through g0,r0,c1 from act:c0", CHECK_FORM, 3, 0, 9},
	{"a chain in the wrong order", GRAPH_REGENERATED, "through g0,r0", 0, "through r0,g0", CHECK_FORM, 3, 0, 9},
	{"a chain over an add", GRAPH_SHORTCUT, "compute grad:c1=0:4 from grad:g1,act:c1\n", 0, "compute grad:c1=0:4 through g1,a from act:c1\n", CHECK_FORM, 1, 0, 6},
	{"a chain past other readers", GRAPH_FORK, "compute grad:c=0:2 from grad:g,act:c\n", 0, "compute grad:c=0:2 through g,r from act:c\n", CHECK_FORM, 1, 0, 8},
	{"an operand behind a convolution", GRAPH_IDENTITY, "accumulate c1=0:8 from act:r0", 0, "accumulate c1=0:8 using act:input from act:input", CHECK_FORM, 1, 0, 7},
	{"an incomplete gradient read as it passes", GRAPH_FORK, "by e to grad:g\n", 0, "by e to grad:g\nstatistics g=0:4 from act:c\n", CHECK_PARTS, 1, 0, 4},
	{"an operand that does not follow", GRAPH_REGENERATED, "accumulate c1=0:8 using act:c0 from act:c0", 0, "accumulate c1=0:8 using act:p from act:p",
	 CHECK_FORM, 3, 0, 7},
	{"what stands for an operand is not there", GRAPH_REGENERATED, "accumulate c1=0:8 using act:c0 from act:c0", 0, "accumulate c1=0:8 using act:c0",
	 CHECK_ABSENT, 3, 0, 7},
	{"a stream that is no operand", GRAPH_REGENERATED, "accumulate c1=0:8 using act:c0 from act:c0", 0, "accumulate c1=0:8 from act:c0", CHECK_FORM, 3, 0, 7},
	{"a result that is none", GRAPH_REGENERATED, "compute act:fc=0:1 to act:fc", 0, "compute act:fc=0:1 to act:p", CHECK_FORM, 2, 1, 5},
	{"what stands for a chain's operand is not there", GRAPH_REGENERATED, "through g0,r0 from act:c0", 0, "through g0,r0", CHECK_ABSENT, 3, 0, 9},
	// Strips that end and begin at normalizations: group, strip, statement. The halo has none of the statistics, nor of the sums.
	{"a normalization on the way without all statistics", GRAPH_NORMS_OVERL, "statistics n0=4:8\n", 0, "statistics n0=4:7\n", CHECK_STATISTICS, 1, 0, 0},
	{"statistics of the halo, too", GRAPH_NORMS_OVERL, "statistics n0=4:8\n", 0, "statistics n0=3:8\n", CHECK_ABSENT, 0, 1, 1},
	{"a gradient taken on without all sums", GRAPH_NORMS_OVERL, "statistics n1=2:4\n", 1, "statistics n1=3:4\n", CHECK_STATISTICS, 8, 0, 3},
	{"sums made twice", GRAPH_NORMS_2PS, "statistics n0=3:8\nstore grad:n0", 0, "statistics n0=3:8\nstatistics n0=3:4\nstore grad:n0", CHECK_TWICE, 8, 0, 14},
	{"a gradient of rows that are not handed on", GRAPH_NORMS_2PS, "take grad:c2=1:2\n", 0, "", CHECK_ABSENT, 8, 1, 5},
	// Strips, kept rows.
	{"a line short", GRAPH_STRIPS, "keep act:m=1:3\n", 0, "keep act:m=2:3\n", CHECK_NOT_KEPT, 0, 1, 5},
	{"a gradient's line not handed over", GRAPH_STRIPS, "keep grad:c1=2:4\n", 0, "", CHECK_NOT_KEPT, 1, 1, 2},
	{"lines of forward are gone in backward", GRAPH_STRIPS, "compute grad:c1=2:6\n", 0, "take act:v=0:1\ncompute grad:c1=2:6\n", CHECK_NOT_KEPT, 1, 0, 2},
	{"the strip before the last hands nothing on", GRAPH_STRIPS, "take grad:v=0:1\n", 0, "take grad:v=0:1\ntake grad:v=2:3\n", CHECK_NOT_KEPT, 1, 1, 1},
	{"a pool's halo computed again", GRAPH_STRIPS, "take act:m=1:3\n", 0, "compute act:m=2:3\n", CHECK_ABSENT, 0, 1, 5},
	{"a row that another strip computes", GRAPH_STRIPS, "compute act:m=0:3\n", 0, "compute act:m=0:2\ncompute act:m=1:3\n", CHECK_TWICE, 0, 0, 4},
	{"rows loaded that are not read", GRAPH_STRIPS, "load act:input=7:12", 0, "load act:input=3:5\nload act:input=7:12", CHECK_UNUSED, 0, 1, 1},
	// Once.
	{"an activation stored twice", GRAPH_IDENTITY, "store act:r0=0:8\n", 0, "store act:r0=0:8\nstore act:r0=3:4\n", CHECK_TWICE, 0, 0, 6},
	{"an activation stored again by streaming", GRAPH_SHORTCUT, "store act:c0=0:8\n", 0, "store act:c0=0:8\ncompute act:c0=0:8 from act:input to act:c0\n", CHECK_TWICE,
	 0, 0, 2},
	{"an activation computed twice", GRAPH_IDENTITY, "compute act:a=0:8\n", 0, "compute act:a=0:8\nfree act:a\ncompute act:a=0:8\n", CHECK_TWICE, 0, 0, 11},
	{"a weight gradient twice", GRAPH_IDENTITY, "accumulate c1=0:8 from act:r0\n", 0, "accumulate c1=0:8 from act:r0\naccumulate c1=0:1 from act:r0\n", CHECK_TWICE, 1,
	 0, 8},
	// Coverage.
	{"the output is not stored", GRAPH_IDENTITY, "store act:fc=0:1\n", 0, "", CHECK_COVERAGE, END, END, END},
	{"a fully connected layer is not accumulated", GRAPH_IDENTITY, "accumulate fc=0:1 from act:p\n", 0, "", CHECK_COVERAGE, END, END, END},
	{"rows are not accumulated", GRAPH_IDENTITY, "accumulate c1=0:8 from act:r0", 0, "accumulate c1=0:7 from act:r0", CHECK_COVERAGE, END, END, END},
	// Form.
	{"blocked in iterations", GRAPH_WIDE, "sub_batch 3\nweight a blocked", 0, "sub_batch 2\nweight a blocked", CHECK_FORM, 0, END, END},
	{"blocked by rows", GRAPH_WIDE, "compute act:a=0:4 from act:input to act:a", 0,
	 "compute act:a=0:2 from act:input to act:a\ncompute act:a=2:4 from act:input to act:a", CHECK_FORM, 0, 0, 0},
	{"a mask loaded", GRAPH_IDENTITY, "compute grad:a=0:8 mask", 0, "load mask:r1=0:8\ncompute grad:a=0:8 mask", CHECK_FORM, 1, 0, 4},
	{"a layer outside its group", GRAPH_IDENTITY, "group backward c0 fc", 0, "group backward g0 fc", CHECK_FORM, 1, 0, 11},
	{"resident sums that nothing fills", GRAPH_WIDE, "group backward gp gp\nsub_batch 3\n", 0, "group backward a gp\nsub_batch 3\nwgrad b resident\n", CHECK_FORM, 3,
	 END, END},
};

ParameterizedTestParameters(paper_faults, caught)
{
	static int indices[sizeof(faults) / sizeof(faults[0])];

	for (size_t i = 0; i < sizeof(indices) / sizeof(indices[0]); i++)
		indices[i] = (int)i;
	return cr_make_param_array(int, indices, sizeof(indices) / sizeof(indices[0]));
}

ParameterizedTest(int *index, paper_faults, caught)
{
	const struct fault *fault = &faults[*index];
	struct check_result result;
	const struct check_violation *violation = &result.violation;

	graph_check_replaced(&graph_cases[fault->graph], fault->from, fault->nth, fault->to, &result);
	cr_assert_eq(violation->kind, fault->kind, "%s: %s: %s", fault->name, check_kind_name(violation->kind), violation->text);
	cr_assert_eq(violation->place.group, fault->group, "%s: %s", fault->name, violation->text);
	cr_assert_eq(violation->place.strip, fault->strip, "%s: %s", fault->name, violation->text);
	cr_assert_eq(violation->place.statement, fault->statement, "%s: %s", fault->name, violation->text);
}

Test(paper_faults, a_buffer_a_page_too_small)
{
	const struct graph_case *graph = &graph_cases[GRAPH_IDENTITY];
	struct check_result result;

	graph_check_replaced(graph, "buffer 8192", 0, "buffer 4096", &result);
	cr_assert_eq(result.violation.kind, CHECK_BUFFER, "%s", result.violation.text);
	graph_check_replaced(graph, "sub_batch 2", 0, "sub_batch 3", &result);
	cr_assert_eq(result.violation.kind, CHECK_NONE, "%s", result.violation.text);
	// Six samples of two gradients need 6144 + 288 + 4096 bytes.
	char *batch = fixture_replace(graph->text, "batch 3", 0, "batch 6"), *more = fixture_replace(batch, "sub_batch 3", 0, "sub_batch 6");

	cr_assert_neq(graph_check(graph, more, &result), 0);
	cr_assert_eq(result.violation.kind, CHECK_BUFFER, "%s", result.violation.text);
	cr_assert_eq(result.violation.place.group, 1);
	cr_assert_eq(result.violation.place.statement, 6);
	cr_assert_not_null(strstr(result.violation.text, "6 samples need 10528 bytes"), "%s", result.violation.text);
	free(batch);
	free(more);
}

// A norm's own gamma and beta need `statistics` where no gradient goes on behind it, as in front of the image.
static const struct graph_case norm_first = {"norm first",
	"name: first\ninput: {height: 4, width: 4, channels: 4}\nnodes:\n  - {name: g, op: gn, group_channels: 2}\n"
	"  - {name: c, op: conv, channels: 2, kernel: 1}\n  - {name: p, op: global_pool}\n  - {name: loss, op: loss}\n",
	"schedule 1\nnet first\nbatch 2\nbuffer 4096\naccounting paper\ngroup forward g p\nsub_batch 2\nstrip 0\n"
	"compute act:g=0:4 from act:input\ncompute act:c=0:4\ncompute act:p=0:1 to act:p\n"
	"group backward g p\nsub_batch 1\nstrip 0\ncompute grad:c=0:4 from grad:p\naccumulate c=0:4 using act:input from act:input\n"
	"compute grad:g=0:4\nstatistics g=0:4 from act:input\n"};

Test(paper_faults, the_sums_of_a_first_norm_are_covered)
{
	struct check_result result;

	graph_check(&norm_first, norm_first.text, &result);
	cr_assert(result.ok, "%s", result.violation.text);
	graph_check_replaced(&norm_first, "statistics g=0:4 from act:input\n", 0, "statistics g=0:3 from act:input\n", &result);
	cr_assert_eq(result.violation.kind, CHECK_COVERAGE, "%s", result.violation.text);
	cr_assert_eq(result.violation.fault_lo, 3);
	graph_check_replaced(&norm_first, "compute grad:g=0:4\n", 0, "", &result);
	cr_assert_eq(result.violation.kind, CHECK_ABSENT, "%s", result.violation.text);
	// The image, and what depends on it alone, has no gradient.
	graph_check_replaced(&norm_first, "statistics g=0:4 from act:input\n", 0, "compute grad:g=0:4 by c\n", &result);
	cr_assert_eq(result.violation.kind, CHECK_TWICE, "%s", result.violation.text);
}

Test(paper_faults, resident_sums_continue_none)
{
	const struct graph_case *graph = &graph_cases[GRAPH_IDENTITY];
	char *first = fixture_replace(graph->text, "accumulate c1=0:8 from act:r0\n", 0, "accumulate c1=0:4 from act:r0\nstore grad:c1=0:8\n");
	char *streamed = fixture_replace(first, "accumulate c0=0:8 from act:input\n", 0,
					 "accumulate c0=0:8 from act:input\ngroup backward c1 c1\nsub_batch 3\nstrip 0\n"
					 "accumulate c1=4:8 from grad:c1,act:r0=3:8\n");
	char *resident = fixture_replace(streamed, "group backward c1 c1\nsub_batch 3\n", 0, "group backward c1 c1\nsub_batch 3\nwgrad c1 resident\n");
	struct check_result result;

	graph_check(graph, streamed, &result);
	cr_assert(result.ok, "%s", result.violation.text);
	graph_check(graph, resident, &result);
	cr_assert_eq(result.violation.kind, CHECK_ORDER, "%s", result.violation.text);
	cr_assert_eq(result.violation.place.group, 2);
	free(first);
	free(streamed);
	free(resident);
}

// One operator, two parts of one gradient: refused, and not as a fault of the schedule.
Test(paper_faults, an_operator_that_reads_a_tensor_twice)
{
	static const char *const adds[] = {"{name: s, op: add, inputs: [a, a]}", "{name: c, op: concat, inputs: [a, a]}\n  - {name: s, op: relu}"};

	for (int i = 0; i < 2; i++) {
		struct check_result result;
		struct schedule schedule;
		struct net net;
		struct wc_error err = {""};
		char yaml[256];

		snprintf(yaml, sizeof(yaml), "name: twice\ninput: {height: 4, width: 4, channels: 1}\nnodes:\n  - {name: a, op: conv, channels: 2, kernel: 1}\n"
					     "  - %s\n", adds[i]);
		graph_net(&net, yaml);
		fixture_schedule(&schedule, &net, "schedule 1\nnet twice\nbatch 1\nbuffer 4096\naccounting paper\ngroup forward a s\nsub_batch 1\nstrip 0\n"
						  "load act:input=0:4\ncompute act:a=0:4\ncompute act:s=0:4\nstore act:s=0:4\n");
		cr_assert_eq(schedule_check(&schedule, &net, &result, &err), WC_ERR_INPUT);
		cr_expect_eq(result.violation.kind, CHECK_NONE);
		cr_expect(strstr(err.text, "'s' reads 'a' twice, directly or through concatenations"), "%s", err.text);
		schedule_release(&schedule);
		net_release(&net);
	}
}
