// SPDX-License-Identifier: Apache-2.0
#include "csim/golden/grouped.h"

#include <string.h>

#include "csim/golden/ordered.h"
#include "traces/alloc.h"

void golden_group_gather(const uint16_t *tensor, size_t pixels, int channels, int first, int count, uint16_t *group)
{
	for (size_t i = 0; i < pixels; i++)
		memcpy(group + i * count, tensor + i * channels + first, count * sizeof(*group));
}

void golden_group_scatter(const uint16_t *group, size_t pixels, int channels, int first, int count, uint16_t *tensor)
{
	for (size_t i = 0; i < pixels; i++)
		memcpy(tensor + i * channels + first, group + i * count, count * sizeof(*group));
}

// One group's operands and result, of the range's samples.
struct copies {
	struct golden_conv conv;
	struct golden_range range;             // among these samples
	size_t in_first, out_first;            // elements of the whole tensors before them
	size_t in_pixels, out_pixels, weights; // `weights`: of one group
	uint16_t *in, *out;                    // owned
};

static int copies_init(struct copies *copies, const struct golden_conv *conv, int groups, struct golden_range range, int height,
		       struct wc_error *err)
{
	int result;

	if (groups < 1 || conv->in_c % groups || conv->out_c % groups)
		return wc_fail(err, WC_ERR_INPUT, "convolution of %d to %d channels in %d groups: the groups must divide both",
			       conv->in_c, conv->out_c, groups);
	result = golden_range_check(range, conv->batch, height, err);
	if (result)
		return result;
	copies->conv = golden_group_conv(conv, groups);
	copies->conv.batch = range.sample_hi - range.sample_lo;
	copies->range = (struct golden_range){0, copies->conv.batch, range.row_lo, range.row_hi};
	copies->in_first = golden_in_index(conv, range.sample_lo, 0, 0, 0);
	copies->out_first = golden_out_index(conv, range.sample_lo, 0, 0, 0);
	copies->in_pixels = (size_t)copies->conv.batch * conv->in_h * conv->in_w;
	copies->out_pixels = (size_t)copies->conv.batch * conv->out_h * conv->out_w;
	copies->weights = golden_conv_weight_count(&copies->conv);
	copies->in = wc_alloc(golden_conv_in_count(&copies->conv), sizeof(*copies->in));
	copies->out = wc_alloc(golden_conv_out_count(&copies->conv), sizeof(*copies->out));
	if (!copies->in || !copies->out) {
		wc_free(copies->in);
		wc_free(copies->out);
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for one of %d groups of a convolution", groups);
	}
	return 0;
}

static void copies_release(struct copies *copies)
{
	wc_free(copies->in);
	wc_free(copies->out);
}

static void gather(const uint16_t *tensor, size_t pixels, int channels, int group, int count, uint16_t *to)
{
	golden_group_gather(tensor, pixels, channels, group * count, count, to);
}

// The rows of `range` alone, as the rest belongs to the caller.
static void scatter(const uint16_t *from, struct golden_range range, int height, int width, int channels, int group, int count,
		    uint16_t *tensor)
{
	for (int n = range.sample_lo; n < range.sample_hi; n++) {
		size_t first = ((size_t)n * height + range.row_lo) * width;

		golden_group_scatter(from + first * count, (size_t)(range.row_hi - range.row_lo) * width, channels, group * count,
				     count, tensor + first * channels);
	}
}

int golden_grouped_forward(const struct golden_conv *conv, int groups, int rows, const uint16_t *x, const uint16_t *w,
			   const uint16_t *bias, struct golden_range range, uint16_t *y, struct wc_error *err)
{
	struct copies copies;
	int result = copies_init(&copies, conv, groups, range, conv->out_h, err);

	if (result)
		return result;
	for (int g = 0; !result && g < groups; g++) {
		const uint16_t *group_bias = bias ? bias + (size_t)g * copies.conv.out_c : NULL;

		gather(x + copies.in_first, copies.in_pixels, conv->in_c, g, copies.conv.in_c, copies.in);
		result = golden_forward_bias(&copies.conv, rows, copies.in, w + g * copies.weights, group_bias, copies.range,
					     copies.out, err);
		if (!result)
			scatter(copies.out, copies.range, conv->out_h, conv->out_w, conv->out_c, g, copies.conv.out_c,
				y + copies.out_first);
	}
	copies_release(&copies);
	return result;
}

int golden_grouped_data_gradient(const struct golden_conv *conv, int groups, int rows, const uint16_t *dy, const uint16_t *w,
				 struct golden_range range, uint16_t *dx, struct wc_error *err)
{
	struct copies copies;
	int result = copies_init(&copies, conv, groups, range, conv->in_h, err);

	if (result)
		return result;
	for (int g = 0; !result && g < groups; g++) {
		gather(dy + copies.out_first, copies.out_pixels, conv->out_c, g, copies.conv.out_c, copies.out);
		result = golden_data_gradient(&copies.conv, rows, copies.out, w + g * copies.weights, copies.range, copies.in, err);
		if (!result)
			scatter(copies.in, copies.range, conv->in_h, conv->in_w, conv->in_c, g, copies.conv.in_c,
				dx + copies.in_first);
	}
	copies_release(&copies);
	return result;
}

int golden_grouped_weight_gradient_add(const struct golden_conv *conv, int groups, int rows, const uint16_t *x,
				       const uint16_t *dy, struct golden_range cut, float *sums, struct wc_error *err)
{
	struct copies copies;
	int result = copies_init(&copies, conv, groups, cut, conv->out_h, err);

	if (result)
		return result;
	for (int g = 0; !result && g < groups; g++) {
		gather(x + copies.in_first, copies.in_pixels, conv->in_c, g, copies.conv.in_c, copies.in);
		gather(dy + copies.out_first, copies.out_pixels, conv->out_c, g, copies.conv.out_c, copies.out);
		result = golden_weight_gradient_add(&copies.conv, rows, copies.in, copies.out, copies.range,
						    sums + g * copies.weights, err);
	}
	copies_release(&copies);
	return result;
}
