// SPDX-License-Identifier: Apache-2.0
//
// Golden tensors on demand; see expect.h.
#include "driver/host/expect.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "csim/golden/add.h"
#include "csim/golden/ordered.h"
#include "driver/host/clock.h"
#include "driver/host/expect_internal.h"
#include "traces/alloc.h"

int expect_init(struct expect *expect, const struct data *data, int rows, struct wc_error *err)
{
	const size_t nodes = (size_t)data->net->node_count;

	*expect = (struct expect){.data = data, .net = data->net, .rows = rows};
	expect->act = wc_alloc(nodes, sizeof(*expect->act));
	expect->grad = wc_alloc(nodes, sizeof(*expect->grad));
	expect->sums = wc_alloc(nodes, sizeof(*expect->sums));
	expect->sums_before = wc_alloc(nodes, sizeof(*expect->sums_before));
	expect->cut = wc_alloc(nodes, sizeof(*expect->cut));
	expect->range = wc_alloc(nodes, sizeof(*expect->range));
	expect->index = wc_alloc(nodes, sizeof(*expect->index));
	expect->statistics = wc_alloc(nodes, sizeof(*expect->statistics));
	if (!expect->act || !expect->grad || !expect->index || !expect->statistics || !expect->sums || !expect->sums_before || !expect->cut || !expect->range) {
		expect_release(expect);
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for the golden tensors of %zu nodes", nodes);
	}
	expect->act[0] = data->images;
	// With a loss its gradient is the loss's.
	if (data->gradient)
		expect->grad[nodes - 1] = data->gradient;
	expect_restart(expect);
	return 0;
}

void expect_release(struct expect *expect)
{
	const int nodes = expect->net ? expect->net->node_count : 0;

	for (int node = 0; node < nodes; node++) {
		if (expect->act && node > 0)
			wc_free(expect->act[node]);
		if (expect->grad && expect->grad[node] != expect->data->gradient)
			wc_free(expect->grad[node]);
		if (expect->index)
			wc_free(expect->index[node]);
		if (expect->statistics)
			wc_free(expect->statistics[node]);
		if (expect->sums)
			wc_free(expect->sums[node]);
		if (expect->sums_before)
			wc_free(expect->sums_before[node]);
	}
	wc_free(expect->act);
	wc_free(expect->grad);
	wc_free(expect->index);
	wc_free(expect->statistics);
	wc_free(expect->losses);
	wc_free(expect->sums);
	wc_free(expect->sums_before);
	wc_free(expect->cut);
	wc_free(expect->range);
	*expect = (struct expect){0};
}

void expect_restart(struct expect *expect)
{
	for (int node = 0; node < expect->net->node_count; node++)
		expect->cut[node] = -1;
}

uint16_t *expect_allocate(const struct expect *expect, int node, struct wc_error *err)
{
	const uint64_t count = data_count(expect->net, node, expect->data->batch);
	uint16_t *halves = wc_alloc(count, sizeof(*halves));

	if (!halves)
		wc_fail(err, WC_ERR_SYSTEM, "out of memory for the golden tensor of '%s', %" PRIu64 " elements", expect->net->nodes[node].name, count);
	return halves;
}

void expect_spent(struct expect *expect, int node, double start_s, double samples)
{
	expect->cpu_s += clock_cpu_s() - start_s;
	expect->macs += (uint64_t)((double)net_macs(&expect->net->nodes[node]) * samples + 0.5);
}

int expect_output(const struct expect *expect)
{
	const int last = expect->net->node_count - 1;

	return expect->net->nodes[last].op == NET_LOSS ? expect->net->nodes[last].inputs[0] : last;
}

const uint16_t *expect_act(struct expect *expect, int node, struct wc_error *err)
{
	// Bottom up, so that the depth of the network is not the depth of the stack.
	for (int i = 1; i <= node; i++) {
		const double start_s = clock_cpu_s();
		uint16_t *act;

		if (expect->act[i] || expect->net->nodes[i].op == NET_LOSS)
			continue;
		act = expect_allocate(expect, i, err);
		if (!act)
			return NULL;
		if (expect_run_forward(expect, i, act, err)) {
			wc_free(act);
			return NULL;
		}
		expect->act[i] = act;
		expect_spent(expect, i, start_s, expect->data->batch);
	}
	return expect->act[node];
}

