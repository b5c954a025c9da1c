// SPDX-License-Identifier: Apache-2.0
//
// Golden tensors on demand; see expect.h.
#include "driver/host/expect.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "csim/golden/ordered.h"
#include "csim/golden/relu.h"
#include "driver/host/clock.h"
#include "traces/alloc.h"

struct golden_conv expect_conv(const struct expect *expect, int node)
{
	const struct net_node *conv = &expect->net->nodes[node];

	assert(conv->op == NET_CONV);
	return (struct golden_conv){
		.batch = expect->data->batch,
		.in_h = conv->in.height,
		.in_w = conv->in.width,
		.in_c = conv->in.channels,
		.out_h = conv->out.height,
		.out_w = conv->out.width,
		.out_c = conv->out.channels,
		.kernel_h = conv->conv.kernel_h,
		.kernel_w = conv->conv.kernel_w,
		.stride_h = conv->conv.stride_h,
		.stride_w = conv->conv.stride_w,
		.pad_h = conv->conv.pad_h,
		.pad_w = conv->conv.pad_w,
		.dilation_h = conv->conv.dilation_h,
		.dilation_w = conv->conv.dilation_w,
	};
}

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
	if (!expect->act || !expect->grad || !expect->sums || !expect->sums_before || !expect->cut || !expect->range) {
		expect_release(expect);
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for the golden tensors of %zu nodes", nodes);
	}
	expect->act[0] = data->images;
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
		if (expect->grad && node < nodes - 1)
			wc_free(expect->grad[node]);
		if (expect->sums)
			wc_free(expect->sums[node]);
		if (expect->sums_before)
			wc_free(expect->sums_before[node]);
	}
	wc_free(expect->act);
	wc_free(expect->grad);
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

static uint16_t *allocate(const struct expect *expect, int node, struct wc_error *err)
{
	const uint64_t count = data_count(expect->net, node, expect->data->batch);
	uint16_t *halves = wc_alloc(count, sizeof(*halves));

	if (!halves)
		wc_fail(err, WC_ERR_SYSTEM, "out of memory for the golden tensor of '%s', %" PRIu64 " elements", expect->net->nodes[node].name, count);
	return halves;
}

// Account for a golden operator of `node` on that many samples.
static void spent(struct expect *expect, int node, double start_s, double samples)
{
	const struct net_node *of = &expect->net->nodes[node];

	expect->cpu_s += clock_cpu_s() - start_s;
	if (of->op == NET_CONV)
		expect->macs += (uint64_t)((double)net_conv_macs(of) * samples + 0.5);
}

const uint16_t *expect_act(struct expect *expect, int node, struct wc_error *err)
{
	// Bottom up, so that the depth of the network is not the depth of the stack.
	for (int i = 1; i <= node; i++) {
		const struct net_node *of = &expect->net->nodes[i];
		const double start_s = clock_cpu_s();
		uint16_t *act;

		if (expect->act[i])
			continue;
		act = allocate(expect, i, err);
		if (!act)
			return NULL;
		if (of->op == NET_CONV) {
			const struct golden_conv conv = expect_conv(expect, i);

			if (golden_forward(&conv, expect->rows, expect->act[of->inputs[0]], expect->data->weights[i], golden_range_out(&conv), act,
					   err)) {
				wc_free(act);
				return NULL;
			}
		} else {
			golden_relu(expect->act[of->inputs[0]], data_count(expect->net, i, expect->data->batch), act, NULL);
		}
		expect->act[i] = act;
		spent(expect, i, start_s, expect->data->batch);
	}
	return expect->act[node];
}

const uint16_t *expect_grad(struct expect *expect, int node, struct wc_error *err)
{
	assert(node > 0);
	for (int i = expect->net->node_count - 2; i >= node; i--) {
		const int consumer = net_consumer(expect->net, i);
		double start_s = clock_cpu_s();
		uint16_t *grad;

		if (expect->grad[i])
			continue;
		grad = allocate(expect, i, err);
		if (!grad)
			return NULL;
		if (expect->net->nodes[consumer].op == NET_CONV) {
			const struct golden_conv conv = expect_conv(expect, consumer);

			if (golden_data_gradient(&conv, expect->rows, expect->grad[consumer], expect->data->weights[consumer],
						 golden_range_in(&conv), grad, err)) {
				wc_free(grad);
				return NULL;
			}
		} else {
			const uint16_t *act = expect_act(expect, i, err);

			if (!act) {
				wc_free(grad);
				return NULL;
			}
			start_s = clock_cpu_s(); // expect_act() counts its own time
			golden_relu_gradient_out(act, expect->grad[consumer], data_count(expect->net, i, expect->data->batch), grad);
		}
		expect->grad[i] = grad;
		spent(expect, consumer, start_s, expect->data->batch);
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
	spent(expect, node, start_s, (double)(range.sample_hi - range.sample_lo) * (range.row_hi - range.row_lo) / conv.out_h);
	return result;
}

const float *expect_sums(const struct expect *expect, int node, int cut)
{
	if (cut >= 0 && cut == expect->cut[node])
		return expect->sums[node];
	return cut >= 0 && cut == expect->cut[node] - 1 ? expect->sums_before[node] : NULL;
}
