// SPDX-License-Identifier: Apache-2.0
//
// Rule: every value that the golden run tells is the one that the operator has there. Each is stated here again in plain loops over the values
// before it; what is planted in the golden run is seen.
#include <criterion/criterion.h>
#include <string.h>

#include "csim/golden/scalar.h"
#include "tests/golden/naive.h"
#include "value_case.h"

#define FOR_SHAPE(shape, n, y, x, k)                                \
	for (int n = 0; n < VALUE_CASE_BATCH; n++)                  \
		for (int y = 0; y < (shape).height; y++)            \
			for (int x = 0; x < (shape).width; x++)     \
				for (int k = 0; k < (shape).channels; k++)

static uint64_t at(const struct net_node *of, int x, int k)
{
	return (uint64_t)(x * of->out.channels + k);
}

static bool same(float stated, uint32_t bits)
{
	return naive_bits(stated) == bits;
}

// ---- a normalization -----------------------------------------------------------------------------

struct norm {
	struct value_case *c;
	int node, x;
	const struct net_node *of;
	int width; // channels of a group
};

static struct norm norm_of(struct value_case *c, const char *name)
{
	const int node = value_case_node(c, name);

	return (struct norm){c, node, c->net.nodes[node].inputs[0], &c->net.nodes[node], c->net.nodes[node].group_channels};
}

static float vector_of(const struct norm *norm, enum slab_kind kind, int n, int y, int vector, int k)
{
	return value_float(norm->c, &(struct value){.kind = kind, .node = norm->node}, n, y, vector, (uint64_t)k);
}

static float xhat_of(const struct norm *norm, int n, int y, int x, int k)
{
	const float centred = naive_sub(value_map(norm->c, SLAB_ACT, norm->x, n, y, x, k), vector_of(norm, SLAB_STATISTICS, n, 0, 0, k));

	return naive_mul(centred, vector_of(norm, SLAB_STATISTICS, n, 0, 1, k));
}

// What a row's sums add up, in (x, c) order: forward's of x - shift, backward's of dY gamma, and the seconds.
static bool check_group_sums(struct value_case *c, const char *name, enum slab_kind kind)
{
	const struct norm norm = norm_of(c, name);
	bool right = true;

	for (int n = 0; n < VALUE_CASE_BATCH; n++)
		for (int y = 0; y < norm.of->out.height; y++)
			for (int first = 0; first < norm.of->out.channels; first += norm.width) {
				float sums[2] = {0, 0};

				for (int x = 0; x < norm.of->out.width; x++)
					for (int k = first; k < first + norm.width; k++) {
						float d, square;

						if (kind == SLAB_ROW_STATISTICS) {
							d = naive_sub(value_map(c, SLAB_ACT, norm.x, n, y, x, k), vector_of(&norm, SLAB_SHIFT, n, 0, 0, first));
							square = naive_mul(d, d);
						} else {
							d = naive_mul(value_map(c, SLAB_GRAD, norm.node, n, y, x, k), vector_of(&norm, SLAB_GAMMA, 0, 0, 0, k));
							square = naive_mul(d, xhat_of(&norm, n, y, x, k));
						}
						sums[0] = naive_add(sums[0], d);
						sums[1] = naive_add(sums[1], square);
					}
				// In a group's first channel; nothing in the others.
				for (int i = 0; i < 2; i++)
					for (int k = 0; k < norm.width; k++)
						right &= same(k ? 0 : sums[i], naive_bits(vector_of(&norm, kind, n, y, i, first + k)));
			}
	return right;
}

static bool check_row_statistics(struct value_case *c, const char *name)
{
	return check_group_sums(c, name, SLAB_ROW_STATISTICS);
}

