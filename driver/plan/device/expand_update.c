// SPDX-License-Identifier: Apache-2.0
//
// The reduction of the parameters' gradients over the cores, and their update, in blocks of an array: each core's gradients in, added up; masters
// and momenta in and out, fp16 weights out. Without an update, the sums out.
#include "driver/plan/device/expand.h"

// The most elements of a block, and the bytes that each takes in the buffer: of a core's gradient, and of all else.
enum { BLOCK_MAX = 4096, GRADIENT_BYTES = 4, STATE_BYTES = 14 };

int expand_update_block(const struct schedule *schedule)
{
	const int64_t element_bytes = STATE_BYTES + GRADIENT_BYTES * (int64_t)schedule->cores;
	int block = BLOCK_MAX;

	while (block > 1 && block * element_bytes > schedule->buffer_bytes)
		block /= 2;
	return block;
}

// `vectors` of the elements, each padded to the bus.
static int element_slab(struct expansion *x, struct slab slab, struct step step, int element_bytes, int vectors)
{
	const uint64_t bytes = round_up((uint64_t)(step.hi - step.lo) * (uint64_t)element_bytes, x->schedule->bus_bytes);

	slab.node = step.node;
	slab.lo = step.lo;
	slab.hi = step.hi;
	slab.array = (enum parameter_array)step.part;
	return expand_slab(x, &slab, (uint64_t)vectors * bytes);
}

// The gradient of the mini-batch, core after core: its slab or a negative error.
static int reduce(struct expansion *x, struct step step)
{
	const int sum = element_slab(x, (struct slab){ .kind = SLAB_UPDATE_GRADIENT }, step, GRADIENT_BYTES, 1);
	int rc = sum < 0 ? sum : expand_slab_transfer(x, STEP_LOAD, sum);

	step.op = STEP_REDUCE;
	step.result = sum;
	for (int core = 1; !rc && core < x->schedule->cores; core++) {
		step.source = element_slab(x, (struct slab){ .kind = SLAB_CORE_GRADIENT, .core = core }, step, GRADIENT_BYTES, 1);
		rc = step.source < 0 ? step.source : expand_slab_transfer(x, STEP_LOAD, step.source);
		if (!rc)
			rc = expand_step(x, step);
	}
	return rc ? rc : sum;
}

int expand_update(struct expansion *x, int node, enum parameter_array array, struct rows elements, bool update)
{
	struct step step = step_make(STEP_UPDATE, node, elements.lo, elements.hi);
	int rc;

	step.part = (int)array;
	step.source = reduce(x, step);
	if (step.source < 0)
		return step.source;
	if (!update)
		return expand_slab_transfer(x, STEP_STORE, step.source);
	step.operand = element_slab(x, (struct slab){ .kind = SLAB_UPDATE_STATE }, step, 4, 2);
	if (step.operand < 0)
		return step.operand;
	step.result = element_slab(x, (struct slab){ .kind = SLAB_UPDATE_WEIGHT }, step, 2, 1);
	if (step.result < 0)
		return step.result;
	rc = expand_slab_transfer(x, STEP_LOAD, step.operand);
	if (!rc)
		rc = expand_step(x, step);
	if (!rc)
		rc = expand_slab_transfer(x, STEP_STORE, step.operand);
	return rc ? rc : expand_slab_transfer(x, STEP_STORE, step.result);
}
