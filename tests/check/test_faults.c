// SPDX-License-Identifier: Apache-2.0
//
// Single faults in schedules that are otherwise right: each is caught, as what it is and where it is.
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check/fixture.h"

enum { IMAGE, CONV1, RELU1, CONV2 };

static const struct {
	const char *name, *text;
	const char *from;
	int nth;
	const char *to;
	enum check_kind kind;
	enum sched_tensor tensor; // of the rows at fault; with rows only
	int node;
	int lo, hi;               // rows at fault; 0, 0: the violation has none
	int group, strip;
} faults[] = {
	// Coverage.
	{"a gap at the output", fixture_overl, "compute act:conv2=8:16\nstore act:conv2=8:16", 0,
	 "compute act:conv2=9:16\nstore act:conv2=9:16", CHECK_COVERAGE, SCHED_ACT, CONV2, 8, 9, -1, -1},
	{"the output overlaps", fixture_overl, "compute act:conv2=0:8\nstore act:conv2=0:8", 0,
	 "compute act:conv2=0:8\nstore act:conv2=0:8\nstore act:conv2=7:8", CHECK_TWICE, SCHED_ACT, CONV2, 7, 8, 0, 0},
	{"the output is never stored", fixture_serialized, "store act:conv2=0:16\n", 0, "", CHECK_COVERAGE, SCHED_ACT, CONV2, 0, 16, -1, -1},
	{"a strip is missing", fixture_overl,
	 "strip 1\nload act:image=6:16\ncompute act:conv1=7:16\ncompute act:relu1=7:16\ncompute act:conv2=8:16\nstore act:conv2=8:16\n", 0, "",
	 CHECK_COVERAGE, SCHED_ACT, CONV2, 8, 16, -1, -1},
	{"a strip's rows are not accumulated", fixture_2ps, "accumulate conv2=0:7\n", 0, "", CHECK_COVERAGE, SCHED_GRAD, CONV2, 0, 7, -1, -1},
	{"rows are accumulated twice", fixture_overl, "accumulate conv1=8:16", 0, "accumulate conv1=8:16\naccumulate conv1=12:15", CHECK_TWICE, SCHED_GRAD, CONV1,
	 12, 15, 1, 1},
	{"an accumulate stands twice", fixture_serialized, "accumulate conv1=0:16\n", 0, "accumulate conv1=0:16\naccumulate conv1=0:16\n",
	 CHECK_TWICE, SCHED_GRAD, CONV1, 0, 16, 1, 0},
	// Rows in the slab.
	{"a halo row short", fixture_overl, "load act:image=6:16", 0, "load act:image=7:16", CHECK_ABSENT, SCHED_ACT, IMAGE, 6, 7, 0, 1},
	{"a halo row short of computed rows", fixture_overl, "compute act:conv1=0:9\ncompute act:relu1=0:9\n", 0,
	 "compute act:conv1=0:8\ncompute act:relu1=0:8\n", CHECK_ABSENT, SCHED_ACT, RELU1, 8, 9, 0, 0},
	{"a halo row short of gradient", fixture_overl, "load grad:conv2=0:9", 0, "load grad:conv2=0:8", CHECK_ABSENT, SCHED_GRAD, CONV2, 8, 9,
	 1, 0},
	{"a strip shifted by a row", fixture_overl,
	 "load act:image=6:16\ncompute act:conv1=7:16\ncompute act:relu1=7:16\ncompute act:conv2=8:16", 0,
	 "load act:image=7:16\ncompute act:conv1=8:16\ncompute act:relu1=8:16\ncompute act:conv2=8:16", CHECK_ABSENT, SCHED_ACT, RELU1, 7, 8, 0,
	 1},
	{"a compute before its load", fixture_serialized, "load act:image=0:16\ncompute act:conv1=0:16\n", 0,
	 "compute act:conv1=0:16\nload act:image=0:16\n", CHECK_ABSENT, SCHED_ACT, IMAGE, 0, 16, 0, 0},
	{"nothing survives a strip", fixture_2ps, "take act:relu1=6:8\n", 0, "", CHECK_ABSENT, SCHED_ACT, RELU1, 6, 8, 0, 1},
	{"a mask neither computed nor loaded", fixture_serialized, "load mask:relu1=0:16\n", 0, "", CHECK_ABSENT, SCHED_MASK, RELU1, 0, 16, 1, 0},
	{"a mask not written while recomputing", fixture_2ps, "compute act:relu1=0:8 mask", 0, "compute act:relu1=0:8", CHECK_ABSENT, SCHED_MASK,
	 RELU1, 0, 8, 1, 1},
	{"the stored output not loaded", fixture_layerwise, "load act:relu1=0:16\ncompute grad:conv1", 0, "compute grad:conv1", CHECK_ABSENT,
	 SCHED_ACT, RELU1, 0, 16, 4, 0},
	// DRAM.
	{"a store dropped", fixture_layerwise, "store act:conv1=0:16\n", 0, "", CHECK_NOT_STORED, SCHED_ACT, CONV1, 0, 16, 1, 0},
	{"a store shortened", fixture_layerwise, "store act:relu1=0:16\n", 0, "store act:relu1=0:15\n", CHECK_NOT_STORED, SCHED_ACT, RELU1, 15, 16,
	 2, 0},
	{"a mask never stored", fixture_serialized, "store mask:relu1=0:16\n", 0, "", CHECK_NOT_STORED, SCHED_MASK, RELU1, 0, 16, 1, 0},
	{"a gradient never stored", fixture_layerwise, "store grad:relu1=0:16\n", 0, "", CHECK_NOT_STORED, SCHED_GRAD, RELU1, 0, 16, 4, 0},
	{"a load of what is recomputed only", fixture_overl, "compute act:relu1=0:9 mask\n", 0, "load act:relu1=0:9\n", CHECK_NOT_STORED, SCHED_ACT,
	 RELU1, 0, 9, 1, 0},
	{"stored in two groups", fixture_serialized, "load act:relu1=0:16\n", 0, "load act:relu1=0:16\nstore act:relu1=0:16\n", CHECK_TWICE,
	 SCHED_ACT, RELU1, 0, 16, 1, 0},
	{"the image stored", fixture_serialized, "store act:relu1=0:16\n", 0, "store act:relu1=0:16\nstore act:image=3:4\n", CHECK_TWICE, SCHED_ACT,
	 IMAGE, 3, 4, 0, 0},
	// Boundaries.
	{"a keep dropped", fixture_2ps, "keep act:relu1=6:8\n", 0, "", CHECK_NOT_KEPT, SCHED_ACT, RELU1, 6, 8, 0, 1},
	{"a kept line short", fixture_2ps, "keep act:image=7:9\n", 0, "keep act:image=8:9\n", CHECK_NOT_KEPT, SCHED_ACT, IMAGE, 7, 8, 0, 1},
	{"a gradient line not handed over", fixture_2ps, "keep grad:conv2=7:9\n", 0, "", CHECK_NOT_KEPT, SCHED_GRAD, CONV2, 7, 9, 1, 1},
	{"a line kept twice", fixture_2ps, "keep act:image=7:9\n", 0, "keep act:image=7:9\nkeep act:image=8:9\n", CHECK_TWICE, SCHED_ACT, IMAGE, 8,
	 9, 0, 0},
	{"a take in an overl group", fixture_2ps, "tiling 2ps", 0, "tiling overl", CHECK_NOT_KEPT, SCHED_ACT, IMAGE, 7, 9, 0, 1},
	{"a line kept of rows that are not there", fixture_2ps, "keep act:relu1=6:8\n", 0, "keep act:relu1=7:9\n", CHECK_ABSENT, SCHED_ACT, RELU1, 8,
	 9, 0, 0},
	// Joints and tilings.
	{"a slab reaches into the strip before", fixture_overl, "load act:image=6:16", 0, "load act:image=4:16", CHECK_UNUSED, SCHED_ACT, IMAGE, 4,
	 6, 0, 1},
	{"2ps computes a halo", fixture_overl, "tiling overl", 0, "tiling 2ps", CHECK_TWICE, SCHED_ACT, CONV1, 7, 9, 0, 1},
	{"a gradient computed twice", fixture_2ps, "compute grad:relu1=0:8\n", 0, "compute grad:relu1=0:8\ncompute grad:relu1=0:8\n", CHECK_TWICE,
	 SCHED_GRAD, RELU1, 0, 8, 1, 1},
	{"a slab filled twice", fixture_2ps, "take act:image=7:9\nload act:image=9:16", 0, "take act:image=7:9\nload act:image=8:16", CHECK_TWICE,
	 SCHED_ACT, IMAGE, 8, 9, 0, 1},
	{"two strips without tiling", fixture_overl, "tiling overl", 0, "tiling none", CHECK_FORM, SCHED_ACT, -1, 0, 0, 0, -1},
	// Form.
	{"a layer outside its group", fixture_overl, "group forward conv1 conv2", 0, "group forward conv1 relu1", CHECK_FORM, SCHED_ACT, CONV2,
	 0, 0, 0, 0},
};

