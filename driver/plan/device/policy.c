// SPDX-License-Identifier: Apache-2.0
//
// How weights and weight gradients pass through the buffer. Everything resident moves the fewest bytes; if
// that does not fit, everything is cut as finely as allowed; then, the largest operand first, made resident
// as far as the buffer has room; and then the others made whole, or coarser again.
#include "driver/plan/device/fit.h"
#include "driver/plan/device/planner.h"
#include "driver/plan/device/use.h"

#include <stdlib.h>

enum {
	FINE_PARTS = 128,
	FAILURES_MAX = 8,
};

struct operand {
	struct sched_policy *policy;
	int node;
	int channels;     // of the convolution's output
	int unit;         // slices are multiples of it; 0: never sliced
	int fine;         // the slice from which it starts
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
// array's columns (weights) or rows (sums). Of several groups those of one, which alone fills the array.
static int slice_side(const struct planner *planner, const struct net_node *conv, bool sums, bool gradient, bool narrow)
{
	const struct plan_options *options = planner->options;
	const int side = narrow ? 1 : sums ? options->rows : options->cols;

	if (conv->conv.groups > 1)
		return conv->out.channels / conv->conv.groups;
	return gradient && !sums ? lcm(side, options->rows) : side;
}

static void add_operand(struct planner *planner, struct sched_group *group, int node, bool sums, bool narrow, struct operand *operands, int *count)
{
	const struct net_node *of = &planner->net->nodes[node];
	int iterations = (int)div_up(planner->options->batch, group->sub_batch);
	struct operand operand = { .policy = sums ? &group->wgrad[node] : &group->weight[node], .node = node, .channels = of->out.channels };
	bool gradient;
	int at = *count;

	operand.passes = count_uses(planner, group, node, sums, &gradient) * iterations;
	if (!operand.passes)
		return;
	operand.bytes = (uint64_t)net_parameters(of) * (sums ? 4 : 2);
	if (of->op != NET_GN && (sums || !gradient || (planner->sliced_gradients && of->conv.groups == 1)))
		operand.unit = slice_unit(planner, of, sums ? 4 : 2, slice_side(planner, of, sums, gradient, narrow));
	// Largest saving first: a pass over sums that are streamed reads and writes.
	for (; at > 0 && operands[at - 1].bytes < operand.bytes; at--)
		operands[at] = operands[at - 1];
	operands[at] = operand;
	++*count;
}

static int try_fit(struct planner *planner, struct sched_group *group, struct fit *fit)
{
	int rc = fit_group(planner->schedule, group, planner->net, fit, planner->err);

	return rc == WC_ERR_INPUT ? PLAN_NO_FIT : rc;
}

static struct sched_policy fine_policy(const struct operand *operand)
{
	return (struct sched_policy){ .slice = operand->fine };
}

// So many units that a slice is a small part of the buffer: finer ones only make more steps, and more work for the planner.
static int fine_slice(const struct planner *planner, const struct operand *operand)
{
	const uint64_t unit_bytes = operand->bytes / (uint64_t)operand->channels * (uint64_t)operand->unit;
	const uint64_t units = unit_bytes ? planner->schedule->buffer_bytes / FINE_PARTS / unit_bytes : 0;

	if (units * (uint64_t)operand->unit >= (uint64_t)operand->channels)
		return 0;
	return operand->unit * (int)(units ? units : 1);
}

// What is resident lives at the fullest step as well, where the operand takes no part yet.
static bool is_too_large(const struct planner *planner, const struct operand *operand, const struct fit *fit)
{
	return fit->node != operand->node && fit->live_bytes + operand->bytes > planner->schedule->buffer_bytes;
}

// Make operands resident that the group uses more than once, as long as it fits while the others stay. `fit` is that of the group as it is.
static int keep_resident(struct planner *planner, struct sched_group *group, struct operand *operands, int count, struct fit *fit)
{
	int failures = 0; // one after the other: what is left is smaller, and saves less

	for (int i = 0; i < count && failures < FAILURES_MAX; i++) {
		struct fit trial;
		int rc;

		if (operands[i].passes == 1 || is_too_large(planner, &operands[i], fit))
			continue;
		*operands[i].policy = (struct sched_policy){ .resident = true };
		rc = try_fit(planner, group, &trial);
		if (rc < 0)
			return rc;
		failures = rc == PLAN_NO_FIT ? failures + 1 : 0;
		if (rc == PLAN_NO_FIT)
			*operands[i].policy = fine_policy(&operands[i]);
		else
			*fit = trial;
	}
	return 0;
}

// Half as many units again and again, until it fits.
static int halve(struct planner *planner, struct sched_group *group, struct operand *operand)
{
	const int unit = operand->unit;

	for (int slice = operand->channels / 2 / unit * unit; slice > operand->fine; slice = slice / 2 / unit * unit) {
		struct fit fit;
		int rc;

		*operand->policy = (struct sched_policy){ .slice = slice };
		rc = try_fit(planner, group, &fit);
		if (rc != PLAN_NO_FIT)
			return rc;
	}
	*operand->policy = fine_policy(operand);
	return 0;
}

// Give each operand that is as fine as allowed the coarsest slice that fits while those before it keep theirs. Slices live in their own layer's
// steps alone, so that many are tried at once.
static int coarsen(struct planner *planner, struct sched_group *group, struct operand *operands, int count)
{
	const int half = count / 2;
	bool changes = false;
	struct fit fit;
	int rc;

	for (int i = 0; i < count; i++)
		if (operands[i].fine && !operands[i].policy->resident) {
			*operands[i].policy = (struct sched_policy){ .slice = 0 };
			changes = true;
		}
	if (!changes)
		return 0;
	rc = try_fit(planner, group, &fit);
	if (rc != PLAN_NO_FIT)
		return rc;
	if (count == 1)
		return halve(planner, group, operands);
	for (int i = 0; i < count; i++)
		if (!operands[i].policy->resident)
			*operands[i].policy = fine_policy(&operands[i]);
	rc = coarsen(planner, group, operands, half);
	return rc ? rc : coarsen(planner, group, operands + half, count - half);
}

// All that the group uses resident, if it is used more than once.
static void all_resident(struct operand *operands, int count)
{
	for (int i = 0; i < count; i++)
		*operands[i].policy = (struct sched_policy){ .resident = operands[i].passes > 1 };
}

static void all_fine(struct operand *operands, int count)
{
	for (int i = 0; i < count; i++)
		*operands[i].policy = fine_policy(&operands[i]);
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

// Everything resident, or, if that does not fit, everything in fine slices, or as fine as allowed; *resident: whether the first.
static int try_extremes(struct planner *planner, struct sched_group *group, struct operand *operands, int count, bool *resident, struct fit *fit)
{
	int rc;

	all_resident(operands, count);
	rc = try_fit(planner, group, fit);
	*resident = rc != PLAN_NO_FIT;
	if (*resident)
		return rc;
	for (int i = 0; i < count; i++)
		operands[i].fine = fine_slice(planner, &operands[i]);
	all_fine(operands, count);
	rc = try_fit(planner, group, fit);
	if (rc != PLAN_NO_FIT)
		return rc;
	for (int i = 0; i < count; i++)
		operands[i].fine = operands[i].unit;
	all_fine(operands, count);
	return try_fit(planner, group, fit);
}

int policy_try(struct planner *planner, struct sched_group *group, bool narrow)
{
	int count, rc;
	struct operand *operands = list_operands(planner, group, narrow, &count);
	struct fit fit;
	bool resident;

	if (!operands)
		return wc_fail(planner->err, WC_ERR_SYSTEM, "out of memory");
	rc = try_extremes(planner, group, operands, count, &resident, &fit);
	free(operands);
	return rc;
}

int policy_choose(struct planner *planner, struct sched_group *group, bool narrow, bool *settled)
{
	int count, rc;
	struct operand *operands = list_operands(planner, group, narrow, &count);
	struct fit fit;

	if (!operands)
		return wc_fail(planner->err, WC_ERR_SYSTEM, "out of memory");
	rc = try_extremes(planner, group, operands, count, settled, &fit);
	if (!*settled) {
		if (!rc)
			rc = keep_resident(planner, group, operands, count, &fit);
		if (!rc && count)
			rc = coarsen(planner, group, operands, count);
		*settled = true;
		for (int i = 0; i < count; i++)
			*settled &= operands[i].passes == 1 || operands[i].policy->resident;
	}
	free(operands);
	return rc;
}
