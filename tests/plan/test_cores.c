// SPDX-License-Identifier: Apache-2.0
//
// Rule: for several cores a planner plans one core's share of the batch, and says so in the header alone.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "driver/plan/paper/paper.h"
#include "tests/plan/common.h"

// The text behind the header: the groups.
static const char *groups_of(const char *text)
{
	const char *groups = strstr(text, "\ngroup ");

	cr_assert_not_null(groups, "%s", text);
	return groups;
}

static void plan_both(const char *name, const struct net *net, const struct plan_options *options)
{
	struct wc_error err = { "" };
	struct plan_options share = *options;
	struct schedule all, one, again;
	char *all_text, *one_text, *again_text;

	share.batch /= 2;
	share.cores = 1;
	cr_assert_eq(plan_by_name(&all, name, net, options, &err), 0, "%s: %s", name, err.text);
	cr_assert_eq(plan_by_name(&one, name, net, &share, &err), 0, "%s: %s", name, err.text);
	all_text = common_write(&all, net);
	one_text = common_write(&one, net);
	cr_expect(strstr(all_text, "\nbatch 6\ncores 2\n"), "%s: %s", name, all_text);
	cr_expect_str_eq(groups_of(all_text), groups_of(one_text), "%s", name);
	cr_assert_eq(common_read(&again, net, all_text, strlen(all_text), &err), 0, "%s: %s", name, err.text);
	again_text = common_write(&again, net);
	cr_expect_str_eq(again_text, all_text);
	free(again_text);
	free(one_text);
	free(all_text);
	schedule_release(&again);
	schedule_release(&one);
	schedule_release(&all);
}

Test(cores, planners_plan_a_share_of_the_batch)
{
	static const char *const nets[] = { "lenet", "fashion-conv" };

	for (size_t n = 0; n < 2; n++)
		for (int device = 0; device < 2; device++) {
			struct plan_options options = common_options(6, 64 << 10);
			struct wc_error err;
			struct net net;

			options.cores = 2;
			options.accounting = device ? SCHED_DEVICE : SCHED_PAPER;
			cr_assert_eq(net_open(&net, nets[n], 0, &err), 0, "%s", err.text);
			for (int i = 0; paper_plan_name(i); i++)
				plan_both(paper_plan_name(i), &net, &options);
			net_release(&net);
		}
}

// An image, an output and its gradient of 2 bytes an element; weights read and gradients written by each core.
Test(cores, the_bound_has_parameters_for_each)
{
	struct wc_error err;
	struct net net;

	cr_assert_eq(net_open(&net, "lenet", 0, &err), 0, "%s", err.text);
	cr_expect_eq(paper_lower_bound(&net, 8, 1), 8 * 2 * (28 * 28 + 10 + 10) + 4 * 61706);
	cr_expect_eq(paper_lower_bound(&net, 8, 2), 2 * paper_lower_bound(&net, 4, 1));
	net_release(&net);
}
