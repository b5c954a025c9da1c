// SPDX-License-Identifier: Apache-2.0
//
// Mini-batch serialization: modules in groups, greedily merged.
#include <inttypes.h>
#include <stdlib.h>

#include "driver/plan/account_paper.h"
#include "driver/plan/paper/planner.h"

// Modules first..last; sub_batch 0: streamed, alone.
struct group {
	int first, last, sub_batch;
};

struct mbs {
	struct paper_planner *planner;
	enum paper_reuse reuse;
	struct group *groups; // in order
	int group_count;
	int64_t *gains;   // [module]: bytes saved, at one iteration, if it is in one group with the module before
	int64_t *weights; // [module]: bytes that one more iteration costs
};

// The largest sub-batch that fits; 0: none.
static int sub_batch_of(const struct mbs *mbs, int module)
{
	const struct plan_options *options = mbs->planner->options;
	int node;
	const int64_t need = paper_module_need(&mbs->planner->graph, mbs->reuse, module, &node);
	const int64_t fits = need ? options->buffer_bytes / need : options->batch;

	return (int)(fits < options->batch ? fits : options->batch);
}

// Bytes that modules first..last move as one group, forward and backward, the whole mini-batch at once.
static int cost(struct mbs *mbs, int first, int last, int64_t *bytes)
{
	struct paper_planner *planner = mbs->planner;
	struct schedule scratch = *planner->schedule;
	struct account_paper account;
	int rc = 0;

	scratch.groups = NULL;
	scratch.group_count = 0;
	for (enum sched_phase phase = SCHED_FORWARD; !rc && phase <= SCHED_BACKWARD; phase++) {
		const struct paper_group group = {
			.phase = phase, .reuse = mbs->reuse, .first_module = first, .last_module = last, .sub_batch = planner->options->batch,
		};

		rc = paper_emit(&scratch, &planner->graph, &group, planner->err);
	}
	if (!rc)
		rc = account_paper_groups(&scratch, 0, scratch.group_count, planner->graph.net, &account, planner->err);
	*bytes = rc ? 0 : (int64_t)account_paper_bytes(&account);
	for (int i = 0; i < scratch.group_count; i++)
		sched_group_release(&scratch.groups[i]);
	free(scratch.groups);
	return rc;
}

static int64_t weight_bytes(const struct paper_graph *graph, int module)
{
	int64_t bytes = 0;

	for (int i = graph->net->modules[module].first; i <= paper_module_last(graph, module); i++) {
		const struct net_node *node = &graph->net->nodes[i];
		const bool has_gradient = node->input_count && graph->net->nodes[node->inputs[0]].has_gradient;

		// Forward, backward where there is a data gradient, and the sums written and read.
		bytes += 2 * net_parameters(node) * (has_gradient ? 4 : 3);
	}
	return bytes;
}

static int find_gains(struct mbs *mbs)
{
	const int count = mbs->planner->graph.module_count;
	int64_t *alone = calloc((size_t)count, sizeof(*alone));
	int rc = alone ? 0 : wc_fail(mbs->planner->err, WC_ERR_SYSTEM, "out of memory");

	for (int i = 0; !rc && i < count; i++) {
		mbs->weights[i] = weight_bytes(&mbs->planner->graph, i);
		rc = cost(mbs, i, i, &alone[i]);
	}
	for (int i = 1; !rc && i < count; i++) {
		int64_t joined;

		rc = cost(mbs, i - 1, i, &joined);
		mbs->gains[i] = rc ? 0 : alone[i - 1] + alone[i] - joined;
	}
	free(alone);
	return rc;
}

static int64_t weights_of(const struct mbs *mbs, const struct group *group)
{
	int64_t bytes = 0;

	for (int i = group->first; i <= group->last; i++)
		bytes += mbs->weights[i];
	return bytes;
}

// Bytes saved by merging groups `at` and at + 1.
static int64_t saving(const struct mbs *mbs, int at)
{
	const struct group *left = &mbs->groups[at], *right = &mbs->groups[at + 1];
	const int n_left = paper_iterations(mbs->planner, left->sub_batch), n_right = paper_iterations(mbs->planner, right->sub_batch);
	const int n = n_left > n_right ? n_left : n_right;

	return mbs->gains[right->first] - (n - n_left) * weights_of(mbs, left) - (n - n_right) * weights_of(mbs, right);
}

static void merge(struct mbs *mbs, int at)
{
	struct group *left = &mbs->groups[at];
	const struct group *right = left + 1;

	left->last = right->last;
	left->sub_batch = left->sub_batch < right->sub_batch ? left->sub_batch : right->sub_batch;
	mbs->group_count--;
	for (int i = at + 1; i < mbs->group_count; i++)
		mbs->groups[i] = mbs->groups[i + 1];
}

