// SPDX-License-Identifier: Apache-2.0
//
// Golden forward operators of a network.
#include <string.h>

#include "csim/golden/add.h"
#include "csim/golden/grouped.h"
#include "csim/golden/ordered.h"
#include "csim/golden/relu.h"
#include "driver/host/expect_internal.h"
#include "traces/alloc.h"

static struct golden_range all_rows(const struct expect *expect, int node)
{
	return (struct golden_range){0, expect->data->batch, 0, expect->net->nodes[node].out.height};
}

static int run_pool(struct expect *expect, int node, const uint16_t *x, uint16_t *act, struct wc_error *err)
{
	const struct golden_pool pool = expect_pool(expect, node);

	if (expect->net->nodes[node].op != NET_MAX_POOL)
		return golden_average_pool(&pool, x, all_rows(expect, node), act, err);
	// There from before, if a run of this operator failed.
	if (!expect->index[node])
		expect->index[node] = wc_alloc(golden_pool_index_bytes(&pool) + 1, 1);
	if (!expect->index[node])
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for the indices of '%s'", expect->net->nodes[node].name);
	return golden_max_pool(&pool, x, all_rows(expect, node), act, expect->index[node], err);
}

static int run_norm(struct expect *expect, int node, const uint16_t *x, uint16_t *act, struct wc_error *err)
{
	const struct golden_norm norm = expect_norm(expect, node);
	const struct golden_range range = all_rows(expect, node);
	const size_t groups = (size_t)norm.batch * (size_t)golden_norm_groups(&norm);
	struct golden_norm_sums *rows = wc_alloc(groups * (size_t)norm.height, sizeof(*rows)), *totals = wc_alloc(groups, sizeof(*totals));
	int result;

	if (!expect->statistics[node])
		expect->statistics[node] = wc_alloc(groups, sizeof(**expect->statistics));
	if (!rows || !totals || !expect->statistics[node])
		result = wc_fail(err, WC_ERR_SYSTEM, "out of memory for the statistics of '%s'", expect->net->nodes[node].name);
	else
		result = golden_norm_row_sums(&norm, x, range, rows, err);
	if (!result)
		result = golden_norm_combine(&norm, rows, range, totals, err);
	if (!result)
		result = golden_norm_finish(&norm, x, totals, 0, norm.batch, expect->statistics[node], err);
	if (!result)
		result = golden_norm_apply(&norm, x, expect->statistics[node], expect->data->gamma[node], expect->data->beta[node], range, act, err);
	wc_free(rows);
	wc_free(totals);
	return result;
}

static int run_add(const struct expect *expect, int node, uint16_t *act, struct wc_error *err)
{
	const struct net_node *of = &expect->net->nodes[node];
	const size_t count = (size_t)data_count(expect->net, node, expect->data->batch);
	const uint16_t *inputs[2] = {expect->act[of->inputs[0]]};
	int result = 0;

	for (int i = 1; !result && i < of->input_count; i++) {
		inputs[1] = expect->act[of->inputs[i]];
		result = golden_add(inputs, 2, count, act, err);
		inputs[0] = act;
	}
	return result;
}

static void run_concat(const struct expect *expect, int node, uint16_t *act)
{
	const struct net_node *of = &expect->net->nodes[node];
	const size_t pixels = (size_t)expect->data->batch * (size_t)of->out.height * (size_t)of->out.width, channels = (size_t)of->out.channels;
	size_t at = 0;

	for (int i = 0; i < of->input_count; i++) {
		const size_t piece = (size_t)expect->net->nodes[of->inputs[i]].out.channels;

		for (size_t pixel = 0; pixel < pixels; pixel++)
			memcpy(act + pixel * channels + at, expect->act[of->inputs[i]] + pixel * piece, piece * sizeof(*act));
		at += piece;
	}
}

static int run_conv(const struct expect *expect, int node, const uint16_t *x, uint16_t *act, struct wc_error *err)
{
	const struct golden_conv conv = expect_conv(expect, node);
	const int groups = expect->net->nodes[node].conv.groups;
	const uint16_t *w = expect->data->weights[node], *bias = expect->data->bias[node];

	if (groups > 1)
		return golden_grouped_forward(&conv, groups, expect->rows, x, w, bias, all_rows(expect, node), act, err);
	return golden_forward_bias(&conv, expect->rows, x, w, bias, all_rows(expect, node), act, err);
}

int expect_run_forward(struct expect *expect, int node, uint16_t *act, struct wc_error *err)
{
	const struct net_node *of = &expect->net->nodes[node];
	const uint16_t *x = expect->act[of->inputs[0]];

	switch (of->op) {
	case NET_CONV:
	case NET_FC:
		return run_conv(expect, node, x, act, err);
	case NET_RELU:
		golden_relu(x, data_count(expect->net, node, expect->data->batch), act, NULL);
		return 0;
	case NET_GN:
		return run_norm(expect, node, x, act, err);
	case NET_MAX_POOL:
	case NET_AVG_POOL:
	case NET_GLOBAL_POOL:
		return run_pool(expect, node, x, act, err);
	case NET_ADD:
		return run_add(expect, node, act, err);
	case NET_CONCAT:
		run_concat(expect, node, act);
		return 0;
	default:
		return wc_fail(err, WC_ERR_INPUT, "'%s' is of op %s, which no run has", of->name, net_op_name(of->op));
	}
}

const uint16_t *expect_input_sum(struct expect *expect, int node, int count, struct wc_error *err)
{
	const struct net_node *of = &expect->net->nodes[node];
	const size_t elements = (size_t)data_count(expect->net, node, expect->data->batch);
	struct expect_way *way = &expect->way[node];
	const uint16_t *inputs[2];
	uint16_t *sum;

	if (!expect_act(expect, node, err))
		return NULL;
	if (!way->input_sums)
		way->input_sums = wc_alloc((size_t)of->input_count, sizeof(*way->input_sums));
	if (!way->input_sums) {
		wc_fail(err, WC_ERR_SYSTEM, "out of memory for the inputs of '%s'", of->name);
		return NULL;
	}
	if (way->input_sums[count])
		return way->input_sums[count];
	sum = expect_allocate(expect, node, err);
	inputs[0] = expect->act[of->inputs[0]];
	for (int i = 1; sum && i < count; i++) {
		inputs[1] = expect->act[of->inputs[i]];
		if (golden_add(inputs, 2, elements, sum, err)) {
			wc_free(sum);
			return NULL;
		}
		inputs[0] = sum;
	}
	return way->input_sums[count] = sum;
}
