// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of one wave: the only loop in which the golden model multiplies and adds.
#ifndef WC_GOLDEN_WAVE_H
#define WC_GOLDEN_WAVE_H

#include <stddef.h>

enum { GOLDEN_WAVE_LANES = 16 }; // columns are worked on in this many at a time

static inline int golden_wave_pad(int n)
{
	return (n + GOLDEN_WAVE_LANES - 1) / GOLDEN_WAVE_LANES * GOLDEN_WAVE_LANES;
}

// For every i < m, j < n:
//
//     acc[i][j] += ((0 + a[i][0] b[0][j]) + a[i][1] b[1][j]) + ... + a[i][k-1] b[k-1][j]
//
// in float, each addition rounded to nearest even. The products are exact if all of a and b are fp16 values, so that a compiler
// may fuse or not: the bits are the same. NaNs are not canonical. Lanes from k on that would carry +0 x +0 may be left out, since
// a sum that starts from +0 is never -0.
//
// `n` is a multiple of GOLDEN_WAVE_LANES; strides are in elements; the three arrays do not overlap.
void golden_wave_add(float *acc, size_t acc_stride, const float *a, size_t a_stride, const float *b, size_t b_stride, int m, int n, int k);

#endif