static bool check_row_sums(struct value_case *c, const char *name)
{
	const struct norm norm = norm_of(c, name);
	bool right = check_group_sums(c, name, SLAB_ROW_SUMS);

	for (int n = 0; n < VALUE_CASE_BATCH; n++)
		for (int y = 0; y < norm.of->out.height; y++)
			for (int k = 0; k < norm.of->out.channels; k++) {
				float gamma = 0, beta = 0;

				for (int x = 0; x < norm.of->out.width; x++) {
					const float dy = value_map(c, SLAB_GRAD, norm.node, n, y, x, k);

					gamma = naive_add(gamma, naive_mul(dy, xhat_of(&norm, n, y, x, k)));
					beta = naive_add(beta, dy);
				}
				right &= same(gamma, naive_bits(vector_of(&norm, SLAB_ROW_SUMS, n, y, 2, k)));
				right &= same(beta, naive_bits(vector_of(&norm, SLAB_ROW_SUMS, n, y, 3, k)));
			}
	return right;
}

static bool check_shift(struct value_case *c, const char *name)
{
	const struct norm norm = norm_of(c, name);
	bool right = true;

	for (int n = 0; n < VALUE_CASE_BATCH; n++)
		for (int k = 0; k < norm.of->out.channels; k++)
			right &= same(value_map(c, SLAB_ACT, norm.x, n, 0, 0, k), naive_bits(vector_of(&norm, SLAB_SHIFT, n, 0, 0, k)));
	return right;
}

// The sum of a group's sums over all rows.
static float total_of(const struct norm *norm, enum slab_kind kind, int n, int vector, int first)
{
	float total = 0;

	for (int y = 0; y < norm->of->out.height; y++)
		total = naive_add(total, vector_of(norm, kind, n, y, vector, first));
	return total;
}

static bool check_statistics(struct value_case *c, const char *name)
{
	const struct norm norm = norm_of(c, name);
	const float inverse = (float)(1.0 / (norm.of->out.height * norm.of->out.width * norm.width));
	bool right = true;

	for (int n = 0; n < VALUE_CASE_BATCH; n++)
		for (int k = 0; k < norm.of->out.channels; k++) {
			const int first = k / norm.width * norm.width;
			const float md = naive_mul(total_of(&norm, SLAB_ROW_STATISTICS, n, 0, first), inverse);
			const float square = naive_mul(total_of(&norm, SLAB_ROW_STATISTICS, n, 1, first), inverse);
			const float variance = naive_sub(square, naive_mul(md, md));

			right &= same(naive_add(vector_of(&norm, SLAB_SHIFT, n, 0, 0, first), md), naive_bits(vector_of(&norm, SLAB_STATISTICS, n, 0, 0, k)));
			right &= same(golden_rsqrt(naive_add(variance > 0 ? variance : 0, 1e-5f)),
				      naive_bits(vector_of(&norm, SLAB_STATISTICS, n, 0, 1, k)));
		}
	return right;
}

static bool check_sums(struct value_case *c, const char *name)
{
	const struct norm norm = norm_of(c, name);
	const float inverse = (float)(1.0 / (norm.of->out.height * norm.of->out.width * norm.width));
	bool right = true;

	for (int n = 0; n < VALUE_CASE_BATCH; n++)
		for (int k = 0; k < norm.of->out.channels; k++)
			for (int i = 0; i < 2; i++)
				right &= same(naive_mul(total_of(&norm, SLAB_ROW_SUMS, n, i, k / norm.width * norm.width), inverse),
					      naive_bits(vector_of(&norm, SLAB_SUMS, n, 0, i, k)));
	return right;
}

