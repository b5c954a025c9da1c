// SPDX-License-Identifier: Apache-2.0
//
// Rule: numbers that 64 bits cannot hold are refused, not counted wrong; numbers that they hold are right however large.
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "driver/plan/account_paper.h"
#include "tests/check/graphs.h"

// 2^30 elements; 2048 * 11 * 11 MACs each, so that a batch of 65535 has 3.5e19 in both phases.
static const char yaml[] = "name: huge\ninput: {height: 1024, width: 512, channels: 2048}\nnodes:\n"
			   "  - {name: c, op: conv, channels: 2048, kernel: 11, pad: 5}\n";

static const char text[] = "schedule 1\nnet huge\nbatch %d\nbuffer 1MiB\naccounting paper\n"
			   "group forward c c\nsub_batch 1\ntiling none\nstrip 0\ncompute act:c=0:1024 from act:input to act:c\n"
			   "group backward c c\nsub_batch 1\ntiling none\nstrip 0\naccumulate c=0:1024 from grad:c,act:input\n";

static int check(int batch, struct check_result *result, struct wc_error *err)
{
	struct account account;
	struct schedule schedule;
	struct net net;
	char made[sizeof(text) + 16];
	int rc;

	graph_net(&net, yaml);
	snprintf(made, sizeof(made), text, batch);
	fixture_schedule(&schedule, &net, made);
	rc = schedule_check(&schedule, &net, result, err);
	if (rc == 0) {
		cr_assert_eq(account_paper_schedule(&schedule, &net, &account, NULL), 0);
		cr_expect_eq(result->macs, account.macs);
		cr_expect_eq(result->read_bytes[WC_CLASS_ACTIVATION], account.read_bytes[WC_CLASS_ACTIVATION]);
	}
	schedule_release(&schedule);
	net_release(&net);
	return rc;
}

Test(size, what_cannot_be_counted_is_refused_without_a_verdict)
{
	struct check_result result;
	struct wc_error err = {""};

	cr_assert_eq(check(65535, &result, &err), WC_ERR_INPUT);
	cr_assert_not(result.ok);
	cr_assert_eq(result.violation.kind, CHECK_NONE);
	cr_expect(strstr(err.text, "with a batch of 65535, the statements up to this one (node 'c')"), "%s", err.text);
	cr_expect(strstr(err.text, "line 10"), "%s", err.text);
}

Test(size, what_can_is_counted)
{
	struct check_result result;
	struct wc_error err = {""};

	cr_assert_eq(check(100, &result, &err), 0, "%s", err.text);
	cr_expect_eq(result.macs, 2 * 100ull * (1ull << 30) * 2048 * 11 * 11);
	cr_expect_eq(result.read_bytes[WC_CLASS_ACTIVATION], 2 * 100ull * (1ull << 31));
}
