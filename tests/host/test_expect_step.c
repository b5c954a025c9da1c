// SPDX-License-Identifier: Apache-2.0
//
// Rule: a step ends with the optimizer's update of every parameter, and the next one knows nothing else of it.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "driver/host/random.h"
#include "tests/golden/naive.h"
#include "traces/alloc.h"
#include "value_case.h"

// Gradient, masters and momenta before and after, fp16 parameters of one array.
static bool check_update(struct value_case *c, int node, enum parameter_array array)
{
	const struct golden_sgd *sgd = &c->optimizer.sgd;
	const struct value gradient = {.kind = SLAB_UPDATE_GRADIENT, .node = node, .array = array};
	const struct value before = {.kind = SLAB_UPDATE_STATE, .node = node, .array = array};
	const struct value after = {.kind = SLAB_UPDATE_STATE, .node = node, .array = array, .stage = 1};
	const struct value weights = {.kind = SLAB_UPDATE_WEIGHT, .node = node, .array = array};
	bool right = true;

	for (uint64_t i = 0; i < program_array_count(&c->net.nodes[node], array); i++) {
		const float w = value_float(c, &before, 0, 0, 0, i), v = value_float(c, &before, 0, 0, 1, i);
		const float scaled = naive_mul(value_float(c, &gradient, 0, 0, 0, i), 1 / c->data.loss_scale);
		const float g = naive_add(scaled, naive_mul(sgd->decay, w)), momentum = naive_add(naive_mul(sgd->mu, v), g);
		const float master = naive_sub(w, naive_mul(sgd->lr, momentum));

		right &= value_case_bits(c, &after, 0, 0, 0, i) == naive_bits(master) && value_case_bits(c, &after, 0, 0, 1, i) == naive_bits(momentum) &&
			 value_case_bits(c, &weights, 0, 0, 0, i) == naive_narrow(master);
	}
	return right;
}

// The gradient of an array stands where its cuts are.
static void check_gradients(struct value_case *c, int node)
{
	const struct net_node *of = &c->net.nodes[node];
	const struct value update[ARRAY_COUNT] = {
		{.kind = SLAB_UPDATE_GRADIENT, .node = node, .array = ARRAY_FILTERS}, {.kind = SLAB_UPDATE_GRADIENT, .node = node, .array = ARRAY_BIAS},
		{.kind = SLAB_UPDATE_GRADIENT, .node = node, .array = ARRAY_GAMMA}, {.kind = SLAB_UPDATE_GRADIENT, .node = node, .array = ARRAY_BETA},
	};
	const uint64_t filter = (uint64_t)net_weights(of) / (uint64_t)of->out.channels;

	for (int k = 0; k < of->out.channels; k++) {
		const uint64_t at = (uint64_t)k;

		for (uint64_t i = 0; i < filter; i++)
			cr_assert_eq(value_case_bits(c, &update[ARRAY_FILTERS], 0, 0, 0, at * filter + i),
				     value_case_bits(c, &(struct value){.kind = SLAB_WGRAD, .node = node}, 0, k, 0, i));
		if (of->bias)
			cr_assert_eq(value_case_bits(c, &update[ARRAY_BIAS], 0, 0, 0, at),
				     value_case_bits(c, &(struct value){.kind = SLAB_BIAS_WGRAD, .node = node}, 0, k, 0, 0));
		for (int vector = 0; of->op == NET_GN && vector < 2; vector++)
			cr_assert_eq(value_case_bits(c, &update[ARRAY_GAMMA + vector], 0, 0, 0, at),
				     value_case_bits(c, &(struct value){.kind = SLAB_PARAMETERS_WGRAD, .node = node}, 0, 0, vector, at));
	}
}

// Masters are what the parameters are, momenta nothing.
static void check_start(struct value_case *c)
{
	for (int node = 0; node < c->net.node_count; node++)
		for (enum parameter_array array = 0; array < ARRAY_COUNT; array++) {
			const struct value state = {.kind = SLAB_UPDATE_STATE, .node = node, .array = array};

			for (uint64_t i = 0; i < program_array_count(&c->net.nodes[node], array); i++) {
				cr_assert_eq(value_float(c, &state, 0, 0, 0, i), naive_widen(optimizer_parameters(&c->data, node, array)[i]));
				cr_assert_eq(value_case_bits(c, &state, 0, 0, 1, i), 0);
			}
		}
}

