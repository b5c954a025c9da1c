// SPDX-License-Identifier: Apache-2.0
//
// From a difference to the stage at fault; see diagnose.h. Tiles are in diagnose_tile.c.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "driver/host/collect.h"
#include "driver/host/diagnose_internal.h"
#include "driver/host/lower_internal.h"
#include "driver/host/replay.h"

const char *diagnosis_stage_name(enum diagnosis_stage stage)
{
	static const char *const names[] = {
		[STAGE_NONE] = "none",
		[STAGE_COMMAND] = "command",
		[STAGE_PE] = "pe",
		[STAGE_BUFFER] = "buffer",
		[STAGE_PRELOAD] = "preload",
		[STAGE_FEED_A] = "feed_a",
		[STAGE_FEED_B] = "feed_b",
		[STAGE_ACCUMULATOR] = "accumulator",
		[STAGE_DRAIN] = "drain",
		[STAGE_VECTOR] = "vector",
		[STAGE_LOAD] = "load",
		[STAGE_STORE] = "store",
		[STAGE_MEMORY] = "memory",
		[STAGE_NOT_REPRODUCED] = "not_reproduced",
	};

	return names[stage];
}

void diagnosis_say(struct diagnosis *diagnosis, const char *format, ...)
{
	va_list args;

	for (size_t i = 0; i < sizeof(diagnosis->text) / sizeof(*diagnosis->text); i++)
		if (!diagnosis->text[i][0]) {
			va_start(args, format);
			vsnprintf(diagnosis->text[i], sizeof(diagnosis->text[i]), format, args);
			va_end(args);
			return;
		}
}

void diagnosis_at(struct diagnosis *diagnosis, enum diagnosis_stage stage, uint64_t address)
{
	diagnosis->stage = stage;
	diagnosis->address = address;
	diagnosis->has_address = true;
}

// Whether the ring still holds the command as the device read it: a later one may stand in its entry.
static bool command_is_there(const struct diagnose_context *context, const struct mismatch *mismatch)
{
	return mismatch->op.command.bytes[0] != 0 && context->tail - mismatch->command <= context->ring_entries;
}

// Name the first field in which two commands differ; false if they do not.
static bool command_differs(const struct diagnose_context *context, const struct mismatch *mismatch, struct diagnosis *diagnosis)
{
	const uint64_t at = context->layout->ring_base + mismatch->command % context->ring_entries * WC_COMMAND_BYTES;
	const uint8_t *lowered = mismatch->op.command.bytes;
	const uint8_t *ring;
	const char *name = "reserved bytes";
	int first = 0;

	ring = wc_memory_at((struct wc_memory *)context->memory, at, WC_COMMAND_BYTES);
	if (!memcmp(ring, lowered, WC_COMMAND_BYTES))
		return false;
	while (ring[first] == lowered[first])
		first++;
	for (size_t i = 0; i < WC_COMMAND_FIELD_COUNT; i++) {
		const struct wc_command_field *field = &wc_command_fields[i];

		if (field->opcode == lowered[0] && first >= field->offset && first < field->offset + field->bytes)
			name = field->name;
	}
	diagnosis_at(diagnosis, STAGE_COMMAND, at + (uint64_t)first);
	diagnosis_say(diagnosis, "command %" PRIu32 " in the ring is not the one that was lowered: byte %d (field %s) is 0x%02x, lowered 0x%02x",
		      mismatch->command, first, name, ring[first], lowered[first]);
	return true;
}

uint64_t diagnose_buffer_address(const struct program *program, const struct slab *slab, const struct mismatch_element *element)
{
	const struct net_node *of = &program->net->nodes[slab->node];

	switch (slab->kind) {
	case SLAB_MASK:
		return (uint64_t)slab_row(slab, element->sample, element->y) + (uint64_t)(element->x * of->out.channels + element->c) / 8;
	case SLAB_WEIGHT:
	case SLAB_WGRAD: {
		const int64_t filter = net_conv_weights(of) / of->out.channels;
		const int64_t tap = (element->r * of->conv.kernel_w + element->s) * (int64_t)of->in.channels + element->c;
		const int bytes = slab->kind == SLAB_WGRAD ? 4 : 2;

		return (uint64_t)(slab_channel(slab, element->k, filter, bytes) + tap * bytes);
	}
	default:
		return (uint64_t)slab_row(slab, element->sample, element->y) + 2 * ((uint64_t)element->x * (uint64_t)of->out.channels + (uint64_t)element->c);
	}
}

uint64_t diagnose_memory_address(const struct diagnose_context *context, const struct mismatch_element *element)
{
	const struct net_node *of = &context->program->net->nodes[element->node];

	if (element->store == LAYOUT_WEIGHT || element->store == LAYOUT_WGRAD) {
		const uint64_t tap = (uint64_t)((element->r * of->conv.kernel_w + element->s) * of->in.channels + element->c);

		return layout_address(context->layout, element->store, element->node, 0, element->k) + tap * (element->store == LAYOUT_WGRAD ? 4 : 2);
	}
	const uint64_t position = (uint64_t)element->x * (uint64_t)of->out.channels + (uint64_t)element->c;
	const bool mask = element->store == LAYOUT_MASK || element->store == LAYOUT_KEPT_MASK;

	return layout_address(context->layout, element->store, element->node, element->sample, element->y) + (mask ? position / 8 : 2 * position);
}