// Runs of modules with equal numbers of iterations; what streams stays alone.
static void begin_groups(struct mbs *mbs)
{
	for (int i = 0; i < mbs->planner->graph.module_count; i++) {
		const int sub_batch = sub_batch_of(mbs, i);
		struct group *before = mbs->group_count ? &mbs->groups[mbs->group_count - 1] : NULL;

		if (before && sub_batch && before->sub_batch &&
		    paper_iterations(mbs->planner, before->sub_batch) == paper_iterations(mbs->planner, sub_batch)) {
			before->last = i;
			before->sub_batch = sub_batch < before->sub_batch ? sub_batch : before->sub_batch;
		} else {
			mbs->groups[mbs->group_count++] = (struct group){ i, i, sub_batch };
		}
	}
}

static void merge_greedily(struct mbs *mbs)
{
	for (;;) {
		int64_t best = 0;
		int at = -1;

		for (int i = 0; i + 1 < mbs->group_count; i++)
			if (mbs->groups[i].sub_batch && mbs->groups[i + 1].sub_batch && saving(mbs, i) > best) {
				best = saving(mbs, i);
				at = i;
			}
		if (at < 0)
			return;
		merge(mbs, at);
	}
}

static int append_group(struct mbs *mbs, enum sched_phase phase, int at)
{
	struct paper_planner *planner = mbs->planner;
	const struct group *group = &mbs->groups[at];
	const struct paper_group made = {
		.phase = phase,
		.reuse = group->sub_batch ? mbs->reuse : PAPER_STREAMED,
		.first_module = group->first,
		.last_module = group->last,
		.sub_batch = group->sub_batch ? group->sub_batch : planner->options->batch,
		.blocked = !group->sub_batch,
	};
	int64_t need = 0;
	int limit = 0;
	char next[160] = "";

	for (int i = group->first; i <= group->last; i++) {
		int node;
		const int64_t of = paper_module_need(&planner->graph, mbs->reuse, i, &node);

		if (of > need) {
			need = of;
			limit = node;
		}
	}
	if (!group->sub_batch)
		return paper_append(planner, &made, "%s needs %" PRId64 " bytes for one sample, the buffer has %u", planner->graph.net->nodes[limit].name, need,
				    planner->options->buffer_bytes);
	if (at + 1 < mbs->group_count && mbs->groups[at + 1].sub_batch)
		snprintf(next, sizeof(next), "; one group with %s would move %" PRId64 " bytes more",
			 planner->graph.net->nodes[planner->graph.net->modules[mbs->groups[at + 1].first].first].name, -saving(mbs, at));
	return paper_append(planner, &made, "%s needs most, %" PRId64 " bytes a sample: %d of %d fit%s", planner->graph.net->nodes[limit].name, need,
			    group->sub_batch, planner->options->batch, next);
}

static int append_groups(struct mbs *mbs)
{
	int rc = 0;

	for (int i = 0; !rc && i < mbs->group_count; i++)
		rc = append_group(mbs, SCHED_FORWARD, i);
	for (int i = mbs->group_count - 1; !rc && mbs->planner->options->phases == PLAN_ALL && i >= 0; i--)
		rc = append_group(mbs, SCHED_BACKWARD, i);
	return rc;
}

// One sub-batch for all that do not stream.
static void serialize_fully(struct mbs *mbs)
{
	int smallest = mbs->planner->options->batch;

	for (int i = 0; i < mbs->planner->graph.module_count; i++) {
		const int sub_batch = sub_batch_of(mbs, i);

		smallest = sub_batch && sub_batch < smallest ? sub_batch : smallest;
	}
	for (int i = 0; i < mbs->planner->graph.module_count; i++) {
		struct group *before = mbs->group_count ? &mbs->groups[mbs->group_count - 1] : NULL;
		const int sub_batch = sub_batch_of(mbs, i) ? smallest : 0;

		if (before && sub_batch && before->sub_batch)
			before->last = i;
		else
			mbs->groups[mbs->group_count++] = (struct group){ i, i, sub_batch };
	}
}

static int plan(struct paper_planner *planner, enum paper_reuse reuse, bool one_sub_batch)
{
	const size_t count = (size_t)planner->graph.module_count;
	struct mbs mbs = { .planner = planner, .reuse = reuse };
	int rc = 0;

	mbs.groups = calloc(count, sizeof(*mbs.groups));
	mbs.gains = calloc(count, sizeof(*mbs.gains));
	mbs.weights = calloc(count, sizeof(*mbs.weights));
	if (!mbs.groups || !mbs.gains || !mbs.weights)
		rc = wc_fail(planner->err, WC_ERR_SYSTEM, "out of memory");
	if (!rc)
		rc = find_gains(&mbs);
	if (!rc && one_sub_batch)
		serialize_fully(&mbs);
	if (!rc && !one_sub_batch) {
		begin_groups(&mbs);
		merge_greedily(&mbs);
	}
	if (!rc)
		rc = append_groups(&mbs);
	free(mbs.groups);
	free(mbs.gains);
	free(mbs.weights);
	return rc;
}

int paper_mbs_fs(struct paper_planner *planner)
{
	return plan(planner, PAPER_ADJACENT, true);
}

int paper_mbs1(struct paper_planner *planner)
{
	return plan(planner, PAPER_ADJACENT, false);
}

int paper_mbs2(struct paper_planner *planner)
{
	return plan(planner, PAPER_ALL, false);
}
