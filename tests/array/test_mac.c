// SPDX-License-Identifier: Apache-2.0
//
// psum + a * b in RTL and in the C macro's kernels: more than 20 million accumulations, directed and random.
#include <criterion/criterion.h>
#include <stdint.h>

#include "csim/array/half.h"
#include "csim/array/kernel.h"
#include "tests/array/models.h"
#include "tests/array/operands.h"
#include "tests/array/random.h"

enum { BLOCK = 4096 };

struct block {
	uint32_t psum[BLOCK], out[BLOCK];
	uint16_t a[BLOCK], b[BLOCK];
	int count;
};

static struct block block;

static void expect(const char *who, int i, uint32_t got, uint32_t want)
{
	cr_assert(got == want, "%s: 0x%08x + 0x%04x * 0x%04x: got 0x%08x, expected 0x%08x", who, block.psum[i], block.a[i],
		  block.b[i], got, want);
}

static void check_rtl(void *model)
{
	fp_units_mac(model, block.psum, block.a, block.b, block.out, (size_t)block.count);
	for (int i = 0; i < block.count; i++)
		expect("mac.v", i, block.out[i], mac_reference(block.psum[i], block.a[i], block.b[i]));
}

// `valid` NULL: every column counts.
static void check_row(const char *who, const float *out, const uint32_t *valid)
{
	for (int i = 0; i < block.count; i++) {
		uint32_t bits = array_float_bits(out[i]);

		if (valid && !valid[i])
			expect(who, i, bits, 0);
		else
			expect(who, i, array_canonical_bits(bits), mac_reference(block.psum[i], block.a[i], block.b[i]));
	}
}

// All kernels on the same operands: the plain row, the masked one (alternating weight register), the split one.
static void check_kernels(void)
{
	static float in[BLOCK], a[BLOCK], w[BLOCK], w0[BLOCK], w1[BLOCK], out[BLOCK], product[BLOCK];
	static uint32_t valid[BLOCK], use1[BLOCK];
	int n = block.count;

	for (int i = 0; i < n; i++) {
		in[i] = array_float_of(block.psum[i]);
		a[i] = array_half_to_float(block.a[i]);
		w[i] = array_half_to_float(block.b[i]);
		w0[i] = i & 1 ? w[i] : 3.0f;
		w1[i] = i & 1 ? 3.0f : w[i];
		use1[i] = i & 1 ? 0 : UINT32_MAX;
		valid[i] = i % 3 ? UINT32_MAX : 0;
	}
	array_mac_row(out, in, a, w, n);
	check_row("array_mac_row", out, NULL);
	array_mac_row_masked(out, in, a, w0, w1, valid, use1, n);
	check_row("array_mac_row_masked", out, valid);
	array_mul_row(product, a, w0, w1, use1, n);
	array_add_row(out, in, product, valid, n);
	check_row("array_mul_row, array_add_row", out, valid);
}

static void push(void *model, uint32_t psum, uint16_t a, uint16_t b)
{
	block.psum[block.count] = psum;
	block.a[block.count] = a;
	block.b[block.count] = b;
	if (++block.count < BLOCK)
		return;
	check_rtl(model);
	check_kernels();
	block.count = 0;
}

static void flush(void *model)
{
	check_rtl(model);
	check_kernels();
	block.count = 0;
}

Test(mac, special_values_in_all_combinations)
{
	void *model = fp_units_create();

	block.count = 0;
	for (int p = 0; p < SPECIAL_FLOATS; p++)
		for (int a = 0; a < SPECIAL_HALVES; a++)
			for (int b = 0; b < SPECIAL_HALVES; b++)
				push(model, special_floats[p], special_halves[a], special_halves[b]);
	flush(model);
	fp_units_free(model);
}

// Sums that lie near the negated product: cancellation down to the last bits, exact zeros, and ties.
Test(mac, cancellation_and_ties)
{
	struct rng rng = rng_start("mac/cancellation_and_ties");
	void *model = fp_units_create();

	block.count = 0;
	for (int i = 0; i < 4000000; i++) {
		uint16_t a = (uint16_t)rng_next(&rng);
		uint16_t b = (uint16_t)rng_next(&rng);
		uint32_t product = bits_of(float_of_half(a) * float_of_half(b));
		uint32_t psum;

		if (i & 1) // within a few ULPs of -product
			psum = (product ^ 0x80000000) + (uint32_t)rng_below(&rng, 9) - 4;
		else // one place above the product's last bits, so that halves come up
			psum = (product & 0x7f800000) + ((uint32_t)rng_below(&rng, 30) << 23) +
			       ((uint32_t)rng_next(&rng) & 0x807fff03);
		push(model, psum, a, b);
	}
	flush(model);
	fp_units_free(model);
}

Test(mac, twenty_million_random_accumulations)
{
	struct rng rng = rng_start("mac/twenty_million_random_accumulations");
	void *model = fp_units_create();
	uint32_t running = 0;

	block.count = 0;
	for (int i = 0; i < 16000000; i++) {
		uint64_t r = rng_next(&rng);

		push(model, (uint32_t)(r >> 32), (uint16_t)r, (uint16_t)(r >> 16));
	}
	// Running sums, as down a column.
	for (int i = 0; i < 4000000; i++) {
		uint16_t a = rng_wild_half(&rng);
		uint16_t b = rng_wild_half(&rng);

		running = i % 128 ? running : 0;
		push(model, running, a, b);
		running = mac_reference(running, a, b);
	}
	flush(model);
	fp_units_free(model);
}
