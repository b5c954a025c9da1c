// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic modules against the host's IEEE arithmetic: multiplication, addition, narrowing.
#include <criterion/criterion.h>

#include "tests/array/models.h"
#include "tests/array/operands.h"
#include "tests/array/random.h"

enum { BLOCK = 65536 };

static uint16_t halves_a[BLOCK], halves_b[BLOCK], halves_out[BLOCK];
static uint32_t words_a[BLOCK], words_b[BLOCK], words_out[BLOCK];

// Every fp16 times a spread of others, special and random.
Test(fp, mul_of_every_half)
{
	struct rng rng = rng_start("fp/mul_of_every_half");
	void *model = fp_units_create();

	for (int j = 0; j < SPECIAL_HALVES + 16; j++) {
		uint16_t b = j < SPECIAL_HALVES ? special_halves[j] : (uint16_t)rng_next(&rng);

		for (int i = 0; i < BLOCK; i++) {
			halves_a[i] = (uint16_t)i;
			halves_b[i] = b;
		}
		fp_units_mul(model, halves_a, halves_b, words_out, BLOCK);
		for (int i = 0; i < BLOCK; i++) {
			uint32_t want = bits_of(float_of_half((uint16_t)i) * float_of_half(b));

			cr_assert(words_out[i] == want, "0x%04x * 0x%04x: got 0x%08x, expected 0x%08x", i, b, words_out[i],
				  want);
		}
	}
	fp_units_free(model);
}

static void check_adds(void *model, int count)
{
	fp_units_add(model, words_a, words_b, words_out, (size_t)count);
	for (int i = 0; i < count; i++) {
		uint32_t want = bits_of(float_of(words_a[i]) + float_of(words_b[i]));

		cr_assert(words_out[i] == want, "0x%08x + 0x%08x: got 0x%08x, expected 0x%08x", words_a[i], words_b[i],
			  words_out[i], want);
	}
}

Test(fp, add_of_special_values)
{
	void *model = fp_units_create();

	for (int i = 0; i < SPECIAL_FLOATS; i++) {
		for (int j = 0; j < SPECIAL_FLOATS; j++) {
			words_a[j] = special_floats[i];
			words_b[j] = special_floats[j];
		}
		check_adds(model, SPECIAL_FLOATS);
	}
	fp_units_free(model);
}

// Random bits alone hardly ever have close exponents: half of the pairs get them on purpose.
Test(fp, add_of_random_values)
{
	struct rng rng = rng_start("fp/add_of_random_values");
	void *model = fp_units_create();

	for (int block = 0; block < 64; block++) {
		for (int i = 0; i < BLOCK; i++) {
			uint64_t r = rng_next(&rng);

			words_a[i] = (uint32_t)r;
			words_b[i] = (uint32_t)(r >> 32);
			if (i & 1)
				words_b[i] = (words_b[i] & 0x807fffff) |
					     ((words_a[i] + ((uint32_t)rng_below(&rng, 60) << 23)) & 0x7f800000);
		}
		check_adds(model, BLOCK);
	}
	fp_units_free(model);
}

static void check_muls(void *model, int count)
{
	fp_units_mul32(model, words_a, words_b, words_out, (size_t)count);
	for (int i = 0; i < count; i++) {
		uint32_t want = bits_of(float_of(words_a[i]) * float_of(words_b[i]));

		cr_assert(words_out[i] == want, "0x%08x * 0x%08x: got 0x%08x, expected 0x%08x", words_a[i], words_b[i], words_out[i], want);
	}
}

Test(fp, mul32_of_special_values)
{
	void *model = fp_units_create();

	for (int i = 0; i < SPECIAL_FLOATS; i++) {
		for (int j = 0; j < SPECIAL_FLOATS; j++) {
			words_a[j] = special_floats[i];
			words_b[j] = special_floats[j];
		}
		check_muls(model, SPECIAL_FLOATS);
	}
	fp_units_free(model);
}

