// SPDX-License-Identifier: Apache-2.0
//
// Rule: a data gradient summed slice by slice of the output channels has, after each slice, the sums of a convolution that has no further channels,
// and after the last the bits of the sum made at once.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "csim/golden/half.h"
#include "csim/golden/ordered.h"
#include "tests/golden/rig.h"
#include "traces/alloc.h"

static void must(int result, const struct wc_error *err)
{
	cr_assert_eq(result, 0, "%s", err->text);
}

// The first `channels` output channels of dy, densely.
static uint16_t *first_channels(const struct rig *rig, int channels)
{
	uint16_t *dy = rig_zeros(rig->out_count, sizeof(*dy));

	for (size_t pixel = 0; pixel < rig->out_count / rig->conv.out_c; pixel++)
		memcpy(dy + pixel * channels, rig->dy + pixel * rig->conv.out_c, channels * sizeof(*dy));
	return dy;
}

static void expect_rounded(const struct rig *rig, int rows, int channels, const float *sums)
{
	struct golden_conv conv = rig->conv;
	uint16_t *dy = first_channels(rig, channels), *dx = rig_zeros(rig->in_count, sizeof(*dx)), *rounded = rig_zeros(rig->in_count, sizeof(*rounded));
	struct wc_error err = {0};

	conv.out_c = channels;
	must(golden_data_gradient(&conv, rows, dy, rig->w, golden_range_in(&conv), dx, &err), &err);
	golden_floats_to_halves(rounded, sums, rig->in_count);
	cr_assert_eq(rig_difference(rounded, dx, rig->in_count), -1, "%d of %d channels, %d rows: %s", channels, rig->conv.out_c, rows, rig_name(&rig->conv));
	free(dy);
	free(dx);
	free(rounded);
}

// Random slices, each over the whole image or strip by strip.
static void check_slices(const struct rig *rig, int rows, uint64_t *state)
{
	const struct golden_conv *conv = &rig->conv;
	float *sums = rig_zeros(rig->in_count, sizeof(*sums));
	struct wc_error err = {0};

	for (int lo = 0, hi; lo < conv->out_c; lo = hi) {
		hi = lo + rows * rig_between(state, 1, 2);
		hi = hi < conv->out_c ? hi : conv->out_c;
		for (int y = 0, end; y < conv->in_h; y = end) {
			struct golden_range range = {0, conv->batch, y, 0};

			range.row_hi = end = rig_between(state, y + 1, conv->in_h);
			must(golden_data_gradient_add(conv, rows, rig->dy, rig->w, lo, hi, range, sums, &err), &err);
		}
		expect_rounded(rig, rows, hi, sums);
	}
	free(sums);
}

Test(slices, sums_are_those_of_the_channels_so_far)
{
	static const int sizes[] = {1, 2, 4, 8, 16};
	uint64_t state = rig_seed() + 820;

	for (int i = 0; i < rig_shape_count + 20; i++) {
		struct rig rig = rig_create(i < rig_shape_count ? rig_shapes[i] : rig_random_conv(&state), &state);
		int rows = sizes[rig_between(&state, 0, 4)];

		while (rows * 8 < rig.conv.out_c)
			rows *= 2;
		if (golden_conv_weight_count(&rig.conv) * rig.out_count / rig.conv.out_c < 10 * 1000 * 1000)
			check_slices(&rig, rows, &state);
		rig_free(&rig);
	}
}

static const struct golden_conv strided = {2, 7, 6, 3, 0, 0, 13, 3, 3, 2, 2, 1, 1, 2, 1};

// With large sums that cancel, slices in another order are seen.
Test(slices, another_order_has_other_bits)
{
	uint64_t state = rig_seed() + 821;
	struct rig rig = rig_create(strided, &state);
	float *right = rig_zeros(rig.in_count, sizeof(*right)), *wrong = rig_zeros(rig.in_count, sizeof(*wrong));
	struct golden_range all = golden_range_in(&rig.conv);
	struct wc_error err = {0};

	free(rig.dy);
	rig.dy = rig_wide_halves(rig.out_count, &state);
	for (int slice = 0; slice < 4; slice++) {
		int other = 3 - slice;

		must(golden_data_gradient_add(&rig.conv, 4, rig.dy, rig.w, 4 * slice, slice == 3 ? 13 : 4 * slice + 4, all, right, &err), &err);
		must(golden_data_gradient_add(&rig.conv, 4, rig.dy, rig.w, 4 * other, other == 3 ? 13 : 4 * other + 4, all, wrong, &err), &err);
	}
	expect_rounded(&rig, 4, 13, right);
	cr_assert_neq(rig_float_difference(right, wrong, rig.in_count), -1);
	free(right);
	free(wrong);
	rig_free(&rig);
}

Test(slices, rows_outside_the_range_are_left_alone_and_nans_are_canonical)
{
	uint64_t state = rig_seed() + 822;
	struct rig rig = rig_create(strided, &state);
	float *sums = rig_zeros(rig.in_count, sizeof(*sums));
	struct golden_range range = {1, 2, 2, 5};
	struct wc_error err = {0};

	for (size_t i = 0; i < rig.in_count; i++)
		sums[i] = golden_float_of(0xffc12345);
	must(golden_data_gradient_add(&rig.conv, 8, rig.dy, rig.w, 0, 8, range, sums, &err), &err);
	for (size_t i = 0; i < rig.in_count; i++) {
		size_t row = i / rig.conv.in_c / rig.conv.in_w, n = row / rig.conv.in_h, y = row % rig.conv.in_h;

		cr_assert_eq(golden_bits_of(sums[i]), n == 1 && y >= 2 && y < 5 ? (uint32_t)GOLDEN_FLOAT_NAN : 0xffc12345u, "element %zu", i);
	}
	free(sums);
	rig_free(&rig);
}

Test(slices, bad_slices_and_failed_allocations_are_errors)
{
	static const int slices[][2] = {{2, 8}, {-4, 4}, {4, 4}, {8, 4}, {12, 14}, {16, 20}};
	uint64_t state = rig_seed() + 823;
	struct rig rig = rig_create(strided, &state);
	float *sums = rig_zeros(rig.in_count, sizeof(*sums));
	struct golden_range all = golden_range_in(&rig.conv), beyond = all;
	struct wc_error err = {0};
	size_t nth = 1;

	for (size_t i = 0; i < sizeof(slices) / sizeof(*slices); i++) {
		cr_assert_eq(golden_data_gradient_add(&rig.conv, 4, rig.dy, rig.w, slices[i][0], slices[i][1], all, sums, &err), WC_ERR_INPUT, "%zu", i);
		cr_assert(strstr(err.text, "a slice must begin at a multiple of 4"), "%s", err.text);
	}
	beyond.row_hi++;
	cr_assert_eq(golden_data_gradient_add(&rig.conv, 4, rig.dy, rig.w, 0, 4, beyond, sums, &err), WC_ERR_INPUT);
	for (;; nth++) {
		int code;

		wc_alloc_fail_nth(nth);
		code = golden_data_gradient_add(&rig.conv, 4, rig.dy, rig.w, 4, 13, all, sums, &err);
		if (wc_alloc_fail_pending())
			break;
		cr_assert_eq(code, WC_ERR_SYSTEM, "allocation %zu", nth);
	}
	wc_alloc_fail_nth(0);
	cr_assert_gt(nth, 7);
	free(sums);
	rig_free(&rig);
}