static void check_all(struct value_case *c)
{
	for (int node = 0; node < c->net.node_count; node++)
		for (enum parameter_array array = 0; array < ARRAY_COUNT; array++) {
			const struct value after = {.kind = SLAB_UPDATE_STATE, .node = node, .array = array, .stage = 1};

			if (!program_array_count(&c->net.nodes[node], array))
				continue;
			check_gradients(c, node);
			cr_assert(check_update(c, node, array), "%s, array %d", c->net.nodes[node].name, array);
			value_plant(c, &after);
			cr_assert_not(check_update(c, node, array), "%s, array %d", c->net.nodes[node].name, array);
		}
}

static void draw_images(struct value_case *c, uint64_t seed)
{
	for (uint64_t i = 0; i < data_count(&c->net, 0, c->data.batch); i++)
		c->data.images[i] = naive_narrow((float)random_normal(seed, 0, i));
	for (int n = 0; n < c->data.batch; n++)
		c->data.labels[n] = (c->data.labels[n] + n + 1) % 6;
}

// Everything that a step asks for, as a new golden run of the same data has it.
static void expect_as_new(struct value_case *c)
{
	struct expect fresh;

	cr_assert_eq(expect_init(&fresh, &c->data, VALUE_CASE_ROWS, NULL), 0);
	for (int node = 1; node < c->net.node_count - 1; node++) {
		const size_t bytes = 2 * (size_t)data_count(&c->net, node, c->data.batch);

		cr_assert_arr_eq(expect_act(&c->expect, node, NULL), expect_act(&fresh, node, NULL), bytes);
		cr_assert_arr_eq(expect_grad(&c->expect, node, NULL), expect_grad(&fresh, node, NULL), bytes);
	}
	expect_release(&fresh);
}

Test(step, follows_step)
{
	static const char *const texts[] = {value_case_graph, value_case_dense};

	for (size_t i = 0; i < 2; i++) {
		uint16_t weights[32], *after;
		struct wc_error err = {""};
		struct value_case c;

		value_case_begin(&c, texts[i]);
		cr_assert_eq(c.optimizer.sgd.inv_scale, 1 / c.data.loss_scale);
		memcpy(weights, c.data.weights[1], sizeof(weights));
		check_start(&c);
		for (int step = 0; step < 3; step++) {
			const struct value updated = {.kind = SLAB_UPDATE_WEIGHT, .node = 1}, wide = {.kind = SLAB_WIDE, .node = 1, .stage = 4};
			const uint64_t count = (uint64_t)net_weights(&c.net.nodes[1]);

			value_case_sum(&c);
			check_all(&c);
			// What was planted is forgotten with it.
			expect_restart(&c.expect, 1);
			value_case_sum(&c);
			after = malloc(2 * count);
			memcpy(after, expect_values(&c.expect, &updated, 0, 0, 0, NULL), 2 * count);
			if (c.net.nodes[c.net.nodes[1].consumers[0]].op == NET_FC)
				cr_assert_not_null(expect_values(&c.expect, &wide, 0, 0, 0, NULL));
			cr_assert_eq(expect_next_step(&c.expect, &err), 0, "%s", err.text);
			draw_images(&c, (uint64_t)step);
			cr_assert_arr_eq(c.data.weights[1], after, 2 * count);
			free(after);
			expect_as_new(&c);
		}
		cr_assert_neq(memcmp(weights, c.data.weights[1], sizeof(weights)), 0);
		value_case_end(&c);
	}
}