// Every exponent times every exponent, with random signs and significands: products overflow, are subnormal, or vanish on every border.
Test(fp, mul32_of_every_pair_of_exponents)
{
	struct rng rng = rng_start("fp/mul32_of_every_pair_of_exponents");
	void *model = fp_units_create();

	for (int block = 0; block < 16; block++) {
		for (uint32_t i = 0; i < BLOCK; i++) {
			uint64_t r = rng_next(&rng);

			words_a[i] = ((uint32_t)r & 0x807fffff) | (i & 0xff) << 23;
			words_b[i] = ((uint32_t)(r >> 32) & 0x807fffff) | (i >> 8) << 23;
		}
		check_muls(model, BLOCK);
	}
	fp_units_free(model);
}

// Pairs whose product is subnormal, or has few bits and so ends in ties.
Test(fp, mul32_of_random_values)
{
	struct rng rng = rng_start("fp/mul32_of_random_values");
	void *model = fp_units_create();

	for (int block = 0; block < 64; block++) {
		for (int i = 0; i < BLOCK; i++) {
			uint64_t r = rng_next(&rng);
			uint32_t exponent = 1 + rng_below(&rng, 253), other;

			words_a[i] = ((uint32_t)r & 0x807fffff) | exponent << 23;
			other = 102 + rng_below(&rng, 30);
			other = other > exponent ? other - exponent : 0;
			words_b[i] = ((uint32_t)(r >> 32) & 0x807fffff) | other << 23;
			if (i % 4 == 1)
				words_b[i] = (words_b[i] & 0x807fffff) >> rng_below(&rng, 24);
			if (i % 4 == 2) {
				words_a[i] &= 0xfffff000u << rng_below(&rng, 6);
				words_b[i] &= 0xfffff000u << rng_below(&rng, 6);
			}
			if (i % 4 == 3)
				words_b[i] = (uint32_t)(r >> 32);
		}
		check_muls(model, BLOCK);
	}
	fp_units_free(model);
}

static void check_narrows(void *model, int count)
{
	fp_units_narrow(model, words_a, halves_out, (size_t)count);
	for (int i = 0; i < count; i++) {
		uint16_t want = half_bits_of(float_of(words_a[i]));

		cr_assert(halves_out[i] == want, "fp16 of 0x%08x: got 0x%04x, expected 0x%04x", words_a[i], halves_out[i], want);
	}
}

// Every fp16 comes back from its fp32 form, and every boundary between two of them rounds the right way: the
// tie and its neighbours one fp32 ULP to either side.
Test(fp, narrow_at_every_boundary)
{
	void *model = fp_units_create();

	for (int i = 0; i < BLOCK; i++)
		words_a[i] = bits_of(float_of_half((uint16_t)i));
	check_narrows(model, BLOCK);
	for (int i = 0; i < BLOCK; i++)
		cr_assert((i & 0x7fff) > 0x7c00 ? halves_out[i] == 0x7e00 : halves_out[i] == i);

	for (int delta = -1; delta <= 1; delta++) {
		int count = 0;

		for (int i = 0; i < 0x7c00; i++) {
			// What follows the greatest finite value is 2^16 as far as rounding goes.
			double next = i == 0x7bff ? 65536.0 : float_of_half((uint16_t)(i + 1));
			uint32_t tie = bits_of((float)((float_of_half((uint16_t)i) + next) / 2));

			words_a[count++] = tie + (uint32_t)delta;
			words_a[count++] = (tie + (uint32_t)delta) | 0x80000000;
		}
		check_narrows(model, count);
	}
	fp_units_free(model);
}

Test(fp, narrow_of_random_values)
{
	struct rng rng = rng_start("fp/narrow_of_random_values");
	void *model = fp_units_create();

	for (int block = 0; block < 64; block++) {
		for (int i = 0; i < BLOCK; i++) {
			uint64_t r = rng_next(&rng);

			words_a[i] = (uint32_t)r;
			// Every other one in and around fp16's range.
			if (i & 1)
				words_a[i] = (words_a[i] & 0x807fffff) | (uint32_t)(0x60 + (r >> 32) % 0x34) << 23;
		}
		check_narrows(model, BLOCK);
	}
	fp_units_free(model);
}