// The parts of a gradient, added pairwise as backward makes them: the reader that runs last in forward comes first.
static int add_parts(struct expect *expect, int node, uint16_t *sum, struct wc_error *err)
{
	const struct net_node *of = &expect->net->nodes[node];
	const size_t count = (size_t)data_count(expect->net, node, expect->data->batch);
	uint16_t *part = of->consumer_count > 1 ? expect_allocate(expect, node, err) : NULL;
	int result = of->consumer_count > 1 && !part ? WC_ERR_SYSTEM : 0;

	for (int i = of->consumer_count - 1; !result && i >= 0; i--) {
		const bool first = i == of->consumer_count - 1;
		const double start_s = clock_cpu_s();

		result = expect_run_gradient(expect, node, of->consumers[i], first ? sum : part, err);
		if (!result && !first)
			result = golden_add((const uint16_t *const[]){sum, part}, 2, count, sum, err);
		expect_spent(expect, of->consumers[i], start_s, expect->data->batch);
	}
	wc_free(part);
	return result;
}

const uint16_t *expect_grad(struct expect *expect, int node, struct wc_error *err)
{
	assert(node > 0);
	// Its time is counted apart.
	if (!expect_act(expect, expect_output(expect), err))
		return NULL;
	for (int i = expect_output(expect); i >= node; i--) {
		uint16_t *grad;

		if (expect->grad[i] || !expect->net->nodes[i].has_gradient)
			continue;
		grad = expect_allocate(expect, i, err);
		if (!grad)
			return NULL;
		if (add_parts(expect, i, grad, err)) {
			wc_free(grad);
			return NULL;
		}
		expect->grad[i] = grad;
	}
	return expect->grad[node];
}

int expect_cut(struct expect *expect, int node, int cut, struct golden_range range, struct wc_error *err)
{
	const size_t count = (size_t)net_conv_weights(&expect->net->nodes[node]);
	const uint16_t *x = expect_act(expect, expect->net->nodes[node].inputs[0], err);
	const uint16_t *dy = x ? expect_grad(expect, node, err) : NULL;
	const struct golden_conv conv = expect_conv(expect, node);
	double start_s;
	int result;

	if (!dy)
		return WC_ERR_SYSTEM;
	if (cut == expect->cut[node])
		return 0;
	if (cut != expect->cut[node] + 1)
		return wc_fail(err, WC_ERR_SYSTEM, "cut %d of '%s' comes after cut %d", cut, expect->net->nodes[node].name, expect->cut[node]);
	if (!expect->sums[node]) {
		expect->sums[node] = wc_alloc(count, sizeof(float));
		expect->sums_before[node] = wc_alloc(count, sizeof(float));
		if (!expect->sums[node] || !expect->sums_before[node])
			return wc_fail(err, WC_ERR_SYSTEM, "out of memory for %zu weight gradients of '%s'", count, expect->net->nodes[node].name);
	}
	if (cut == 0)
		memset(expect->sums[node], 0, count * sizeof(float));
	memcpy(expect->sums_before[node], expect->sums[node], count * sizeof(float));
	expect->cut[node] = cut;
	expect->range[node] = range;
	start_s = clock_cpu_s();
	result = golden_weight_gradient_add(&conv, expect->rows, x, dy, range, expect->sums[node], err);
	expect_spent(expect, node, start_s, (double)(range.sample_hi - range.sample_lo) * (range.row_hi - range.row_lo) / conv.out_h);
	return result;
}

const float *expect_sums(const struct expect *expect, int node, int cut)
{
	if (cut >= 0 && cut == expect->cut[node])
		return expect->sums[node];
	return cut >= 0 && cut == expect->cut[node] - 1 ? expect->sums_before[node] : NULL;
}
