// SPDX-License-Identifier: Apache-2.0
//
// One row of PEs for one cycle: the arithmetic of the array macro, as loops that the compiler vectorizes.
//
// Every function works on `count` columns. Rows never overlap. One addition is one rounding, so these must be compiled without
// contraction of a * b + c and without -ffast-math. NaNs may come out in any form; array_canonical_bits() is due at the port.
// Masks are all ones or all zeros per column.
#ifndef WC_ARRAY_KERNEL_H
#define WC_ARRAY_KERNEL_H

#include <stdint.h>

// out = in + a * w
void array_mac_row(float *restrict out, const float *restrict in, const float *restrict a, const float *restrict w,
		   int count);

// The same where `valid`, +0 elsewhere; w1 where `use1`, w0 elsewhere.
void array_mac_row_masked(float *restrict out, const float *restrict in, const float *restrict a,
			  const float *restrict w0, const float *restrict w1, const uint32_t *restrict valid,
			  const uint32_t *restrict use1, int count);

// product = a * (use1 ? w1 : w0), the first half of a two-stage MAC.
void array_mul_row(float *restrict product, const float *restrict a, const float *restrict w0,
		   const float *restrict w1, const uint32_t *restrict use1, int count);

// out = addend + product where `pending`, +0 elsewhere: the second half.
void array_add_row(float *restrict out, const float *restrict addend, const float *restrict product,
		   const uint32_t *restrict pending, int count);

#endif
