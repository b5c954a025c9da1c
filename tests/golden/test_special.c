// SPDX-License-Identifier: Apache-2.0
//
// NaNs, infinities, overflow, signed zeros, and ReLU on every value.
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "csim/golden/element.h"
#include "csim/golden/half.h"
#include "csim/golden/ordered.h"
#include "csim/golden/reference.h"
#include "csim/golden/relu.h"
#include "tests/golden/rig.h"
#include "tests/reference.h"

// One 3x3 convolution, padding 1, on a 5x5 image, where tests change single operands.
static struct rig layer(void)
{
	uint64_t state = rig_seed() + 20;

	return rig_create((struct golden_conv){1, 5, 5, 3, 0, 0, 2, 3, 3, 1, 1, 1, 1, 1, 1}, &state);
}

static void forward(const struct rig *rig, uint16_t *y)
{
	struct wc_error err = {0};

	cr_assert_eq(golden_forward(&rig->conv, 4, rig->x, rig->w, golden_range_out(&rig->conv), y, &err), 0, "%s", err.text);
}

Test(special, a_nan_reaches_the_outputs_that_see_it_in_its_one_form)
{
	struct rig rig = layer();
	uint16_t y[5 * 5 * 2];

	rig.x[golden_in_index(&rig.conv, 0, 1, 2, 1)] = 0xfd55; // signalling, negative, with a payload
	forward(&rig, y);
	for (int oy = 0; oy < 5; oy++)
		for (int ox = 0; ox < 5; ox++)
			for (int k = 0; k < 2; k++) {
				bool sees = abs(oy - 1) <= 1 && abs(ox - 2) <= 1;
				uint16_t half = y[golden_out_index(&rig.conv, 0, oy, ox, k)];

				cr_assert(sees ? half == 0x7e00 : !golden_half_is_nan(half), "y[%d][%d][%d] = %04x", oy, ox, k, half);
			}
	rig_free(&rig);
}

Test(special, padding_times_an_infinite_weight_is_nan)
{
	struct rig rig = layer();
	uint16_t y[5 * 5 * 2];

	for (size_t i = 0; i < rig.in_count; i++)
		rig.x[i] = 0x3c00;
	rig.w[golden_weight_index(&rig.conv, 1, 0, 1, 0)] = 0x7c00; // tap (0, 1): padding for the first output row
	forward(&rig, y);
	cr_assert_eq(y[golden_out_index(&rig.conv, 0, 0, 2, 1)], 0x7e00);
	cr_assert_eq(y[golden_out_index(&rig.conv, 0, 1, 2, 1)], 0x7c00);
	cr_assert_lt(y[golden_out_index(&rig.conv, 0, 0, 2, 0)] & 0x7fff, 0x7c00);
	rig_free(&rig);
}

Test(special, infinities_of_opposite_signs_make_a_nan)
{
	struct golden_conv conv = {1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1};
	uint16_t x[2] = {0x7c00, 0xfc00}, w[2] = {0x3c00, 0x3c00}, y;
	struct golden_element element;
	struct wc_error err = {0};

	cr_assert_eq(golden_forward(&conv, 4, x, w, golden_range_out(&conv), &y, &err), 0);
	cr_assert_eq(y, 0x7e00);
	cr_assert_eq(golden_element_forward(&element, &conv, 4, x, w, 0, 0, 0, 0, &err), 0);
	cr_assert_eq(element.pes[0].psum, 0x7f800000);
	cr_assert_eq(element.pes[1].psum, 0x7fc00000);
	cr_assert_eq(element.pes[3].psum, 0x7fc00000);
	golden_element_release(&element);
}

