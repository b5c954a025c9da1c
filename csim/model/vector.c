// SPDX-License-Identifier: Apache-2.0
//
// VECTOR: element-wise work on rows of fp16 in the global buffer. It shares no code with the golden ReLU, against which it is compared.
#include "csim/model/model.h"

enum { OP_RELU = 0, OP_RELU_GRAD_MASK = 1, OP_RELU_GRAD_OUT = 2 };
enum { FLAG_MASK = 1 };

static uint16_t get_half(const uint8_t *bytes, uint32_t element)
{
	return (uint16_t)(bytes[2 * element] | bytes[2 * element + 1] << 8);
}

static void put_half(uint8_t *bytes, uint32_t element, uint16_t half)
{
	bytes[2 * element] = (uint8_t)half;
	bytes[2 * element + 1] = (uint8_t)(half >> 8);
}

// Greater than zero, or not a number: every positive pattern but +0, and the negative ones above -infinity.
static bool passes(uint16_t half)
{
	return (half > 0 && half < 0x8000) || half > 0xfc00;
}

static uint16_t canonical(uint16_t half)
{
	return (half & 0x7fff) > 0x7c00 ? 0x7e00 : half;
}

static bool mask_bit(const uint8_t *mask, uint32_t element)
{
	return mask[element / 8] >> element % 8 & 1;
}

static void put_mask_bit(uint8_t *mask, uint32_t element, bool bit)
{
	if (element % 8 == 0)
		mask[element / 8] = 0;
	mask[element / 8] |= (uint8_t)(bit << element % 8);
}

// The element of a row that a planted fault breaks; at least `count`: none. `first` vectors, each a line of the buffer, were written before.
static uint64_t struck_element(struct wc_model *model, uint32_t index, uint64_t first, uint32_t count)
{
	const struct wc_fault *fault = &model->fault;
	uint64_t vector = (uint64_t)fault->row - first, lane = (uint64_t)fault->column, lanes = wc_device_lanes(&model->base.params);

	if ((uint64_t)fault->row < first || vector * lanes >= count || lane >= lanes || !model_fault_strikes(model, WC_FAULT_LANE, index))
		return count;
	return vector * lanes + lane;
}

static model_result work_row(struct wc_model *model, const struct wc_vector_command *command, uint32_t src, uint32_t aux, uint32_t dst, uint64_t struck)
{
	uint32_t count = command->row_elements;
	uint64_t bytes = 2 * (uint64_t)count;
	bool uses_aux = command->op != OP_RELU || (command->flags & FLAG_MASK);
	uint64_t aux_bytes = command->op == OP_RELU_GRAD_OUT ? bytes : (count + (uint64_t)7) / 8;
	uint8_t *buffer = model->buffer;

	if (!model_in_buffer(model, src, bytes) || !model_in_buffer(model, dst, bytes) || (uses_aux && !model_in_buffer(model, aux, aux_bytes)))
		return WC_STATUS_BUFFER_RANGE;
	for (uint32_t i = 0; i < count; i++) {
		uint16_t value = get_half(buffer + src, i);
		bool pass;

		if (command->op == OP_RELU) {
			pass = passes(value);
			if (uses_aux)
				put_mask_bit(buffer + aux, i, pass);
		} else if (command->op == OP_RELU_GRAD_MASK) {
			pass = mask_bit(buffer + aux, i);
		} else {
			pass = passes(get_half(buffer + aux, i));
		}
		value = pass ? canonical(value) : 0;
		if (i == struck)
			value ^= (uint16_t)(1u << model->fault.bit % 16);
		put_half(buffer + dst, i, value);
	}
	return 0;
}

model_result model_vector(struct wc_model *model, const struct wc_vector_command *command, uint32_t index)
{
	uint32_t lanes = wc_device_lanes(&model->base.params);
	uint64_t row = 0, row_vectors = ((uint64_t)command->row_elements + lanes - 1) / lanes;

	for (uint32_t i2 = 0; i2 < command->count2; i2++)
		for (uint32_t i1 = 0; i1 < command->count1; i1++, row++) {
			model_result result = work_row(model, command, command->src_base + i1 * command->src_stride1 + i2 * command->src_stride2,
			                               command->aux_base + i1 * command->aux_stride1 + i2 * command->aux_stride2,
			                               command->dst_base + i1 * command->dst_stride1 + i2 * command->dst_stride2,
			                               struck_element(model, index, row * row_vectors, command->row_elements));

			if (result)
				return result;
		}
	return 0;
}
