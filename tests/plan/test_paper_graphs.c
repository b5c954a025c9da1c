// SPDX-License-Identifier: Apache-2.0
//
// Odd networks (tests/plan/nets) and random ones: every planner's schedule at small buffers is proven by the checker, which counts the
// same bytes in every class, MACs and footprint as the accounting. A network that a planner cannot put into words is refused with a reason.
#include <criterion/criterion.h>

#include <glob.h>
#include <string.h>

#include "driver/plan/account_paper.h"
#include "driver/plan/check/check.h"
#include "driver/plan/paper/paper.h"
#include "tests/net_text.h"
#include "tests/plan/common.h"

static void prove(const struct net *net, const char *planner, const struct plan_options *options, int *proven)
{
	struct schedule schedule;
	struct check_result check;
	struct account account;
	struct wc_error err;
	uint64_t footprint;

	if (plan_by_name(&schedule, planner, net, options, &err)) {
		cr_expect(strstr(err.text, "operands apart") || strstr(err.text, "twice") || strstr(err.text, "nothing to schedule"), "%s %s: %s", net->name,
			  planner, err.text);
		return;
	}
	++*proven;
	cr_expect_eq(schedule_check(&schedule, net, &check, &err), 0, "%s %s, buffer %u, batch %d: %s", net->name, planner, options->buffer_bytes, options->batch,
		     err.text);
	cr_assert_eq(account_paper_schedule(&schedule, net, &account, &err), 0);
	cr_assert_eq(account_footprint(&schedule, net, &footprint, &err), 0);
	for (int class = 0; class < WC_CLASS_COUNT; class++) {
		cr_expect_eq(check.read_bytes[class], account.read_bytes[class], "%s %s class %d read", net->name, planner, class);
		cr_expect_eq(check.write_bytes[class], account.write_bytes[class], "%s %s class %d written", net->name, planner, class);
	}
	cr_expect_eq(check.macs, account.macs, "%s %s", net->name, planner);
	cr_expect_eq(check.footprint_bytes, footprint, "%s %s: footprint", net->name, planner);
	schedule_release(&schedule);
}

static void prove_all(const struct net *net, int *proven)
{
	static const struct {
		int batch;
		uint32_t buffer_bytes;
		enum plan_phases phases;
	} problems[] = { { 3, 4096, PLAN_ALL }, { 7, 32768, PLAN_ALL }, { 32, 1024000, PLAN_ALL }, { 7, 32768, PLAN_FORWARD } };

	for (size_t i = 0; i < sizeof(problems) / sizeof(problems[0]); i++)
		for (int planner = 0; paper_plan_name(planner); planner++) {
			const struct plan_options options = {
				.batch = problems[i].batch, .cores = 1, .buffer_bytes = problems[i].buffer_bytes, .phases = problems[i].phases,
				.accounting = SCHED_PAPER, .max_extra_percent = i % 2 ? 33 : 0,
			};

			prove(net, paper_plan_name(planner), &options, proven);
		}
}

Test(paper_graphs, odd_networks)
{
	glob_t files;
	int proven = 0;

	cr_assert_eq(glob("tests/plan/nets/*.yaml", 0, NULL, &files), 0);
	cr_assert_geq(files.gl_pathc, 20);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		struct wc_error err;
		struct net net;

		cr_assert_eq(net_read(&net, files.gl_pathv[i], &err), 0, "%s", err.text);
		prove_all(&net, &proven);
		net_release(&net);
	}
	cr_expect_gt(proven, 900);
	globfree(&files);
}
