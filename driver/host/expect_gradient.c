// SPDX-License-Identifier: Apache-2.0
//
// Golden backward operators of a network: the part of a tensor's gradient that one of its consumers makes.
#include <string.h>

#include "csim/golden/grouped.h"
#include "csim/golden/loss.h"
#include "csim/golden/ordered.h"
#include "csim/golden/relu.h"
#include "driver/host/expect_internal.h"
#include "traces/alloc.h"

static struct golden_range all_rows(const struct expect *expect, int node)
{
	return (struct golden_range){0, expect->data->batch, 0, expect->net->nodes[node].out.height};
}

static int run_conv(const struct expect *expect, int consumer, uint16_t *part, struct wc_error *err)
{
	const struct golden_conv conv = expect_gradient_conv(expect, consumer);
	const struct golden_range range = {0, conv.batch, 0, conv.in_h};
	const int groups = expect->net->nodes[consumer].conv.groups;
	const uint16_t *dy = expect->grad[consumer], *w = expect->data->weights[consumer];

	if (groups > 1)
		return golden_grouped_data_gradient(&conv, groups, expect->rows, dy, w, range, part, err);
	return golden_data_gradient(&conv, expect->rows, dy, w, range, part, err);
}

static int run_pool(const struct expect *expect, int node, int consumer, uint16_t *part, struct wc_error *err)
{
	const struct golden_pool pool = expect_pool(expect, consumer);

	if (expect->net->nodes[consumer].op == NET_MAX_POOL)
		return golden_max_pool_gradient(&pool, expect->grad[consumer], expect->index[consumer], all_rows(expect, node), part, err);
	return golden_average_pool_gradient(&pool, expect->grad[consumer], all_rows(expect, node), part, err);
}

static int run_norm(const struct expect *expect, int node, int consumer, uint16_t *part, struct wc_error *err)
{
	const struct golden_norm norm = expect_norm(expect, consumer);
	const struct golden_range range = all_rows(expect, node);
	const size_t groups = (size_t)norm.batch * (size_t)golden_norm_groups(&norm);
	struct golden_norm_sums *rows = wc_alloc(groups * (size_t)norm.height, sizeof(*rows)), *totals = wc_alloc(groups, sizeof(*totals));
	const uint16_t *x = expect->act[node], *dy = expect->grad[consumer], *gamma = expect->data->gamma[consumer];
	int result;

	if (!rows || !totals)
		result = wc_fail(err, WC_ERR_SYSTEM, "out of memory for the sums of '%s'", expect->net->nodes[consumer].name);
	else
		result = golden_norm_gradient_row_sums(&norm, x, dy, expect->statistics[consumer], gamma, range, rows, err);
	if (!result)
		result = golden_norm_combine(&norm, rows, range, totals, err);
	if (!result)
		result = golden_norm_gradient(&norm, x, dy, expect->statistics[consumer], gamma, totals, range, part, err);
	wc_free(rows);
	wc_free(totals);
	return result;
}

// The slice of a concatenation's gradient that belongs to an input.
static void run_concat(const struct expect *expect, int node, int consumer, uint16_t *part)
{
	const struct net_node *concat = &expect->net->nodes[consumer], *of = &expect->net->nodes[node];
	const size_t pixels = (size_t)expect->data->batch * (size_t)of->out.height * (size_t)of->out.width, channels = (size_t)of->out.channels;
	size_t at = 0;

	for (int i = 0; concat->inputs[i] != node; i++)
		at += (size_t)expect->net->nodes[concat->inputs[i]].out.channels;
	for (size_t pixel = 0; pixel < pixels; pixel++)
		memcpy(part + pixel * channels, expect->grad[consumer] + pixel * (size_t)concat->out.channels + at, channels * sizeof(*part));
}

static int run_loss(struct expect *expect, int node, uint16_t *part, struct wc_error *err)
{
	const struct golden_loss loss = {expect->data->batch, expect->net->nodes[node].out.channels, expect->data->loss_scale / (float)expect->data->batch};

	if (!expect->losses)
		expect->losses = wc_alloc((size_t)loss.batch, sizeof(*expect->losses));
	if (!expect->losses)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for %d losses", loss.batch);
	return golden_softmax_loss(&loss, expect->act[node], expect->data->labels, expect->losses, part, err);
}

int expect_run_gradient(struct expect *expect, int node, int consumer, uint16_t *part, struct wc_error *err)
{
	const size_t count = (size_t)data_count(expect->net, node, expect->data->batch);

	switch (expect->net->nodes[consumer].op) {
	case NET_CONV:
	case NET_FC:
		return run_conv(expect, consumer, part, err);
	case NET_RELU:
		golden_relu_gradient_out(expect->act[consumer], expect->grad[consumer], count, part);
		return 0;
	case NET_GN:
		return run_norm(expect, node, consumer, part, err);
	case NET_ADD:
		memcpy(part, expect->grad[consumer], count * sizeof(*part));
		return 0;
	case NET_CONCAT:
		run_concat(expect, node, consumer, part);
		return 0;
	case NET_LOSS:
		return run_loss(expect, node, part, err);
	default:
		return run_pool(expect, node, consumer, part, err);
	}
}
