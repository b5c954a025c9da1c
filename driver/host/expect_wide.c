// SPDX-License-Identifier: Apache-2.0
//
// A gradient's sums in fp32 over the slices of weights so far.
//
// The device works on strips: a strip's rows go through all slices before the next strip begins. Rows are moved on together where they stand alike:
// all that have no sums yet by the first slice, then those that were asked for since, which are a strip's. So each slice is worked on once for each
// row, in pieces as large as may be, without knowing of strips. Rows that are asked for an earlier slice again begin anew.
#include <assert.h>
#include <string.h>

#include "csim/golden/ordered.h"
#include "driver/host/clock.h"
#include "driver/host/expect_internal.h"
#include "traces/alloc.h"

static int begin(struct expect *expect, int node, struct expect_wide *wide, struct wc_error *err)
{
	const size_t rows = (size_t)expect->data->batch * (size_t)expect->net->nodes[node].out.height;

	if (!wide->sums)
		wide->sums = wc_alloc(data_count(expect->net, node, expect->data->batch), sizeof(*wide->sums));
	if (!wide->stage)
		wide->stage = wc_alloc(rows, sizeof(*wide->stage));
	if (!wide->asked)
		wide->asked = wc_alloc(rows, sizeof(*wide->asked));
	if (!wide->sums || !wide->stage || !wide->asked)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for the sums of the gradient of '%s'", expect->net->nodes[node].name);
	return 0;
}

// The rectangle of rows that stand as its first one does.
static struct golden_range alike(const struct expect_wide *wide, int batch, int height, int sample, int row)
{
	const int first = sample * height + row;
	struct golden_range range = {sample, batch, row, height};

	for (int n = range.sample_lo; n < range.sample_hi; n++)
		for (int y = range.row_lo; y < range.row_hi; y++) {
			const int at = n * height + y;

			if (wide->stage[at] == wide->stage[first] && wide->asked[at] == wide->asked[first])
				continue;
			if (n == sample)
				range.row_hi = y;
			else
				range.sample_hi = n;
		}
	return range;
}

// A fully connected layer's rows are slices of its 1x1 image of all elements: dense copies of what belongs to them go through the convolution.
static int add_fc(struct expect *expect, int consumer, struct golden_range range, int channel_lo, int channel_hi, float *sums, struct wc_error *err)
{
	const struct net_node *of = &expect->net->nodes[consumer];
	const size_t row = (size_t)of->in.width * (size_t)of->in.channels, image = row * (size_t)of->in.height;
	const size_t first = (size_t)range.row_lo * row, elements = (size_t)(range.row_hi - range.row_lo) * row;
	const int channels = channel_hi - channel_lo, samples = range.sample_hi - range.sample_lo;
	const struct golden_conv conv = {
		.batch = samples, .in_h = 1, .in_w = 1, .in_c = (int)elements, .out_h = 1, .out_w = 1, .out_c = channels, .kernel_h = 1, .kernel_w = 1,
		.stride_h = 1, .stride_w = 1, .dilation_h = 1, .dilation_w = 1,
	};
	uint16_t *w = wc_alloc((size_t)channels * elements, sizeof(*w)), *dy = wc_alloc((size_t)samples * (size_t)channels, sizeof(*dy));
	float *part = wc_alloc((size_t)samples * elements, sizeof(*part));
	int result = 0;

	if (!w || !dy || !part)
		result = wc_fail(err, WC_ERR_SYSTEM, "out of memory for %zu x %d weights of '%s'", elements, channels, of->name);
	for (int k = 0; !result && k < channels; k++)
		memcpy(w + (size_t)k * elements, expect->data->weights[consumer] + (size_t)(channel_lo + k) * image + first, elements * sizeof(*w));
	for (int n = 0; !result && n < samples; n++) {
		memcpy(dy + (size_t)n * (size_t)channels, expect->grad[consumer] + (size_t)(range.sample_lo + n) * (size_t)of->out.channels + channel_lo,
		       (size_t)channels * sizeof(*dy));
		memcpy(part + (size_t)n * elements, sums + (size_t)(range.sample_lo + n) * image + first, elements * sizeof(*part));
	}
	if (!result)
		result = golden_data_gradient_add(&conv, expect->rows, dy, w, 0, channels, (struct golden_range){0, samples, 0, 1}, part, err);
	for (int n = 0; !result && n < samples; n++)
		memcpy(sums + (size_t)(range.sample_lo + n) * image + first, part + (size_t)n * elements, elements * sizeof(*part));
	wc_free(w);
	wc_free(dy);
	wc_free(part);
	return result;
}

// Move the rows on to output channel `stage`, from where they stand or from the beginning.
static int advance(struct expect *expect, int node, int consumer, struct golden_range range, int stage, struct wc_error *err)
{
	const struct net_node *of = &expect->net->nodes[node], *conv_node = &expect->net->nodes[consumer];
	const struct golden_conv conv = expect_conv(expect, consumer);
	const size_t row = (size_t)of->out.width * (size_t)of->out.channels, rows = (size_t)(range.row_hi - range.row_lo);
	struct expect_wide *wide = &expect->way[consumer].wide;
	const int stands = wide->stage[range.sample_lo * of->out.height + range.row_lo], from = stands > stage ? 0 : stands;
	const double start_s = clock_cpu_s();
	int result;

	for (int n = range.sample_lo; n < range.sample_hi; n++) {
		const size_t first = (size_t)n * (size_t)of->out.height + (size_t)range.row_lo;

		if (from == 0)
			memset(wide->sums + first * row, 0, rows * row * sizeof(*wide->sums));
		// Until they are there, nothing is.
		memset(wide->stage + first, 0, rows * sizeof(*wide->stage));
		memset(wide->asked + first, 0, rows * sizeof(*wide->asked));
	}
	if (conv_node->op == NET_FC)
		result = add_fc(expect, consumer, range, from, stage, wide->sums, err);
	else
		result = golden_data_gradient_add(&conv, expect->rows, expect->grad[consumer], expect->data->weights[consumer], from, stage, range, wide->sums,
						  err);
	for (int n = range.sample_lo; !result && n < range.sample_hi; n++)
		for (int y = range.row_lo; y < range.row_hi; y++)
			wide->stage[n * of->out.height + y] = stage;
	expect_spent(expect, consumer, start_s,
		     (double)(range.sample_hi - range.sample_lo) * (double)rows / of->out.height * (stage - from) / conv_node->out.channels);
	return result;
}

const float *expect_wide_row(struct expect *expect, const struct value *value, int sample, int row, struct wc_error *err)
{
	const struct net_node *of = &expect->net->nodes[value->node];
	const int consumer = of->consumers[value->reader], height = of->out.height, at = sample * height + row;
	struct expect_wide *wide = &expect->way[consumer].wide;

	assert(expect->net->nodes[consumer].op == NET_CONV || expect->net->nodes[consumer].op == NET_FC);
	assert(expect->net->nodes[consumer].conv.groups == 1);
	// A gradient that the data give would be there without anything else.
	if (!expect_grad(expect, consumer, err) || begin(expect, value->node, wide, err))
		return NULL;
	if (wide->stage[at] != value->stage) {
		const struct golden_range range = alike(wide, expect->data->batch, height, sample, row);

		if (advance(expect, value->node, consumer, range, value->stage, err))
			return NULL;
	}
	wide->asked[at] = value->stage;
	return wide->sums + (size_t)at * (size_t)of->out.width * (size_t)of->out.channels;
}
