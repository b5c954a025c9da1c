// SPDX-License-Identifier: Apache-2.0
//
// See compare.h.
#include "tests/check/compare.h"

#include <criterion/criterion.h>
#include <inttypes.h>

#include "driver/plan/account.h"

void compare_account(const struct schedule *schedule, const struct net *net, const struct check_result *result, const char *what)
{
	struct account account;
	uint64_t footprint;

	cr_assert_eq(account_footprint(schedule, net, &footprint, NULL), 0);
	cr_assert_eq(result->footprint_bytes, footprint, "%s: footprint: checker %" PRIu64 ", account %" PRIu64, what, result->footprint_bytes, footprint);
	account_schedule(schedule, net, CHECK_ACC_ROWS, &account);
	for (int class = 0; class < WC_CLASS_COUNT; class++) {
		cr_assert_eq(result->read_bytes[class], account.read_bytes[class], "%s: %s read: checker %" PRIu64 ", account %" PRIu64, what,
			     wc_class_name((enum wc_class)class), result->read_bytes[class], account.read_bytes[class]);
		cr_assert_eq(result->write_bytes[class], account.write_bytes[class], "%s: %s written: checker %" PRIu64 ", account %" PRIu64, what,
			     wc_class_name((enum wc_class)class), result->write_bytes[class], account.write_bytes[class]);
	}
	cr_assert_eq(result->commands, account.commands, "%s: commands: checker %" PRIu64 ", account %" PRIu64, what, result->commands,
		     account.commands);
	cr_assert_eq(result->macs, account.macs, "%s: MACs: checker %" PRIu64 ", account %" PRIu64, what, result->macs, account.macs);
	cr_assert_eq(result->extra_macs, account.extra_macs, "%s: extra MACs: checker %" PRIu64 ", account %" PRIu64, what, result->extra_macs,
		     account.extra_macs);
}
