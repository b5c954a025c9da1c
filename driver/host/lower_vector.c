// SPDX-License-Identifier: Apache-2.0
//
// ReLU and its gradient: one VECTOR command a step, rows of W C elements, rows within samples.
#include <assert.h>

#include "driver/host/lower_internal.h"

enum { VECTOR_RELU, VECTOR_RELU_GRAD_MASK, VECTOR_RELU_GRAD_OUT };
enum { RELU_WRITES_MASK = 1 }; // flags bit 0

struct rows_of {
	int64_t base, stride1, stride2, end;
};

// The step's rows of a slab, `row_bytes` used of each.
static struct rows_of rows_of(const struct step *from, const struct slab *slab)
{
	const struct rows_of rows = {
		.base = slab_row(slab, from->sample_first, from->lo),
		.stride1 = slab->pitch_bytes,
		.stride2 = (int64_t)(slab->hi - slab->lo) * slab->pitch_bytes,
		.end = slab_row(slab, from->sample_first + from->sample_count - 1, from->hi - 1) + slab->pitch_bytes,
	};

	assert(from->lo >= slab->lo && from->hi <= slab->hi);
	return rows;
}

static int vector(struct lower *lower, struct op *op, int vector_op, const struct slab *source, const struct slab *aux,
		  bool aux_written, const struct slab *result, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[op->step];
	const struct net_shape *shape = &lower->program->net->nodes[op->tensor].out;
	const struct rows_of src = rows_of(from, source);
	const struct rows_of dst = rows_of(from, result);
	struct wc_vector_command *command = &op->command.vector;
	int failed;

	if ((failed = lower_check(lower, op->node, "rows of a vector command", from->hi - from->lo, 1, UINT16_MAX, err)) ||
	    (failed = lower_check(lower, op->node, "samples of a vector command", from->sample_count, 1, UINT16_MAX, err)))
		return failed;
	command->op = (uint8_t)vector_op;
	command->row_elements = (uint32_t)shape->width * (uint32_t)shape->channels;
	command->count1 = (uint16_t)(from->hi - from->lo);
	command->count2 = (uint16_t)from->sample_count;
	command->src_base = (uint32_t)src.base;
	command->src_stride1 = (uint32_t)src.stride1;
	command->src_stride2 = (uint32_t)src.stride2;
	command->dst_base = (uint32_t)dst.base;
	command->dst_stride1 = (uint32_t)dst.stride1;
	command->dst_stride2 = (uint32_t)dst.stride2;
	lower_access(op, DEPEND_BUFFER, false, src.base, src.end);
	lower_access(op, DEPEND_BUFFER, true, dst.base, dst.end);
	if (aux) {
		const struct rows_of rows = rows_of(from, aux);

		command->aux_base = (uint32_t)rows.base;
		command->aux_stride1 = (uint32_t)rows.stride1;
		command->aux_stride2 = (uint32_t)rows.stride2;
		lower_access(op, DEPEND_BUFFER, aux_written, rows.base, rows.end);
	}
	return lower_finish(lower, op, WC_OP_VECTOR, err);
}

int lower_relu(struct lower *lower, int step, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct slab *mask = from->mask < 0 ? NULL : lower_slab(lower, from->mask);
	struct op *op = lower_push(lower, step, OP_RELU, err);

	if (!op)
		return WC_ERR_SYSTEM;
	op->store = LAYOUT_ACT;
	op->tensor = from->node;
	op->command.vector.flags = mask ? RELU_WRITES_MASK : 0;
	return vector(lower, op, VECTOR_RELU, lower_slab(lower, from->source), mask, true, lower_slab(lower, from->result), err);
}

int lower_relu_gradient(struct lower *lower, int step, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct slab *aux = lower_slab(lower, from->operand);
	struct op *op = lower_push(lower, step, OP_RELU_GRADIENT, err);

	if (!op)
		return WC_ERR_SYSTEM;
	op->store = LAYOUT_GRAD;
	op->tensor = lower->program->net->nodes[from->node].inputs[0];
	return vector(lower, op, aux->kind == SLAB_MASK ? VECTOR_RELU_GRAD_MASK : VECTOR_RELU_GRAD_OUT, lower_slab(lower, from->source), aux,
		      false, lower_slab(lower, from->result), err);
}
