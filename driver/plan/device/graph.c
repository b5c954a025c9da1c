// SPDX-License-Identifier: Apache-2.0
//
// Any planner for any network on the device: the planner's schedule for `paper` accounting, unfolded group by group. The number of blocks,
// the sub-batch and the policies of each group are those that move least on the device; if a group fits with none, the planner is
// asked again for a smaller buffer, so that what streams has more room.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/plan/device/unfold.h"
#include "driver/plan/paper/paper.h"

// Of the buffer, in sixteenths, that the planner is told.
static const int shares[] = { 16, 14, 12, 10, 8, 6, 5, 4, 3, 2, 1 };

enum { SUCCESSES_WANTED = 2, DEARER_MAX = 2 };

// Rows of the group's largest map: no statement can be cut into more blocks.
static int blocks_limit(const struct planner *planner, const struct sched_group *group)
{
	int most = 1;

	for (int i = group->first; i <= group->last; i++) {
		const struct net_node *node = &planner->net->nodes[i];
		const int rows = node->out.height > node->in.height ? node->out.height : node->in.height;

		most = rows > most ? rows : most;
	}
	return most;
}

// The next number of blocks to try: one more at first, then in growing steps, `most` the last.
static int next_blocks(int blocks, int most)
{
	const int next = blocks + 1 + blocks / 3;

	return blocks == most || next <= most ? next : most;
}

static int unfold_blocks(struct planner *planner, struct unfolding *unfolding, int index, int blocks, struct sched_group *group)
{
	const struct sched_group *source = &unfolding->schedule->groups[index];
	int rc;

	unfolding->blocks = blocks;
	if (build_group_init(group, source->phase, source->first, source->last, planner->net->node_count))
		return wc_fail(planner->err, WC_ERR_SYSTEM, "out of memory");
	rc = unfold_group(unfolding, index, group, planner->err);
	if (rc)
		sched_group_release(group);
	return rc;
}

// Whether choose_group() would find a choice: with one sample some number of blocks fits. 0, PLAN_NO_FIT or an error.
static int try_group(struct planner *planner, struct unfolding *unfolding, int index)
{
	const int most = blocks_limit(planner, &unfolding->schedule->groups[index]);
	int rc = PLAN_NO_FIT;

	for (int blocks = 1; rc == PLAN_NO_FIT && blocks <= most; blocks = next_blocks(blocks, most)) {
		struct sched_group group;

		rc = unfold_blocks(planner, unfolding, index, blocks, &group);
		if (rc)
			return rc;
		group.sub_batch = 1;
		rc = policy_try(planner, &group, false);
		if (rc == PLAN_NO_FIT)
			rc = policy_try(planner, &group, true);
		sched_group_release(&group);
	}
	return rc;
}

// One number of blocks; *best is the best so far, if `found` is 0. 0, PLAN_NO_FIT or an error; *dearer counts what is worse.
static int try_blocks(struct planner *planner, struct unfolding *unfolding, int index, int blocks, bool narrow, int *found, int *dearer, struct choice *best)
{
	struct choice choice = { .cost = 0 };
	int rc = unfold_blocks(planner, unfolding, index, blocks, &choice.group);

	if (rc)
		return rc;
	rc = search_group(planner, &choice, unfolding->schedule->groups[index].sub_batch, narrow);
	if (rc || (!*found && choice.cost >= best->cost)) {
		*dearer += !rc;
		choice_release(&choice);
		return rc;
	}
	choice_release(best);
	*best = choice;
	*found = *dearer = 0;
	return 0;
}

static int choose_group(struct planner *planner, struct unfolding *unfolding, int index, struct choice *best)
{
	const int most = blocks_limit(planner, &unfolding->schedule->groups[index]);
	int found = PLAN_NO_FIT;

	// Narrow slices are the last resort.
	for (int narrow = 0; found && narrow < 2; narrow++) {
		int dearer = 0;

		for (int blocks = 1; blocks <= most && dearer < DEARER_MAX; blocks = next_blocks(blocks, most)) {
			const int rc = try_blocks(planner, unfolding, index, blocks, narrow, &found, &dearer, best);

			if (rc < 0)
				return rc;
		}
	}
	return found;
}

