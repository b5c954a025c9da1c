// SPDX-License-Identifier: Apache-2.0
//
// Group normalization: sums over the rows of a sample become statistics, forward, or sums for the gradient; they go through DRAM.
#include "driver/plan/device/expand.h"

static const struct rows one = { 0, 1 };

// A slab of vectors of the present samples, loaded; a negative error.
static int load_vectors(struct expansion *x, enum slab_kind kind, int node)
{
	const int slab = expand_map_slab(x, kind, node, one);
	const int rc = slab < 0 ? slab : expand_slab_transfer(x, STEP_LOAD, slab);

	return rc ? rc : slab;
}

// Gamma and, for the operator itself, beta: resident or loaded. `rows` 0:1 is gamma, 1:2 beta.
static int load_parameters(struct expansion *x, int node, bool beta)
{
	int slab = x->resident_weight[node], rc;

	if (slab >= 0)
		return slab;
	slab = expand_vector_slab(x, beta ? SLAB_PARAMETERS : SLAB_GAMMA, node);
	rc = slab < 0 ? slab : expand_weight_transfer(x, STEP_LOAD, slab);
	return rc ? rc : slab;
}

int expand_norm_forward(struct expansion *x, const struct sched_statement *statement, struct step step)
{
	const int node = statement->node;
	int rc = 0;

	// Without `statistics` before, the operator makes its own.
	if (x->group->phase == SCHED_FORWARD && !x->has_statistics[node])
		rc = expand_statistics(x, node, (struct rows){ statement->lo, statement->hi });
	if (rc)
		return rc;
	step.vectors = load_vectors(x, SLAB_STATISTICS, node);
	step.parameters = step.vectors < 0 ? -1 : load_parameters(x, node, true);
	if (step.vectors < 0 || step.parameters < 0)
		return step.vectors < 0 ? step.vectors : step.parameters;
	return expand_step(x, step);
}

int expand_norm_gradient(struct expansion *x, const struct sched_statement *statement, struct step step)
{
	int rc = x->has_statistics[step.node] ? 0 : expand_statistics(x, step.node, (struct rows){ statement->lo, statement->hi });

	if (rc)
		return rc;
	step.vectors = load_vectors(x, SLAB_STATISTICS, step.node);
	step.sums = step.vectors < 0 ? -1 : load_vectors(x, SLAB_SUMS, step.node);
	step.parameters = step.sums < 0 ? -1 : load_parameters(x, step.node, false);
	if (step.parameters < 0)
		return step.vectors < 0 ? step.vectors : step.sums < 0 ? step.sums : step.parameters;
	return expand_step(x, step);
}

// The gradients of gamma and beta, in the statement that makes the sums.
static int combine_backward(struct expansion *x, struct step combine)
{
	const int resident = x->resident_sums[combine.node];
	int rc = expand_count_cut(x, combine.node, &combine);

	if (rc)
		return rc;
	combine.parameters = resident >= 0 ? resident : expand_vector_slab(x, SLAB_PARAMETERS_WGRAD, combine.node);
	if (combine.parameters < 0)
		return combine.parameters;
	if (resident < 0 && !combine.first_cut)
		rc = expand_weight_transfer(x, STEP_LOAD, combine.parameters);
	if (!rc)
		rc = expand_step(x, combine);
	if (!rc && resident < 0)
		rc = expand_weight_transfer(x, STEP_STORE, combine.parameters);
	return rc ? rc : expand_slab_transfer(x, STEP_STORE, combine.result);
}

// What the partial sums of these rows need beside the tensors.
static int prepare(struct expansion *x, struct step *sums, int height)
{
	const bool forward = x->group->phase == SCHED_FORWARD, all = sums->lo == 0 && sums->hi == height;

	if (forward && all)
		return 0;
	if (forward) {
		sums->mask = sums->lo > 0 ? load_vectors(x, SLAB_SHIFT, sums->node) : expand_map_slab(x, SLAB_SHIFT, sums->node, one);
		return sums->mask < 0 ? sums->mask : 0;
	}
	sums->vectors = load_vectors(x, SLAB_STATISTICS, sums->node);
	if (sums->vectors < 0)
		return sums->vectors;
	sums->parameters = load_parameters(x, sums->node, false);
	return sums->parameters < 0 ? sums->parameters : 0;
}

static int make_sums(struct expansion *x, int node, struct rows rows)
{
	const bool forward = x->group->phase == SCHED_FORWARD;
	const int height = x->net->nodes[node].out.height, input = x->net->nodes[node].inputs[0];
	const bool last = x->counted[node] + rows_count(rows) == height;
	struct step sums = step_make(STEP_ROW_SUMS, node, rows.lo, rows.hi), combine = step_make(STEP_COMBINE, node, 0, height);
	int rc = 0;

	x->counted[node] += rows_count(rows);
	sums.source = expand_read(x, SCHED_ACT, input, rows, &rc);
	if (!forward)
		sums.operand = expand_read(x, SCHED_GRAD, node, rows, &rc);
	if (!rc)
		rc = prepare(x, &sums, height);
	if (rc)
		return rc;
	sums.result = expand_map_slab(x, forward ? SLAB_ROW_STATISTICS : SLAB_ROW_SUMS, node, last ? (struct rows){ 0, height } : rows);
	if (sums.result < 0)
		return sums.result;
	if (last)
		rc = expand_rows_transfer(x, STEP_LOAD, sums.result, (struct rows){ 0, rows.lo });
	if (!rc && last)
		rc = expand_rows_transfer(x, STEP_LOAD, sums.result, (struct rows){ rows.hi, height });
	if (!rc)
		rc = expand_step(x, sums);
	if (!rc && !last && forward && rows.lo == 0)
		rc = expand_slab_transfer(x, STEP_STORE, sums.mask);
	if (rc || !last)
		return rc ? rc : expand_rows_transfer(x, STEP_STORE, sums.result, rows);
	combine.source = sums.result;
	combine.mask = sums.mask;
	// What no slab has been shifted by is still in the input.
	if (forward && sums.mask < 0)
		combine.operand = sums.source;
	combine.result = expand_map_slab(x, forward ? SLAB_STATISTICS : SLAB_SUMS, node, one);
	if (combine.result < 0)
		return combine.result;
	if (!forward)
		return combine_backward(x, combine);
	rc = expand_step(x, combine);
	return rc ? rc : expand_slab_transfer(x, STEP_STORE, combine.result);
}

int expand_statistics(struct expansion *x, int node, struct rows rows)
{
	const int first = x->program->step_count, slab_first = x->program->slab_count;
	const int rc = make_sums(x, node, rows);

	// The room is for all that it takes, from its first step to its last.
	for (int i = slab_first; !rc && i < x->program->slab_count; i++)
		expand_hold(x, i, first, x->program->step_count - 1);
	return rc;
}
