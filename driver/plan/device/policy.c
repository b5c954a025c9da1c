// SPDX-License-Identifier: Apache-2.0
//
// How weights and weight gradients pass through the buffer. Everything resident moves the fewest bytes; if
// that does not fit, everything is cut as finely as allowed, and then, the operand that saves most first,
// made resident, whole, or coarser again as far as the buffer has room.
#include "driver/plan/device/planner.h"
#include "driver/plan/device/use.h"

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

static int lcm(int a, int b)
{
	return a / gcd(a, b) * b;
}

// The smallest slice whose bytes, and those of its bias, are multiples of the bus, and which is a multiple of `side`. 0 if that is not less than
// all channels.
static int slice_unit(const struct planner *planner, const struct net_node *conv, int element_bytes, int side)
{
	const int bus = (int)planner->options->bus_bytes, filter = (int)(net_conv_weights(conv) / conv->out.channels) * element_bytes;
	const int unit = lcm(lcm(bus / gcd(bus, filter), conv->bias ? bus / gcd(bus, element_bytes) : 1), side);

	return unit < conv->out.channels ? unit : 0;
}

// Statements of one iteration that need a node's parameters, or make sums for their gradients. *gradient: one of them is a data gradient.
static int count_uses(const struct planner *planner, const struct sched_group *group, int node, bool sums, bool *gradient)
{
	const struct net *net = planner->net;
	const bool makes = net->nodes[node].op == NET_GN && !use_has_statistics(planner->schedule, group, node);
	int uses = 0;

	*gradient = false;
	for (int i = 0; i < group->strip_count; i++) {
		for (int j = 0; j < group->strips[i].statement_count; j++) {
			const struct sched_statement *statement = &group->strips[i].statements[j];
			const bool computes = statement->op == SCHED_COMPUTE && statement->tensor == SCHED_ACT && statement->node == node;
			const bool backs = statement->op == SCHED_COMPUTE && statement->tensor == SCHED_GRAD && sched_gradient_reader(net, statement) == node;
			const bool counts = statement->op == SCHED_STATISTICS && statement->node == node && group->phase == SCHED_BACKWARD;

			*gradient |= backs;
			// A normalization may make its sums with its gradient.
			if (sums)
				uses += (statement->op == SCHED_ACCUMULATE && statement->node == node) || counts || (backs && makes);
			else
				uses += computes || backs || counts;
		}
	}
	return uses;
}

// Output channels at whose multiples a slice may end: a data gradient's chunks of K, and, unless they are to be narrow, what fills the
// array's columns (weights) or rows (sums).
static int slice_side(const struct planner *planner, bool sums, bool gradient, bool narrow)
{
	const struct plan_options *options = planner->options;
	const int side = narrow ? 1 : sums ? options->rows : options->cols;

	return gradient && !sums ? lcm(side, options->rows) : side;
}

static void add_operand(struct planner *planner, struct sched_group *group, int node, bool sums, bool narrow, struct operand *operands, int *count)
{
	const struct net_node *of = &planner->net->nodes[node];
	int iterations = (int)div_up(planner->options->batch, group->sub_batch);
	struct operand operand = { .policy = sums ? &group->wgrad[node] : &group->weight[node], .channels = of->out.channels };
	bool gradient;
	int at = *count;

	operand.passes = count_uses(planner, group, node, sums, &gradient) * iterations;
	if (!operand.passes)
		return;
	operand.bytes = (uint64_t)net_parameters(of) * (sums ? 4 : 2);
	if (of->op != NET_GN && (sums || !gradient || planner->sliced_gradients))
		operand.unit = slice_unit(planner, of, sums ? 4 : 2, slice_side(planner, sums, gradient, narrow));
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
		if (!net_parameters(&planner->net->nodes[i]))
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

// Everything resident, or, if that does not fit, everything as fine as allowed; *resident: which.
static int try_extremes(struct planner *planner, struct sched_group *group, struct operand *operands, int count, bool *resident)
{
	int rc;

	all_resident(operands, count);
	rc = try_fit(planner, group);
	*resident = rc != PLAN_NO_FIT;
	if (*resident)
		return rc;
	for (int i = 0; i < count; i++)
		*operands[i].policy = (struct sched_policy){ .slice = operands[i].unit };
	return try_fit(planner, group);
}

int policy_try(struct planner *planner, struct sched_group *group, bool narrow)
{
	int count, rc;
	struct operand *operands = list_operands(planner, group, narrow, &count);
	bool resident;

	if (!operands)
		return wc_fail(planner->err, WC_ERR_SYSTEM, "out of memory");
	rc = try_extremes(planner, group, operands, count, &resident);
	free(operands);
	return rc;
}

int policy_choose(struct planner *planner, struct sched_group *group, bool narrow, bool *settled)
{
	int count, rc;
	struct operand *operands = list_operands(planner, group, narrow, &count);

	if (!operands)
		return wc_fail(planner->err, WC_ERR_SYSTEM, "out of memory");
	rc = try_extremes(planner, group, operands, count, settled);
	if (!*settled) {
		for (int i = 0; !rc && i < count; i++)
			rc = improve(planner, group, &operands[i]);
		*settled = true;
		for (int i = 0; i < count; i++)
			*settled &= operands[i].passes == 1 || operands[i].policy->resident;
	}
	free(operands);
	return rc;
}
