// SPDX-License-Identifier: Apache-2.0
//
// Bias and groups: the sums one by one, single elements, planted faults, ranges, errors.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "csim/golden/element.h"
#include "csim/golden/grouped.h"
#include "csim/golden/half.h"
#include "csim/golden/ordered.h"
#include "tests/golden/layer.h"
#include "tests/golden/naive.h"
#include "tests/golden/rig.h"
#include "traces/alloc.h"

static void must(int result, const struct wc_error *err)
{
	cr_assert_eq(result, 0, "%s", err->text);
}

// One element of y: its products in the order of K, summed chunk by chunk. `fault`: the bias is added last.
static uint16_t naive_forward(const struct layer *layer, int n, int oy, int ox, int k, bool fault)
{
	const struct golden_conv *conv = &layer->conv;
	int group_in = conv->in_c / layer->groups, group = k / (conv->out_c / layer->groups), step = 0;
	float acc = fault ? 0 : naive_widen(layer->bias[k]), chunk = 0;

	for (int first = 0; first < group_in; first += layer->rows)
		for (int tap = 0; tap < conv->kernel_h * conv->kernel_w; tap++)
			for (int c = first; c < group_in && c < first + layer->rows; c++) {
				int y = oy * conv->stride_h - conv->pad_h + tap / conv->kernel_w * conv->dilation_h;
				int x = ox * conv->stride_w - conv->pad_w + tap % conv->kernel_w * conv->dilation_w;
				bool outside = y < 0 || x < 0 || y >= conv->in_h || x >= conv->in_w;
				float a = outside ? 0 : naive_widen(layer->x[golden_in_index(conv, n, y, x, group * group_in + c)]);

				chunk = naive_add(
				    chunk,
				    naive_mul(a,
					      naive_widen(
						  layer->w[((size_t)k * conv->kernel_h * conv->kernel_w + tap) * group_in + c])));
				if (++step % layer->rows == 0) {
					acc = naive_add(acc, chunk);
					chunk = 0;
				}
			}
	if (step % layer->rows)
		acc = naive_add(acc, chunk);
	return naive_narrow(fault ? naive_add(acc, naive_widen(layer->bias[k])) : acc);
}

// One element of db. `fault`: no chunks.
static float naive_bias_gradient(const struct layer *layer, int k, bool fault)
{
	float acc = 0, chunk = 0;
	size_t pixels = layer->out / layer->conv.out_c;

	for (size_t i = 0; i < pixels; i++) {
		chunk = naive_add(chunk, naive_widen(layer->dy[i * layer->conv.out_c + k]));
		if (i + 1 == pixels || (!fault && (i + 1) % layer->rows == 0)) {
			acc = naive_add(acc, chunk);
			chunk = 0;
		}
	}
	return acc;
}

Test(grouped, bits_are_those_of_the_sums_one_by_one)
{
	uint64_t state = rig_seed() + 500;
	int late_bias = 0, no_chunks = 0;

	for (int i = 0; i < layer_shape_count; i++)
		for (int rows = 4; rows <= 16; rows *= 2) {
			struct layer layer = layer_create(layer_shapes[i].conv, layer_shapes[i].groups, rows, true, &state);
			const struct golden_conv *conv = &layer.conv;

			for (int n = 0; n < conv->batch; n++)
				for (int oy = 0; oy < conv->out_h; oy++)
					for (int ox = 0; ox < conv->out_w; ox++)
						for (int k = 0; k < conv->out_c; k++) {
							uint16_t y = layer.y[golden_out_index(conv, n, oy, ox, k)];

							cr_assert_eq(y, naive_forward(&layer, n, oy, ox, k, false),
								     "y[%d][%d][%d][%d], %d rows, %d groups: %s", n, oy, ox, k,
								     rows, layer.groups, rig_name(conv));
							late_bias += y != naive_forward(&layer, n, oy, ox, k, true);
						}
			for (int k = 0; k < conv->out_c; k++) {
				cr_assert_eq(golden_bits_of(layer.db[k]), naive_bits(naive_bias_gradient(&layer, k, false)),
					     "db[%d], %d rows: %s", k, rows, rig_name(conv));
				no_chunks += golden_bits_of(layer.db[k]) != naive_bits(naive_bias_gradient(&layer, k, true));
			}
			layer_free(&layer);
		}
	cr_assert(late_bias > 0 && no_chunks > 0, "planted faults seen %d, %d times", late_bias, no_chunks);
}

