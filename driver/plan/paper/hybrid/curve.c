// SPDX-License-Identifier: Apache-2.0
//
// Descent: the largest live set is lowered by taking out the gap with the most relief per byte moved, until every step is below
// it; then whatever fits below the new one is put back.
#include "driver/plan/paper/hybrid/curve.h"

#include <stdlib.h>
#include <string.h>

#include "traces/error.h"

struct descent {
	const struct hybrid_template *template;
	int *first_gap; // [slab]
	int gaps;
	bool *bridged;
	int64_t *live;  // [step]
};

int hybrid_gap(const struct hybrid_template *template, int slab)
{
	int gap = 0;

	for (int i = 0; i < slab; i++)
		gap += template->slabs[i].event_count > 1 ? template->slabs[i].event_count - 1 : 0;
	return gap;
}

static int event_at(const struct hybrid_slab *slab, int step)
{
	for (int i = 0; i < slab->event_count; i++)
		if (slab->events[i].step == step)
			return i;
	return -1;
}

// Whether a slab is in the buffer before, behind an event.
static bool before(const bool *bridged, int event)
{
	return event > 0 && bridged[event - 1];
}

static bool behind(const struct hybrid_slab *slab, const bool *bridged, int event)
{
	return event + 1 < slab->event_count && bridged[event];
}

// In the buffer for one step alone.
static bool is_loaded_alone(const struct hybrid_slab *slab, const bool *bridged, int event)
{
	return slab->events[event].whole && !before(bridged, event) && !behind(slab, bridged, event);
}

// The room that a slab that begins at a step finds in those that end there.
static void subtract_pairs(struct descent *descent)
{
	const struct hybrid_template *template = descent->template;
	int step = -1, out = -1;
	int64_t room = 0;

	for (int i = 0; i < template->pair_count; i++) {
		const struct hybrid_pair *pair = &template->pairs[i];
		const struct hybrid_slab *from = &template->slabs[pair->in], *to = &template->slabs[pair->out];
		const bool *from_gaps = descent->bridged + descent->first_gap[pair->in], *to_gaps = descent->bridged + descent->first_gap[pair->out];
		const int ends = event_at(from, pair->step), begins = event_at(to, pair->step);
		int64_t credit;

		if (pair->step != step || pair->out != out)
			room = to->bytes;
		step = pair->step;
		out = pair->out;
		if (!before(from_gaps, ends) || behind(from, from_gaps, ends) || !behind(to, to_gaps, begins) || before(to_gaps, begins))
			continue;
		credit = from->bytes < room ? from->bytes : room;
		descent->live[step] -= credit;
		room -= credit;
	}
}

static int64_t find_live(struct descent *descent)
{
	const struct hybrid_template *template = descent->template;
	int64_t peak = 0;

	memset(descent->live, 0, (size_t)template->step_count * sizeof(*descent->live));
	for (int i = 0; i < template->slab_count; i++) {
		const struct hybrid_slab *slab = &template->slabs[i];
		int counted = -1; // the last step that has been

		for (int gap = 0; gap + 1 < slab->event_count; gap++) {
			if (!descent->bridged[descent->first_gap[i] + gap])
				continue;
			for (int step = slab->events[gap].step > counted ? slab->events[gap].step : counted + 1; step <= slab->events[gap + 1].step; step++)
				descent->live[step] += slab->bytes;
			counted = slab->events[gap + 1].step;
		}
		for (int event = 0; event < slab->event_count; event++)
			if (is_loaded_alone(slab, descent->bridged + descent->first_gap[i], event))
				descent->live[slab->events[event].step] += slab->bytes;
	}
	subtract_pairs(descent);
	for (int i = 0; i < template->step_count; i++)
		peak = descent->live[i] > peak ? descent->live[i] : peak;
	return peak;
}

static int64_t moves_of(const struct descent *descent, int slab)
{
	return hybrid_slab_moves(&descent->template->slabs[slab], descent->bridged + descent->first_gap[slab]);
}

static int add_state(struct hybrid_curve *curve, const struct descent *descent, int64_t need)
{
	struct hybrid_state *states = reallocarray(curve->states, (size_t)curve->count + 1, sizeof(*states));
	struct hybrid_state state = { .need = need };

	if (!states)
		return WC_ERR_SYSTEM;
	curve->states = states;
	state.bridged = malloc((size_t)descent->gaps + 1);
	if (!state.bridged)
		return WC_ERR_SYSTEM;
	memcpy(state.bridged, descent->bridged, (size_t)descent->gaps);
	for (int i = 0; i < descent->template->slab_count; i++)
		state.moves += moves_of(descent, i);
	states[curve->count++] = state;
	return 0;
}

