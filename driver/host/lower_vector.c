// SPDX-License-Identifier: Apache-2.0
//
// ReLU and its gradient: one VECTOR command a step, rows of W C elements, rows within samples.
#include "driver/host/lower_internal.h"

enum { VECTOR_RELU, VECTOR_RELU_GRAD_MASK, VECTOR_RELU_GRAD_OUT };
enum { RELU_WRITES_MASK = 1 }; // flags bit 0

// The rows of a slab that the step works on.
static struct op_rows step_rows(const struct lower *lower, const struct step *from, int slab, struct value value)
{
	return lower_rows(lower, from, slab, (struct rows){from->lo, from->hi}, value);
}

static int vector(struct lower *lower, struct op *op, int vector_op, struct op_rows source, struct op_rows result, const struct op_rows *aux,
		  struct wc_error *err)
{
	struct wc_vector_command *command = &op->command.vector;
	int failed;

	if ((failed = lower_check(lower, op->node, "rows of a vector command", result.hi - result.lo, 1, UINT16_MAX, err)) ||
	    (failed = lower_check(lower, op->node, "samples of a vector command", result.sample_count, 1, UINT16_MAX, err)))
		return failed;
	op->value = result.value;
	command->op = (uint8_t)vector_op;
	command->row_elements = (uint32_t)result.count;
	command->count1 = (uint16_t)(result.hi - result.lo);
	command->count2 = (uint16_t)result.sample_count;
	command->src_base = (uint32_t)source.base;
	command->src_stride1 = (uint32_t)source.row_stride;
	command->src_stride2 = (uint32_t)source.sample_stride;
	command->dst_base = (uint32_t)result.base;
	command->dst_stride1 = (uint32_t)result.row_stride;
	command->dst_stride2 = (uint32_t)result.sample_stride;
	if (aux) {
		command->aux_base = (uint32_t)aux->base;
		command->aux_stride1 = (uint32_t)aux->row_stride;
		command->aux_stride2 = (uint32_t)aux->sample_stride;
	}
	lower_reads(op, source);
	lower_writes(op, result);
	return 0;
}

int lower_relu(struct lower *lower, int step, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct op_rows source = step_rows(lower, from, from->source, lower_value(lower, from, from->source));
	const struct op_rows made = step_rows(lower, from, from->result, lower_value(lower, from, from->result));
	struct op *op = lower_push(lower, step, OP_RELU, err);
	struct op_rows mask;
	int result;

	if (!op)
		return WC_ERR_SYSTEM;
	if (from->mask >= 0)
		mask = step_rows(lower, from, from->mask, lower_value(lower, from, from->mask));
	op->command.vector.flags = from->mask >= 0 ? RELU_WRITES_MASK : 0;
	result = vector(lower, op, VECTOR_RELU, source, made, from->mask >= 0 ? &mask : NULL, err);
	if (result)
		return result;
	if (from->mask >= 0)
		lower_writes(op, mask);
	return lower_finish(lower, op, WC_OP_VECTOR, err);
}

int lower_relu_gradient(struct lower *lower, int step, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct value value = lower_made_gradient(lower, from);
	const struct op_rows source = step_rows(lower, from, from->source, lower_value(lower, from, from->source));
	const struct op_rows saved = step_rows(lower, from, from->operand, lower_value(lower, from, from->operand));
	struct op *op = lower_push(lower, step, OP_RELU_GRADIENT, err);
	int result;

	if (!op)
		return WC_ERR_SYSTEM;
	result = vector(lower, op, saved.value.kind == SLAB_MASK ? VECTOR_RELU_GRAD_MASK : VECTOR_RELU_GRAD_OUT, source,
			step_rows(lower, from, from->result, value), &saved, err);
	if (result)
		return result;
	lower_reads(op, saved);
	return lower_finish(lower, op, WC_OP_VECTOR, err);
}