// The group's channels in the whole tensors, and the same steps on copies of them.
static void same_steps(const struct golden_element *element, const struct golden_element *of_group, const uint16_t *a, const uint16_t *b)
{
	cr_assert_eq(element->wave_count, of_group->wave_count);
	for (int i = 0; i < element->wave_count * element->rows; i++) {
		const struct golden_pe *pe = &element->pes[i], *other = &of_group->pes[i];

		cr_assert(pe->a == other->a && pe->b == other->b && pe->psum == other->psum, "step %d", i);
		cr_assert(pe->a_at < 0 ? pe->a_at == other->a_at : a[pe->a_at] == pe->a, "step %d", i);
		cr_assert(pe->b_at < 0 ? pe->b_at == other->b_at : b[pe->b_at] == pe->b, "step %d", i);
	}
	cr_assert_eq(element->result, of_group->result);
	cr_assert_eq(element->preload, of_group->preload);
}

// Each group alone, through single elements.
Test(grouped, single_elements_agree)
{
	uint64_t state = rig_seed() + 501;

	for (int i = 0; i < layer_shape_count; i++) {
		struct layer layer = layer_create(layer_shapes[i].conv, layer_shapes[i].groups, 8, true, &state);
		const struct golden_conv *conv = &layer.conv, group = golden_group_conv(conv, layer.groups);
		uint16_t *x = rig_zeros(golden_conv_in_count(&group), sizeof(*x)),
			 *dy = rig_zeros(golden_conv_out_count(&group), sizeof(*dy));
		size_t weights = golden_conv_weight_count(&group);
		struct golden_range all = golden_range_out(conv);
		struct golden_element element, whole;
		struct wc_error err = {0};

		for (int g = 0; g < layer.groups; g++) {
			const uint16_t *w = layer.w + g * weights, *bias = layer.bias + g * group.out_c;
			int n = conv->batch - 1, oy = conv->out_h / 2, ox = conv->out_w - 1, iy = conv->in_h / 2,
			    ix = conv->in_w / 3, k = group.out_c - 1, c = 0;
			int r = group.kernel_h / 2, s = 0;

			golden_group_gather(layer.x, layer.in / conv->in_c, conv->in_c, g * group.in_c, group.in_c, x);
			golden_group_gather(layer.dy, layer.out / conv->out_c, conv->out_c, g * group.out_c, group.out_c, dy);
			must(golden_element_forward_bias(&element, &group, 8, x, w, bias, n, oy, ox, k, &err), &err);
			cr_assert_eq(element.result_half, layer.y[golden_out_index(conv, n, oy, ox, g * group.out_c + k)], "%s",
				     rig_name(conv));
			cr_assert_eq(element.preload, naive_bits(naive_widen(bias[k])));
			must(golden_element_grouped_forward(&whole, conv, layer.groups, 8, layer.x, layer.w, layer.bias, n, oy, ox,
							    g * group.out_c + k, &err),
			     &err);
			same_steps(&whole, &element, layer.x, layer.w);
			golden_element_release(&whole);
			golden_element_release(&element);
			must(golden_element_data_gradient(&element, &group, 8, dy, w, n, iy, ix, c, &err), &err);
			cr_assert_eq(element.result_half, layer.dx[golden_in_index(conv, n, iy, ix, g * group.in_c + c)], "%s",
				     rig_name(conv));
			must(golden_element_grouped_data_gradient(&whole, conv, layer.groups, 8, layer.dy, layer.w, n, iy, ix,
								  g * group.in_c + c, &err),
			     &err);
			same_steps(&whole, &element, layer.dy, layer.w);
			golden_element_release(&whole);
			golden_element_release(&element);
			must(golden_element_weight_gradient(&element, &group, 8, x, dy, all, 0, k, r, s, c, &err), &err);
			cr_assert_eq(element.result,
				     golden_bits_of(layer.dw[g * weights + golden_weight_index(&group, k, r, s, c)]), "%s",
				     rig_name(conv));
			must(golden_element_grouped_weight_gradient(&whole, conv, layer.groups, 8, layer.x, layer.dy, all, 0,
								    g * group.out_c + k, r, s, c, &err),
			     &err);
			same_steps(&whole, &element, layer.dy, layer.x);
			golden_element_release(&whole);
			golden_element_release(&element);
			must(golden_element_bias_gradient(&element, conv, 8, layer.dy, all, 0, g * group.out_c + k, &err), &err);
			cr_assert_eq(element.result, golden_bits_of(layer.db[g * group.out_c + k]), "%s", rig_name(conv));
			cr_assert(element.pes[0].b == 0x3c00 && element.pes[0].b_at == GOLDEN_ONE);
			golden_element_release(&element);
		}
		free(x);
		free(dy);
		layer_free(&layer);
	}
}