// The output from the statistics and parameters, the input's gradient from those and the means.
static bool check_norm_maps(struct value_case *c, const char *name)
{
	const struct norm norm = norm_of(c, name);
	const struct value y_of = {.kind = SLAB_ACT, .node = norm.node}, dx_of = {.kind = SLAB_PART, .node = norm.x};
	bool right = true;

	FOR_SHAPE(norm.of->out, n, y, x, k) {
		const float xhat = xhat_of(&norm, n, y, x, k), gamma = vector_of(&norm, SLAB_PARAMETERS, 0, 0, 0, k);
		const float g = naive_mul(value_map(c, SLAB_GRAD, norm.node, n, y, x, k), gamma);
		const float centred = naive_sub(naive_sub(g, vector_of(&norm, SLAB_SUMS, n, 0, 0, k)), naive_mul(xhat, vector_of(&norm, SLAB_SUMS, n, 0, 1, k)));
		const float dx = naive_mul(vector_of(&norm, SLAB_STATISTICS, n, 0, 1, k), centred);

		right &= naive_narrow(naive_add(naive_mul(xhat, gamma), vector_of(&norm, SLAB_PARAMETERS, 0, 0, 1, k))) ==
			 value_case_bits(c, &y_of, n, y, 0, at(norm.of, x, k));
		right &= naive_narrow(dx) == value_case_bits(c, &dx_of, n, y, 0, at(norm.of, x, k));
	}
	return right;
}

typedef bool (*check)(struct value_case *c, const char *name);

// Right as it is, and wrong with one bit of it changed.
static void expect_seen(struct value_case *c, check check, const char *name, struct value value)
{
	value.node = value_case_node(c, name);
	if (value.kind == SLAB_PART && c->net.nodes[value.node].op == NET_GN)
		value.node = c->net.nodes[value.node].inputs[0];
	cr_expect(check(c, name), "kind %d of %s", value.kind, name);
	value_plant(c, &value);
	cr_expect_not(check(c, name), "a wrong value of kind %d of %s", value.kind, name);
	value_plant(c, &value);
	cr_assert(check(c, name), "kind %d of %s again", value.kind, name);
}

Test(values, of_a_normalization)
{
	static const struct {
		enum slab_kind kind;
		check check;
	} kinds[] = {
		{SLAB_SHIFT, check_shift},           {SLAB_ROW_STATISTICS, check_row_statistics}, {SLAB_STATISTICS, check_statistics},
		{SLAB_ROW_SUMS, check_row_sums},     {SLAB_SUMS, check_sums},                     {SLAB_ACT, check_norm_maps},
		{SLAB_PART, check_norm_maps},
	};
	struct value_case c;

	value_case_begin(&c, value_case_graph);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		expect_seen(&c, kinds[i].check, "g0", (struct value){.kind = kinds[i].kind});
		expect_seen(&c, kinds[i].check, "a2", (struct value){.kind = kinds[i].kind});
	}
	value_case_end(&c);
}

// ---- masks ---------------------------------------------------------------------------------------

static bool check_relu(struct value_case *c, const char *name)
{
	const int node = value_case_node(c, name), input = c->net.nodes[node].inputs[0];
	const struct net_node *of = &c->net.nodes[node];
	const struct value mask = {.kind = SLAB_MASK, .node = node}, part = {.kind = SLAB_PART, .node = input};
	bool right = true;

	FOR_SHAPE(of->out, n, y, x, k) {
		const bool passes = value_map(c, SLAB_ACT, input, n, y, x, k) > 0;

		right &= value_case_bits(c, &mask, n, y, 0, at(of, x, k)) == passes;
		right &= same(passes ? value_map(c, SLAB_GRAD, node, n, y, x, k) : 0, naive_bits(value_float(c, &part, n, y, 0, at(of, x, k))));
	}
	return right;
}

