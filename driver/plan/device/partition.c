// SPDX-License-Identifier: Apache-2.0
//
// Cutting the network into groups: the cheapest way to cut the layers up to `end` is the cheapest way up
// to some earlier layer and one stretch from there on.
#include "driver/plan/device/planner.h"

#include <stdlib.h>
#include <string.h>

// Longer stretches are not tried, so that planning time stays linear in the network's depth.
enum { STRETCH_MAX = 48 };

struct cut {
	struct choice pair[2]; // of the stretch that ends here
	int first;             // where it begins; -1: nothing ends here
	double cost;           // of everything up to here
};

static void release_pair(struct choice pair[2])
{
	choice_release(&pair[0]);
	choice_release(&pair[1]);
}

static int best_stretch(struct planner *planner, choose_fn *choose, void *context, struct cut *cuts, int last)
{
	struct cut *here = &cuts[last];

	here->first = -1;
	for (int first = last; first >= 0 && first > last - STRETCH_MAX; first--) {
		struct choice pair[2] = { { .cost = 0 }, { .cost = 0 } };
		double cost;
		int rc;

		rc = choose(planner, context, first, last, pair);
		if (rc < 0)
			return rc;
		// A longer stretch needs no less room, and only one layer alone may fall back on strips.
		if (rc == PLAN_NO_FIT)
			break;
		cost = pair[0].cost + pair[1].cost + (first > 0 ? cuts[first - 1].cost : 0);
		if (here->first >= 0 && cost >= here->cost) {
			release_pair(pair);
			continue;
		}
		release_pair(here->pair);
		memcpy(here->pair, pair, sizeof(pair));
		here->first = first;
		here->cost = cost;
	}
	return 0;
}

// Move the choices of the cheapest cut into the lists.
static int collect(struct planner *planner, struct cut *cuts, int count, struct choice_list lists[2])
{
	for (int side = 0; side < 2; side++) {
		lists[side].count = 0;
		lists[side].choices = calloc((size_t)count, sizeof(*lists[side].choices));
		if (!lists[side].choices)
			return wc_fail(planner->err, WC_ERR_SYSTEM, "out of memory");
	}
	for (int last = count - 1; last >= 0; last = cuts[last].first - 1) {
		for (int side = 0; side < 2; side++) {
			struct choice_list *list = &lists[side];

			if (!cuts[last].pair[side].group.strip_count)
				continue;
			list->choices[list->count++] = cuts[last].pair[side];
			memset(&cuts[last].pair[side], 0, sizeof(cuts[last].pair[side]));
		}
	}
	// Found from the end: forward runs the other way.
	for (int i = 0, j = lists[0].count - 1; i < j; i++, j--) {
		struct choice swapped = lists[0].choices[i];

		lists[0].choices[i] = lists[0].choices[j];
		lists[0].choices[j] = swapped;
	}
	return 0;
}

int partition(struct planner *planner, int count, choose_fn *choose, void *context, struct choice_list lists[2])
{
	struct cut *cuts = calloc((size_t)count, sizeof(*cuts));
	int rc = 0;

	memset(lists, 0, 2 * sizeof(*lists));
	if (!cuts)
		return wc_fail(planner->err, WC_ERR_SYSTEM, "out of memory");
	for (int last = 0; !rc && last < count; last++) {
		rc = best_stretch(planner, choose, context, cuts, last);
		if (!rc && cuts[last].first < 0)
			rc = PLAN_NO_FIT;
	}
	if (!rc)
		rc = collect(planner, cuts, count, lists);
	for (int i = 0; i < count; i++)
		release_pair(cuts[i].pair);
	free(cuts);
	return rc;
}

void choice_list_release(struct choice_list *list)
{
	for (int i = 0; i < list->count; i++)
		choice_release(&list->choices[i]);
	free(list->choices);
	memset(list, 0, sizeof(*list));
}