// Without groups and bias nothing changes; a bias of zero changes nothing either, and cuts of the bias gradient add up in their
// order.
Test(grouped, one_group_is_the_plain_operator)
{
	uint64_t state = rig_seed() + 502;
	struct rig rig = rig_create((struct golden_conv){2, 8, 8, 19, 0, 0, 21, 3, 3, 2, 2, 1, 1, 1, 1}, &state);
	uint16_t *plain = rig_zeros(rig.out_count, sizeof(*plain)), *other = rig_zeros(rig.out_count, sizeof(*other)),
		 zeros[21] = {0};
	float sums[21] = {0};
	struct golden_range all = golden_range_out(&rig.conv), first = all, second = all;
	struct wc_error err = {0};

	must(golden_forward(&rig.conv, 16, rig.x, rig.w, all, plain, &err), &err);
	must(golden_grouped_forward(&rig.conv, 1, 16, rig.x, rig.w, NULL, all, other, &err), &err);
	cr_assert_lt(rig_difference(plain, other, rig.out_count), 0);
	must(golden_forward_bias(&rig.conv, 16, rig.x, rig.w, zeros, all, other, &err), &err);
	cr_assert_lt(rig_difference(plain, other, rig.out_count), 0);
	first.sample_hi = second.sample_lo = 1;
	must(golden_bias_gradient_add(&rig.conv, 8, rig.dy, first, sums, &err), &err);
	must(golden_bias_gradient_add(&rig.conv, 8, rig.dy, second, sums, &err), &err);
	for (int k = 0; k < 21; k++) {
		struct golden_element element;
		uint32_t before;

		must(golden_element_bias_gradient(&element, &rig.conv, 8, rig.dy, first, 0, k, &err), &err);
		before = element.result;
		golden_element_release(&element);
		must(golden_element_bias_gradient(&element, &rig.conv, 8, rig.dy, second, before, k, &err), &err);
		cr_assert_eq(element.result, golden_bits_of(sums[k]), "db[%d]", k);
		golden_element_release(&element);
	}
	free(plain);
	free(other);
	rig_free(&rig);
}

// Cuts of samples and rows, each going on from the sum before.
Test(grouped, cuts_of_the_weight_gradient_add_up)
{
	uint64_t state = rig_seed() + 507;
	struct layer layer = layer_create(layer_shapes[2].conv, layer_shapes[2].groups, 8, true, &state);
	const struct golden_conv *conv = &layer.conv;
	const struct golden_range cuts[] = {{0, 2, 0, 4}, {1, 2, 4, 9}, {0, 1, 4, 9}};
	float *sums = rig_zeros(layer.weights, sizeof(*sums));
	uint32_t *elements = rig_zeros(layer.weights, sizeof(*elements));
	struct wc_error err = {0};

	for (size_t i = 0; i < sizeof(cuts) / sizeof(*cuts); i++) {
		must(golden_grouped_weight_gradient_add(conv, layer.groups, 8, layer.x, layer.dy, cuts[i], sums, &err), &err);
		for (int at = 0; at < (int)layer.weights; at++) {
			struct golden_element element;

			must(golden_element_grouped_weight_gradient(&element, conv, layer.groups, 8, layer.x, layer.dy, cuts[i], elements[at],
								    at / 9, at / 3 % 3, at % 3, 0, &err),
			     &err);
			elements[at] = element.result;
			cr_assert_eq(elements[at], golden_bits_of(sums[at]), "cut %zu, element %d", i, at);
			golden_element_release(&element);
		}
	}
	free(sums);
	free(elements);
	layer_free(&layer);
}

