// SPDX-License-Identifier: Apache-2.0
//
// From a difference to the stage at fault; see diagnose.h. Tiles are in diagnose_tile.c, vectors in diagnose_vector.c.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "driver/host/diagnose_internal.h"
#include "driver/host/lower_internal.h"

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
	const uint64_t at = layout_ring(context->layout, mismatch->core) + mismatch->command % context->ring_entries * WC_COMMAND_BYTES;
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
	const int bytes = slab->kind == SLAB_WGRAD || slab->kind == SLAB_WIDE ? 4 : 2;

	if (value_is_filters(slab->kind)) {
		const int64_t filter = net_conv_weights(of) / of->out.channels / of->conv.kernel_h * (slab->tap_hi - slab->tap_lo);
		const int64_t channels = of->in.channels / of->conv.groups;
		const int64_t tap = ((element->r - slab->tap_lo) * of->conv.kernel_w + element->s) * channels + element->c;

		return (uint64_t)(slab_channel(slab, element->k, filter, bytes) + tap * bytes);
	}
	if (slab->kind == SLAB_BIAS_WGRAD)
		return (uint64_t)slab_channel(slab, element->k, 1, 4);
	return (uint64_t)slab_row(slab, element->sample, element->y) +
	       (uint64_t)bytes * ((uint64_t)element->x * (uint64_t)of->out.channels + (uint64_t)element->c);
}

uint64_t diagnose_memory_address(const struct diagnose_context *context, const struct mismatch_element *element)
{
	const struct value *value = &element->value;
	const struct value_shape shape = value_shape_of(context->program->net, context->layout->batch, value);
	const uint64_t at = element->at * (uint64_t)shape.bits / 8;

	if (value_is_array(value->kind))
		return layout_array(context->layout, value->kind, value->node, value->array, value->core) + at +
		       (uint64_t)element->vector * layout_momentum_stride(context->layout, value->node, value->array);
	const enum layout_store store = layout_store_of(value->kind, false);

	return layout_address(context->layout, store, value->node, layout_is_sums(store) ? value->core : element->sample, element->y) + at +
	       (uint64_t)element->vector * round_up(value_vector_bytes(&shape), context->layout->bus_bytes);
}

uint64_t diagnose_rows_address(const struct op_rows *rows, const struct mismatch_element *element)
{
	return op_rows_address(rows, element->sample, element->y, element->vector, element->at);
}

uint32_t diagnose_value(const struct op_rows *rows, const struct mismatch_element *element, const uint8_t *bytes)
{
	const unsigned first = (unsigned)(element->at * (uint64_t)rows->bits % 8);
	uint32_t value = bytes[0];

	if (rows->bits >= 16)
		return value_bits(bytes, rows->bits, 0);
	// A field of bits may end in the next byte.
	if (first + (unsigned)rows->bits > 8)
		value |= (uint32_t)bytes[1] << 8;
	return value >> first & ((1u << rows->bits) - 1);
}

// The difference shows in the buffer behind a LOAD, or in DRAM behind a STORE: which side is right?
static void diagnose_transfer(const struct diagnose_context *context, const struct mismatch *mismatch, struct diagnosis *diagnosis)
{
	const bool load = mismatch->kind == MISMATCH_LOAD;
	const struct op_rows *from = &mismatch->op.operands[0], *to = &mismatch->op.results[0];
	const uint64_t buffer_at = diagnose_rows_address(load ? to : from, &mismatch->element);
	const uint64_t memory_at = diagnose_rows_address(load ? from : to, &mismatch->element);
	const uint32_t in_buffer = context->buffer ? diagnose_value(to, &mismatch->element, context->buffer + buffer_at) : mismatch->got;
	const uint32_t in_memory = diagnose_value(to, &mismatch->element, wc_memory_at((struct wc_memory *)context->memory, memory_at, 4));
	char where[WHERE_BYTES];

	layout_describe(context->layout, memory_at, where, sizeof(where));
	if (load && in_memory == mismatch->expected) {
		diagnosis_at(diagnosis, STAGE_LOAD, buffer_at);
		diagnosis_say(diagnosis, "DMA load: DRAM address 0x%" PRIx64 " (%s) is right, buffer address 0x%" PRIx64 " behind it is not", memory_at, where,
			      buffer_at);
	} else if (load) {
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