Test(step, without_all_gradients_changes_nothing)
{
	struct wc_error err = {""};
	struct value_case c;
	int node;

	value_case_begin(&c, value_case_graph);
	node = value_case_node(&c, "a1");
	cr_expect_eq(expect_next_step(&c.expect, &err), WC_ERR_SYSTEM);
	value_case_sum(&c);
	expect_restart(&c.expect, 1);
	cr_assert_eq(expect_advance(&c.expect, 0, node, 0, (struct golden_range){0, 3, 0, 4}, &err), 0, "%s", err.text);
	cr_expect_null(expect_values(&c.expect, &(struct value){.kind = SLAB_UPDATE_WEIGHT, .node = node}, 0, 0, 0, &err));
	cr_expect(strstr(err.text, "the gradient of 'a1' is asked for, of which core 0 has covered 12 of 15 rows"), "%s", err.text);
	cr_assert_not_null(expect_values(&c.expect, &(struct value){.kind = SLAB_UPDATE_STATE, .node = node}, 0, 0, 0, &err), "before it all is there");
	const float master = c.optimizer.arrays[node][ARRAY_FILTERS].master[0];

	cr_expect_eq(expect_next_step(&c.expect, &err), WC_ERR_SYSTEM);
	cr_expect_eq(master, c.optimizer.arrays[node][ARRAY_FILTERS].master[0]);
	cr_assert_not_null(expect_sums(&c.expect, 0, node, 0));
	// Without an optimizer there is nothing to update.
	c.expect.optimizer = NULL;
	cr_expect_eq(expect_next_step(&c.expect, &err), 0);
	cr_expect_null(expect_sums(&c.expect, 0, node, 0));
	expect_as_new(&c);
	value_case_end(&c);
}

Test(step, begins_with_plain_parameters_if_asked)
{
	const struct data_options plain = {.seed = 17, .plain = true};
	struct value_case c;
	struct data data;

	value_case_begin(&c, value_case_graph);
	cr_assert_eq(data_init(&data, &c.net, VALUE_CASE_BATCH, &plain, NULL), 0);
	for (int node = 0; node < c.net.node_count; node++)
		for (int k = 0; k < c.net.nodes[node].out.channels; k++) {
			if (data.bias[node])
				cr_assert(data.bias[node][k] == 0 && c.data.bias[node][k] != 0);
			if (data.gamma[node])
				cr_assert(data.gamma[node][k] == 0x3c00 && data.beta[node][k] == 0 && c.data.beta[node][k] != 0);
		}
	cr_assert_arr_eq(data.weights[1], c.data.weights[1], 2 * (size_t)net_weights(&c.net.nodes[1]), "filters are drawn all the same");
	data_release(&data);
	value_case_end(&c);
}

// Each allocation of a step in turn fails: an error, no leak (SANITIZE=1 sees those), and what was asked for is there when asked again.
Test(step, with_too_little_memory_is_an_error)
{
	static const enum slab_kind kinds[] = {SLAB_ROW_SUMS, SLAB_SUMS, SLAB_ROW_STATISTICS, SLAB_STATISTICS, SLAB_SHIFT};
	struct wc_error err = {""};
	struct value_case c;
	size_t nth = 1;

	value_case_begin(&c, value_case_graph);
	for (;; nth++) {
		const int norm = value_case_node(&c, "a2"), pool = value_case_node(&c, "p0"), loss = value_case_node(&c, "loss");
		const struct value values[] = {
			{.kind = SLAB_MASK, .node = value_case_node(&c, "rs")}, {.kind = SLAB_SOFTMAX, .node = loss}, {.kind = SLAB_WIDE, .node = pool, .stage = 4},
			{.kind = SLAB_BIAS_WIDE, .node = 1}, {.kind = SLAB_GRAD, .node = pool, .reader = 1}, {.kind = SLAB_UPDATE_WEIGHT, .node = 1},
		};
		int failed = 0;

		wc_alloc_fail_nth(nth);
		for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
			failed += !expect_values(&c.expect, &(struct value){.kind = kinds[i], .node = norm}, 0, 0, 0, &err);
		for (int node = 1; node < 3; node++)
			failed += expect_advance(&c.expect, 0, node, 0, (struct golden_range){0, 3, 0, 9}, &err) != 0;
		for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
			failed += !expect_values(&c.expect, &values[i], 0, 0, 0, &err);
		if (wc_alloc_fail_pending())
			break;
		cr_assert_gt(failed, 0, "allocation %zu", nth);
		wc_alloc_fail_nth(0);
		// From the beginning again.
		c.expect.optimizer = NULL;
		cr_assert_eq(expect_next_step(&c.expect, &err), 0);
		c.expect.optimizer = &c.optimizer;
	}
	wc_alloc_fail_nth(0);
	cr_assert_gt(nth, 60);
	value_case_end(&c);
}