Test(grouped, a_range_leaves_the_rest)
{
	uint64_t state = rig_seed() + 505;
	struct layer layer = layer_create(layer_shapes[2].conv, layer_shapes[2].groups, 8, true, &state);
	const struct golden_conv *conv = &layer.conv;
	uint16_t *part = rig_zeros(layer.in + layer.out, sizeof(*part));
	struct golden_range range = {1, 2, 2, 5};
	struct wc_error err = {0};

	for (int backward = 0; backward < 2; backward++) {
		size_t count = backward ? layer.in : layer.out, row = (size_t)conv->in_w * conv->in_c; // the same in and out here

		memset(part, 0xa5, count * sizeof(*part));
		if (backward)
			must(golden_grouped_data_gradient(conv, layer.groups, 8, layer.dy, layer.w, range, part, &err), &err);
		else
			must(golden_grouped_forward(conv, layer.groups, 8, layer.x, layer.w, layer.bias, range, part, &err), &err);
		for (size_t at = 0; at < count; at++) {
			bool inside = at / row >= 9 + 2 && at / row < 9 + 5;

			cr_assert_eq(part[at], inside ? (backward ? layer.dx : layer.y)[at] : 0xa5a5, "element %zu", at);
		}
	}
	free(part);
	layer_free(&layer);
}

Test(grouped, bad_groups_ranges_and_failed_allocations_are_errors)
{
	uint64_t state = rig_seed() + 506;
	struct layer layer = layer_create(layer_shapes[4].conv, layer_shapes[4].groups, 8, false, &state);
	struct golden_range all = golden_range_out(&layer.conv), outside = all;
	int failures = 0;

	for (int i = 0; i < 2; i++) {
		struct wc_error err = {0};
		int groups = (int[]){0, 3}[i];

		cr_assert_eq(golden_grouped_forward(&layer.conv, groups, 8, layer.x, layer.w, NULL, all, layer.y, &err),
			     WC_ERR_INPUT);
		cr_assert_eq(golden_grouped_data_gradient(&layer.conv, groups, 8, layer.dy, layer.w, all, layer.dx, &err),
			     WC_ERR_INPUT);
		cr_assert_eq(golden_grouped_weight_gradient_add(&layer.conv, groups, 8, layer.x, layer.dy, all, layer.dw, &err),
			     WC_ERR_INPUT);
		cr_assert(strstr(err.text, "groups"));
	}
	outside.row_hi++;
	cr_assert_eq(golden_bias_gradient_add(&layer.conv, 8, layer.dy, outside, layer.db, NULL), WC_ERR_INPUT);
	cr_assert_eq(golden_grouped_forward(&layer.conv, 4, 8, layer.x, layer.w, NULL, outside, layer.y, NULL), WC_ERR_INPUT);
	for (int operator = 0; operator < 3; operator++)
		for (size_t nth = 1;; nth++) {
			struct wc_error err = {0};
			int code;

			wc_alloc_fail_nth(nth);
			if (operator == 0)
				code = golden_grouped_forward(&layer.conv, 4, 8, layer.x, layer.w, NULL, all, layer.y, &err);
			else if (operator == 1)
				code = golden_grouped_data_gradient(&layer.conv, 4, 8, layer.dy, layer.w,
								    golden_range_in(&layer.conv), layer.dx, &err);
			else
				code =
				    golden_grouped_weight_gradient_add(&layer.conv, 4, 8, layer.x, layer.dy, all, layer.dw, &err);
			if (wc_alloc_fail_pending())
				break;
			cr_assert_eq(code, WC_ERR_SYSTEM, "operator %d, allocation %zu", operator, nth);
			failures++;
		}
	wc_alloc_fail_nth(0);
	cr_assert_geq(failures, 3 * 4);
	layer_free(&layer);
}
