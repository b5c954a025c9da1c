// SPDX-License-Identifier: Apache-2.0
//
// The order of the sums: the full operators against the trace of single elements, cuts, row ranges, errors.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "csim/golden/element.h"
#include "csim/golden/half.h"
#include "csim/golden/ordered.h"
#include "tests/golden/rig.h"
#include "traces/alloc.h"
#include "tests/reference.h"

static void must(int result, const struct wc_error *err)
{
	cr_assert_eq(result, 0, "%s", err->text);
}

// The accumulators of a trace follow from its partial sums, those from its operands, and the result from both.
static void check_chain(const struct golden_element *element)
{
	float acc = golden_float_of(element->preload);

	for (int wave = 0; wave < element->wave_count; wave++) {
		const struct golden_pe *pes = element->pes + (size_t)wave * element->rows;

		acc += golden_float_of(pes[element->rows - 1].psum);
		cr_assert_eq(element->accumulators[wave], golden_float_bits(acc));
		for (int lane = 0; lane < element->rows; lane++) {
			float above = lane ? golden_float_of(pes[lane - 1].psum) : 0;
			float sum = above + golden_half_to_float(pes[lane].a) * golden_half_to_float(pes[lane].b);

			cr_assert_eq(pes[lane].psum, golden_float_bits(sum));
			if (pes[lane].a_at == GOLDEN_TAIL)
				cr_assert(pes[lane].a == 0 && pes[lane].b == 0 && pes[lane].b_at == GOLDEN_TAIL && wave == element->wave_count - 1);
		}
	}
	cr_assert_eq(element->result, element->accumulators[element->wave_count - 1]);
}

static void check_forward(const struct rig *rig, int rows)
{
	const struct golden_conv *conv = &rig->conv;
	uint16_t *y = malloc(rig->out_count * sizeof(*y));
	struct golden_element element;
	struct wc_error err = {0};

	must(golden_forward(conv, rows, rig->x, rig->w, golden_range_out(conv), y, &err), &err);
	for (int n = 0; n < conv->batch; n++)
		for (int oy = 0; oy < conv->out_h; oy++)
			for (int ox = 0; ox < conv->out_w; ox++)
				for (int k = 0; k < conv->out_c; k += 1 + k / 3) {
					must(golden_element_forward(&element, conv, rows, rig->x, rig->w, n, oy, ox, k, &err), &err);
					cr_assert_eq(element.result_half, y[golden_out_index(conv, n, oy, ox, k)], "y[%d][%d][%d][%d], %d rows: %s", n, oy, ox, k, rows,
					             rig_name(conv));
					check_chain(&element);
					golden_element_release(&element);
				}
	free(y);
}

static void check_data_gradient(const struct rig *rig, int rows)
{
	const struct golden_conv *conv = &rig->conv;
	uint16_t *dx = malloc(rig->in_count * sizeof(*dx));
	struct golden_element element;
	struct wc_error err = {0};

	memset(dx, 0xff, rig->in_count * sizeof(*dx));
	must(golden_data_gradient(conv, rows, rig->dy, rig->w, golden_range_in(conv), dx, &err), &err);
	for (int n = 0; n < conv->batch; n++)
		for (int y = 0; y < conv->in_h; y++)
			for (int x = 0; x < conv->in_w; x++)
				for (int c = 0; c < conv->in_c; c += 1 + c / 3) {
					must(golden_element_data_gradient(&element, conv, rows, rig->dy, rig->w, n, y, x, c, &err), &err);
					cr_assert_eq(element.result_half, dx[golden_in_index(conv, n, y, x, c)], "dx[%d][%d][%d][%d], %d rows: %s", n, y, x, c, rows,
					             rig_name(conv));
					check_chain(&element);
					golden_element_release(&element);
				}
	free(dx);
}

// Cuts of random samples and rows, in any order: the running sums after each.
static void check_weight_gradient(const struct rig *rig, int rows, uint64_t *state)
{
	const struct golden_conv *conv = &rig->conv;
	float *sums = calloc(rig->weight_count, sizeof(*sums)), *before = malloc(rig->weight_count * sizeof(*before));
	float *whole = malloc(rig->weight_count * sizeof(*whole));
	struct golden_range cuts[3];
	struct golden_element element;
	struct wc_error err = {0};

	for (int i = 0; i < 3; i++) {
		cuts[i].sample_lo = rig_between(state, 0, conv->batch - 1);
		cuts[i].sample_hi = rig_between(state, cuts[i].sample_lo, conv->batch);
		cuts[i].row_lo = rig_between(state, 0, conv->out_h - 1);
		cuts[i].row_hi = rig_between(state, cuts[i].row_lo, conv->out_h);
		memcpy(before, sums, rig->weight_count * sizeof(*sums));
		must(golden_weight_gradient_add(conv, rows, rig->x, rig->dy, cuts[i], sums, &err), &err);
		for (size_t at = 0; at < rig->weight_count; at += 1 + at / 7) {
			int c = (int)(at % conv->in_c), s = (int)(at / conv->in_c % conv->kernel_w), r = (int)(at / conv->in_c / conv->kernel_w % conv->kernel_h);
			int k = (int)(at / conv->in_c / conv->kernel_w / conv->kernel_h);

			must(golden_element_weight_gradient(&element, conv, rows, rig->x, rig->dy, cuts[i], golden_bits_of(before[at]), k, r, s, c, &err), &err);
			cr_assert_eq(element.result, golden_bits_of(sums[at]), "dw[%d][%d][%d][%d] after cut %d, %d rows: %s", k, r, s, c, i, rows, rig_name(conv));
			check_chain(&element);
			golden_element_release(&element);
		}
	}
	must(reference_weight_gradient(conv, rows, rig->x, rig->dy, cuts, 3, whole, &err), &err);
	cr_assert_eq(memcmp(whole, sums, rig->weight_count * sizeof(*sums)), 0, "all cuts at once: %s", rig_name(conv));
	free(sums);
	free(before);
	free(whole);
}