ParameterizedTestParameters(faults, caught)
{
	static int indices[sizeof(faults) / sizeof(faults[0])];

	for (size_t i = 0; i < sizeof(indices) / sizeof(indices[0]); i++)
		indices[i] = (int)i;
	return cr_make_param_array(int, indices, sizeof(indices) / sizeof(indices[0]));
}

ParameterizedTest(int *index, faults, caught)
{
	struct net net;
	struct check_result result;
	char *text = fixture_replace(faults[*index].text, faults[*index].from, faults[*index].nth, faults[*index].to);
	const struct check_violation *violation = &result.violation;

	fixture_small_net(&net);
	fixture_check(text, &net, &result);
	cr_assert_eq(violation->kind, faults[*index].kind, "%s: %s: %s", faults[*index].name, check_kind_name(violation->kind), violation->text);
	cr_assert_eq(violation->node, faults[*index].node, "%s: %s", faults[*index].name, violation->text);
	if (faults[*index].hi > 0)
		cr_assert_eq(violation->tensor, faults[*index].tensor, "%s: %s", faults[*index].name, violation->text);
	cr_assert_eq(violation->fault_lo, faults[*index].lo, "%s: %s", faults[*index].name, violation->text);
	cr_assert_eq(violation->fault_hi, faults[*index].hi, "%s: %s", faults[*index].name, violation->text);
	cr_assert_eq(violation->place.group, faults[*index].group, "%s: %s", faults[*index].name, violation->text);
	cr_assert_eq(violation->place.strip, faults[*index].strip, "%s: %s", faults[*index].name, violation->text);
	free(text);
	net_release(&net);
}

