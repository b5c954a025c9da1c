// SPDX-License-Identifier: Apache-2.0
//
// Golden tensors on demand; see expect.h.
#include "driver/host/expect.h"

#include <assert.h>
#include <inttypes.h>

#include "csim/golden/add.h"
#include "driver/host/clock.h"
#include "driver/host/expect_internal.h"
#include "traces/alloc.h"

int expect_init(struct expect *expect, const struct data *data, int rows, struct wc_error *err)
{
	const size_t nodes = (size_t)data->net->node_count;

	*expect = (struct expect){.data = data, .net = data->net, .rows = rows};
	expect->act = wc_alloc(nodes, sizeof(*expect->act));
	expect->grad = wc_alloc(nodes, sizeof(*expect->grad));
	expect->sums = wc_alloc(WC_CORES_MAX * nodes, sizeof(*expect->sums));
	expect->reduced = wc_alloc(nodes, sizeof(*expect->reduced));
	expect->index = wc_alloc(nodes, sizeof(*expect->index));
	expect->statistics = wc_alloc(nodes, sizeof(*expect->statistics));
	expect->way = wc_alloc(nodes, sizeof(*expect->way));
	expect->updated = wc_alloc(1, sizeof(*expect->updated));
	if (!expect->act || !expect->grad || !expect->index || !expect->statistics || !expect->sums || !expect->reduced || !expect->way ||
	    !expect->updated) {
		expect_release(expect);
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for the golden tensors of %zu nodes", nodes);
	}
	expect->act[0] = data->images;
	// With a loss its gradient is the loss's.
	if (data->gradient)
		expect->grad[nodes - 1] = data->gradient;
	expect_restart(expect, 1);
	return 0;
}

static void forget_parts(struct expect *expect, int node)
{
	const struct net_node *of = &expect->net->nodes[node];
	struct expect_way *way = &expect->way[node];

	for (int i = 0; way->input_sums && i < of->input_count; i++)
		wc_free(way->input_sums[i]);
	wc_free(way->input_sums);
	way->input_sums = NULL;
	for (int i = 0; way->parts && way->partial_sums && i < of->consumer_count; i++) {
		if (expect->net->nodes[of->consumers[i]].op != NET_ADD)
			wc_free(way->parts[i]);
		wc_free(way->partial_sums[i]);
	}
	wc_free(way->parts);
	wc_free(way->partial_sums);
	way->parts = way->partial_sums = NULL;
}

static void forget_way(struct expect *expect, int node)
{
	struct expect_way *way = &expect->way[node];

	forget_parts(expect, node);
	wc_free(way->mask);
	for (enum slab_kind kind = 0; kind < SLAB_KIND_COUNT; kind++)
		wc_free(way->vectors[kind]);
	wc_free(way->wide.sums);
	wc_free(way->wide.stage);
	wc_free(way->wide.asked);
	*way = (struct expect_way){0};
}

// Every tensor and what lies between; the sums stay. For what expect_init() has not come to the tables are not there.
static void forget_tensors(struct expect *expect)
{
	const int nodes = expect->net ? expect->net->node_count : 0;

	for (int node = 0; node < nodes; node++) {
		if (expect->act && node > 0) {
			wc_free(expect->act[node]);
			expect->act[node] = NULL;
		}
		if (expect->grad && expect->grad[node] != expect->data->gradient) {
			wc_free(expect->grad[node]);
			expect->grad[node] = NULL;
		}
		if (expect->index) {
			wc_free(expect->index[node]);
			expect->index[node] = NULL;
		}
		if (expect->statistics) {
			wc_free(expect->statistics[node]);
			expect->statistics[node] = NULL;
		}
		if (expect->way)
			forget_way(expect, node);
	}
	wc_free(expect->losses);
	expect->losses = NULL;
}

void expect_release(struct expect *expect)
{
	forget_tensors(expect);
	expect_release_sums(expect);
	if (expect->updated)
		expect_forget_update(expect);
	wc_free(expect->act);
	wc_free(expect->grad);
	wc_free(expect->index);
	wc_free(expect->statistics);
	wc_free(expect->way);
	wc_free(expect->updated);
	*expect = (struct expect){0};
}