// The windows' winners, and what they give back.
static bool check_max_pool(struct value_case *c, const char *name)
{
	const int node = value_case_node(c, name), input = c->net.nodes[node].inputs[0];
	const struct net_node *of = &c->net.nodes[node], *in = &c->net.nodes[input];
	const struct net_conv *pool = &of->conv;
	const struct value mask = {.kind = SLAB_MASK, .node = node}, part = {.kind = SLAB_PART, .node = input};
	bool right = value_shape_of(&c->net, VALUE_CASE_BATCH, &mask).bits == 4;

	FOR_SHAPE(of->out, n, y, x, k) {
		float most = -INFINITY;
		int winner = -1;

		for (int tap = 0; tap < 9; tap++) {
			const int iy = y * pool->stride_h - pool->pad_h + tap / 3, ix = x * pool->stride_w - pool->pad_w + tap % 3;

			if (iy < 0 || iy >= in->out.height || ix < 0 || ix >= in->out.width || value_map(c, SLAB_ACT, input, n, iy, ix, k) <= most)
				continue;
			most = value_map(c, SLAB_ACT, input, n, iy, ix, k);
			winner = tap;
		}
		right &= value_case_bits(c, &mask, n, y, 0, at(of, x, k)) == (uint32_t)winner && value_map(c, SLAB_ACT, node, n, y, x, k) == most;
	}
	FOR_SHAPE(in->out, n, iy, ix, k) {
		float sum = 0;

		for (int y = 0; y < of->out.height; y++)
			for (int x = 0; x < of->out.width; x++) {
				const int tap = (int)value_case_bits(c, &mask, n, y, 0, at(of, x, k));

				if (y * pool->stride_h - pool->pad_h + tap / 3 == iy && x * pool->stride_w - pool->pad_w + tap % 3 == ix)
					sum = naive_add(sum, value_map(c, SLAB_GRAD, node, n, y, x, k));
			}
		right &= naive_narrow(sum) == value_case_bits(c, &part, n, iy, 0, at(in, ix, k));
	}
	return right;
}

Test(values, of_masks)
{
	struct value_case c;

	value_case_begin(&c, value_case_graph);
	expect_seen(&c, check_relu, "r0", (struct value){.kind = SLAB_MASK});
	expect_seen(&c, check_relu, "rs", (struct value){.kind = SLAB_MASK});
	expect_seen(&c, check_max_pool, "p0", (struct value){.kind = SLAB_MASK});
	value_case_end(&c);
}

// ---- parts of a gradient -------------------------------------------------------------------------

// The sum so far behind each reader, from the last to the first.
static bool check_parts(struct value_case *c, const char *name)
{
	const int node = value_case_node(c, name), readers = c->net.nodes[node].consumer_count;
	const struct net_node *of = &c->net.nodes[node];
	bool right = true;

	FOR_SHAPE(of->out, n, y, x, k) {
		uint16_t sum = 0;

		for (int reader = readers - 1; reader >= 0; reader--) {
			const struct value part_of = {.kind = SLAB_PART, .node = node, .reader = reader}, sum_of = {.kind = SLAB_GRAD, .node = node, .reader = reader};
			const uint16_t part = (uint16_t)value_case_bits(c, &part_of, n, y, 0, at(of, x, k));

			sum = reader == readers - 1 ? part : naive_narrow(naive_add(naive_widen(sum), naive_widen(part)));
			right &= sum == value_case_bits(c, &sum_of, n, y, 0, at(of, x, k));
		}
	}
	return right;
}

static bool check_add_and_concat(struct value_case *c, const char *name)
{
	const int add = value_case_node(c, "s"), pool = value_case_node(c, "p0"), concat = value_case_node(c, name);
	const struct value shortcut = {.kind = SLAB_PART, .node = pool, .reader = 1};
	bool right = c->net.nodes[pool].consumers[1] == add;
	int first = 0;

	FOR_SHAPE(c->net.nodes[pool].out, n, y, x, k)
		right &= same(value_map(c, SLAB_GRAD, add, n, y, x, k), naive_bits(value_float(c, &shortcut, n, y, 0, at(&c->net.nodes[pool], x, k))));
	for (int i = 0; i < 3; i++) {
		const int input = c->net.nodes[concat].inputs[i];
		const struct value part = {.kind = SLAB_PART, .node = input};

		FOR_SHAPE(c->net.nodes[input].out, n, y, x, k) {
			right &= same(value_map(c, SLAB_GRAD, concat, n, y, x, first + k),
				      naive_bits(value_float(c, &part, n, y, 0, at(&c->net.nodes[input], x, k))));
			right &= same(value_map(c, SLAB_ACT, concat, n, y, x, first + k), naive_bits(value_map(c, SLAB_ACT, input, n, y, x, k)));
		}
		first += c->net.nodes[input].out.channels;
	}
	return right;
}