// Why the group is as it is. What the planner said of it was meant for another accounting, and often for a smaller buffer.
static int explain(struct planner *planner, const struct schedule *paper, const struct sched_group *from, struct sched_group *group)
{
	char text[300];
	struct fit fit;
	int rc;

	// What unfold_add_output() added is no planner's.
	if (from->first == from->last && planner->net->nodes[from->first].op == NET_CONCAT) {
		snprintf(text, sizeof(text), "%s", from->reason);
	} else {
		rc = fit_group(planner->schedule, group, planner->net, &fit, planner->err);
		if (rc)
			return rc;
		snprintf(text, sizeof(text), "%.64s needs most: %llu of %u bytes; grouped as %s groups for paper accounting and %u bytes, there with sub_batch %d",
			 planner->net->nodes[fit.node].name, (unsigned long long)fit.live_bytes, planner->schedule->buffer_bytes, planner->schedule->planner,
			 paper->buffer_bytes, from->sub_batch);
	}
	group->reason = strdup(text);
	return group->reason ? 0 : wc_fail(planner->err, WC_ERR_SYSTEM, "out of memory");
}

// All groups of a schedule for `paper` accounting, in place of those in the planner's schedule. *cost: of all.
static int unfold_all(struct planner *planner, const struct paper_graph *graph, const struct schedule *paper, double *cost)
{
	struct unfolding unfolding = { .graph = graph, .schedule = paper, .training = planner->options->phases == PLAN_ALL };
	int rc = 0;

	*cost = 0;
	// If one does not fit, no time is spent on choices for the others.
	for (int i = 0; !rc && i < paper->group_count; i++)
		rc = try_group(planner, &unfolding, i);
	for (int i = 0; !rc && i < paper->group_count; i++) {
		struct choice choice = { .cost = 0 };

		rc = choose_group(planner, &unfolding, i, &choice);
		if (!rc)
			rc = explain(planner, paper, &paper->groups[i], &choice.group);
		*cost += rc ? 0 : choice.cost;
		if (!rc && build_append(planner->schedule, &choice.group))
			rc = wc_fail(planner->err, WC_ERR_SYSTEM, "out of memory");
		choice_release(&choice);
	}
	return rc;
}

struct best {
	struct sched_group *groups;
	int count;
	double cost;
};

static int try_share(struct planner *planner, const struct paper_graph *graph, const char *name, int share, struct best *best)
{
	struct plan_options options = *planner->options;
	struct schedule paper;
	double cost;
	int rc;

	options.accounting = SCHED_PAPER;
	options.buffer_bytes = (uint32_t)((uint64_t)options.buffer_bytes * (uint64_t)share / 16 / 4096 * 4096);
	if (options.buffer_bytes < 4096)
		return PLAN_NO_FIT;
	rc = paper_plan(&paper, name, planner->net, &options, planner->err);
	if (rc)
		return rc;
	rc = unfold_add_output(graph, &paper, planner->err);
	if (!rc)
		rc = unfold_all(planner, graph, &paper, &cost);
	schedule_release(&paper);
	if (rc || (best->groups && cost >= best->cost)) {
		build_drop_groups(planner->schedule);
		return rc;
	}
	for (int i = 0; i < best->count; i++)
		sched_group_release(&best->groups[i]);
	free(best->groups);
	*best = (struct best){ planner->schedule->groups, planner->schedule->group_count, cost };
	planner->schedule->groups = NULL;
	planner->schedule->group_count = 0;
	return 0;
}

int plan_graph(struct schedule *schedule, const char *name, const struct net *net, const struct plan_options *options, struct wc_error *err)
{
	struct best best = { .cost = 0 };
	struct paper_graph graph;
	struct planner planner;
	int rc = planner_begin_graph(&planner, schedule, name, net, options, err), found = 0;

	if (rc)
		return planner_end(&planner, rc);
	rc = paper_graph_init(&graph, net, err);
	for (size_t i = 0; rc >= 0 && found < SUCCESSES_WANTED && i < sizeof(shares) / sizeof(shares[0]); i++) {
		rc = try_share(&planner, &graph, name, shares[i], &best);
		found += !rc;
		// What a planner cannot put into words for one size it may for another.
		rc = rc == WC_ERR_INPUT ? PLAN_NO_FIT : rc;
	}
	paper_graph_release(&graph);
	planner.schedule->groups = best.groups;
	planner.schedule->group_count = best.count;
	return planner_end(&planner, rc < 0 || !found ? rc : 0);
}
