// SPDX-License-Identifier: Apache-2.0
//
// Element-wise addition of fp16 tensors: y = fp16(float(a) + float(b)), NaNs canonical. More than two are added pairwise from the
// left, rounded to fp16 after each; so are the partial gradients of a tensor with several consumers, in the order in which they
// come.
#ifndef WC_GOLDEN_ADD_H
#define WC_GOLDEN_ADD_H

#include <stddef.h>
#include <stdint.h>

#include "traces/error.h"

// `inputs`: `input_count` tensors of `count` elements each. y may be any of them, but overlap none in part. WC_ERR_INPUT if there
// are less than two.
int golden_add(const uint16_t *const *inputs, int input_count, size_t count, uint16_t *y, struct wc_error *err);

#endif
