// SPDX-License-Identifier: Apache-2.0
//
// The device's memories and registers behind the model, for debug access, probes and planted faults. Each pointer is storage of
// the verilated model (or of the array macro), found by name when the model is made.
#ifndef WC_DEVICE_STATE_H
#define WC_DEVICE_STATE_H

#include <stdint.h>

#include "csim/array/array_macro.h"

enum { STATE_BANKS = 8 };

struct device_state {
	int rows, cols;
	uint32_t line_bytes;           // of the global buffer
	uint8_t *banks[STATE_BANKS];   // lines one after another (rtl/gbuf_place.v says which)
	uint32_t *accumulator[2];      // sides; rows of cols words
	// The array: the macro, or array_fast's registers.
	struct array_macro *macro;     // NULL in a configuration with synthesizable arithmetic
	uint32_t *weights[2], *psum;   // NULL with the macro; PE (r, c) at rows * cols - 1 - (r * cols + c), weights expanded to fp32
	uint32_t *simd_fault, *relu_fault; // bit of the vector unit's next result that is wrong, from 1; 0: none
};

void state_buffer_read(const struct device_state *state, uint32_t address, void *bytes, uint32_t count);
void state_buffer_write(const struct device_state *state, uint32_t address, const void *bytes, uint32_t count);

void state_flip_weight(const struct device_state *state, int row, int column, int sel, int bit);
void state_flip_accumulator(const struct device_state *state, int side, int row, int column, int bit);

// Partial sums of one column, PE row 0 first, `rows` words.
void state_column(const struct device_state *state, int column, uint32_t *psum);

#endif