// Check `text` against the small network with conv2's kernel, if not 0, replaced.
static struct check_result check_with_kernel(const char *text, int kernel)
{
	const struct fixture_layer layers[] = {{"conv1", 3, 1, 1, 4, 1}, {"relu1", 0, 0, 0, 0, 0}, {"conv2", kernel, 1, kernel / 2, 4, 1}};
	struct net net;
	struct check_result result;

	fixture_net(&net, (struct net_shape){16, 16, 2}, layers, 3);
	fixture_check(text, &net, &result);
	net_release(&net);
	return result;
}

static void expect_kind(const char *text, enum check_kind kind)
{
	struct check_result result = check_with_kernel(text, 3);

	cr_assert_eq(result.violation.kind, kind, "%s: %s", check_kind_name(result.violation.kind), result.violation.text);
}

Test(faults, a_changed_kernel_needs_other_rows)
{
	struct check_result result = check_with_kernel(fixture_overl, 5);

	cr_assert_eq(result.violation.kind, CHECK_ABSENT, "%s", result.violation.text);
	cr_assert_eq(result.violation.node, RELU1);
	cr_assert_eq(result.violation.fault_lo, 9);
	cr_assert_eq(result.violation.fault_hi, 10);
	result = check_with_kernel(fixture_2ps, 5);
	cr_assert_eq(result.violation.kind, CHECK_ABSENT, "%s", result.violation.text);
	// A kernel of 1 needs no halo: the rows around are not read.
	result = check_with_kernel(fixture_2ps, 1);
	cr_assert_eq(result.violation.kind, CHECK_UNUSED, "%s", result.violation.text);
}

// The parts of a text between the nth and the next "strip 0" change places with what follows up to `end`.
static char *swap_parts(const char *text, const char *first, const char *second, const char *end)
{
	const char *a = strstr(text, first), *b, *c;
	char *result = malloc(strlen(text) + 1);

	cr_assert(a != NULL && result != NULL);
	b = strstr(a + 1, second);
	cr_assert_not_null(b);
	c = strstr(b + 1, end);
	c = c != NULL ? c : text + strlen(text);
	snprintf(result, strlen(text) + 1, "%.*s%.*s%.*s%s", (int)(a - text), text, (int)(c - b), b, (int)(b - a), a, c);
	return result;
}

static char *renumber(char *text)
{
	int strip = 0;

	for (char *line = text; line != NULL && *line != '\0'; line = strchr(line, '\n') != NULL ? strchr(line, '\n') + 1 : NULL) {
		if (strncmp(line, "group", 5) == 0)
			strip = 0;
		if (strncmp(line, "strip ", 6) == 0)
			line[6] = (char)('0' + strip++);
	}
	return text;
}

Test(faults, swapped_2ps_strips_are_caught_in_both_phases)
{
	char *text = renumber(swap_parts(fixture_2ps, "strip 0", "strip 1", "group backward"));

	expect_kind(text, CHECK_NOT_KEPT);
	free(text);
	text = renumber(swap_parts(strstr(fixture_2ps, "schedule"), "strip 0\nload grad", "strip 1\nload grad", "the end"));
	expect_kind(text, CHECK_NOT_KEPT);
	free(text);
}

Test(faults, swapped_overl_strips_are_harmless)
{
	char *text = renumber(swap_parts(fixture_overl, "strip 0", "strip 1", "group backward"));

	expect_kind(text, CHECK_NONE);
	free(text);
}

Test(faults, backward_groups_out_of_order_load_what_is_not_yet_stored)
{
	char *text = swap_parts(fixture_layerwise, "group backward conv2", "group backward relu1", "group backward conv1");

	expect_kind(text, CHECK_NOT_STORED);
	free(text);
}
