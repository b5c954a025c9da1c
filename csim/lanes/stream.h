// SPDX-License-Identifier: Apache-2.0
//
// A vector as it lies in the global buffer, made fp32 for the lanes.
#ifndef WC_LANES_STREAM_H
#define WC_LANES_STREAM_H

#include <stdint.h>

// `lines` are two lines of 2 * lanes bytes. Type 0: fp16; 1: fp32; 2: one word for all lanes; 2 + b: fields of b bits, the first at bit `shift`.
// Lanes from `active` on get +0, but for type 2.
void lane_stream_expand(uint32_t *restrict vector, const uint8_t *restrict lines, int type, int shift, uint32_t active, uint32_t lanes);

#endif
