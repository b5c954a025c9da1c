// SPDX-License-Identifier: Apache-2.0
//
// One output element, step by step.
#include "csim/golden/element.h"

#include <string.h>

#include "csim/golden/grouped.h"
#include "csim/golden/half.h"
#include "traces/alloc.h"

enum { HALF_ONE = 0x3c00 };

// Room for `k_max` steps of K; lanes that nothing is put into stay +0 x +0.
static int element_init(struct golden_element *element, int rows, size_t k_max, struct wc_error *err)
{
	size_t waves = rows < 1 ? 0 : (k_max + rows - 1) / rows;

	memset(element, 0, sizeof(*element));
	if (rows < 1)
		return wc_fail(err, WC_ERR_INPUT, "array of %d rows: at least 1 is needed", rows);
	waves = waves ? waves : 1;
	element->rows = rows;
	element->pes = wc_alloc(waves * rows, sizeof(*element->pes));
	element->accumulators = wc_alloc(waves, sizeof(*element->accumulators));
	if (!element->pes || !element->accumulators) {
		golden_element_release(element);
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for the %zu steps of one element", k_max);
	}
	for (size_t i = 0; i < waves * rows; i++)
		element->pes[i] = (struct golden_pe){.a_at = GOLDEN_TAIL, .b_at = GOLDEN_TAIL};
	return 0;
}

static uint16_t operand(const uint16_t *tensor, int64_t at)
{
	return at == GOLDEN_PADDING ? 0 : at == GOLDEN_ONE ? HALF_ONE : tensor[at];
}

// Step `k` of the sum: the elements `a_at` of a and `b_at` of b, or what GOLDEN_PADDING and GOLDEN_ONE stand for.
static void element_put(struct golden_element *element, size_t k, const uint16_t *a, int64_t a_at, const uint16_t *b, int64_t b_at)
{
	element->pes[k] = (struct golden_pe){
		.a = operand(a, a_at), .b = operand(b, b_at), .a_at = a_at, .b_at = b_at,
	};
}

static void element_sum(struct golden_element *element, size_t k_total, uint32_t preload)
{
	float acc = golden_float_of(preload);

	element->preload = preload;
	element->wave_count = k_total ? (int)((k_total + element->rows - 1) / element->rows) : 1;
	for (int wave = 0; wave < element->wave_count; wave++) {
		struct golden_pe *pes = element->pes + (size_t)wave * element->rows;
		float sum = 0;

		for (int lane = 0; lane < element->rows; lane++) {
			sum += golden_half_to_float(pes[lane].a) * golden_half_to_float(pes[lane].b);
			pes[lane].psum = golden_float_bits(sum);
		}
		acc += sum;
		element->accumulators[wave] = golden_float_bits(acc);
	}
	element->result = golden_float_bits(acc);
	element->result_half = golden_half_from_float(acc);
}

static int block_end(int first, int rows, int channels)
{
	return first + rows < channels ? first + rows : channels;
}

int golden_element_forward(struct golden_element *element, const struct golden_conv *conv, int rows, const uint16_t *x, const uint16_t *w, int n, int oy, int ox,
                           int k, struct wc_error *err)
{
	return golden_element_forward_bias(element, conv, rows, x, w, NULL, n, oy, ox, k, err);
}

int golden_element_forward_bias(struct golden_element *element, const struct golden_conv *conv, int rows, const uint16_t *x, const uint16_t *w,
                                const uint16_t *bias, int n, int oy, int ox, int k, struct wc_error *err)
{
	return golden_element_grouped_forward(element, conv, 1, rows, x, w, bias, n, oy, ox, k, err);
}

// Index of a weight; `c` counts within the group.
static int64_t weight_at(const struct golden_conv *conv, int groups, int k, int r, int s, int c)
{
	const struct golden_conv group = golden_group_conv(conv, groups);

	return (int64_t)golden_weight_index(&group, k, r, s, c);
}

int golden_element_grouped_forward(struct golden_element *element, const struct golden_conv *conv, int groups, int rows, const uint16_t *x, const uint16_t *w,
                                   const uint16_t *bias, int n, int oy, int ox, int k, struct wc_error *err)
{
	const int channels = conv->in_c / groups, channel_lo = k / (conv->out_c / groups) * channels;
	size_t step = 0;
	int result = element_init(element, rows, (size_t)conv->kernel_h * conv->kernel_w * channels, err);

	if (result)
		return result;
	for (int first = 0; first < channels; first += rows)
		for (int r = 0; r < conv->kernel_h; r++)
			for (int s = 0; s < conv->kernel_w; s++)
				for (int c = first; c < block_end(first, rows, channels); c++) {
					int iy = oy * conv->stride_h - conv->pad_h + r * conv->dilation_h;
					int ix = ox * conv->stride_w - conv->pad_w + s * conv->dilation_w;
					bool inside = iy >= 0 && iy < conv->in_h && ix >= 0 && ix < conv->in_w;

					element_put(element, step++, x, inside ? (int64_t)golden_in_index(conv, n, iy, ix, channel_lo + c) : GOLDEN_PADDING, w,
					            weight_at(conv, groups, k, r, s, c));
				}
	element_sum(element, step, bias ? golden_bits_of(golden_half_to_float(bias[k])) : 0);
	return 0;
}