Test(order, single_elements_agree_with_the_operators)
{
	static const int sizes[] = {4, 8, 16, 128};
	uint64_t state = rig_seed() + 10;

	for (int i = 0; i < rig_shape_count + 10; i++) {
		struct rig rig = rig_create(i < rig_shape_count ? rig_shapes[i] : rig_random_conv(&state), &state);
		int rows = sizes[rig_between(&state, 0, 3)];

		if (golden_conv_weight_count(&rig.conv) * rig.out_count / rig.conv.out_c < 10 * 1000 * 1000) {
			check_forward(&rig, rows);
			check_data_gradient(&rig, rows);
		}
		check_weight_gradient(&rig, rows, &state);
		rig_free(&rig);
	}
}

// Chunks of two: (a0 b0 + a1 b1) + (a2 b2 + a3 b3). In another order the sum would be another.
Test(order, chunks_are_summed_before_they_are_added)
{
	struct golden_conv conv = {1, 1, 1, 4, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1};
	uint16_t x[4] = {0x6800, 0x0c00, 0xe800, 0x0c00}; // 2048, 2^-12, -2048, 2^-12
	uint16_t w[4] = {0x6800, 0x3c00, 0x6800, 0x3c00}; // times 2048, 1: 2^22, 2^-12, -2^22, 2^-12
	uint16_t two, four;
	struct wc_error err = {0};

	must(golden_forward(&conv, 2, x, w, golden_range_out(&conv), &two, &err), &err);
	must(golden_forward(&conv, 4, x, w, golden_range_out(&conv), &four, &err), &err);
	cr_assert_eq(two, 0, "2^-12 is lost in both chunks: %04x", two);
	cr_assert_eq(four, 0x0c00, "2^-12 is lost in the first half only: %04x", four);
}

// Three channels in blocks of two: the first block over both taps, then the last channel over both taps in one chunk.
Test(order, the_last_block_is_packed_over_the_taps)
{
	struct golden_conv conv = {1, 1, 2, 3, 1, 1, 1, 1, 2, 1, 1, 0, 0, 1, 1};
	uint16_t x[6], w[6];
	int64_t expected[6] = {0, 1, 3, 4, 2, 5};
	struct golden_element element;
	struct wc_error err = {0};

	for (int i = 0; i < 6; i++)
		x[i] = w[i] = (uint16_t)(0x3c00 + i);
	must(golden_element_forward(&element, &conv, 2, x, w, 0, 0, 0, 0, &err), &err);
	cr_assert_eq(element.wave_count, 3);
	for (int i = 0; i < 6; i++) {
		cr_assert_eq(element.pes[i].a_at, expected[i]);
		cr_assert_eq(element.pes[i].b_at, expected[i]);
		cr_assert_eq(element.pes[i].a, x[expected[i]]);
	}
	golden_element_release(&element);
}