Test(values, of_a_gradient_with_several_readers)
{
	struct value_case c;

	value_case_begin(&c, value_case_graph);
	cr_assert_eq(c.net.nodes[value_case_node(&c, "p0")].consumer_count, 3);
	for (int reader = 0; reader < 3; reader++) {
		expect_seen(&c, check_parts, "p0", (struct value){.kind = SLAB_PART, .reader = reader});
		expect_seen(&c, check_parts, "p0", (struct value){.kind = SLAB_GRAD, .reader = reader});
	}
	expect_seen(&c, check_parts, "rs", (struct value){.kind = SLAB_PART, .reader = 1});
	expect_seen(&c, check_add_and_concat, "cat", (struct value){.kind = SLAB_GRAD});
	value_case_end(&c);
}

// ---- parameters, ones ----------------------------------------------------------------------------

static bool check_parameters(struct value_case *c, const char *name)
{
	const int node = value_case_node(c, name);
	const struct net_node *of = &c->net.nodes[node];
	const uint64_t filter = (uint64_t)net_weights(of) / (uint64_t)of->out.channels;
	bool right = true;

	for (int k = 0; k < of->out.channels; k++) {
		for (uint64_t i = 0; i < filter; i++)
			right &= value_case_bits(c, &(struct value){.kind = SLAB_WEIGHT, .node = node}, 0, k, 0, i) == c->data.weights[node][(uint64_t)k * filter + i];
		if (!of->bias)
			continue;
		right &= value_case_bits(c, &(struct value){.kind = SLAB_BIAS, .node = node}, 0, k, 0, 0) == c->data.bias[node][k];
		right &= same(naive_widen(c->data.bias[node][k]), value_case_bits(c, &(struct value){.kind = SLAB_BIAS_WIDE, .node = node}, 0, k, 0, 0));
	}
	for (int k = 0; of->op == NET_GN && k < of->out.channels; k++) {
		right &= value_case_bits(c, &(struct value){.kind = SLAB_PARAMETERS, .node = node}, 0, 0, 0, (uint64_t)k) == c->data.gamma[node][k];
		right &= value_case_bits(c, &(struct value){.kind = SLAB_PARAMETERS, .node = node}, 0, 0, 1, (uint64_t)k) == c->data.beta[node][k];
		right &= value_case_bits(c, &(struct value){.kind = SLAB_GAMMA, .node = node}, 0, 0, 0, (uint64_t)k) == c->data.gamma[node][k];
	}
	return right;
}

Test(values, of_parameters)
{
	struct value_case c;

	value_case_begin(&c, value_case_graph);
	for (uint64_t i = 0; i < 8; i++)
		cr_expect_eq(value_case_bits(&c, &(struct value){.kind = SLAB_ONES, .node = 1}, 0, 0, 0, i), 0x3c00);
	cr_expect(check_parameters(&c, "a1"));
	cr_expect(check_parameters(&c, "fc"));
	cr_expect(check_parameters(&c, "a2"));
	expect_seen(&c, check_parameters, "c0", (struct value){.kind = SLAB_BIAS_WIDE});
	value_case_end(&c);
}

// ---- the loss ------------------------------------------------------------------------------------

