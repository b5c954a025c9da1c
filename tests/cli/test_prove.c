// SPDX-License-Identifier: Apache-2.0
//
// Rule: what is wrong with a planner's schedule is not said to be wrong with the input.
#include <criterion/criterion.h>
#include <string.h>

#include "driver/cli/cli.h"
#include "tests/net_text.h"

Test(prove, a_planners_fault_is_its_own)
{
	const struct plan_options options = { .batch = 2, .cores = 1, .rows = 16, .cols = 16, .acc_rows = 256, .buffer_bytes = 65536, .bus_bytes = 16 };
	struct schedule schedule;
	struct check_result check;
	struct wc_error err;
	struct net net;

	tests_net(&net, "name: one\ninput: {height: 4, width: 4, channels: 2}\nnodes:\n  - {name: c1, op: conv, channels: 2, kernel: 1}\n");
	cr_assert_eq(plan_by_name(&schedule, "baseline", &net, &options, &err), 0, "%s", err.text);
	cr_expect_eq(cli_prove(&schedule, &net, &check, &err), 0, "%s", err.text);
	// The first load lacks a row.
	schedule.groups[0].strips[0].statements[0].hi--;
	cr_expect_eq(cli_prove(&schedule, &net, &check, &err), WC_ERR_SYSTEM);
	cr_expect_eq(strncmp(err.text, "planner 'baseline' has made a schedule that is wrong", 51), 0, "%s", err.text);
	cr_expect_not_null(strstr(err.text, "group 0 (forward c1..c1), strip 0, statement 1"), "%s", err.text);
	// Read from a file it is the user's.
	schedule.file_name = strdup("my.schedule");
	cr_expect_eq(cli_prove(&schedule, &net, &check, &err), WC_ERR_INPUT);
	schedule_release(&schedule);
	net_release(&net);
}
