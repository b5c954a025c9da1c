// SPDX-License-Identifier: Apache-2.0
//
// Rule: on the device, too, `hybrid` is never worse than another planner by the measure that was asked for, within its budget of extra MACs.
#include <criterion/criterion.h>
#include <string.h>

#include "driver/plan/account.h"
#include "driver/plan/paper/paper.h"
#include "driver/plan/plan.h"

static const char *const names[] = { "lenet", "vgg-small", "resnet8", "inception-small" };

// What the planner's schedule costs by the objective; -1: it has none, or one beyond the budget.
static double cost_of(const char *planner, const struct net *net, const struct plan_options *options)
{
	struct schedule schedule;
	struct account account;
	struct wc_error err;
	uint64_t footprint;
	bool within;

	if (plan_by_name(&schedule, planner, net, options, &err))
		return -1;
	cr_expect_str_eq(schedule.planner, planner);
	account_schedule(&schedule, net, options->acc_rows, &account);
	cr_assert_eq(account_footprint(&schedule, net, &footprint, &err), 0);
	schedule_release(&schedule);
	within = account.extra_macs * 100 <= (uint64_t)(net_training_macs(net) * options->max_extra_percent) * (uint64_t)options->batch;
	if (!within)
		return -1;
	return options->objective == PLAN_FOOTPRINT ? (double)footprint : (double)account_total_bytes(&account);
}

static void never_worse(const char *name, struct plan_options options)
{
	struct wc_error err;
	struct net net;
	double hybrid;
	int others = 0;

	cr_assert_eq(net_open(&net, name, 0, &err), 0, "%s", err.text);
	hybrid = cost_of("hybrid", &net, &options);
	for (int i = 0; paper_plan_name(i); i++) {
		const double other = cost_of(paper_plan_name(i), &net, &options);

		cr_expect(other < 0 || (hybrid >= 0 && hybrid <= other), "%s, buffer %u: %s costs %.0f, hybrid %.0f", name, options.buffer_bytes, paper_plan_name(i),
			  other, hybrid);
		others += other >= 0;
	}
	cr_expect_gt(others, 3, "%s", name);
	net_release(&net);
}

Test(device_hybrid, is_never_worse)
{
	for (size_t n = 0; n < sizeof(names) / sizeof(*names); n++)
		for (uint32_t buffer = 128 << 10; buffer <= 512 << 10; buffer *= 2)
			for (int percent = 0; percent <= 33; percent += 33)
				for (enum plan_objective objective = PLAN_TRAFFIC; objective <= PLAN_FOOTPRINT; objective++)
					never_worse(names[n], (struct plan_options){ .batch = 4, .cores = 1, .rows = 16, .cols = 16, .acc_rows = 256, .buffer_bytes = buffer,
										     .bus_bytes = 16, .accounting = SCHED_DEVICE, .max_extra_percent = percent,
										     .objective = objective });
}
