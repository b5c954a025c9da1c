// SPDX-License-Identifier: Apache-2.0
//
// A GEMM command carried out element by element on an image of the global buffer, straight from rtl/README.md. It knows nothing of
// segments, sides or timing, and is written apart from both the design and csim/model.
#ifndef WC_TESTS_GEMM_INTERPRET_H
#define WC_TESTS_GEMM_INTERPRET_H

#include <stdbool.h>
#include <stdint.h>

#include "wc_commands.h"

// Returns false, with the tile's rows before the bad one written, if an access lies outside [0, buffer_bytes).
bool gemm_interpret(const struct wc_gemm_command *command, int rows, uint8_t *buffer, uint32_t buffer_bytes);

// Waves of the command on an array of `rows` rows.
int gemm_waves(const struct wc_gemm_command *command, int rows);

#endif
