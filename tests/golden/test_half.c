// SPDX-License-Identifier: Apache-2.0
//
// Conversions against the compiler's own _Float16, ULP distances against counting.
#include <criterion/criterion.h>
#include <math.h>

#include "csim/golden/half.h"
#include "tests/golden/rig.h"

static uint16_t native_half(float value)
{
	_Float16 half = (_Float16)value;
	uint16_t bits;

	memcpy(&bits, &half, sizeof(bits));
	return isnan(value) ? GOLDEN_HALF_NAN : bits;
}

static float native_float(uint16_t bits)
{
	_Float16 half;

	memcpy(&half, &bits, sizeof(half));
	return (float)half;
}

Test(half, all_65536_values_convert_exactly)
{
	for (uint32_t bits = 0; bits < 65536; bits++) {
		uint32_t native = golden_float_bits(native_float((uint16_t)bits));

		cr_assert_eq(golden_bits_of(golden_half_to_float((uint16_t)bits)), native, "half %04x", bits);
	}
}

Test(half, every_value_survives_the_round_trip)
{
	for (uint32_t bits = 0; bits < 65536; bits++)
		cr_assert_eq(golden_half_from_float(golden_half_to_float((uint16_t)bits)), golden_half_canonical((uint16_t)bits), "half %04x", bits);
}

// Quick: 34 million patterns, spread evenly; long: 614 million.
Test(half, floats_round_to_nearest_even)
{
	uint64_t step = rig_long() ? 7 : 127;

	for (uint64_t bits = 0; bits < (uint64_t)1 << 32; bits += step) {
		float value = golden_float_of((uint32_t)bits);

		if (golden_half_from_float(value) != native_half(value))
			cr_assert_fail("float %08x: got %04x, expected %04x", (uint32_t)bits, golden_half_from_float(value), native_half(value));
	}
}

// Half way between two neighbours, and one step of a float to either side.
Test(half, ties_go_to_even)
{
	for (uint32_t bits = 0; bits < 0x7bff; bits++) {
		float low = golden_half_to_float((uint16_t)bits), high = golden_half_to_float((uint16_t)(bits + 1));
		float middle = (low + high) / 2;

		cr_assert_eq(golden_half_from_float(middle), (bits + 1) & ~1u, "above half %04x", bits);
		cr_assert_eq(golden_half_from_float(nextafterf(middle, 0)), bits);
		cr_assert_eq(golden_half_from_float(nextafterf(middle, INFINITY)), bits + 1);
		cr_assert_eq(golden_half_from_float(-middle), 0x8000 | ((bits + 1) & ~1u));
	}
}

Test(half, overflow_and_nan_have_one_form)
{
	cr_assert_eq(golden_half_from_float(65519.996f), 0x7bff);
	cr_assert_eq(golden_half_from_float(65520.0f), 0x7c00);
	cr_assert_eq(golden_half_from_float(-INFINITY), 0xfc00);
	cr_assert_eq(golden_half_from_float(golden_float_of(0xffc00001)), 0x7e00);
	cr_assert_eq(golden_half_from_float(golden_float_of(0x7f800001)), 0x7e00);
	cr_assert_eq(golden_float_bits(golden_float_of(0xffffffff)), 0x7fc00000);
	cr_assert_eq(golden_float_bits(-0.0f), 0x80000000);
	cr_assert_eq(golden_half_canonical(0xfc01), 0x7e00);
	cr_assert_eq(golden_half_canonical(0xfc00), 0xfc00);
}

Test(half, arrays_convert_like_single_values)
{
	uint16_t halves[777], back[777];
	float floats[777];

	for (int i = 0; i < 777; i++)
		halves[i] = (uint16_t)(i * 85);
	golden_halves_to_floats(floats, halves, 777);
	golden_floats_to_halves(back, floats, 777);
	for (int i = 0; i < 777; i++) {
		cr_assert_eq(golden_bits_of(floats[i]), golden_bits_of(golden_half_to_float(halves[i])));
		cr_assert_eq(back[i], golden_half_canonical(halves[i]));
	}
}

Test(half, ulps_count_the_values_between)
{
	// Walk the number line from -infinity to +infinity; every step but the one between the zeros is one.
	uint32_t steps = 0;

	for (int bits = 0xfc00; bits > 0x8000; bits--)
		steps += golden_half_ulps((uint16_t)bits, (uint16_t)(bits - 1));
	cr_assert_eq(golden_half_ulps(0x8000, 0), 0);
	for (int bits = 0; bits < 0x7c00; bits++)
		steps += golden_half_ulps((uint16_t)bits, (uint16_t)(bits + 1));
	cr_assert_eq(steps, 2 * 0x7c00);
	cr_assert_eq(golden_half_ulps(0xfc00, 0x7c00), 2 * 0x7c00);
	cr_assert_eq(golden_float_ulps(golden_bits_of(1.0f), golden_bits_of(nextafterf(1.0f, 2))), 1);
	cr_assert_eq(golden_float_ulps(golden_bits_of(nextafterf(0, -1)), golden_bits_of(nextafterf(0, 1))), 2);
	cr_assert_eq(golden_float_ulps(0xff800000, 0x7f800000), 2 * (uint32_t)0x7f800000);
	cr_assert_eq(golden_half_ulps(0x7e00, 0xfe01), 0);
	cr_assert_eq(golden_half_ulps(0x7e00, 0x3c00), GOLDEN_ULPS_NAN);
	cr_assert_eq(golden_float_ulps(0x3f800000, 0x7fc00000), GOLDEN_ULPS_NAN);
	cr_assert_eq(golden_float_ulps(0xffc00000, 0x7fc00000), 0);
}
