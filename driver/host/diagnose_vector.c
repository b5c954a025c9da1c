// SPDX-License-Identifier: Apache-2.0
//
// A wrong result of the vector unit: its operands first, then the command again on a second device.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "driver/host/diagnose_internal.h"
#include "driver/host/replay.h"

static uint64_t end_of(const struct op_rows *rows)
{
	const uint64_t last = rows->first + (op_rows_runs(rows) - 1) * (op_rows_runs(rows) > 1 ? rows->run_step : 0) + rows->run - 1;

	return op_rows_address(rows, rows->sample_first + rows->sample_count - 1, rows->lo + (op_rows_count(rows) - 1) * rows->row_step,
			       rows->vector_first + rows->vector_count - 1, last) +
	       (last * (uint64_t)rows->bits % 8 + (uint64_t)rows->bits + 7) / 8;
}

// Whether a result was written over the operand.
static bool is_overwritten(const struct op *op, const struct op_rows *operand)
{
	for (int i = 0; i < op->result_count; i++)
		if (op->results[i].base < end_of(operand) && operand->base < end_of(&op->results[i]))
			return true;
	return false;
}

// Elements of a vector, each with its golden value.
typedef bool each_element(void *context, const struct op_rows *rows, const struct mismatch_element *element, uint32_t expected);

static bool walk_vector(const struct diagnose_context *context, const struct op_rows *rows, int sample, int row, int vector, each_element *each, void *argument)
{
	const uint8_t *golden = expect_values(context->expect, &rows->value, sample, row, vector, NULL);

	// What the golden model no longer has is not judged.
	for (uint64_t i = 0; golden && i < rows->count; i++) {
		const uint64_t at = rows->first + i / rows->run * rows->run_step + i % rows->run;
		struct mismatch_element element;

		if (at % (uint64_t)rows->step)
			continue;
		element = mismatch_element_at(context->program->net, &rows->value, sample, row, vector, at);
		if (!each(argument, rows, &element, value_bits(golden, rows->bits, at)))
			return false;
	}
	return true;
}

static bool walk(const struct diagnose_context *context, const struct op_rows *rows, each_element *each, void *argument)
{
	for (int sample = rows->sample_first; sample < rows->sample_first + rows->sample_count; sample++)
		for (int row = rows->lo; row < rows->hi; row += rows->row_step)
			for (int i = 0; i < rows->vector_count; i++)
				if (!walk_vector(context, rows, sample, row, rows->vector_first + i, each, argument))
					return false;
	return true;
}

struct judgement {
	const struct diagnose_context *context;
	struct diagnosis *diagnosis;
};

static bool judge(void *argument, const struct op_rows *rows, const struct mismatch_element *element, uint32_t expected)
{
	const struct judgement *judgement = argument;
	const uint64_t address = diagnose_rows_address(rows, element);
	const uint32_t got = diagnose_value(rows, element, judgement->context->buffer + address);
	char name[256];

	if (got == expected)
		return true;
	mismatch_element_name(judgement->context->program->net, element, name, sizeof(name));
	diagnosis_at(judgement->diagnosis, STAGE_BUFFER, address);
	diagnosis_say(judgement->diagnosis, "operand in the global buffer: %s at address 0x%" PRIx64 " is 0x%04" PRIx32 ", expected 0x%04" PRIx32, name, address,
		      got, expected);
	return false;
}

static bool restore(void *argument, const struct op_rows *rows, const struct mismatch_element *element, uint32_t expected)
{
	uint8_t *buffer = argument;

	// In place there are no fields of bits.
	memcpy(buffer + diagnose_rows_address(rows, element), &expected, (size_t)rows->bits / 8);
	return true;
}

static const struct op_rows *result_with(const struct op *op, const struct mismatch_element *element)
{
	for (int i = 0; i < op->result_count; i++)
		if (op->results[i].value.kind == element->value.kind && op->results[i].value.node == element->value.node &&
		    op_rows_hold(&op->results[i], element->sample, element->y, element->vector, element->at))
			return &op->results[i];
	return &op->results[0];
}

static void replay(const struct diagnose_context *context, const struct mismatch *mismatch, uint8_t *before, bool in_place, struct diagnosis *diagnosis)
{
	const struct op_rows *made = result_with(&mismatch->op, &mismatch->element);
	const struct wc_fault *planted = &context->fault->device;
	const bool here = planted->kind == WC_FAULT_LANE && planted->core == mismatch->core && planted->command == mismatch->command;
	struct replay replay;
	struct wc_error err;

	if (replay_run(&replay, context->device, context->seed, mismatch->core, before, &mismatch->op.command, 0, 0, here ? planted : NULL, &err)) {
		diagnosis->stage = STAGE_NOT_REPRODUCED;
		diagnosis_say(diagnosis, "no replay: %s", err.text);
		return;
	}
	if (diagnose_value(made, &mismatch->element, replay.buffer + diagnose_rows_address(made, &mismatch->element)) != mismatch->expected) {
		diagnosis->stage = STAGE_VECTOR;
		diagnosis_say(diagnosis, "vector unit: its operands are right, and a replay gives the same kind of error");
	} else {
		diagnosis->stage = STAGE_NOT_REPRODUCED;
		diagnosis_say(diagnosis, "not reproduced: from right operands the vector unit gives the right result");
		if (in_place)
			diagnosis_say(diagnosis, "its source, overwritten in place, changed in the global buffer after its own result was checked, or the fault was passing");
	}
	replay_release(&replay);
}

void diagnose_vector(const struct diagnose_context *context, const struct mismatch *mismatch, struct diagnosis *diagnosis)
{
	const struct op *op = &mismatch->op;
	const uint32_t bytes = context->device->params.buffer_bytes;
	struct judgement judgement = {context, diagnosis};
	bool in_place = false;
	uint8_t *before;

	for (int i = 0; i < op->operand_count; i++)
		if (!is_overwritten(op, &op->operands[i]) && !walk(context, &op->operands[i], judge, &judgement))
			return;
	before = wc_alloc(bytes, 1);
	if (!before)
		return;
	memcpy(before, context->buffer, bytes);
	// In place the source is gone; the golden one takes its place.
	for (int i = 0; i < op->operand_count; i++)
		if (is_overwritten(op, &op->operands[i])) {
			in_place = true;
			walk(context, &op->operands[i], restore, before);
		}
	replay(context, mismatch, before, in_place, diagnosis);
	wc_free(before);
}