// The value of an element where it lies in memory of some kind: its bits, or its bit of a mask.
static uint32_t value_of(const struct net *net, const struct mismatch_element *element, const uint8_t *bytes)
{
	const int position = element->x * net->nodes[element->node].out.channels + element->c;
	uint32_t value = 0;

	if (element->store == LAYOUT_MASK || element->store == LAYOUT_KEPT_MASK)
		return bytes[0] >> position % 8 & 1;
	memcpy(&value, bytes, element->store == LAYOUT_WGRAD ? 4 : 2);
	return value;
}

// The difference shows in the buffer behind a LOAD, or in DRAM behind a STORE: which side is right?
static void diagnose_transfer(const struct diagnose_context *context, const struct mismatch *mismatch, struct diagnosis *diagnosis)
{
	const struct program *program = context->program;
	const struct slab *slab = &program->slabs[program->steps[mismatch->op.step].source];
	const uint64_t buffer_at = diagnose_buffer_address(program, slab, &mismatch->element);
	const uint64_t memory_at = diagnose_memory_address(context, &mismatch->element);
	const uint32_t in_buffer = context->buffer ? value_of(program->net, &mismatch->element, context->buffer + buffer_at) : mismatch->got;
	char where[WHERE_BYTES];
	const uint32_t in_memory = value_of(program->net, &mismatch->element, wc_memory_at((struct wc_memory *)context->memory, memory_at, 4));

	layout_describe(context->layout, memory_at, where, sizeof(where));
	if (mismatch->kind == MISMATCH_LOAD && in_memory == mismatch->expected) {
		diagnosis_at(diagnosis, STAGE_LOAD, buffer_at);
		diagnosis_say(diagnosis, "DMA load: DRAM address 0x%" PRIx64 " (%s) is right, buffer address 0x%" PRIx64 " behind it is not", memory_at, where,
			      buffer_at);
	} else if (mismatch->kind == MISMATCH_LOAD) {
		diagnosis_at(diagnosis, STAGE_MEMORY, memory_at);
		diagnosis_say(diagnosis, "DRAM: address 0x%" PRIx64 " (%s) no longer holds what was stored or placed there; the load brought it as it is",
			      memory_at, where);
	} else if (in_buffer == mismatch->expected) {
		diagnosis_at(diagnosis, STAGE_STORE, memory_at);
		diagnosis_say(diagnosis, "memory store: buffer address 0x%" PRIx64 " is right, DRAM address 0x%" PRIx64 " (%s) behind the store is not", buffer_at,
			      memory_at, where);
	} else {
		diagnosis_at(diagnosis, STAGE_BUFFER, buffer_at);
		diagnosis_say(diagnosis, "global buffer: address 0x%" PRIx64 " changed after its result was checked; the store wrote it as it is", buffer_at);
	}
}

// One golden row of a slab into a copy of the buffer.
static bool restore_row(const struct diagnose_context *context, uint8_t *buffer, const struct slab *slab, enum layout_store store, int sample, int y)
{
	const struct net_node *of = &context->program->net->nodes[slab->node];
	const size_t elements = (size_t)of->out.width * (size_t)of->out.channels;
	const uint16_t *dense = store == LAYOUT_ACT ? expect_act(context->expect, slab->node, NULL) : expect_grad(context->expect, slab->node, NULL);

	if (!dense)
		return false;
	memcpy(buffer + slab_row(slab, sample, y), dense + ((size_t)sample * (size_t)of->out.height + (size_t)y) * elements, 2 * elements);
	return true;
}

static uint32_t element_in(const struct program *program, const struct mismatch_element *element, const struct slab *slab, const uint8_t *buffer)
{
	return value_of(program->net, element, buffer + diagnose_buffer_address(program, slab, element));
}

