// SPDX-License-Identifier: Apache-2.0
//
// The hybrid planner: the cheapest of its own search and of every other planner, within the budget of extra MACs.
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "driver/plan/account_paper.h"
#include "driver/plan/build.h"
#include "driver/plan/paper/hybrid/score.h"
#include "driver/plan/paper/hybrid/search.h"

enum { PRICE_STEPS = 12 };

static const double least_price = 1e-5, highest_price = 1e-1; // of a MAC, in bytes

static void drop_groups(struct schedule *schedule)
{
	build_drop_groups(schedule);
	schedule->reserve_bytes = 0;
}

// The best groups so far, taken out of the schedule.
struct best {
	struct sched_group *groups;
	int count;
	uint32_t reserve_bytes;
	double score;
};

// Keep what is in the schedule if it is better than the best and within the budget; the schedule is left empty.
static int keep_if_better(struct paper_planner *planner, struct best *best)
{
	struct schedule *schedule = planner->schedule;
	struct account account;
	double score;
	int rc = account_paper_schedule(schedule, planner->graph.net, &account, planner->err);

	if (!rc)
		rc = hybrid_score(planner, &account, &score);
	if (rc || score >= best->score || account.extra_macs > (uint64_t)plan_extra_macs_max(planner->graph.net, planner->options) * (uint64_t)schedule->batch) {
		drop_groups(schedule);
		return rc;
	}
	for (int i = 0; i < best->count; i++)
		sched_group_release(&best->groups[i]);
	free(best->groups);
	*best = (struct best){ schedule->groups, schedule->group_count, schedule->reserve_bytes, score };
	schedule->groups = NULL;
	schedule->group_count = 0;
	schedule->reserve_bytes = 0;
	return 0;
}

static int try_price(struct paper_planner *planner, struct hybrid_search *search, double price, int64_t limit, struct best *best, bool *within)
{
	struct hybrid_plan plan;
	int rc = hybrid_search_plan(search, price, &plan);

	if (rc)
		return rc;
	*within = plan.macs <= limit;
	if (*within) {
		rc = hybrid_emit(search, &plan);
		if (!rc)
			rc = keep_if_better(planner, best);
		else
			drop_groups(planner->schedule);
	}
	hybrid_plan_release(&plan);
	return rc;
}

// Bisection on the price of a MAC, until the budget is used up. What is best by another measure than traffic may lie below that.
static int spend_budget(struct paper_planner *planner, const struct hybrid_view *view, struct best *best)
{
	const int64_t limit = plan_extra_macs_max(planner->graph.net, planner->options);
	double low = least_price, high = highest_price;
	struct hybrid_search search;
	int rc = hybrid_search_init(&search, planner, view, true);
	bool within = false;

	if (!rc)
		rc = try_price(planner, &search, 0, limit, best, &within);
	for (int i = 0; !rc && !within && i < PRICE_STEPS; i++) {
		const double price = sqrt(low * high);
		bool here;

		rc = try_price(planner, &search, price, limit, best, &here);
		if (here)
			high = price;
		else
			low = price;
	}
	for (int i = 0; !rc && planner->options->objective != PLAN_TRAFFIC && i < PRICE_STEPS; i++)
		rc = try_price(planner, &search, least_price * pow(highest_price / least_price, (double)i / PRICE_STEPS), limit, best, &within);
	hybrid_search_release(&search);
	return rc;
}

static int search_plans(struct paper_planner *planner, struct best *best)
{
	struct hybrid_search search;
	struct hybrid_view view;
	bool within;
	int rc = hybrid_view_init(&view, &planner->graph, planner->err);

	if (!rc) {
		rc = hybrid_search_init(&search, planner, &view, false);
		if (!rc)
			rc = try_price(planner, &search, 0, 0, best, &within);
		hybrid_search_release(&search);
	}
	if (!rc && planner->options->max_extra_percent)
		rc = spend_budget(planner, &view, best);
	hybrid_view_release(&view);
	return rc;
}

static const struct {
	const char *name;
	int (*plan)(struct paper_planner *planner);
} others[] = {
	{ "baseline", paper_baseline }, { "il", paper_il }, { "mbs-fs", paper_mbs_fs }, { "mbs1", paper_mbs1 }, { "mbs2", paper_mbs2 },
	{ "overl", paper_overl }, { "2ps", paper_2ps }, { "overl-h", paper_overl_h }, { "2ps-h", paper_2ps_h },
};

static void tell(const struct paper_planner *planner, const char *what, size_t done)
{
	if (planner->options->trying)
		planner->options->trying(planner->options->trying_context, what, (int)done, (int)(sizeof(others) / sizeof(others[0]) + 1));
}

int paper_hybrid(struct paper_planner *planner)
{
	struct best best = { .score = DBL_MAX };
	int rc;

	tell(planner, "its own search", 0);
	rc = search_plans(planner, &best);
	// A network that is no chain of values still has the other planners.
	rc = rc == HYBRID_UNFIT ? 0 : rc;
	for (size_t i = 0; !rc && i < sizeof(others) / sizeof(others[0]); i++) {
		tell(planner, others[i].name, i + 1);
		rc = others[i].plan(planner);
		if (!rc) {
			rc = keep_if_better(planner, &best);
		} else {
			// What one of them cannot say another may.
			drop_groups(planner->schedule);
			rc = rc == WC_ERR_INPUT && (best.groups || i + 1 < sizeof(others) / sizeof(others[0])) ? 0 : rc;
		}
	}
	if (!rc && !best.groups)
		rc = WC_ERR_INPUT; // the last reason stands in err
	planner->schedule->groups = best.groups;
	planner->schedule->group_count = best.count;
	planner->schedule->reserve_bytes = best.reserve_bytes;
	return rc;
}
