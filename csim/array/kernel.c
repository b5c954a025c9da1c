// SPDX-License-Identifier: Apache-2.0
#include "csim/array/kernel.h"

#include "csim/array/half.h"

static inline float select_weight(float w0, float w1, uint32_t use1)
{
	return array_float_of((array_float_bits(w1) & use1) | (array_float_bits(w0) & ~use1));
}

static inline float keep(float value, uint32_t mask)
{
	return array_float_of(array_float_bits(value) & mask);
}

void array_mac_row(float *restrict out, const float *restrict in, const float *restrict a, const float *restrict w,
		   int count)
{
	for (int c = 0; c < count; c++)
		out[c] = in[c] + a[c] * w[c];
}

void array_mac_row_masked(float *restrict out, const float *restrict in, const float *restrict a,
			  const float *restrict w0, const float *restrict w1, const uint32_t *restrict valid,
			  const uint32_t *restrict use1, int count)
{
	for (int c = 0; c < count; c++)
		out[c] = keep(in[c] + a[c] * select_weight(w0[c], w1[c], use1[c]), valid[c]);
}

void array_mul_row(float *restrict product, const float *restrict a, const float *restrict w0,
		   const float *restrict w1, const uint32_t *restrict use1, int count)
{
	for (int c = 0; c < count; c++)
		product[c] = a[c] * select_weight(w0[c], w1[c], use1[c]);
}

void array_add_row(float *restrict out, const float *restrict addend, const float *restrict product,
		   const uint32_t *restrict pending, int count)
{
	for (int c = 0; c < count; c++)
		out[c] = keep(addend[c] + product[c], pending[c]);
}
