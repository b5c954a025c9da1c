// SPDX-License-Identifier: Apache-2.0
#include "driver/cli/cli.h"

int cli_prove(const struct schedule *schedule, const struct net *net, struct check_result *check, struct wc_error *err)
{
	const int result = schedule_check(schedule, net, check, err);

	if (result != WC_ERR_INPUT || check->violation.kind == CHECK_NONE || schedule->file_name)
		return result;
	return wc_fail(err, WC_ERR_SYSTEM, "planner '%.64s' has made a schedule that is wrong, a fault of its own: %.380s", schedule->planner, check->violation.text);
}
