// SPDX-License-Identifier: Apache-2.0
//
// Values and distances of stored numbers.
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "support.h"
#include "traces/wct_value.h"

Test(value, every_fp16_value_is_the_compilers)
{
	for (uint32_t bits = 0; bits < 65536; bits++) {
		uint16_t half_bits = (uint16_t)bits;
		_Float16 half;
		double want, got = wct_value(bits, false);

		memcpy(&half, &half_bits, sizeof(half));
		want = (double)half;
		cr_assert(isnan(want) ? isnan(got) : got == want && signbit(got) == signbit(want), "0x%04x", bits);
	}
}

Test(value, random_fp32_values_are_the_compilers)
{
	uint64_t state = test_seed();

	for (int i = 0; i < 1000000; i++) {
		uint32_t bits = (uint32_t)random_next(&state);
		float number;
		double got = wct_value(bits, true);

		memcpy(&number, &bits, sizeof(number));
		cr_assert(isnan(number) ? isnan(got) : got == number, "0x%08x", bits);
	}
}

Test(value, distances_count_the_steps_between_values)
{
	cr_assert_eq(wct_ulps(0x3c00, 0x3c00, false), 0);
	cr_assert_eq(wct_ulps(0x3c00, 0x3bff, false), 1);
	cr_assert_eq(wct_ulps(0x0000, 0x8000, false), 0);
	cr_assert_eq(wct_ulps(0x0001, 0x8001, false), 2);
	cr_assert_eq(wct_ulps(0x7bff, 0x7c00, false), 1);
	cr_assert_eq(wct_ulps(0x7c00, 0xfc00, false), 2 * 0x7c00);
	cr_assert_eq(wct_ulps(0x7e00, 0x3c00, false), WCT_ULPS_NAN);
	cr_assert_eq(wct_ulps(0x3c00, 0x7c01, false), WCT_ULPS_NAN);
	cr_assert_eq(wct_ulps(0x7e00, 0x7e00, false), 0);
	cr_assert_eq(wct_ulps(UINT32_C(0x3f800000), UINT32_C(0x3f800010), true), 16);
	cr_assert_eq(wct_ulps(UINT32_C(0x7f7fffff), UINT32_C(0xff7fffff), true), UINT64_C(2) * 0x7f7fffff);
	cr_assert_eq(wct_ulps(UINT32_C(0x7fc00000), 0, true), WCT_ULPS_NAN);
}
