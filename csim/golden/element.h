// SPDX-License-Identifier: Apache-2.0
//
// How one output element of a GEMM comes about: wave by wave and PE by PE, for mismatch reports.
//
// The order of the sums is that of ordered.h, written a second time without blocks, packing or vectors, so that the two
// forms check each other.
#ifndef WC_GOLDEN_ELEMENT_H
#define WC_GOLDEN_ELEMENT_H

#include <stdint.h>

#include "csim/golden/conv.h"
#include "traces/error.h"

enum { GOLDEN_PADDING = -1, GOLDEN_TAIL = -2, GOLDEN_ONE = -3 };

// What one PE row of the column does with the element.
struct golden_pe {
	uint16_t a, b;        // operands: activation side, weight side
	uint32_t psum;        // fp32 bits of the partial sum that leaves this PE, canonical
	int64_t a_at, b_at;   // index of each operand in its dense tensor; GOLDEN_PADDING: +0 outside the image; GOLDEN_TAIL: +0 beyond K;
	                      // GOLDEN_ONE: the constant 1
};

// Which tensors a and b come from:
//   forward          a: x    b: w
//   data gradient    a: dy   b: w
//   weight gradient  a: dy   b: x
//   bias gradient    a: dy   b: 1
struct golden_element {
	int rows, wave_count;
	struct golden_pe *pes;  // [wave_count][rows], owned
	uint32_t *accumulators; // [wave_count] fp32 bits after the wave's sum was added, canonical, owned. The wave's sum is its last PE's psum
	uint32_t preload;       // fp32 bits before the first wave
	uint32_t result;        // fp32 bits after the last wave
	uint16_t result_half;   // the same, rounded to fp16
};

// Coordinates must lie inside the tensors. Return 0, or WC_ERR_INPUT or WC_ERR_SYSTEM with nothing to release. An element without
// taps has one wave of zeros, as the device makes it.
//
// Those with `groups` are of grouped.h's convolutions: sums over the channels of the element's group, indices in whole tensors.
int golden_element_forward(struct golden_element *element, const struct golden_conv *conv, int rows, const uint16_t *x, const uint16_t *w, int n, int oy, int ox,
                           int k, struct wc_error *err);
// The same from `bias`, [out_c] fp16 bits; NULL: from +0.
int golden_element_forward_bias(struct golden_element *element, const struct golden_conv *conv, int rows, const uint16_t *x, const uint16_t *w,
                                const uint16_t *bias, int n, int oy, int ox, int k, struct wc_error *err);
int golden_element_grouped_forward(struct golden_element *element, const struct golden_conv *conv, int groups, int rows, const uint16_t *x, const uint16_t *w,
                                   const uint16_t *bias, int n, int oy, int ox, int k, struct wc_error *err);
int golden_element_data_gradient(struct golden_element *element, const struct golden_conv *conv, int rows, const uint16_t *dy, const uint16_t *w, int n, int iy,
                                 int ix, int c, struct wc_error *err);
// The same over output channels [channel_lo, channel_hi) alone, the first a multiple of `rows`, starting from `preload`.
int golden_element_data_gradient_add(struct golden_element *element, const struct golden_conv *conv, int rows, const uint16_t *dy, const uint16_t *w,
                                     int channel_lo, int channel_hi, uint32_t preload, int n, int iy, int ix, int c, struct wc_error *err);
int golden_element_grouped_data_gradient(struct golden_element *element, const struct golden_conv *conv, int groups, int rows, const uint16_t *dy,
                                         const uint16_t *w, int n, int iy, int ix, int c, struct wc_error *err);
// One cut, starting from `preload` (fp32 bits of the sum so far, 0 for the first cut).
int golden_element_weight_gradient(struct golden_element *element, const struct golden_conv *conv, int rows, const uint16_t *x, const uint16_t *dy,
                                   struct golden_range cut, uint32_t preload, int k, int r, int s, int c, struct wc_error *err);
// `c` counts within the group.
int golden_element_grouped_weight_gradient(struct golden_element *element, const struct golden_conv *conv, int groups, int rows, const uint16_t *x,
                                           const uint16_t *dy, struct golden_range cut, uint32_t preload, int k, int r, int s, int c, struct wc_error *err);
int golden_element_bias_gradient(struct golden_element *element, const struct golden_conv *conv, int rows, const uint16_t *dy, struct golden_range cut,
                                 uint32_t preload, int k, struct wc_error *err);
// Accepts a zeroed structure.
void golden_element_release(struct golden_element *element);

#endif