int expect_next_step(struct expect *expect, struct wc_error *err)
{
	struct optimizer *optimizer = expect->optimizer;

	for (int pass = 0; optimizer && pass < 2; pass++)
		for (int node = 0; node < expect->net->node_count; node++)
			for (enum parameter_array array = 0; array < ARRAY_COUNT; array++) {
				const struct optimizer_array *of = &optimizer->arrays[node][array];
				const float *gradient = of->count ? expect_complete(expect, node, array, 0, err) : NULL;

				if (of->count && !gradient)
					return WC_ERR_SYSTEM;
				if (of->count && pass)
					golden_sgd(&optimizer->sgd, gradient, of->count, of->master, of->momentum,
						   optimizer_parameters(optimizer->data, node, array));
			}
	forget_tensors(expect);
	expect_restart(expect, expect->cores);
	return 0;
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
	if (expect->act[node])
		return expect->act[node];
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

// An add's part is its gradient; others are made.
static int make_part(struct expect *expect, int node, int reader, struct wc_error *err)
{
	const int consumer = expect->net->nodes[node].consumers[reader];
	uint16_t **part = &expect->way[node].parts[reader];
	const double start_s = clock_cpu_s();
	int result;

	if (expect->net->nodes[consumer].op == NET_ADD) {
		*part = expect->grad[consumer];
		return 0;
	}
	*part = expect_allocate(expect, node, err);
	if (!*part)
		return WC_ERR_SYSTEM;
	result = expect_run_gradient(expect, node, consumer, *part, err);
	expect_spent(expect, consumer, start_s, expect->data->batch);
	return result;
}

// Added pairwise as backward makes them: the reader that runs last in forward comes first.
static int add_parts(struct expect *expect, int node, uint16_t *grad, struct wc_error *err)
{
	const int readers = expect->net->nodes[node].consumer_count;
	const size_t count = (size_t)data_count(expect->net, node, expect->data->batch);
	struct expect_way *way = &expect->way[node];
	const uint16_t *sum = NULL;
	int result = 0;

	way->parts = wc_alloc((size_t)readers, sizeof(*way->parts));
	way->partial_sums = wc_alloc((size_t)readers, sizeof(*way->partial_sums));
	if (!way->parts || !way->partial_sums)
		result = wc_fail(err, WC_ERR_SYSTEM, "out of memory for the parts of %d readers of '%s'", readers, expect->net->nodes[node].name);
	for (int reader = readers - 1; !result && reader >= 0; reader--) {
		uint16_t *next = grad;

		result = make_part(expect, node, reader, err);
		if (result || reader == readers - 1) {
			sum = way->parts[reader];
			continue;
		}
		if (reader > 0)
			next = way->partial_sums[reader] = expect_allocate(expect, node, err);
		result = next ? golden_add((const uint16_t *const[]){sum, way->parts[reader]}, 2, count, next, err) : WC_ERR_SYSTEM;
		sum = next;
	}
	if (result)
		forget_parts(expect, node);
	return result;
}

static int make_gradient(struct expect *expect, int node, uint16_t *grad, struct wc_error *err)
{
	const int consumer = expect->net->nodes[node].consumers[0];
	const double start_s = clock_cpu_s();
	int result;

	if (expect->net->nodes[node].consumer_count > 1)
		return add_parts(expect, node, grad, err);
	result = expect_run_gradient(expect, node, consumer, grad, err);
	expect_spent(expect, consumer, start_s, expect->data->batch);
	return result;
}

const uint16_t *expect_grad(struct expect *expect, int node, struct wc_error *err)
{
	assert(node > 0);
	if (expect->grad[node])
		return expect->grad[node];
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
		if (make_gradient(expect, i, grad, err)) {
			wc_free(grad);
			return NULL;
		}
		expect->grad[i] = grad;
	}
	return expect->grad[node];
}
