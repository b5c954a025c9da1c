// SPDX-License-Identifier: Apache-2.0
//
// Stored values as numbers, and how far two of them are apart.
#ifndef WC_WCT_VALUE_H
#define WC_WCT_VALUE_H

#include <stdbool.h>
#include <stdint.h>

// No distance: one of the values is a NaN.
#define WCT_ULPS_NAN UINT64_MAX

// The number that fp32 bits, or fp16 bits in the low half, stand for. Exact.
double wct_value(uint32_t bits, bool is_fp32);

// How many steps of the format lie between two values: 0 for equal ones and for +0 and -0; infinity is one step beyond the
// largest number. WCT_ULPS_NAN when one is a NaN and the bits differ.
uint64_t wct_ulps(uint32_t a, uint32_t b, bool is_fp32);

#endif
