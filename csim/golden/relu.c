// SPDX-License-Identifier: Apache-2.0
//
// ReLU on fp16 bits.
#include "csim/golden/relu.h"

#include <string.h>

#include "csim/golden/half.h"

// x > 0 or NaN.
static bool is_passing(uint16_t x)
{
	return golden_half_is_nan(x) || (x >> 15 == 0 && x != 0);
}

void golden_relu(const uint16_t *x, size_t count, uint16_t *y, uint8_t *mask)
{
	if (mask)
		memset(mask, 0, golden_mask_bytes(count));
	for (size_t i = 0; i < count; i++) {
		bool passes = is_passing(x[i]);

		if (mask && passes)
			mask[i / 8] |= (uint8_t)(1u << i % 8);
		y[i] = passes ? golden_half_canonical(x[i]) : 0;
	}
}

void golden_relu_gradient_out(const uint16_t *out, const uint16_t *dy, size_t count, uint16_t *dx)
{
	for (size_t i = 0; i < count; i++)
		dx[i] = is_passing(out[i]) ? golden_half_canonical(dy[i]) : 0;
}
