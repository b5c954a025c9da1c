// SPDX-License-Identifier: Apache-2.0
//
// What only tests ask of the golden model, put together from its operators.
#ifndef WC_TESTS_REFERENCE_H
#define WC_TESTS_REFERENCE_H

#include <string.h>

#include "csim/golden/half.h"
#include "csim/golden/ordered.h"

// The weight gradient of all cuts in the order given, from +0.
static inline int reference_weight_gradient(const struct golden_conv *conv, int rows, const uint16_t *x, const uint16_t *dy,
					    const struct golden_range *cuts, int cut_count, float *dw, struct wc_error *err)
{
	int result = 0;

	memset(dw, 0, golden_conv_weight_count(conv) * sizeof(*dw));
	for (int i = 0; !result && i < cut_count; i++)
		result = golden_weight_gradient_add(conv, rows, x, dy, cuts[i], dw, err);
	return result;
}

// A ReLU's gradient by its mask: dx = dy where the bit is set, else +0.
static inline void reference_relu_gradient_mask(const uint8_t *mask, const uint16_t *dy, size_t count, uint16_t *dx)
{
	for (size_t i = 0; i < count; i++)
		dx[i] = mask[i / 8] >> i % 8 & 1 ? golden_half_canonical(dy[i]) : 0;
}

#endif