int golden_element_data_gradient(struct golden_element *element, const struct golden_conv *conv, int rows, const uint16_t *dy, const uint16_t *w, int n, int iy,
                                 int ix, int c, struct wc_error *err)
{
	return golden_element_data_gradient_add(element, conv, rows, dy, w, 0, conv->out_c, 0, n, iy, ix, c, err);
}

// Over output channels [channel_lo, channel_hi), all of one group; `c` counts within it.
static int data_gradient(struct golden_element *element, const struct golden_conv *conv, int groups, int rows, const uint16_t *dy, const uint16_t *w,
                         int channel_lo, int channel_hi, uint32_t preload, int n, int iy, int ix, int c, struct wc_error *err)
{
	size_t step = 0;
	int result = element_init(element, rows, (size_t)conv->kernel_h * conv->kernel_w * (size_t)(channel_hi - channel_lo), err);

	if (result)
		return result;
	for (int first = channel_lo; first < channel_hi; first += rows)
		for (int r = 0; r < conv->kernel_h; r++)
			for (int s = 0; s < conv->kernel_w; s++) {
				int y = iy + conv->pad_h - r * conv->dilation_h;
				int x = ix + conv->pad_w - s * conv->dilation_w;
				bool inside = y >= 0 && y / conv->stride_h < conv->out_h && x >= 0 && x / conv->stride_w < conv->out_w;

				if (y % conv->stride_h != 0 || x % conv->stride_w != 0)
					continue;
				for (int k = first; k < block_end(first, rows, channel_hi); k++)
					element_put(element, step++, dy, inside ? (int64_t)golden_out_index(conv, n, y / conv->stride_h, x / conv->stride_w, k) : GOLDEN_PADDING,
					            w, weight_at(conv, groups, k, r, s, c));
			}
	element_sum(element, step, preload);
	return 0;
}

int golden_element_data_gradient_add(struct golden_element *element, const struct golden_conv *conv, int rows, const uint16_t *dy, const uint16_t *w,
                                     int channel_lo, int channel_hi, uint32_t preload, int n, int iy, int ix, int c, struct wc_error *err)
{
	return data_gradient(element, conv, 1, rows, dy, w, channel_lo, channel_hi, preload, n, iy, ix, c, err);
}

int golden_element_grouped_data_gradient(struct golden_element *element, const struct golden_conv *conv, int groups, int rows, const uint16_t *dy,
                                         const uint16_t *w, int n, int iy, int ix, int c, struct wc_error *err)
{
	const int in_c = conv->in_c / groups, out_c = conv->out_c / groups, group = c / in_c;

	return data_gradient(element, conv, groups, rows, dy, w, group * out_c, (group + 1) * out_c, 0, n, iy, ix, c % in_c, err);
}

int golden_element_weight_gradient(struct golden_element *element, const struct golden_conv *conv, int rows, const uint16_t *x, const uint16_t *dy,
                                   struct golden_range cut, uint32_t preload, int k, int r, int s, int c, struct wc_error *err)
{
	return golden_element_grouped_weight_gradient(element, conv, 1, rows, x, dy, cut, preload, k, r, s, c, err);
}

int golden_element_grouped_weight_gradient(struct golden_element *element, const struct golden_conv *conv, int groups, int rows, const uint16_t *x,
                                           const uint16_t *dy, struct golden_range cut, uint32_t preload, int k, int r, int s, int c, struct wc_error *err)
{
	const int channel = k / (conv->out_c / groups) * (conv->in_c / groups) + c;
	size_t step = 0;
	int result = element_init(element, rows, (size_t)(cut.sample_hi - cut.sample_lo) * (cut.row_hi - cut.row_lo) * conv->out_w, err);

	if (result)
		return result;
	for (int n = cut.sample_lo; n < cut.sample_hi; n++)
		for (int oy = cut.row_lo; oy < cut.row_hi; oy++)
			for (int ox = 0; ox < conv->out_w; ox++) {
				int iy = oy * conv->stride_h - conv->pad_h + r * conv->dilation_h;
				int ix = ox * conv->stride_w - conv->pad_w + s * conv->dilation_w;
				bool inside = iy >= 0 && iy < conv->in_h && ix >= 0 && ix < conv->in_w;

				element_put(element, step++, dy, (int64_t)golden_out_index(conv, n, oy, ox, k), x,
				            inside ? (int64_t)golden_in_index(conv, n, iy, ix, channel) : GOLDEN_PADDING);
			}
	element_sum(element, step, preload);
	return 0;
}

int golden_element_bias_gradient(struct golden_element *element, const struct golden_conv *conv, int rows, const uint16_t *dy, struct golden_range cut,
                                 uint32_t preload, int k, struct wc_error *err)
{
	size_t step = 0;
	int result = element_init(element, rows, (size_t)(cut.sample_hi - cut.sample_lo) * (cut.row_hi - cut.row_lo) * conv->out_w, err);

	if (result)
		return result;
	for (int n = cut.sample_lo; n < cut.sample_hi; n++)
		for (int oy = cut.row_lo; oy < cut.row_hi; oy++)
			for (int ox = 0; ox < conv->out_w; ox++)
				element_put(element, step++, dy, (int64_t)golden_out_index(conv, n, oy, ox, k), NULL, GOLDEN_ONE);
	element_sum(element, step, preload);
	return 0;
}

void golden_element_release(struct golden_element *element)
{
	wc_free(element->pes);
	wc_free(element->accumulators);
	memset(element, 0, sizeof(*element));
}
