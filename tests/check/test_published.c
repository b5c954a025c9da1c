// SPDX-License-Identifier: Apache-2.0
//
// The published bounds of two 2PS strips over 224 rows are wrong: the second slab starts at row 104 where 120 is right.
// All shapes agree there, so only rows can tell.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check/fixture.h"

#define HEADER "schedule 1\nnet hand\nbatch 2\ncores 1\narray 4x4\nbuffer 65536\nbus 16\naccounting device\n"
#define GROUP "group forward conv1 conv2\nsub_batch 2\ntiling 2ps\n"

static const char right[] = HEADER GROUP
	"strip 0\nload act:image=0:122\ncompute act:conv1=0:121\nkeep act:conv1=119:121\ncompute act:conv2=0:120\nstore act:conv2=0:120\n"
	"strip 1\nload act:image=120:224\ncompute act:conv1=121:224\ntake act:conv1=119:121\ncompute act:conv2=120:224\nstore act:conv2=120:224\n";

// Check `text`, which must fail with this kind at this tensor and first row.
static struct check_violation expect(const char *text, enum check_kind kind, int node, int fault_lo, int fault_hi)
{
	struct net net;
	struct check_result result;

	fixture_tall_net(&net);
	cr_assert_neq(fixture_check(text, &net, &result), 0, "a wrong schedule was proven");
	net_release(&net);
	cr_assert_eq(result.violation.kind, kind, "%s", result.violation.text);
	cr_assert_eq(result.violation.node, node, "%s", result.violation.text);
	cr_assert_eq(result.violation.tensor, SCHED_ACT, "%s", result.violation.text);
	cr_assert_eq(result.violation.fault_lo, fault_lo, "%s", result.violation.text);
	cr_assert_eq(result.violation.fault_hi, fault_hi, "%s", result.violation.text);
	return result.violation;
}

Test(published, the_right_bounds_are_proven)
{
	struct net net;
	struct check_result result;

	fixture_tall_net(&net);
	fixture_expect_proven(right, &net, &result);
	cr_assert(result.forward_only);
	cr_assert_eq(result.extra_macs, 0);
	net_release(&net);
}

Test(published, a_second_strip_laid_out_from_row_104_takes_lines_that_were_not_kept)
{
	struct check_violation violation = expect(HEADER GROUP
		"strip 0\nload act:image=0:122\ncompute act:conv1=0:121\nkeep act:conv1=119:121\ncompute act:conv2=0:120\nstore act:conv2=0:120\n"
		"strip 1\nload act:image=104:224\ncompute act:conv1=105:224\ntake act:conv1=103:105\ncompute act:conv2=104:224\nstore act:conv2=104:224\n",
		CHECK_TWICE, 1, 105, 121);

	cr_assert_eq(violation.place.group, 0);
	cr_assert_eq(violation.place.strip, 1);
	cr_assert_not_null(strstr(violation.text, "conv1"), "%s", violation.text);
}

Test(published, a_second_slab_loaded_from_row_104_overlaps_the_first)
{
	char *wrong = fixture_replace(right, "load act:image=120:224", 0, "load act:image=104:224");
	struct check_violation violation = expect(wrong, CHECK_UNUSED, 0, 104, 120);

	cr_assert_eq(violation.place.strip, 1);
	cr_assert_eq(violation.place.statement, 0);
	cr_assert_str_eq(violation.present, "120:224");
	free(wrong);
}

Test(published, kept_lines_of_a_boundary_at_104_do_not_serve_a_strip_from_120)
{
	char *wrong = fixture_replace(right, "keep act:conv1=119:121", 0, "keep act:conv1=103:105");
	struct check_violation violation = expect(wrong, CHECK_NOT_KEPT, 1, 119, 121);

	cr_assert_str_eq(violation.present, "103:105");
	free(wrong);
}

Test(published, a_slab_that_starts_16_rows_late_lacks_rows)
{
	char *wrong = fixture_replace(right, "load act:image=120:224", 0, "load act:image=136:224");
	struct check_violation violation = expect(wrong, CHECK_ABSENT, 0, 120, 136);

	cr_assert_eq(violation.needed_lo, 120);
	cr_assert_eq(violation.needed_hi, 224);
	cr_assert_str_eq(violation.present, "136:224");
	cr_assert_eq(violation.place.line, 20, "%s", violation.text);
	free(wrong);
}

Test(published, a_first_strip_shortened_to_104_leaves_a_gap)
{
	expect(HEADER GROUP
		"strip 0\nload act:image=0:106\ncompute act:conv1=0:105\nkeep act:conv1=103:105\ncompute act:conv2=0:104\nstore act:conv2=0:104\n"
		"strip 1\nload act:image=120:224\ncompute act:conv1=121:224\ncompute act:conv2=122:224\nstore act:conv2=122:224\n",
		CHECK_COVERAGE, 2, 104, 122);
}
