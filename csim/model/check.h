// SPDX-License-Identifier: Apache-2.0
//
// What the sequencer checks of a command before any of it takes effect.
#ifndef WC_MODEL_CHECK_H
#define WC_MODEL_CHECK_H

#include <stdint.h>

#include "csim/backend.h"
#include "wc_commands.h"

// In the order of the wait fields.
enum model_engine { MODEL_ENGINE_LOAD, MODEL_ENGINE_GEMM, MODEL_ENGINE_VECTOR, MODEL_ENGINE_STORE, MODEL_ENGINES };

// The engine that executes a known opcode.
enum model_engine model_engine_of(uint8_t opcode);

// The four wait_* fields of any command, in the order of enum model_engine.
void model_waits(const uint8_t *command, uint32_t waits[MODEL_ENGINES]);

// Opcode, version, limits and reserved bytes, alignment, waits; the first that fails decides. `issued` counts the commands issued
// before this one, per engine.
enum wc_status model_check(const uint8_t *command, const struct wc_device_params *params, const uint32_t issued[MODEL_ENGINES]);

#endif
