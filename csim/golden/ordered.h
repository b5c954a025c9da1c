// SPDX-License-Identifier: Apache-2.0
//
// The bits: the three convolution GEMMs, and what bias adds to them, in float, summed in the order of an array of `rows` processing elements a column.
//
// K, the index summed over, is cut into chunks of `rows`. A chunk is summed as ((0 + a0 b0) + a1 b1) + ...; its sum is
// added to the accumulator, chunks ascending. Results are rounded to fp16 once, weight gradients stay fp32. NaNs are canonical.
//
//   forward          k = (block of `rows` input channels, r, s, channel in block), channel fastest; the last, shorter block is packed densely
//   data gradient    the same with output channels, over the taps that reach the pixel's residue class (y mod stride_h, x mod stride_w),
//                    r and s ascending; a pixel whose class has no tap is +0
//   weight gradient  k = (n, y, x) of the output inside a cut, anew in each cut; each cut adds to the sums of those before
//
// With a bias the forward accumulators start from its value instead of +0. Its gradient is that of a weight whose x is 1: the sum of dy over
// (n, y, x), in chunks of `rows` and cuts as the weight gradient.
//
// A fully connected layer is a convolution whose kernel is the whole image. Groups: grouped.h.
//
// Padding contributes +0 x weight (a NaN if the weight is infinite), the tail of the last chunk +0 x +0.
//
// All return 0, WC_ERR_INPUT (shape, range or `rows` out of bounds) or WC_ERR_SYSTEM (out of memory), and leave the result alone or
// partly written then. Results must not overlap the operands.
#ifndef WC_GOLDEN_ORDERED_H
#define WC_GOLDEN_ORDERED_H

#include <stdint.h>

#include "csim/golden/conv.h"
#include "traces/error.h"

// Rows range.row_lo .. row_hi of y, of the range's samples; the rest of y is left alone.
int golden_forward(const struct golden_conv *conv, int rows, const uint16_t *x, const uint16_t *w, struct golden_range range, uint16_t *y,
                   struct wc_error *err);
// The same from `bias`, [out_c] fp16 bits; NULL: from +0.
int golden_forward_bias(const struct golden_conv *conv, int rows, const uint16_t *x, const uint16_t *w, const uint16_t *bias, struct golden_range range,
                        uint16_t *y, struct wc_error *err);
// The same for dx; `range` counts rows of dx.
int golden_data_gradient(const struct golden_conv *conv, int rows, const uint16_t *dy, const uint16_t *w, struct golden_range range, uint16_t *dx,
                         struct wc_error *err);
// The same sums unfinished, slice by slice of the output channels: continue those of dx's rows, fp32 in dx's places, over the channels
// [channel_lo, channel_hi). Slices come in ascending order, each but the last a multiple of `rows` channels long; the sums before the first are +0.
// After the last they are what golden_data_gradient() rounds.
int golden_data_gradient_add(const struct golden_conv *conv, int rows, const uint16_t *dy, const uint16_t *w, int channel_lo, int channel_hi,
                             struct golden_range range, float *sums, struct wc_error *err);
// Add one cut (samples and rows of dy) to the running sums. The first cut's sums are +0.
int golden_weight_gradient_add(const struct golden_conv *conv, int rows, const uint16_t *x, const uint16_t *dy, struct golden_range cut, float *sums,
                               struct wc_error *err);
// One cut of the bias gradient, added to its running sums, [out_c].
int golden_bias_gradient_add(const struct golden_conv *conv, int rows, const uint16_t *dy, struct golden_range cut, float *sums, struct wc_error *err);

#endif
