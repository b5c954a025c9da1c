// SPDX-License-Identifier: Apache-2.0
//
// ReLU and its gradient on fp16 bits, with the device's rounding of nothing and its canonical NaN.
//
// A mask holds one bit per element, least significant bit of the first byte first, set where x > 0 or x is a NaN; the bits behind
// the last element of its last byte are 0. The device's masks start anew in each row: call row by row for those.
// Operands may be the result itself; nothing else may overlap.
#ifndef WC_GOLDEN_RELU_H
#define WC_GOLDEN_RELU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline size_t golden_mask_bytes(size_t count)
{
	return (count + 7) / 8;
}

// y = x where it passes (x > 0, or a NaN), else +0. `mask`, golden_mask_bytes(count) bytes, may be NULL.
void golden_relu(const uint16_t *x, size_t count, uint16_t *y, uint8_t *mask);
// dx = dy where `out` (input or output of the ReLU) passes, else +0.
void golden_relu_gradient_out(const uint16_t *out, const uint16_t *dy, size_t count, uint16_t *dx);

#endif
