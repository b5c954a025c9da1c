// SPDX-License-Identifier: Apache-2.0
//
// How weights and weight gradients pass through the buffer. Everything resident moves the fewest bytes; if
// that does not fit, everything is cut as finely as allowed, and then, the operand that saves most first,
// made resident, whole, or coarser again as far as the buffer has room.
#include "driver/plan/device/planner.h"

#include <stdlib.h>

struct operand {
	struct sched_policy *policy;
	int channels;     // of the convolution's output
	int unit;         // slices are multiples of it; 0: never sliced
	int passes;       // how often a group's execution reads (weights) or writes (sums) it
	uint64_t bytes;
};

static int gcd(int a, int b)
{
	while (b) {
		int rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

// The smallest slice whose bytes are a multiple of the bus; a multiple of `side` unless narrow. 0 if that is not
// less than all channels.
static int slice_unit(const struct planner *planner, const struct net_node *conv, int element_bytes, int side, bool narrow)
{
	int filter = (int)(net_conv_weights(conv) / conv->out.channels) * element_bytes;
	int unit = (int)planner->options->bus_bytes / gcd((int)planner->options->bus_bytes, filter);

	if (!narrow)
		unit = unit / gcd(unit, side) * side;
	return unit < conv->out.channels ? unit : 0;
}

// How many statements of the group need the weights (or, for sums, accumulate) in one iteration. *whole: one of
// them is a data gradient, which takes all weights at once.
static int count_uses(const struct sched_group *group, const struct net *net, int node, bool sums, bool *whole)
{
	int uses = 0;

	*whole = false;
	for (int i = 0; i < group->strip_count; i++) {
		for (int j = 0; j < group->strips[i].statement_count; j++) {
			const struct sched_statement *statement = &group->strips[i].statements[j];
			bool computes = statement->op == SCHED_COMPUTE;

			if (sums) {
				uses += statement->op == SCHED_ACCUMULATE && statement->node == node;
			} else if (computes && statement->tensor == SCHED_ACT) {
				uses += statement->node == node;
			} else if (computes && statement->node == net->nodes[node].inputs[0]) {
				uses++;
				*whole = true;
			}
		}
	}
	return uses;
}

static void add_operand(struct planner *planner, struct sched_group *group, int node, bool sums, bool narrow, struct operand *operands, int *count)
{
	const struct net_node *conv = &planner->net->nodes[node];
	int iterations = (int)div_up(planner->options->batch, group->sub_batch), side = sums ? planner->options->rows : planner->options->cols;
	struct operand operand = { .policy = sums ? &group->wgrad[node] : &group->weight[node], .channels = conv->out.channels };
	bool whole;
	int at = *count;

	operand.passes = count_uses(group, planner->net, node, sums, &whole) * iterations;
	if (!operand.passes)
		return;
	operand.bytes = (uint64_t)net_conv_weights(conv) * (sums ? 4 : 2);
	operand.unit = whole ? 0 : slice_unit(planner, conv, sums ? 4 : 2, side, narrow);
	// Largest saving first: a pass over sums that are streamed reads and writes.
	for (; at > 0 && operands[at - 1].bytes < operand.bytes; at--)
		operands[at] = operands[at - 1];
	operands[at] = operand;
	++*count;
}

static int try_fit(struct planner *planner, struct sched_group *group)
{
	struct fit fit;
	int rc = fit_group(planner->schedule, group, planner->net, &fit, planner->err);

	return rc == WC_ERR_INPUT ? PLAN_NO_FIT : rc;
}

// Give the operand the best policy that fits while the others stay.
static int improve(struct planner *planner, struct sched_group *group, struct operand *operand)
{
	struct sched_policy finest = *operand->policy;
	int rc;

	if (operand->passes > 1) {
		*operand->policy = (struct sched_policy){ .resident = true };
		rc = try_fit(planner, group);
		if (rc != PLAN_NO_FIT)
			return rc;
	}
	if (!operand->unit) {
		*operand->policy = finest;
		return 0;
	}
	// All at once, then half as many units again and again.
	for (int slice = operand->channels; slice > operand->unit; slice = slice / 2 / operand->unit * operand->unit) {
		*operand->policy = (struct sched_policy){ .slice = slice == operand->channels ? 0 : slice };
		rc = try_fit(planner, group);
		if (rc != PLAN_NO_FIT)
			return rc;
	}
	*operand->policy = finest;
	return 0;
}

// All that the group uses resident, if it is used more than once.
static void all_resident(struct operand *operands, int count)
{
	for (int i = 0; i < count; i++)
		*operands[i].policy = (struct sched_policy){ .resident = operands[i].passes > 1 };
}

// The operands of the group, the caller frees; NULL if memory runs out. Policies are cleared.
static struct operand *list_operands(struct planner *planner, struct sched_group *group, bool narrow, int *count)
{
	size_t most = (size_t)(group->last - group->first + 1) * 2;
	struct operand *operands = calloc(most, sizeof(*operands));

	*count = 0;
	for (int i = group->first; operands && i <= group->last; i++) {
		group->weight[i] = group->wgrad[i] = (struct sched_policy){ 0 };
		if (planner->net->nodes[i].op != NET_CONV)
			continue;
		add_operand(planner, group, i, false, narrow, operands, count);
		add_operand(planner, group, i, true, narrow, operands, count);
	}
	return operands;
}

int policy_bound(struct planner *planner, struct sched_group *group, double *cost)
{
	int count;
	struct operand *operands = list_operands(planner, group, false, &count);

	if (!operands)
		return wc_fail(planner->err, WC_ERR_SYSTEM, "out of memory");
	all_resident(operands, count);
	*cost = planner_cost(planner, group);
	free(operands);
	return 0;
}

int policy_choose(struct planner *planner, struct sched_group *group, bool narrow, bool *settled)
{
	int count, rc;
	struct operand *operands = list_operands(planner, group, narrow, &count);

	if (!operands)
		return wc_fail(planner->err, WC_ERR_SYSTEM, "out of memory");
	all_resident(operands, count);
	*settled = true;
	rc = try_fit(planner, group);
	if (rc == PLAN_NO_FIT) {
		for (int i = 0; i < count; i++)
			*operands[i].policy = (struct sched_policy){ .slice = operands[i].unit };
		rc = try_fit(planner, group);
		for (int i = 0; !rc && i < count; i++)
			rc = improve(planner, group, &operands[i]);
		for (int i = 0; i < count; i++)
			*settled &= operands[i].passes == 1 || operands[i].policy->resident;
	}
	free(operands);
	return rc;
}
