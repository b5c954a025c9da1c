// SPDX-License-Identifier: Apache-2.0
//
// Gradients of parameters, cut by cut.
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "csim/golden/grouped.h"
#include "csim/golden/ordered.h"
#include "csim/golden/reduce.h"
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
static int advance_conv(struct expect *expect, int node, const uint16_t *x, const uint16_t *dy, struct golden_range range, float *sums, struct wc_error *err)
{
	const struct golden_conv conv = expect_conv(expect, node);
	const int groups = expect->net->nodes[node].conv.groups;
	int result = groups > 1 ? golden_grouped_weight_gradient_add(&conv, groups, expect->rows, x, dy, range, sums, err)
				: golden_weight_gradient_add(&conv, expect->rows, x, dy, range, sums, err);

	if (!result && expect->net->nodes[node].bias)
		result = golden_bias_gradient_add(&conv, expect->rows, dy, range, sums + expect_sums_at(expect, node, ARRAY_BIAS), err);
	return result;
}

// Gamma and beta. The range's samples stand as a batch of their own, so that a cut has no more rows than it needs.
static int advance_norm(struct expect *expect, int node, const uint16_t *x, const uint16_t *dy, struct golden_range range, float *sums, struct wc_error *err)
{
	const int sample_lo = range.sample_lo, samples = range.sample_hi - range.sample_lo;
	struct golden_norm norm = expect_norm(expect, node);
	const size_t first = (size_t)sample_lo * (size_t)norm.height * (size_t)norm.width * (size_t)norm.channels;
	const size_t rows = (size_t)samples * (size_t)norm.height, channels = (size_t)norm.channels;
	struct golden_norm_sums *row_sums = wc_alloc(rows * channels, sizeof(*row_sums)), *totals = wc_alloc(channels, sizeof(*totals));
	float *gamma = sums, *beta = gamma + channels;
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

static struct expect_sums *sums_at(const struct expect *expect, int core, int node)
{
	assert(core >= 0 && core < WC_CORES_MAX);
	return &expect->sums[core * expect->net->node_count + node];
}

const struct expect_sums *expect_sums_of(const struct expect *expect, int core, int node)
{
	return sums_at(expect, core, node);
}

static void forget_reduced(struct expect *expect)
{
	for (int node = 0; node < expect->net->node_count; node++) {
		wc_free(expect->reduced[node]);
		expect->reduced[node] = NULL;
	}
}

void expect_restart(struct expect *expect, int cores)
{
	assert(cores >= 1 && cores <= WC_CORES_MAX);
	expect->cores = cores;
	for (int core = 0; core < WC_CORES_MAX; core++)
		for (int node = 0; node < expect->net->node_count; node++) {
			sums_at(expect, core, node)->cut = -1;
			sums_at(expect, core, node)->covered = 0;
		}
	forget_reduced(expect);
	expect_forget_update(expect);
}

void expect_release_sums(struct expect *expect)
{
	const int nodes = expect->net ? expect->net->node_count : 0;

	for (int i = 0; expect->sums && i < WC_CORES_MAX * nodes; i++) {
		wc_free(expect->sums[i].now);
		wc_free(expect->sums[i].before);
	}
	if (expect->reduced && nodes)
		forget_reduced(expect);
	wc_free(expect->sums);
	wc_free(expect->reduced);
}

// Make room, and keep what the sums were.
static int begin_cut(const struct expect *expect, struct expect_sums *sums, int node, int cut, struct wc_error *err)
{
	const size_t count = (size_t)expect_sums_at(expect, node, ARRAY_COUNT);

	if (!sums->now)
		sums->now = wc_alloc(count, sizeof(float));
	if (!sums->before)
		sums->before = wc_alloc(count, sizeof(float));
	if (!sums->now || !sums->before)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for %zu weight gradients of '%s'", count, expect->net->nodes[node].name);
	if (cut == 0)
		memset(sums->now, 0, count * sizeof(float));
	memcpy(sums->before, sums->now, count * sizeof(float));
	return 0;
}

int expect_advance(struct expect *expect, int core, int node, int cut, struct golden_range range, struct wc_error *err)
{
	const struct net_node *of = &expect->net->nodes[node];
	struct expect_sums *sums = sums_at(expect, core, node);
	// A normalization's own output, too: with it come the statistics.
	const uint16_t *act = expect_act(expect, of->op == NET_GN ? node : of->inputs[0], err);
	const uint16_t *dy = act ? expect_grad(expect, node, err) : NULL, *x = expect->act[of->inputs[0]];
	double start_s;
	int result;

	assert(expect_sums_at(expect, node, ARRAY_COUNT) > 0);
	if (!dy)
		return WC_ERR_SYSTEM;
	if (cut == sums->cut)
		return 0;
	if (cut != sums->cut + 1)
		return wc_fail(err, WC_ERR_SYSTEM, "cut %d of '%s' comes after cut %d", cut, of->name, sums->cut);
	result = golden_range_check(range, expect->data->batch, of->out.height, err);
	if (!result)
		result = begin_cut(expect, sums, node, cut, err);
	if (result)
		return result;
	sums->cut = cut;
	sums->range = range;
	sums->covered += (uint64_t)(range.sample_hi - range.sample_lo) * (uint64_t)(range.row_hi - range.row_lo);
	start_s = clock_cpu_s();
	result = (of->op == NET_GN ? advance_norm : advance_conv)(expect, node, x, dy, range, sums->now, err);
	expect_spent(expect, node, start_s, (double)(range.sample_hi - range.sample_lo) * (range.row_hi - range.row_lo) / of->out.height);
	return result;
}

const float *expect_sums(const struct expect *expect, int core, int node, int cut)
{
	const struct expect_sums *sums = sums_at(expect, core, node);

	if (cut >= 0 && cut == sums->cut)
		return sums->now;
	return cut >= 0 && cut == sums->cut - 1 ? sums->before : NULL;
}

const float *expect_core_gradient(const struct expect *expect, int core, int node, enum parameter_array array, struct wc_error *err)
{
	const struct expect_sums *sums = sums_at(expect, core, node);
	const uint64_t rows = (uint64_t)(expect->data->batch / expect->cores) * (uint64_t)expect->net->nodes[node].out.height;

	if (sums->covered != rows) {
		wc_fail(err, WC_ERR_SYSTEM, "the gradient of '%s' is asked for, of which core %d has covered %" PRIu64 " of %" PRIu64 " rows",
			expect->net->nodes[node].name, core, sums->covered, rows);
		return NULL;
	}
	return sums->now + expect_sums_at(expect, node, array);
}

// All arrays of a node, summed over the cores in ascending order.
static int reduce(struct expect *expect, int node, struct wc_error *err)
{
	const size_t count = (size_t)expect_sums_at(expect, node, ARRAY_COUNT);
	float *sum = wc_alloc(count, sizeof(*sum));

	if (!sum)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for %zu weight gradients of '%s'", count, expect->net->nodes[node].name);
	memcpy(sum, sums_at(expect, 0, node)->now, count * sizeof(*sum));
	for (int core = 1; core < expect->cores; core++)
		golden_reduce(sum, sums_at(expect, core, node)->now, count);
	expect->reduced[node] = sum;
	return 0;
}

const float *expect_complete(struct expect *expect, int node, enum parameter_array array, int cores, struct wc_error *err)
{
	for (int core = 0; core < expect->cores; core++)
		if (!expect_core_gradient(expect, core, node, array, err))
			return NULL;
	// Before the first addition, core 0's.
	if (cores == 1 || expect->cores == 1)
		return expect_core_gradient(expect, 0, node, array, err);
	assert(cores == 0 || cores == expect->cores);
	if (!expect->reduced[node] && reduce(expect, node, err))
		return NULL;
	return expect->reduced[node] + expect_sums_at(expect, node, array);
}