// What taking a gap out gives: how far the steps it spans stand out above a mark just below the peak.
static int64_t relief_of(const struct descent *descent, const struct hybrid_slab *slab, int gap, int64_t peak)
{
	const int64_t mark = peak / 8 * 7;
	int64_t relief = 0;
	bool reaches = false;

	for (int step = slab->events[gap].step; step <= slab->events[gap + 1].step; step++) {
		const int64_t over = descent->live[step] - mark;

		reaches |= descent->live[step] >= peak;
		if (over > 0)
			relief += over < slab->bytes ? over : slab->bytes;
	}
	return reaches ? relief : 0;
}

static bool may_go(const struct descent *descent, int slab_index, int gap)
{
	const struct hybrid_slab *slab = &descent->template->slabs[slab_index];

	return !slab->again && (!slab->stays || gap != slab->event_count - 2);
}

// The gap to take out; -1: none of those at the peak may go.
static int best_gap(const struct descent *descent, int64_t peak)
{
	const struct hybrid_template *template = descent->template;
	double best = 0;
	int found = -1;

	for (int i = 0; i < template->slab_count; i++)
		for (int gap = 0; gap + 1 < template->slabs[i].event_count; gap++) {
			const int index = descent->first_gap[i] + gap;
			const int64_t relief = descent->bridged[index] ? relief_of(descent, &template->slabs[i], gap, peak) : 0;
			int64_t cost;

			if (!relief || !may_go(descent, i, gap))
				continue;
			cost = -moves_of(descent, i);
			descent->bridged[index] = false;
			cost += moves_of(descent, i);
			descent->bridged[index] = true;
			if ((double)relief / (double)(cost > 1 ? cost : 1) > best) {
				best = (double)relief / (double)(cost > 1 ? cost : 1);
				found = index;
			}
		}
	return found;
}

static void put_back(struct descent *descent, int last_out, int64_t top)
{
	for (int index = 0; index < descent->gaps; index++) {
		if (descent->bridged[index] || index == last_out)
			continue;
		descent->bridged[index] = true;
		if (find_live(descent) > top)
			descent->bridged[index] = false;
	}
}

static int descend(struct hybrid_curve *curve, struct descent *descent)
{
	int64_t peak = find_live(descent);

	for (;;) {
		int64_t top = peak;
		int out = -1;

		if (add_state(curve, descent, peak))
			return WC_ERR_SYSTEM;
		while (peak && top >= peak) {
			out = best_gap(descent, peak);
			if (out < 0)
				return 0;
			descent->bridged[out] = false;
			top = find_live(descent);
		}
		if (!peak)
			return 0;
		put_back(descent, out, top);
		peak = find_live(descent);
	}
}

int hybrid_curve_init(struct hybrid_curve *curve, const struct hybrid_template *template)
{
	struct descent descent = { .template = template, .gaps = hybrid_gap(template, template->slab_count) };
	int rc = WC_ERR_SYSTEM;

	*curve = (struct hybrid_curve){ .count = 0 };
	descent.first_gap = calloc((size_t)template->slab_count + 1, sizeof(*descent.first_gap));
	descent.bridged = malloc((size_t)descent.gaps + 1);
	descent.live = calloc((size_t)template->step_count + 1, sizeof(*descent.live));
	if (descent.first_gap && descent.bridged && descent.live) {
		for (int i = 0; i < template->slab_count; i++)
			descent.first_gap[i] = hybrid_gap(template, i);
		memset(descent.bridged, true, (size_t)descent.gaps);
		rc = descend(curve, &descent);
	}
	free(descent.first_gap);
	free(descent.bridged);
	free(descent.live);
	return rc;
}

void hybrid_curve_release(struct hybrid_curve *curve)
{
	for (int i = 0; i < curve->count; i++)
		free(curve->states[i].bridged);
	free(curve->states);
	*curve = (struct hybrid_curve){ .count = 0 };
}

int hybrid_curve_query(const struct hybrid_curve *curve, int samples, int64_t room)
{
	int best = -1;

	for (int i = 0; i < curve->count; i++)
		if (curve->states[i].need * samples <= room && (best < 0 || curve->states[i].moves < curve->states[best].moves))
			best = i;
	return best;
}