// Whether the vector unit's operands at the element are right; else name the one that is not.
static bool vector_operands_right(const struct diagnose_context *context, const struct mismatch *mismatch, bool in_place, struct diagnosis *diagnosis)
{
	const struct program *program = context->program;
	const struct step *step = &program->steps[mismatch->op.step];
	const bool forward = mismatch->op.kind == OP_RELU;
	const struct slab *slabs[2] = {in_place ? NULL : &program->slabs[step->source], forward ? NULL : &program->slabs[step->operand]};

	for (int i = 0; i < 2; i++) {
		struct mismatch_element element = mismatch->element;
		const struct net_node *of;
		uint32_t got, expected;
		size_t index;
		char name[192];

		if (!slabs[i])
			continue;
		of = &program->net->nodes[slabs[i]->node];
		element.store = layout_store_of(slabs[i]->kind, false);
		element.node = slabs[i]->node;
		index = (((size_t)element.sample * (size_t)of->out.height + (size_t)element.y) * (size_t)of->out.width + (size_t)element.x) *
				(size_t)of->out.channels +
			(size_t)element.c;
		got = element_in(program, &element, slabs[i], context->buffer);
		if (slabs[i]->kind == SLAB_GRAD) {
			const uint16_t *grad = expect_grad(context->expect, element.node, NULL);

			expected = grad ? grad[index] : got;
		} else {
			const uint16_t *act = expect_act(context->expect, element.node, NULL);

			expected = !act ? got : slabs[i]->kind == SLAB_MASK ? act[index] != 0 : act[index];
		}
		if (got == expected)
			continue;
		mismatch_element_name(program->net, &element, name, sizeof(name));
		diagnosis_at(diagnosis, STAGE_BUFFER, diagnose_buffer_address(program, slabs[i], &element));
		diagnosis_say(diagnosis, "operand in the global buffer: %s at address 0x%" PRIx64 " is 0x%04" PRIx32 ", expected 0x%04" PRIx32, name,
			      diagnosis->address, got, expected);
		return false;
	}
	return true;
}

// Vector results: operands first, then the command again on a second device.
static void diagnose_vector(const struct diagnose_context *context, const struct mismatch *mismatch, struct diagnosis *diagnosis)
{
	const struct program *program = context->program;
	const struct step *step = &program->steps[mismatch->op.step];
	const struct slab *source = &program->slabs[step->source];
	const struct slab *made = mismatch->is_bit ? &program->slabs[step->mask] : &program->slabs[step->result];
	const bool in_place = source->offset == program->slabs[step->result].offset;
	const uint32_t bytes = context->device->params.buffer_bytes;
	struct replay replay;
	struct wc_error err;
	uint8_t *before;
	bool restored = true;

	if (!vector_operands_right(context, mismatch, in_place, diagnosis))
		return;
	before = wc_alloc(bytes, 1);
	if (!before)
		return;
	memcpy(before, context->buffer, bytes);
	// In place the source is gone; the golden one takes its place.
	for (int sample = 0; in_place && restored && sample < step->sample_count; sample++)
		for (int y = step->lo; restored && y < step->hi; y++)
			restored = restore_row(context, before, source, layout_store_of(source->kind, false), step->sample_first + sample, y);
	if (!restored || replay_run(&replay, context->device, context->seed, before, &mismatch->op.command, 0, 0, NULL, &err)) {
		diagnosis->stage = STAGE_NOT_REPRODUCED;
		diagnosis_say(diagnosis, "no replay: %s", restored ? err.text : "the golden model failed");
		wc_free(before);
		return;
	}
	if (element_in(program, &mismatch->element, made, replay.buffer) != mismatch->expected) {
		diagnosis->stage = STAGE_VECTOR;
		diagnosis_say(diagnosis, "vector unit: its operands are right, and a replay gives the same kind of error");
	} else {
		diagnosis->stage = STAGE_NOT_REPRODUCED;
		diagnosis_say(diagnosis, "not reproduced: from right operands the vector unit gives the right result");
		if (in_place)
			diagnosis_say(diagnosis, "its source, overwritten in place, changed in the global buffer after its own result was checked, or the fault was passing");
	}
	replay_release(&replay);
	wc_free(before);
}

void diagnose(const struct diagnose_context *context, const struct mismatch *mismatch, struct diagnosis *diagnosis)
{
	char where[WHERE_BYTES];

	*diagnosis = (struct diagnosis){.wave = -1, .pe_row = -1, .column = -1};
	const bool there = mismatch->kind != MISMATCH_FINAL && command_is_there(context, mismatch);

	if (there && command_differs(context, mismatch, diagnosis))
		return;
	switch (mismatch->kind) {
	case MISMATCH_TILE:
		if (context->buffer)
			diagnose_tile(context, mismatch, diagnosis);
		break;
	case MISMATCH_VECTOR:
		if (context->buffer)
			diagnose_vector(context, mismatch, diagnosis);
		break;
	case MISMATCH_LOAD:
	case MISMATCH_STORE:
		diagnose_transfer(context, mismatch, diagnosis);
		break;
	case MISMATCH_FINAL:
		diagnosis_at(diagnosis, STAGE_MEMORY, diagnose_memory_address(context, &mismatch->element));
		layout_describe(context->layout, diagnosis->address, where, sizeof(where));
		diagnosis_say(diagnosis, "DRAM: address 0x%" PRIx64 " (%s) changed after it was stored or placed, and nothing read it again",
			      diagnosis->address, where);
		break;
	default:
		diagnosis_say(diagnosis, there ? "the command in the ring is the one that was lowered"
					       : "the command's entry in the ring has been written again: whether the device read what was lowered is not known");
		break;
	}
}
