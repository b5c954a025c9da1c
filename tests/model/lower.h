// SPDX-License-Identifier: Apache-2.0
//
// The three GEMMs of a convolution as commands, written straight from rtl/README.md for whole tensors in the buffer. Feature maps
// have rows of `pitch` bytes; weights and weight gradients are dense.
#ifndef TESTS_MODEL_LOWER_H
#define TESTS_MODEL_LOWER_H

#include "csim/golden/conv.h"
#include "wc_commands.h"

struct lowering {
	struct golden_conv conv;
	int rows, cols, acc_rows;
	uint32_t x, in_pitch;  // x, or dx
	uint32_t y, out_pitch; // y, or dy
	uint32_t w;            // fp16
	uint32_t dw;           // fp32
	bool merge;            // where it is legal
};

// What executes one command.
typedef void lowered_fn(void *context, const struct wc_gemm_command *command);

void lower_forward(const struct lowering *lowering, lowered_fn *emit, void *context);
// All residue classes.
void lower_data_gradient(const struct lowering *lowering, lowered_fn *emit, void *context);
// One cut; `preload`: add to what is there.
void lower_weight_gradient(const struct lowering *lowering, struct golden_range cut, bool preload, lowered_fn *emit, void *context);

#endif
