// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/paper/hybrid/score.h"

#include "driver/plan/account_paper.h"

static const double bytes_per_second = 150e9, macs_per_second = 128.0 * 128.0 * 0.7e9;

static int time_of(const struct paper_planner *planner, double *seconds)
{
	int rc = 0;

	*seconds = 0;
	for (int i = 0; !rc && i < planner->schedule->group_count; i++) {
		struct account_paper account;
		double memory, array;

		rc = account_paper_groups(planner->schedule, i, 1, planner->graph.net, &account, planner->err);
		memory = (double)account_paper_bytes(&account) / bytes_per_second;
		array = (double)account.macs / macs_per_second;
		*seconds += memory > array ? memory : array;
	}
	return rc;
}

int hybrid_score(const struct paper_planner *planner, const struct account *account, double *score)
{
	uint64_t bytes = account_total_bytes(account);
	int rc = 0;

	if (planner->options->objective == PLAN_TIME)
		return time_of(planner, score);
	if (planner->options->objective == PLAN_FOOTPRINT)
		rc = account_footprint(planner->schedule, planner->graph.net, &bytes, planner->err);
	*score = (double)bytes;
	return rc;
}