Test(special, the_sum_overflows_only_where_it_is_stored)
{
	struct golden_conv conv = {1, 1, 1, 3, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1};
	uint16_t x[3] = {0x7bff, 0x7bff, 0xfbff}, w[3] = {0x3c00, 0x3c00, 0x3c00}, y; // 65504 + 65504 - 65504
	struct wc_error err = {0};

	cr_assert_eq(golden_forward(&conv, 4, x, w, golden_range_out(&conv), &y, &err), 0);
	cr_assert_eq(y, 0x7bff);
	x[2] = 0;
	cr_assert_eq(golden_forward(&conv, 4, x, w, golden_range_out(&conv), &y, &err), 0);
	cr_assert_eq(y, 0x7c00);
}

Test(special, a_sum_of_negative_zeros_is_positive)
{
	struct golden_conv conv = {1, 1, 1, 3, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1};
	uint16_t x[3] = {0x8000, 0x8000, 0x8000}, w[3] = {0x3c00, 0x3c00, 0x3c00}, y = 1;
	struct wc_error err = {0};

	cr_assert_eq(golden_forward(&conv, 4, x, w, golden_range_out(&conv), &y, &err), 0);
	cr_assert_eq(y, 0);
}

Test(special, weight_gradient_sums_keep_one_nan)
{
	struct rig rig = layer();
	float *dw = malloc(rig.weight_count * sizeof(*dw));
	struct golden_range all = golden_range_out(&rig.conv);
	struct wc_error err = {0};

	rig.dy[golden_out_index(&rig.conv, 0, 2, 2, 1)] = 0xffff;
	cr_assert_eq(reference_weight_gradient(&rig.conv, 4, rig.x, rig.dy, &all, 1, dw, &err), 0);
	for (size_t i = 0; i < rig.weight_count; i++)
		cr_assert(i < rig.weight_count / 2 ? !isnan(dw[i]) : golden_bits_of(dw[i]) == 0x7fc00000, "element %zu", i);
	free(dw);
	rig_free(&rig);
}

Test(special, relu_passes_what_is_positive_or_nan)
{
	enum { COUNT = 65536 };
	uint16_t *x = malloc(COUNT * sizeof(*x)), *y = malloc(COUNT * sizeof(*y)), *dy = malloc(COUNT * sizeof(*dy)), *dx = malloc(COUNT * sizeof(*dx));
	uint8_t *mask = malloc(golden_mask_bytes(COUNT));
	int passed = 0;

	for (int i = 0; i < COUNT; i++) {
		x[i] = (uint16_t)i;
		dy[i] = (uint16_t)(i * 40503u + 7);
	}
	golden_relu(x, COUNT, y, mask);
	for (int i = 0; i < COUNT; i++) {
		double value = golden_half_to_float(x[i]), result;
		bool passes = value > 0 || isnan(value);

		golden_reference_relu(&value, 1, &result);
		cr_assert_eq(y[i], golden_half_from_float((float)result), "relu(%04x) = %04x", i, y[i]);
		cr_assert_eq(mask[i / 8] >> i % 8 & 1, passes, "mask of %04x", i);
		passed += passes;
	}
	cr_assert_eq(passed, 0x7c00 + 2 * 0x3ff); // positive to infinity, and the NaNs of both signs

	reference_relu_gradient_mask(mask, dy, COUNT, dx);
	for (int i = 0; i < COUNT; i++) {
		double value = golden_half_to_float(x[i]), gradient = golden_half_to_float(dy[i]), result;

		golden_reference_relu_gradient(&value, &gradient, 1, &result);
		cr_assert_eq(dx[i], golden_half_from_float((float)result), "gradient at %04x", i);
	}
	golden_relu_gradient_out(y, dy, COUNT, dy); // by the output instead of the input, and in place
	cr_assert_arr_eq(dy, dx, COUNT * sizeof(*dx));
	free(x);
	free(y);
	free(dy);
	free(dx);
	free(mask);
}

Test(special, mask_bits_behind_the_last_element_are_zero)
{
	uint16_t x[11] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	uint8_t mask[2] = {0xff, 0xff};

	golden_relu(x, 11, x, mask);
	cr_assert_eq(mask[0], 0xff);
	cr_assert_eq(mask[1], 0x07);
}
