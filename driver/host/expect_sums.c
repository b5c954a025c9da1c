// SPDX-License-Identifier: Apache-2.0
//
// Gradients of parameters, cut by cut.
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "csim/golden/ordered.h"
#include "driver/host/clock.h"
#include "driver/host/expect_internal.h"
#include "traces/alloc.h"

uint64_t expect_sums_at(const struct expect *expect, int node, enum parameter_array array)
{
	uint64_t at = 0;

	for (enum parameter_array before = 0; before < array; before++)
		at += program_array_count(&expect->net->nodes[node], before);
	return at;
}

// Filters and bias.
static int advance_conv(struct expect *expect, int node, const uint16_t *x, const uint16_t *dy, struct golden_range range, struct wc_error *err)
{
	const struct golden_conv conv = expect_conv(expect, node);
	float *sums = expect->sums[node];
	int result = golden_weight_gradient_add(&conv, expect->rows, x, dy, range, sums, err);

	if (!result && expect->net->nodes[node].bias)
		result = golden_bias_gradient_add(&conv, expect->rows, dy, range, sums + expect_sums_at(expect, node, ARRAY_BIAS), err);
	return result;
}

// Gamma and beta. The range's samples stand as a batch of their own, so that a cut has no more rows than it needs.
static int advance_norm(struct expect *expect, int node, const uint16_t *x, const uint16_t *dy, struct golden_range range, struct wc_error *err)
{
	const int sample_lo = range.sample_lo, samples = range.sample_hi - range.sample_lo;
	struct golden_norm norm = expect_norm(expect, node);
	const size_t first = (size_t)sample_lo * (size_t)norm.height * (size_t)norm.width * (size_t)norm.channels;
	const size_t rows = (size_t)samples * (size_t)norm.height, channels = (size_t)norm.channels;
	struct golden_norm_sums *row_sums = wc_alloc(rows * channels, sizeof(*row_sums)), *totals = wc_alloc(channels, sizeof(*totals));
	float *gamma = expect->sums[node], *beta = gamma + channels;
	int result;

	range.sample_lo = 0;
	range.sample_hi = norm.batch = samples;
	for (size_t c = 0; totals && c < channels; c++)
		totals[c] = (struct golden_norm_sums){gamma[c], beta[c]};
	if (!row_sums || !totals)
		result = wc_fail(err, WC_ERR_SYSTEM, "out of memory for the parameters' row sums of '%s'", expect->net->nodes[node].name);
	else
		result = golden_norm_parameter_row_sums(&norm, x + first, dy + first,
							expect->statistics[node] + (size_t)sample_lo * (size_t)golden_norm_groups(&norm), range,
							row_sums, err);
	if (!result)
		result = golden_norm_parameter_add(&norm, row_sums, range, totals, err);
	for (size_t c = 0; !result && c < channels; c++) {
		gamma[c] = totals[c].first;
		beta[c] = totals[c].second;
	}
	wc_free(row_sums);
	wc_free(totals);
	return result;
}

// Make room, and keep what the sums were.
static int begin_cut(struct expect *expect, int node, int cut, struct wc_error *err)
{
	const size_t count = (size_t)expect_sums_at(expect, node, ARRAY_COUNT);

	if (!expect->sums[node])
		expect->sums[node] = wc_alloc(count, sizeof(float));
	if (!expect->sums_before[node])
		expect->sums_before[node] = wc_alloc(count, sizeof(float));
	if (!expect->sums[node] || !expect->sums_before[node])
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for %zu weight gradients of '%s'", count, expect->net->nodes[node].name);
	if (cut == 0)
		memset(expect->sums[node], 0, count * sizeof(float));
	memcpy(expect->sums_before[node], expect->sums[node], count * sizeof(float));
	return 0;
}

int expect_advance(struct expect *expect, int node, int cut, struct golden_range range, struct wc_error *err)
{
	const struct net_node *of = &expect->net->nodes[node];
	// A normalization's own output, too: with it come the statistics.
	const uint16_t *act = expect_act(expect, of->op == NET_GN ? node : of->inputs[0], err);
	const uint16_t *dy = act ? expect_grad(expect, node, err) : NULL, *x = expect->act[of->inputs[0]];
	double start_s;
	int result;

	assert(expect_sums_at(expect, node, ARRAY_COUNT) > 0);
	if (!dy)
		return WC_ERR_SYSTEM;
	if (cut == expect->cut[node])
		return 0;
	if (cut != expect->cut[node] + 1)
		return wc_fail(err, WC_ERR_SYSTEM, "cut %d of '%s' comes after cut %d", cut, of->name, expect->cut[node]);
	result = golden_range_check(range, expect->data->batch, of->out.height, err);
	if (!result)
		result = begin_cut(expect, node, cut, err);
	if (result)
		return result;
	expect->cut[node] = cut;
	expect->range[node] = range;
	expect->covered[node] += (uint64_t)(range.sample_hi - range.sample_lo) * (uint64_t)(range.row_hi - range.row_lo);
	start_s = clock_cpu_s();
	result = (of->op == NET_GN ? advance_norm : advance_conv)(expect, node, x, dy, range, err);
	expect_spent(expect, node, start_s, (double)(range.sample_hi - range.sample_lo) * (range.row_hi - range.row_lo) / of->out.height);
	return result;
}

const float *expect_sums(const struct expect *expect, int node, int cut)
{
	if (cut >= 0 && cut == expect->cut[node])
		return expect->sums[node];
	return cut >= 0 && cut == expect->cut[node] - 1 ? expect->sums_before[node] : NULL;
}

const float *expect_complete(const struct expect *expect, int node, enum parameter_array array, struct wc_error *err)
{
	const struct net_node *of = &expect->net->nodes[node];
	const uint64_t rows = (uint64_t)expect->data->batch * (uint64_t)of->out.height;

	if (expect->covered[node] != rows) {
		wc_fail(err, WC_ERR_SYSTEM, "an update by the gradient of '%s', which covers %" PRIu64 " of %" PRIu64 " rows", of->name,
			expect->covered[node], rows);
		return NULL;
	}
	return expect->sums[node] + expect_sums_at(expect, node, array);
}
