// SPDX-License-Identifier: Apache-2.0
//
// Row-centric planning: the network is cut into segments, each segment into strips, so that bytes and
// recomputed halos cost least. Segments begin at convolutions; only if no such cut fits may they begin
// anywhere.
#include "driver/plan/device/planner.h"

#include <stdlib.h>

struct kind {
	const char *name;
	build_fn *forward, *backward;
	bool paired; // backward cuts the segment as forward does
};

struct context {
	const struct kind *kind;
	int *starts; // first nodes of the units, and behind the last unit one past the last node
	int units;
};

enum { FORWARD = 1, BACKWARD = 2 };

// One number of strips, for the phases in `phases`.
static int try_strips(struct planner *planner, const struct kind *kind, int phases, int first, int last, int strips, bool narrow,
		      struct choice pair[2])
{
	int rc = 0;

	if (phases & FORWARD)
		rc = search_sub_batch(planner, kind->forward, SCHED_FORWARD, first, last, strips, narrow, &pair[0]);
	if (!rc && (phases & BACKWARD))
		rc = search_sub_batch(planner, kind->backward, SCHED_BACKWARD, first, last, strips, narrow, &pair[1]);
	if (rc) {
		choice_release(&pair[0]);
		choice_release(&pair[1]);
	}
	return rc;
}

// The best of the numbers of strips from..to; more strips stop being tried when they have become dearer twice in a row.
static int best_strips(struct planner *planner, const struct kind *kind, int phases, int first, int last, int from, int to, bool narrow,
		       struct choice best[2])
{
	int found = PLAN_NO_FIT, dearer = 0;

	for (int strips = from; strips <= to && dearer < 2;) {
		struct choice pair[2] = { { .cost = 0 }, { .cost = 0 } };
		int rc = try_strips(planner, kind, phases, first, last, strips, narrow, pair);

		if (rc < 0)
			return rc;
		if (!rc && (found == PLAN_NO_FIT || pair[0].cost + pair[1].cost < best[0].cost + best[1].cost)) {
			choice_release(&best[0]);
			choice_release(&best[1]);
			best[0] = pair[0];
			best[1] = pair[1];
			found = dearer = 0;
		} else if (!rc) {
			choice_release(&pair[0]);
			choice_release(&pair[1]);
			dearer++;
		}
		strips = strips == to || strips + 1 + strips / 8 <= to ? strips + 1 + strips / 8 : to;
	}
	return found;
}

// One segment for some phases. A single unit that does not fit in the strips asked for may have other numbers, then
// narrow slices, one strip, or at last OverL strips, which can always be one row high.
static int choose_phases(struct planner *planner, const struct kind *kind, int phases, int first, int last, bool single, struct choice pair[2])
{
	static const struct kind layer = { .forward = build_overl_forward, .backward = build_overl_backward };
	int rows = planner->net->nodes[last].out.height, asked = planner->options->strips, rc = PLAN_NO_FIT;
	int least = asked ? asked : 2;

	if (least > rows)
		least = rows;
	rc = best_strips(planner, kind, phases, first, last, least, asked ? least : rows, false, pair);
	if (!single)
		return rc;
	for (int narrow = 0; rc == PLAN_NO_FIT && narrow < 2; narrow++) {
		rc = best_strips(planner, kind, phases, first, last, least, rows, narrow, pair);
		if (rc == PLAN_NO_FIT)
			rc = try_strips(planner, kind, phases, first, last, 1, narrow, pair);
		if (rc == PLAN_NO_FIT)
			rc = best_strips(planner, &layer, phases, first, last, least, rows, narrow, pair);
	}
	return rc;
}

static int choose_segment(struct planner *planner, void *opaque, int first_unit, int last_unit, struct choice pair[2])
{
	const struct context *context = opaque;
	int first = context->starts[first_unit], last = context->starts[last_unit + 1] - 1, rc;
	bool single = first_unit == last_unit, training = planner->options->phases == PLAN_ALL;

	if (context->kind->paired && training)
		return choose_phases(planner, context->kind, FORWARD | BACKWARD, first, last, single, pair);
	rc = choose_phases(planner, context->kind, FORWARD, first, last, single, pair);
	if (!rc && training) {
		struct choice backward[2] = { { .cost = 0 }, { .cost = 0 } };

		rc = choose_phases(planner, context->kind, BACKWARD, first, last, single, backward);
		pair[1] = backward[1];
	}
	if (rc) {
		choice_release(&pair[0]);
		choice_release(&pair[1]);
	}
	return rc;
}

// Cut at convolutions, or anywhere.
static int plan_segments(struct planner *planner, const struct kind *kind, bool anywhere, struct choice_list lists[2])
{
	const struct net *net = planner->net;
	struct context context = { .kind = kind };
	int rc;

	context.starts = calloc((size_t)net->node_count + 1, sizeof(*context.starts));
	if (!context.starts)
		return wc_fail(planner->err, WC_ERR_SYSTEM, "out of memory");
	for (int i = 1; i < net->node_count; i++)
		if (anywhere || net->nodes[i].op == NET_CONV)
			context.starts[context.units++] = i;
	context.starts[context.units] = net->node_count;
	rc = partition(planner, context.units, choose_segment, &context, lists);
	free(context.starts);
	return rc;
}

static int plan(struct schedule *schedule, const struct kind *kind, const struct net *net, const struct plan_options *options,
		struct wc_error *err)
{
	struct choice_list lists[2];
	struct planner planner;
	int rc = planner_begin(&planner, schedule, kind->name, net, options, err);

	if (rc)
		return planner_end(&planner, rc);
	rc = plan_segments(&planner, kind, false, lists);
	if (rc == PLAN_NO_FIT) {
		choice_list_release(&lists[0]);
		choice_list_release(&lists[1]);
		rc = plan_segments(&planner, kind, true, lists);
	}
	for (int side = 0; !rc && side < 2; side++)
		rc = planner_append(&planner, &lists[side]);
	choice_list_release(&lists[0]);
	choice_list_release(&lists[1]);
	return planner_end(&planner, rc);
}

int plan_overl(struct schedule *schedule, const struct net *net, const struct plan_options *options, struct wc_error *err)
{
	static const struct kind kind = { .name = "overl", .forward = build_overl_forward, .backward = build_overl_backward };

	return plan(schedule, &kind, net, options, err);
}

int plan_2ps(struct schedule *schedule, const struct net *net, const struct plan_options *options, struct wc_error *err)
{
	static const struct kind kind = {
		.name = "2ps", .forward = build_2ps_forward, .backward = build_2ps_backward, .paired = true,
	};

	return plan(schedule, &kind, net, options, err);
}
