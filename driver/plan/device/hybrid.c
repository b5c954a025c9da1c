// SPDX-License-Identifier: Apache-2.0
//
// The hybrid planner for the device: the best of its own plan, made for `paper` accounting and unfolded, and of every other planner's. What
// was best in `paper` bytes need not be so when rows, slices and commands count too.
#include <stdlib.h>
#include <string.h>

#include "driver/plan/account.h"
#include "driver/plan/paper/paper.h"
#include "driver/plan/plan.h"

static const char own_name[] = "hybrid";

// What the objective makes small.
static int score_of(const struct schedule *schedule, const struct net *net, const struct plan_options *options, const struct account *account,
		    double *score, struct wc_error *err)
{
	uint64_t bytes = account_total_bytes(account);
	int rc = 0;

	if (options->objective == PLAN_FOOTPRINT)
		rc = account_footprint(schedule, net, &bytes, err);
	*score = (double)bytes;
	// A beat in each cycle, and the whole array busy.
	if (options->objective == PLAN_TIME)
		*score += (double)account->macs * options->bus_bytes / ((double)options->rows * options->cols);
	return rc;
}

static bool is_within_budget(const struct account *account, const struct net *net, const struct plan_options *options)
{
	return account->extra_macs <= (uint64_t)plan_extra_macs_max(net, options) * (uint64_t)options->batch;
}

struct best {
	struct schedule schedule;
	double score;
	bool found;
};

// Keep the schedule if it is the best; it is released or taken in any case.
static int keep_if_better(struct best *best, struct schedule *schedule, const struct net *net, const struct plan_options *options, struct wc_error *err)
{
	struct account account;
	double score;
	int rc;

	account_schedule(schedule, net, options->acc_rows, &account);
	rc = score_of(schedule, net, options, &account, &score, err);
	if (rc || !is_within_budget(&account, net, options) || (best->found && score >= best->score)) {
		schedule_release(schedule);
		return rc;
	}
	if (best->found)
		schedule_release(&best->schedule);
	*best = (struct best){ .schedule = *schedule, .score = score, .found = true };
	return 0;
}

static int rename_planner(struct schedule *schedule, struct wc_error *err)
{
	char *name = strdup(own_name);

	if (!name)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory");
	free(schedule->planner);
	schedule->planner = name;
	return 0;
}

static int count_names(void)
{
	int count = 0;

	while (paper_plan_name(count))
		count++;
	return count;
}

int plan_device_hybrid(struct schedule *schedule, const struct net *net, const struct plan_options *options, struct wc_error *err)
{
	const int count = count_names();
	struct best best = { .found = false };
	struct schedule tried;
	struct wc_error why;
	int rc = plan_graph(&tried, own_name, net, options, err);

	if (!rc)
		rc = keep_if_better(&best, &tried, net, options, err);
	for (int i = 0; rc != WC_ERR_SYSTEM && i < count; i++) {
		const char *name = paper_plan_name(i);

		if (!strcmp(name, own_name))
			continue;
		if (options->trying)
			options->trying(options->trying_context, name, i, count);
		rc = plan_by_name(&tried, name, net, options, &why);
		if (!rc)
			rc = keep_if_better(&best, &tried, net, options, err);
		else if (rc == WC_ERR_SYSTEM && err)
			*err = why;
	}
	if (rc == WC_ERR_SYSTEM || !best.found) {
		if (best.found)
			schedule_release(&best.schedule);
		if (!rc)
			return wc_fail(err, WC_ERR_INPUT, "no schedule stays within %d%% of extra MACs", options->max_extra_percent);
		return rc == WC_ERR_SYSTEM ? rc : WC_ERR_INPUT;
	}
	if (err)
		err->text[0] = 0; // of what did not fit
	*schedule = best.schedule;
	rc = rename_planner(schedule, err);
	if (rc)
		schedule_release(schedule);
	return rc;
}