Test(order, a_row_range_gives_the_same_bits_and_leaves_the_rest)
{
	uint64_t state = rig_seed() + 11;

	for (int i = 0; i < rig_shape_count; i++) {
		struct rig rig = rig_create(rig_shapes[i], &state);
		const struct golden_conv *conv = &rig.conv;
		uint16_t *whole = malloc((rig.out_count + rig.in_count) * sizeof(*whole)), *part = malloc((rig.out_count + rig.in_count) * sizeof(*part));
		struct golden_range range = golden_range_out(conv);
		struct wc_error err = {0};

		range.sample_lo = rig_between(&state, 0, conv->batch - 1);
		range.row_lo = rig_between(&state, 0, conv->out_h - 1);
		range.row_hi = rig_between(&state, range.row_lo, conv->out_h);
		memset(part, 0xa5, rig.out_count * sizeof(*part));
		must(golden_forward(conv, 16, rig.x, rig.w, golden_range_out(conv), whole, &err), &err);
		must(golden_forward(conv, 16, rig.x, rig.w, range, part, &err), &err);
		for (size_t at = 0; at < rig.out_count; at++) {
			size_t row = at / conv->out_c / conv->out_w, n = row / conv->out_h, y = row % conv->out_h;
			bool inside = (int)n >= range.sample_lo && (int)y >= range.row_lo && (int)y < range.row_hi;

			cr_assert_eq(part[at], inside ? whole[at] : 0xa5a5, "y element %zu: %s", at, rig_name(conv));
		}

		range = golden_range_in(conv);
		range.sample_lo = rig_between(&state, 0, conv->batch - 1);
		range.row_lo = rig_between(&state, 0, conv->in_h - 1);
		range.row_hi = rig_between(&state, range.row_lo, conv->in_h);
		memset(part, 0xa5, rig.in_count * sizeof(*part));
		must(golden_data_gradient(conv, 16, rig.dy, rig.w, golden_range_in(conv), whole, &err), &err);
		must(golden_data_gradient(conv, 16, rig.dy, rig.w, range, part, &err), &err);
		for (size_t at = 0; at < rig.in_count; at++) {
			size_t row = at / conv->in_c / conv->in_w, n = row / conv->in_h, y = row % conv->in_h;
			bool inside = (int)n >= range.sample_lo && (int)y >= range.row_lo && (int)y < range.row_hi;

			cr_assert_eq(part[at], inside ? whole[at] : 0xa5a5, "dx element %zu: %s", at, rig_name(conv));
		}
		free(whole);
		free(part);
		rig_free(&rig);
	}
}

Test(order, bad_shapes_and_ranges_are_refused)
{
	uint64_t state = rig_seed() + 12;
	struct rig rig = rig_create((struct golden_conv){1, 5, 5, 3, 0, 0, 4, 3, 3, 1, 1, 1, 1, 1, 1}, &state);
	struct golden_conv wrong = rig.conv;
	struct golden_range range = golden_range_out(&rig.conv);
	uint16_t *y = malloc(rig.out_count * sizeof(*y));
	float *dw = malloc(rig.weight_count * sizeof(*dw));
	struct golden_element element;
	struct wc_error err = {0};

	wrong.out_h++;
	cr_assert_eq(golden_forward(&wrong, 16, rig.x, rig.w, range, y, &err), WC_ERR_INPUT);
	cr_assert(strstr(err.text, "shapes"));
	cr_assert_eq(golden_forward(&rig.conv, 0, rig.x, rig.w, range, y, &err), WC_ERR_INPUT);
	cr_assert_eq(golden_element_forward(&element, &rig.conv, 0, rig.x, rig.w, 0, 0, 0, 0, &err), WC_ERR_INPUT);
	range.row_hi++;
	cr_assert_eq(golden_forward(&rig.conv, 16, rig.x, rig.w, range, y, &err), WC_ERR_INPUT);
	cr_assert(strstr(err.text, "0:6"));
	cr_assert_eq(golden_data_gradient(&rig.conv, 16, rig.dy, rig.w, range, y, &err), WC_ERR_INPUT);
	cr_assert_eq(reference_weight_gradient(&rig.conv, 16, rig.x, rig.dy, &range, 1, dw, &err), WC_ERR_INPUT);
	free(y);
	free(dw);
	rig_free(&rig);
}

// Each allocation in turn fails: an error with a text, and no leak (SANITIZE=1 sees those).
Test(order, a_failed_allocation_is_an_error)
{
	uint64_t state = rig_seed() + 13;
	struct rig rig = rig_create((struct golden_conv){1, 5, 5, 3, 0, 0, 4, 3, 3, 2, 2, 1, 1, 1, 1}, &state);
	uint16_t *result = malloc((rig.out_count + rig.in_count) * sizeof(*result));
	float *dw = malloc(rig.weight_count * sizeof(*dw));
	struct golden_range all = golden_range_out(&rig.conv);
	int failures = 0;

	for (int operator = 0; operator < 4; operator++)
		for (size_t nth = 1;; nth++) {
			struct golden_element element;
			struct wc_error err = {0};
			int code;

			wc_alloc_fail_nth(nth);
			if (operator == 0)
				code = golden_forward(&rig.conv, 4, rig.x, rig.w, all, result, &err);
			else if (operator == 1)
				code = golden_data_gradient(&rig.conv, 4, rig.dy, rig.w, golden_range_in(&rig.conv), result, &err);
			else if (operator == 2)
				code = reference_weight_gradient(&rig.conv, 4, rig.x, rig.dy, &all, 1, dw, &err);
			else
				code = golden_element_forward(&element, &rig.conv, 4, rig.x, rig.w, 0, 0, 0, 0, &err);
			if (operator == 3 && code == 0)
				golden_element_release(&element);
			if (wc_alloc_fail_pending())
				break;
			cr_assert_eq(code, WC_ERR_SYSTEM, "operator %d, allocation %zu", operator, nth);
			cr_assert(strstr(err.text, "out of memory"));
			failures++;
		}
	wc_alloc_fail_nth(0);
	cr_assert_geq(failures, 4 + 7);
	free(result);
	free(dw);
	rig_free(&rig);
}
