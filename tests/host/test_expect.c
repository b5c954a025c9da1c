// SPDX-License-Identifier: Apache-2.0
//
// The golden run of whole networks: how the operators are joined, not what each computes (tests/golden has that). A forward pass in
// float64 of the same network and parameters stands beside it: its outputs agree to fp16, and the loss changes along a
// direction as the golden gradients say. A wrong join is off by orders of magnitude more than the roundings that are left out.
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "csim/golden/half.h"
#include "csim/golden/reference.h"
#include "csim/golden/reference_loss.h"
#include "csim/golden/reference_norm.h"
#include "csim/golden/reference_pool.h"
#include "driver/host/expect.h"
#include "driver/host/random.h"

struct case_data {
	struct net net;
	struct data data;
	struct expect expect;
	double **act; // [node] of the float64 network
};

static double *widened(const uint16_t *halves, size_t count)
{
	double *values = malloc((count + 1) * sizeof(*values));

	cr_assert_not_null(values);
	for (size_t i = 0; halves && i < count; i++)
		values[i] = (double)golden_half_to_float(halves[i]);
	return values;
}

static size_t count_of(const struct case_data *c, int node)
{
	return (size_t)data_count(&c->net, node, c->data.batch);
}

static void run_conv(const struct case_data *c, int node, double *y)
{
	const struct golden_conv conv = expect_conv(&c->expect, node);
	const struct net_node *of = &c->net.nodes[node];
	double *w = widened(c->data.weights[node], (size_t)net_weights(of)), *bias = widened(c->data.bias[node], (size_t)of->out.channels);

	if (of->bias)
		golden_reference_forward_bias(&conv, c->act[of->inputs[0]], w, bias, y);
	else
		golden_reference_forward(&conv, c->act[of->inputs[0]], w, y);
	free(w);
	free(bias);
}

static void run_norm(const struct case_data *c, int node, double *y)
{
	const struct golden_norm norm = expect_norm(&c->expect, node);
	double *gamma = widened(c->data.gamma[node], (size_t)norm.channels), *beta = widened(c->data.beta[node], (size_t)norm.channels);
	double *mean = widened(NULL, count_of(c, node)), *rstd = widened(NULL, count_of(c, node));

	golden_reference_norm(&norm, c->act[c->net.nodes[node].inputs[0]], gamma, beta, mean, rstd, y);
	free(gamma);
	free(beta);
	free(mean);
	free(rstd);
}

static void run_concat(const struct case_data *c, int node, double *y)
{
	const struct net_node *of = &c->net.nodes[node];
	const int channels = of->out.channels;

	for (size_t i = 0; i < count_of(c, node); i++) {
		const size_t pixel = i / (size_t)channels;
		int channel = (int)(i % (size_t)channels), k = 0;

		for (; channel >= c->net.nodes[of->inputs[k]].out.channels; k++)
			channel -= c->net.nodes[of->inputs[k]].out.channels;
		y[i] = c->act[of->inputs[k]][pixel * (size_t)c->net.nodes[of->inputs[k]].out.channels + (size_t)channel];
	}
}

static void run_node(const struct case_data *c, int node, double *y)
{
	const struct net_node *of = &c->net.nodes[node];
	const double *x = c->act[of->inputs[0]];
	struct golden_pool pool;

	switch (of->op) {
	case NET_CONV:
	case NET_FC:
		run_conv(c, node, y);
		return;
	case NET_GN:
		run_norm(c, node, y);
		return;
	case NET_RELU:
		golden_reference_relu(x, count_of(c, node), y);
		return;
	case NET_ADD:
		golden_reference_add((const double *const[]){x, c->act[of->inputs[1]]}, 2, count_of(c, node), y);
		return;
	case NET_CONCAT:
		run_concat(c, node, y);
		return;
	default:
		pool = expect_pool(&c->expect, node);
		if (of->op == NET_MAX_POOL)
			golden_reference_max_pool(&pool, x, y);
		else
			golden_reference_average_pool(&pool, x, y);
	}
}

// The sum of the losses of the float64 network, with nodes up to `given` as they are.
static double run_from(const struct case_data *c, int given)
{
	const int loss = c->net.node_count - 1, output = c->net.nodes[loss].inputs[0];
	const struct golden_loss shape = {c->data.batch, c->net.nodes[output].out.channels, 1};
	double losses[16], *dz = widened(NULL, count_of(c, output)), sum = 0;

	for (int node = given + 1; node < loss; node++)
		run_node(c, node, c->act[node]);
	golden_reference_softmax_loss(&shape, c->act[output], c->data.labels, losses, dz);
	for (int i = 0; i < c->data.batch; i++)
		sum += losses[i];
	free(dz);
	return sum;
}

