// SPDX-License-Identifier: Apache-2.0
//
// The update of the parameters, in blocks of an array: gradients in, masters and momenta in and out, fp16 weights out.
#include "driver/plan/device/expand.h"

// The most elements of a block, and the bytes that each takes in the buffer.
enum { BLOCK_MAX = 4096, ELEMENT_BYTES = 18 };

int expand_update_block(const struct schedule *schedule)
{
	int block = BLOCK_MAX;

	while (block > 1 && (uint32_t)(block * ELEMENT_BYTES) > schedule->buffer_bytes)
		block /= 2;
	return block;
}

// `vectors` of the elements, each padded to the bus.
static int element_slab(struct expansion *x, enum slab_kind kind, struct step step, int element_bytes, int vectors)
{
	const struct slab slab = { .kind = kind, .node = step.node, .lo = step.lo, .hi = step.hi, .array = (enum parameter_array)step.part };
	const uint64_t bytes = round_up((uint64_t)(step.hi - step.lo) * (uint64_t)element_bytes, x->schedule->bus_bytes);

	return expand_slab(x, &slab, (uint64_t)vectors * bytes);
}

int expand_update(struct expansion *x, int node, enum parameter_array array, struct rows elements)
{
	struct step step = step_make(STEP_UPDATE, node, elements.lo, elements.hi);
	int rc;

	step.part = (int)array;
	step.source = element_slab(x, SLAB_UPDATE_GRADIENT, step, 4, 1);
	if (step.source < 0)
		return step.source;
	step.operand = element_slab(x, SLAB_UPDATE_STATE, step, 4, 2);
	if (step.operand < 0)
		return step.operand;
	step.result = element_slab(x, SLAB_UPDATE_WEIGHT, step, 2, 1);
	if (step.result < 0)
		return step.result;
	rc = expand_slab_transfer(x, STEP_LOAD, step.source);
	if (!rc)
		rc = expand_slab_transfer(x, STEP_LOAD, step.operand);
	if (!rc)
		rc = expand_step(x, step);
	if (!rc)
		rc = expand_slab_transfer(x, STEP_STORE, step.operand);
	return rc ? rc : expand_slab_transfer(x, STEP_STORE, step.result);
}