static bool check_loss(struct value_case *c, const char *name)
{
	const int node = value_case_node(c, name), logits = c->net.nodes[node].inputs[0], classes = c->net.nodes[logits].out.channels;
	const struct value softmax = {.kind = SLAB_SOFTMAX, .node = node}, losses = {.kind = SLAB_LOSSES, .node = node};
	const struct value grad = {.kind = SLAB_GRAD, .node = logits};
	bool right = true;

	for (int n = 0; n < VALUE_CASE_BATCH; n++) {
		const int label = (int)value_case_bits(c, &(struct value){.kind = SLAB_LABELS, .node = node}, 0, n, 0, 0);
		float most = -INFINITY, sum = 0;

		right &= label == c->data.labels[n];
		for (int k = 0; k < classes; k++)
			most = fmaxf(most, value_map(c, SLAB_ACT, logits, n, 0, 0, k));
		for (int k = 0; k < classes; k++)
			sum = naive_add(sum, golden_exp(naive_sub(value_map(c, SLAB_ACT, logits, n, 0, 0, k), most)));
		right &= same(most, value_case_bits(c, &softmax, 0, 0, 0, (uint64_t)n));
		right &= same(golden_reciprocal(sum), value_case_bits(c, &softmax, 0, 0, 1, (uint64_t)n));
		right &= same(golden_log(sum), value_case_bits(c, &softmax, 0, 0, 2, (uint64_t)n));
		right &= same(naive_sub(golden_log(sum), naive_sub(value_map(c, SLAB_ACT, logits, n, 0, 0, label), most)), value_case_bits(c, &losses, 0, n, 0, 0));
		for (int k = 0; k < classes; k++) {
			const float p = naive_mul(golden_exp(naive_sub(value_map(c, SLAB_ACT, logits, n, 0, 0, k), most)), golden_reciprocal(sum));
			const float dz = naive_mul(k == label ? naive_sub(p, 1) : p, c->data.loss_scale / VALUE_CASE_BATCH);

			right &= naive_narrow(dz) == value_case_bits(c, &grad, n, 0, 0, (uint64_t)k);
		}
	}
	return right;
}

Test(values, of_the_loss)
{
	struct value_case c;

	value_case_begin(&c, value_case_graph);
	expect_seen(&c, check_loss, "loss", (struct value){.kind = SLAB_SOFTMAX});
	expect_seen(&c, check_loss, "loss", (struct value){.kind = SLAB_LOSSES});
	value_case_end(&c);
}

// ---- shapes --------------------------------------------------------------------------------------

Test(values, are_counted_as_documented)
{
	static const struct {
		const char *node;
		enum slab_kind kind;
		enum parameter_array array;
		struct value_shape shape;
	} cases[] = {
		{"b1", SLAB_ACT, 0, {true, 3, 1, 18, 16}},
		{"p0", SLAB_WIDE, 0, {true, 5, 1, 32, 32}},
		{"r0", SLAB_MASK, 0, {true, 9, 1, 64, 1}},
		{"p0", SLAB_MASK, 0, {true, 5, 1, 32, 4}},
		{"d1", SLAB_WEIGHT, 0, {false, 5, 1, 24, 16}},
		{"fc", SLAB_WGRAD, 0, {false, 7, 1, 22, 32}},
		{"fc", SLAB_BIAS_WGRAD, 0, {false, 7, 1, 1, 32}},
		{"a2", SLAB_PARAMETERS, 0, {false, 1, 2, 12, 16}},
		{"a2", SLAB_ROW_SUMS, 0, {true, 5, 4, 12, 32}},
		{"a2", SLAB_SHIFT, 0, {true, 1, 1, 12, 32}},
		{"loss", SLAB_LABELS, 0, {false, 3, 1, 1, 32}},
		{"loss", SLAB_SOFTMAX, 0, {false, 1, 3, 3, 32}},
		{"a4", SLAB_UPDATE_STATE, ARRAY_BIAS, {false, 1, 2, 8, 32}},
		{"a4", SLAB_UPDATE_WEIGHT, ARRAY_FILTERS, {false, 1, 1, 96, 16}},
	};
	struct value_case c;

	value_case_begin(&c, value_case_graph);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct value value = {.kind = cases[i].kind, .node = value_case_node(&c, cases[i].node), .array = cases[i].array};
		const struct value_shape shape = value_shape_of(&c.net, VALUE_CASE_BATCH, &value), *want = &cases[i].shape;

		cr_expect(shape.samples == want->samples && shape.rows == want->rows && shape.vectors == want->vectors && shape.count == want->count &&
			  shape.bits == want->bits, "%zu", i);
		for (int vector = 0; vector < shape.vectors; vector++)
			cr_expect_eq(value_step(&c.net, &value, vector), shape.vectors == 4 && vector < 2 ? 3 : 1, "%zu", i);
	}
	value_case_end(&c);
}