static void begin(struct case_data *c, const char *name, uint64_t seed)
{
	const struct data_options options = {.seed = seed};
	struct wc_error err;

	cr_assert_eq(net_open(&c->net, name, 0, &err), 0, "%s", err.text);
	cr_assert_eq(data_init(&c->data, &c->net, 3, &options, &err), 0, "%s", err.text);
	// Real images have even backgrounds, on which maxima tie.
	for (size_t i = 0; i < count_of(c, 0); i++)
		c->data.images[i] = golden_half_from_float((float)random_normal(seed, 1u << 20, i));
	cr_assert_eq(expect_init(&c->expect, &c->data, 16, &err), 0, "%s", err.text);
	c->act = calloc((size_t)c->net.node_count, sizeof(*c->act));
	for (int node = 0; node < c->net.node_count; node++)
		c->act[node] = widened(node ? NULL : c->data.images, count_of(c, node));
}

static void end(struct case_data *c)
{
	for (int node = 0; node < c->net.node_count; node++)
		free(c->act[node]);
	free(c->act);
	expect_release(&c->expect);
	data_release(&c->data);
	net_release(&c->net);
}

static void compare_outputs(struct case_data *c)
{
	for (int node = 1; node < c->net.node_count - 1; node++) {
		const uint16_t *act = expect_act(&c->expect, node, NULL);
		double most = 0, scale = 0;

		for (size_t i = 0; i < count_of(c, node); i++) {
			most = fmax(most, fabs(golden_half_to_float(act[i]) - c->act[node][i]));
			scale = fmax(scale, fabs(c->act[node][i]));
		}
		cr_assert_lt(most, 0.02 * scale, "%s: %g of %g", c->net.nodes[node].name, most, scale);
	}
}

// A smooth direction in the output of `node`, along which few ReLUs and maxima change.
static void compare_gradient(struct case_data *c, int node, uint64_t seed)
{
	enum { STEPS = 2 };
	const double step = 1e-4, scale = c->data.loss_scale / c->data.batch;
	const uint16_t *grad = expect_grad(&c->expect, node, NULL);
	double *start = c->act[node], *moved = widened(NULL, count_of(c, node)), losses[STEPS], said = 0, norm = 0, found;

	cr_assert_not_null(grad);
	c->act[node] = moved;
	for (int side = 0; side < STEPS; side++) {
		for (size_t i = 0; i < count_of(c, node); i++)
			moved[i] = start[i] + (side ? step : -step) * random_normal(seed, (uint64_t)node, i);
		losses[side] = run_from(c, node);
	}
	c->act[node] = start;
	run_from(c, node);
	for (size_t i = 0; i < count_of(c, node); i++) {
		said += (double)golden_half_to_float(grad[i]) / scale * random_normal(seed, (uint64_t)node, i);
		norm += pow((double)golden_half_to_float(grad[i]) / scale, 2);
	}
	found = (losses[1] - losses[0]) / (2 * step);
	// The device's fp16 has other ReLUs open here and there; a wrong join is off by about the norm.
	cr_expect_lt(fabs(said - found), 0.1 * sqrt(norm) + 0.05 * fabs(found), "%s: %g along the gradient, %g by difference", c->net.nodes[node].name, said, found);
	cr_assert_gt(norm, 0);
	free(moved);
}

static void check(const char *name)
{
	struct case_data c;

	begin(&c, name, 4711);
	run_from(&c, 0);
	compare_outputs(&c);
	// Only where nothing goes round it does the loss depend on a node alone; and the zeros of a ReLU tie in a max pool.
	for (int node = 1; node < c.net.node_count - 1; node++) {
		bool alone = c.net.nodes[c.net.nodes[node].consumers[0]].op != NET_MAX_POOL;

		for (int i = 1; i < node; i++)
			for (int k = 0; k < c.net.nodes[i].consumer_count; k++)
				alone &= c.net.nodes[i].consumers[k] <= node;
		if (alone)
			compare_gradient(&c, node, 815);
	}
	end(&c);
}

Test(expect, lenet_is_joined_right)
{
	check("lenet");
}

Test(expect, resnet8_is_joined_right)
{
	check("resnet8");
}

Test(expect, inception_small_is_joined_right)
{
	check("inception-small");
}

// The largest difference from zero that a missing gradient would make.
Test(expect, a_wrong_join_is_seen)
{
	struct case_data c;
	uint16_t *grad;
	double said = 0, right = 0;

	begin(&c, "lenet", 4711);
	run_from(&c, 0);
	grad = (uint16_t *)(uintptr_t)expect_grad(&c.expect, 1, NULL);
	for (size_t i = 0; i < count_of(&c, 1); i++)
		right += pow((double)golden_half_to_float(grad[i]), 2);
	for (size_t i = 0; i + 1 < count_of(&c, 1); i++)
		said += (double)golden_half_to_float(grad[i]) * golden_half_to_float(grad[i + 1]);
	// One element further on it says something else altogether.
	cr_assert_lt(fabs(said), 0.5 * right);
	end(&c);
}
