// SPDX-License-Identifier: Apache-2.0
//
// Data for SIMD cases: see simd_cases.h.
#include "tests/simd_cases.h"
#include "traces/splitmix.h"

static void put(uint8_t *image, uint64_t bit, int bits, uint32_t value)
{
	for (int i = 0; i < bits; i++, bit++)
		image[bit / 8] = (uint8_t)((image[bit / 8] & ~(1 << bit % 8)) | (value >> i & 1) << bit % 8);
}

// Tame numbers lie within a few powers of two of 1, a few are zero or equal to others; wild ones are any bits, one in 8 a NaN.
static uint32_t datum(const struct simd_case *drawn, const struct simd_tensor *t, uint64_t random)
{
	uint32_t bits = (uint32_t)(random >> 32), special = random >> 8 & 0xff;

	if (t->kind == KIND_LABEL)
		return bits % (uint32_t)drawn->c;
	if (t->kind == KIND_BITS)
		return bits % (uint32_t)(drawn->kh * drawn->kw);
	if (drawn->wild)
		return t->bits == 16 && special < 32 ? bits | 0x7c00 : special < 32 ? bits | 0x7f800000 : bits;
	if (special < 8)
		return special & 1 ? 1u << (t->bits - 1) : 0;
	if (t->bits == 16)
		return (bits & 0x83ff) | (13 + random % 4) << 10 | (special < 40 ? 0x0300 : 0);
	return (bits & 0x807fffff) | (125 + (uint32_t)(random % 4)) << 23;
}

void simd_case_fill(const struct simd_case *drawn, uint8_t *image, uint64_t *state)
{
	for (int i = 0; i < SIMD_CASE_STREAMS; i++) {
		const struct simd_tensor *t = &drawn->tensors[i];

		for (int n = 0; t->used && n < drawn->n; n++)
			for (int y = 0; y < t->h; y++)
				for (int e = 0; e < t->w * t->c; e++)
					put(image, simd_tensor_at(t, n, y, 0, e), t->bits, datum(drawn, t, splitmix_next(state)));
	}
}
