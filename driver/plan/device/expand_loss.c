// SPDX-License-Identifier: Apache-2.0
//
// The loss of the core's samples: logits and labels in, losses and the gradient of the logits out.
#include "driver/plan/device/expand.h"

// Of a sample, in the buffer.
enum { LABEL_BYTES = 4, LOSS_BYTES = 4, SOFTMAX_BYTES = 12 };

static int sample_slab(struct expansion *x, enum slab_kind kind, int node, int sample_bytes)
{
	const struct slab slab = { .kind = kind, .node = node, .lo = x->sample_first, .hi = x->sample_first + x->sample_count };

	return expand_slab(x, &slab, round_up((uint64_t)x->sample_count * (uint64_t)sample_bytes, x->schedule->bus_bytes));
}

static int make_slabs(struct expansion *x, struct step *step, int output)
{
	const struct rows rows = { 0, x->net->nodes[output].out.height };

	step->source = expand_map_slab(x, SLAB_ACT, output, rows);
	if (step->source < 0)
		return step->source;
	step->operand = sample_slab(x, SLAB_LABELS, step->node, LABEL_BYTES);
	if (step->operand < 0)
		return step->operand;
	step->result = expand_map_slab(x, SLAB_GRAD, output, rows);
	if (step->result < 0)
		return step->result;
	step->vectors = sample_slab(x, SLAB_SOFTMAX, step->node, SOFTMAX_BYTES);
	if (step->vectors < 0)
		return step->vectors;
	step->sums = sample_slab(x, SLAB_LOSSES, step->node, LOSS_BYTES);
	return step->sums < 0 ? step->sums : 0;
}

int expand_loss(struct expansion *x, int loss)
{
	struct step step = step_make(STEP_LOSS, loss, x->sample_first, x->sample_first + x->sample_count);
	int rc = make_slabs(x, &step, x->net->nodes[loss].inputs[0]);

	if (!rc)
		rc = expand_slab_transfer(x, STEP_LOAD, step.source);
	if (!rc)
		rc = expand_slab_transfer(x, STEP_LOAD, step.operand);
	if (!rc)
		rc = expand_step(x, step);
	if (!rc)
		rc = expand_slab_transfer(x, STEP_STORE, step.result);
	return rc ? rc : expand_slab_transfer(x, STEP_STORE, step.sums);
}
