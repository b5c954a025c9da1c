// SPDX-License-Identifier: Apache-2.0
//
// Sub-batch sizes and numbers of strips for one group.
#include "driver/plan/device/planner.h"

#include <string.h>

// The next smaller sub-batch that makes another number of iterations; 0 if there is none.
static int next_sub_batch(int batch, int sub_batch)
{
	int iterations = (int)div_up(batch, sub_batch) + 1;

	for (; iterations <= batch; iterations++) {
		int next = (int)div_up(batch, iterations);

		if (next < sub_batch)
			return next;
	}
	return 0;
}

// The largest sub-batch of which no statement's slab alone exceeds the buffer, whatever the policies; 0: not even one sample.
static int sub_batch_limit(const struct planner *planner, const struct sched_group *group)
{
	const struct plan_options *options = planner->options;
	uint64_t most = 1, limit;

	for (int i = 0; i < group->strip_count; i++)
		for (int j = 0; j < group->strips[i].statement_count; j++) {
			const struct sched_statement *statement = &group->strips[i].statements[j];
			const uint64_t pitch = statement->op == SCHED_STATISTICS ? 0 : rows_pitch_bytes(planner->net, statement->tensor, statement->node, options->bus_bytes);
			const uint64_t bytes = (uint64_t)(statement->hi - statement->lo) * pitch;

			most = bytes > most ? bytes : most;
		}
	limit = options->buffer_bytes / most;
	return limit < (uint64_t)options->batch ? (int)limit : options->batch;
}

// Where to begin: the largest sub-batch, of those that next_sub_batch() steps through, that is beyond neither limit; 1 if there is none,
// which then fails with a message.
static int first_sub_batch(const struct planner *planner, const struct sched_group *group, int most)
{
	const int batch = planner->options->batch, fits = sub_batch_limit(planner, group), limit = fits < most ? fits : most;

	return limit <= 1 ? 1 : (int)div_up(batch, div_up(batch, limit));
}

int search_group(struct planner *planner, struct choice *choice, int most, bool narrow)
{
	struct sched_group *group = &choice->group;
	int nodes = planner->net->node_count, rc = 0, found = PLAN_NO_FIT;
	struct sched_group trial;
	bool settled = false;

	// The trial shares the statements and has sub-batch and policies of its own.
	if (build_group_init(&trial, group->phase, group->first, group->last, nodes))
		return wc_fail(planner->err, WC_ERR_SYSTEM, "out of memory");
	trial.tiling = group->tiling;
	trial.strips = group->strips;
	trial.strip_count = group->strip_count;
	for (trial.sub_batch = first_sub_batch(planner, &trial, most); trial.sub_batch && !settled;
	     trial.sub_batch = next_sub_batch(planner->options->batch, trial.sub_batch)) {
		double bound = 0;

		rc = found ? 0 : policy_bound(planner, &trial, &bound);
		// Smaller sub-batches only make more commands.
		if (rc || (!found && bound >= choice->cost))
			break;
		rc = policy_choose(planner, &trial, narrow, &settled);
		if (rc == PLAN_NO_FIT) {
			settled = false;
			continue;
		}
		if (rc)
			break;
		if (found == PLAN_NO_FIT || planner_cost(planner, &trial) < choice->cost) {
			found = 0;
			choice->cost = planner_cost(planner, &trial);
			group->sub_batch = trial.sub_batch;
			memcpy(group->weight, trial.weight, (size_t)nodes * sizeof(*trial.weight));
			memcpy(group->wgrad, trial.wgrad, (size_t)nodes * sizeof(*trial.wgrad));
		}
	}
	trial.strips = NULL;
	trial.strip_count = 0;
	sched_group_release(&trial);
	return rc < 0 ? rc : found;
}

int search_sub_batch(struct planner *planner, build_fn *build, enum sched_phase phase, int first, int last, int strips, bool narrow,
		     struct choice *choice)
{
	int rc;

	memset(choice, 0, sizeof(*choice));
	if (build_group_init(&choice->group, phase, first, last, planner->net->node_count))
		return wc_fail(planner->err, WC_ERR_SYSTEM, "out of memory");
	rc = build(planner, &choice->group, first, last, strips);
	if (!rc)
		rc = search_group(planner, choice, planner->options->batch, narrow);
	if (rc)
		choice_release(choice);
	return rc;
}

int search_strips(struct planner *planner, build_fn *build, enum sched_phase phase, int first, int last, int strips, struct choice *choice)
{
	int rows = planner->net->nodes[last].out.height, rc = PLAN_NO_FIT;

	for (int narrow = 0; rc == PLAN_NO_FIT && narrow < 2; narrow++) {
		for (int count = strips; rc == PLAN_NO_FIT && count <= rows;) {
			rc = search_sub_batch(planner, build, phase, first, last, count, narrow, choice);
			// Finely at first, then in growing steps, but never past one row each.
			count = count == rows || count + 1 + count / 8 <= rows ? count + 1 + count / 8 : rows;
		}
	}
	return rc;
}
