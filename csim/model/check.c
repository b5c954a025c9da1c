// SPDX-License-Identifier: Apache-2.0
//
// Checks by the field table that comes from rtl/commands.def.
#include "csim/model/check.h"

#include <stdbool.h>
#include <string.h>

enum model_engine model_engine_of(uint8_t opcode)
{
	switch (opcode) {
	case WC_OP_LOAD:
		return MODEL_ENGINE_LOAD;
	case WC_OP_GEMM:
		return MODEL_ENGINE_GEMM;
	case WC_OP_VECTOR:
	case WC_OP_SIMD:
		return MODEL_ENGINE_VECTOR;
	default:
		return MODEL_ENGINE_STORE;
	}
}

void model_waits(const uint8_t *command, uint32_t waits[MODEL_ENGINES])
{
	struct wc_load_command header;

	memcpy(&header, command, sizeof(header));
	waits[MODEL_ENGINE_LOAD] = header.wait_load;
	waits[MODEL_ENGINE_GEMM] = header.wait_gemm;
	waits[MODEL_ENGINE_VECTOR] = header.wait_vector;
	waits[MODEL_ENGINE_STORE] = header.wait_store;
}

static uint64_t field_value(const struct wc_command_field *field, const uint8_t *command)
{
	uint64_t value = 0;

	memcpy(&value, command + field->offset, field->bytes);
	return value;
}

static uint64_t limit_value(enum wc_limit kind, int64_t value, const struct wc_device_params *params)
{
	switch (kind) {
	case WC_LIMIT_ROWS:
		return (uint64_t)params->rows;
	case WC_LIMIT_COLS:
		return (uint64_t)params->cols;
	case WC_LIMIT_ACC_ROWS:
		return (uint64_t)params->acc_rows;
	case WC_LIMIT_GBUF_BYTES:
		return params->buffer_bytes;
	case WC_LIMIT_LANES:
		return wc_device_lanes(params);
	default:
		return (uint64_t)value;
	}
}

enum wc_status model_check(const uint8_t *command, const struct wc_device_params *params, const uint32_t issued[MODEL_ENGINES])
{
	bool used[WC_COMMAND_BYTES] = {false};
	bool known = false, bad_field = false, misaligned = false;
	uint8_t opcode = command[offsetof(struct wc_load_command, opcode)];
	uint32_t waits[MODEL_ENGINES];

	for (size_t i = 0; i < WC_COMMAND_FIELD_COUNT; i++) {
		const struct wc_command_field *field = &wc_command_fields[i];
		uint64_t value;

		if (field->opcode != opcode)
			continue;
		known = true;
		memset(used + field->offset, true, field->bytes);
		// Fields with limits are unsigned; a signed one has its type's own.
		value = field_value(field, command);
		if (field->min_kind != WC_LIMIT_NONE && value < limit_value(field->min_kind, field->min, params))
			bad_field = true;
		if (field->max_kind != WC_LIMIT_NONE && value > limit_value(field->max_kind, field->max, params))
			bad_field = true;
		if (value % (field->align ? field->align : params->bus_bytes) != 0)
			misaligned = true;
	}
	if (!known)
		return WC_STATUS_BAD_OPCODE;
	if (command[offsetof(struct wc_load_command, version)] != WC_COMMAND_VERSION)
		return WC_STATUS_BAD_VERSION;
	for (int i = 0; i < WC_COMMAND_BYTES; i++)
		if (!used[i] && command[i] != 0)
			bad_field = true;
	bad_field |= !wc_command_keeps_rules(command);
	if (bad_field)
		return WC_STATUS_BAD_FIELD;
	if (misaligned)
		return WC_STATUS_MISALIGNED;
	model_waits(command, waits);
	for (int engine = 0; engine < MODEL_ENGINES; engine++)
		if (waits[engine] > issued[engine])
			return WC_STATUS_DEPENDENCE;
	return WC_STATUS_OK;
}
