// SPDX-License-Identifier: Apache-2.0
//
// Valid SIMD commands of every program on random shapes, with the tensors that they work on: what the tests of the model and of the device
// share. The command follows from the shape here; what it has to do is told of the shape, not of the command, in tests/model/simd_expect.c.
#ifndef WC_TESTS_SIMD_CASES_H
#define WC_TESTS_SIMD_CASES_H

#include <stdbool.h>
#include <stdint.h>

#include "csim/backend.h"
#include "wc_commands.h"
#include "wc_programs.h"

enum simd_kind { KIND_HALF, KIND_FLOAT, KIND_ONE, KIND_LABEL, KIND_BITS };

// NHWC in the global buffer; c elements of `bits` a pixel, rows anywhere.
struct simd_tensor {
	enum simd_kind kind;
	int h, w, c, bits;
	uint32_t base, pitch_y, pitch_n; // bytes
	bool used;
};

enum { SIMD_CASE_STREAMS = 8 };

struct simd_case {
	enum wc_simd_program program;
	int n, h, w, c;              // of the source; of dx in gradients of pooling
	int oh, ow, kh, kw, sh, sw, ph, pw; // pooling
	bool gradient;               // of average pooling
	int class_y, class_x;        // gradients of pooling: the residue class that the command makes
	int cpg;                     // channels of a group: at most a block, or a multiple of it that is cut into taps
	bool wild;                   // any bits for data
	struct simd_tensor tensors[SIMD_CASE_STREAMS]; // by stream
	struct wc_simd_command command;
};

// A case of `program`, with its command. `random` yields 64 bits.
void simd_case_draw(struct simd_case *drawn, enum wc_simd_program program, const struct wc_device_params *params, uint64_t *state);
// Data for all its tensors into an image of the buffer.
void simd_case_fill(const struct simd_case *drawn, uint8_t *image, uint64_t *state);

// The programs that add up groups, forward and backward.
static inline bool simd_case_sums_forward(const struct simd_case *c)
{
	return c->program == WC_SIMD_NORM_SUMS || c->program == WC_SIMD_NORM_SUMS_WIDE || c->program == WC_SIMD_NORM_SUMS_SINGLE;
}

static inline bool simd_case_sums_backward(const struct simd_case *c)
{
	return c->program == WC_SIMD_NORM_BACKWARD_SUMS || c->program == WC_SIMD_NORM_BACKWARD_SUMS_WIDE ||
	       c->program == WC_SIMD_NORM_BACKWARD_SUMS_SINGLE;
}

// Bit address of an element.
static inline uint64_t simd_tensor_at(const struct simd_tensor *t, int n, int y, int x, int c)
{
	return 8 * (t->base + (uint64_t)n * t->pitch_n + (uint64_t)y * t->pitch_y) + ((uint64_t)x * (uint64_t)t->c + (uint64_t)c) * (uint64_t)t->bits;
}

#endif
