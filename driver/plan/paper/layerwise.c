// SPDX-License-Identifier: Apache-2.0
//
// Over the whole mini-batch: layer by layer, without and with reuse between neighbours.
#include <stdlib.h>

#include "driver/plan/paper/planner.h"

// The modules in order, backward after forward.
static int both_phases(struct paper_planner *planner, int (*plan)(struct paper_planner *, void *, enum sched_phase), void *context)
{
	int rc = plan(planner, context, SCHED_FORWARD);

	if (!rc && planner->options->phases == PLAN_ALL)
		rc = plan(planner, context, SCHED_BACKWARD);
	return rc;
}

static int plan_streamed(struct paper_planner *planner, void *context, enum sched_phase phase)
{
	const struct paper_group group = {
		.phase = phase, .reuse = PAPER_STREAMED, .last_module = planner->graph.module_count - 1, .sub_batch = planner->options->batch, .blocked = true,
	};

	(void)context;
	return paper_append(planner, &group, "layer by layer: nothing stays in the buffer");
}

int paper_baseline(struct paper_planner *planner)
{
	return both_phases(planner, plan_streamed, NULL);
}

static bool any_fits(const struct paper_planner *planner, const bool *fits, int module)
{
	bool any = false;

	for (int i = planner->graph.net->modules[module].first; i <= paper_module_last(&planner->graph, module); i++)
		any |= planner->graph.order[i] >= 0 && fits[i];
	return any;
}

// Runs of modules in which some layer fits, or none does.
static int plan_il(struct paper_planner *planner, void *context, enum sched_phase phase)
{
	const bool *fits = context;
	const int count = planner->graph.module_count;
	int rc = 0;

	for (int done = 0, next; !rc && done < count; done = next) {
		const int at = phase == SCHED_FORWARD ? done : count - 1 - done;
		const bool reuse = any_fits(planner, fits, at);
		struct paper_group group = { .phase = phase, .reuse = reuse ? PAPER_ADJACENT : PAPER_STREAMED, .sub_batch = planner->options->batch,
					     .fits = fits, .blocked = true };

		for (next = done + 1; next < count && any_fits(planner, fits, phase == SCHED_FORWARD ? next : count - 1 - next) == reuse;)
			next++;
		group.first_module = phase == SCHED_FORWARD ? done : count - next;
		group.last_module = phase == SCHED_FORWARD ? next - 1 : count - 1 - done;
		rc = paper_append(planner, &group, "%s", reuse ? "between neighbours that can both hold theirs for the whole mini-batch, tensors stay" :
								   "no layer can hold its tensors for the whole mini-batch: everything streams");
	}
	return rc;
}

int paper_il(struct paper_planner *planner)
{
	const int nodes = planner->graph.net->node_count;
	bool *fits = calloc((size_t)nodes, sizeof(*fits));
	int rc;

	if (!fits)
		return wc_fail(planner->err, WC_ERR_SYSTEM, "out of memory");
	for (int i = 0; i < nodes; i++)
		fits[i] = paper_layer_need(&planner->graph, i) * planner->options->batch <= planner->options->buffer_bytes;
	rc = both_phases(planner, plan_il, fits);
	free(fits);
	return rc;
}
