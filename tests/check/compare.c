// SPDX-License-Identifier: Apache-2.0
//
// See compare.h.
#include "tests/check/compare.h"

#include <criterion/criterion.h>
#include <inttypes.h>

#include "driver/plan/account_paper.h"
#include "driver/plan/paper/occupancy.h"

static void compare_footprint(const struct schedule *schedule, const struct net *net, const struct check_result *result, const char *what)
{
	uint64_t footprint;

	cr_assert_eq(account_footprint(schedule, net, &footprint, NULL), 0);
	cr_assert_eq(result->footprint_bytes, footprint, "%s: footprint: checker %" PRIu64 ", account %" PRIu64, what, result->footprint_bytes, footprint);
}

static void compare_costs(const struct account *account, const struct check_result *result, const char *what)
{
	for (int class = 0; class < WC_CLASS_COUNT; class++) {
		cr_assert_eq(result->read_bytes[class], account->read_bytes[class], "%s: %s read: checker %" PRIu64 ", account %" PRIu64, what,
			     wc_class_name((enum wc_class)class), result->read_bytes[class], account->read_bytes[class]);
		cr_assert_eq(result->write_bytes[class], account->write_bytes[class], "%s: %s written: checker %" PRIu64 ", account %" PRIu64, what,
			     wc_class_name((enum wc_class)class), result->write_bytes[class], account->write_bytes[class]);
	}
	cr_assert_eq(result->commands, account->commands, "%s: commands: checker %" PRIu64 ", account %" PRIu64, what, result->commands,
		     account->commands);
	cr_assert_eq(result->macs, account->macs, "%s: MACs: checker %" PRIu64 ", account %" PRIu64, what, result->macs, account->macs);
	cr_assert_eq(result->extra_macs, account->extra_macs, "%s: extra MACs: checker %" PRIu64 ", account %" PRIu64, what, result->extra_macs,
		     account->extra_macs);
}

void compare_account(const struct schedule *schedule, const struct net *net, const struct check_result *result, const char *what)
{
	struct account account;

	account_schedule(schedule, net, CHECK_ACC_ROWS, &account);
	compare_costs(&account, result, what);
	compare_footprint(schedule, net, result, what);
}

static uint64_t peak_bytes(const struct schedule *schedule, const struct net *net)
{
	struct paper_graph graph;
	uint64_t peak = 0;

	cr_assert_eq(paper_graph_init(&graph, net, NULL), 0);
	for (int i = 0; i < schedule->group_count; i++) {
		const struct sched_group *group = &schedule->groups[i];
		const int batch = schedule_of_core(schedule).batch, samples = group->sub_batch < batch ? group->sub_batch : batch;
		struct paper_occupancy occupancy;
		uint64_t bytes;

		cr_assert_eq(paper_occupancy(&graph, group, &occupancy, NULL), 0);
		bytes = (uint64_t)(samples * occupancy.sample_bytes + occupancy.resident_bytes) + schedule->reserve_bytes;
		peak = bytes > peak ? bytes : peak;
	}
	paper_graph_release(&graph);
	return peak;
}

void compare_paper_account(const struct schedule *schedule, const struct net *net, const struct check_result *result, const char *what)
{
	const uint64_t peak = peak_bytes(schedule, net);
	struct account account;

	cr_assert_eq(account_paper_schedule(schedule, net, &account, NULL), 0);
	compare_costs(&account, result, what);
	compare_footprint(schedule, net, result, what);
	cr_assert_eq(result->peak_bytes, peak, "%s: peak: checker %" PRIu64 ", account %" PRIu64, what, result->peak_bytes, peak);
}
