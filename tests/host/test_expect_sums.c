// SPDX-License-Identifier: Apache-2.0
//
// Rule: sums that the device keeps in fp32 between slices and cuts are those of the golden run after each of them, whatever the order of strips,
// and no work is done twice for it.
#include <criterion/criterion.h>
#include <string.h>

#include "tests/golden/naive.h"
#include "value_case.h"

// One sum of chunks of the array's rows.
struct chunks {
	float acc, sum;
	int lanes;
};

static void chunks_end(struct chunks *chunks)
{
	if (chunks->lanes)
		chunks->acc = naive_add(chunks->acc, chunks->sum);
	chunks->sum = 0;
	chunks->lanes = 0;
}

static void chunks_add(struct chunks *chunks, float a, float b)
{
	chunks->sum = naive_add(chunks->sum, naive_mul(a, b));
	if (++chunks->lanes == VALUE_CASE_ROWS)
		chunks_end(chunks);
}

static float weight(const struct value_case *c, int node, int k, int r, int s, int channel)
{
	const struct net_node *of = &c->net.nodes[node];
	const int at = ((k * of->conv.kernel_h + r) * of->conv.kernel_w + s) * of->in.channels + channel;

	return naive_widen(c->data.weights[node][at]);
}

// dX of one element over the first `stage` output channels of node `conv`.
static float wide(struct value_case *c, int conv, int stage, int n, int y, int x, int channel)
{
	const struct net_node *of = &c->net.nodes[conv];
	const struct net_conv *shape = &of->conv;
	struct chunks chunks = {0};

	for (int block = 0; block < stage; block += VALUE_CASE_ROWS)
		for (int r = 0; r < shape->kernel_h; r++)
			for (int s = 0; s < shape->kernel_w; s++) {
				const int up = y + shape->pad_h - r * shape->dilation_h, left = x + shape->pad_w - s * shape->dilation_w;
				const bool reaches = of->op == NET_FC ? r == y && s == x : up % shape->stride_h == 0 && left % shape->stride_w == 0;

				for (int k = block; reaches && k < block + VALUE_CASE_ROWS && k < stage; k++)
					chunks_add(&chunks, value_map(c, SLAB_GRAD, conv, n, up / shape->stride_h, left / shape->stride_w, k),
						   weight(c, conv, k, r, s, channel));
			}
	chunks_end(&chunks);
	return chunks.acc;
}

static bool check_wide(struct value_case *c, const struct value *value, int n, int y)
{
	const struct net_node *of = &c->net.nodes[value->node];
	const int conv = of->consumers[value->reader];
	bool right = true;

	for (int x = 0; x < of->out.width; x++)
		for (int k = 0; k < of->out.channels; k++) {
			const uint64_t at = (uint64_t)(x * of->out.channels + k);
			const uint32_t bits = value_case_bits(c, value, n, y, 0, at);

			right &= bits == naive_bits(wide(c, conv, value->stage, n, y, x, k));
			if (value->stage == c->net.nodes[conv].out.channels)
				right &= naive_narrow(naive_of(bits)) ==
					 value_case_bits(c, &(struct value){.kind = SLAB_PART, .node = value->node, .reader = value->reader}, n, y, 0, at);
		}
	return right;
}

// Strips of rows, each through all slices, sub-batch by sub-batch.
static void check_strips(struct value_case *c, const char *name, int reader, int sub_batch, int strip, int slice)
{
	struct value value = {.kind = SLAB_WIDE, .node = value_case_node(c, name), .reader = reader};
	const struct net_node *of = &c->net.nodes[value.node];
	const int channels = c->net.nodes[of->consumers[reader]].out.channels;

	for (int first = 0; first < VALUE_CASE_BATCH; first += sub_batch)
		for (int lo = 0; lo < of->out.height; lo += strip)
			for (value.stage = 0; value.stage < channels;) {
				value.stage = value.stage + slice < channels ? value.stage + slice : channels;
				for (int n = first; n < first + sub_batch && n < VALUE_CASE_BATCH; n++)
					for (int y = lo; y < lo + strip && y < of->out.height; y++)
						cr_assert(check_wide(c, &value, n, y), "%s by %d, sample %d, row %d, %d channels", name, reader, n, y, value.stage);
			}
}

Test(sums, over_slices_of_weights)
{
	static const struct {
		const char *yaml, *node;
		int reader;
	} cases[] = {
		{value_case_graph, "p0", 0}, {value_case_graph, "p0", 2}, {value_case_graph, "rs", 0}, {value_case_graph, "gp", 0}, {value_case_dense, "c0", 0},
		{value_case_dense, "r1", 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (int shape = 0; shape < 4; shape++) {
			struct value_case c;

			value_case_begin(&c, cases[i].yaml);
			check_strips(&c, cases[i].node, cases[i].reader, shape & 1 ? 2 : 3, shape & 2 ? 2 : 9, 4);
			// Once more, in other slices.
			check_strips(&c, cases[i].node, cases[i].reader, 1, 3, 8);
			value_case_end(&c);
		}
}

Test(sums, of_slices_are_made_once)
{
	static const char *const nodes[][2] = {{value_case_graph, "p0"}, {value_case_dense, "c0"}};

	for (size_t i = 0; i < 2; i++) {
		struct value_case c;
		uint64_t before, macs;

		value_case_begin(&c, nodes[i][0]);
		cr_assert_not_null(expect_grad(&c.expect, 1, NULL));
		before = c.expect.macs;
		macs = (uint64_t)net_macs(&c.net.nodes[c.net.nodes[value_case_node(&c, nodes[i][1])].consumers[0]]) * VALUE_CASE_BATCH;
		check_strips(&c, nodes[i][1], 0, 2, 2, 4);
		// Counts of parts of samples are rounded.
		cr_expect_geq(c.expect.macs - before, macs - 20);
		cr_expect_leq(c.expect.macs - before, macs + 20);
		value_case_end(&c);
	}
}

Test(sums, of_slices_that_are_wrong_are_seen)
{
	struct value_case c;
	struct value value;

	value_case_begin(&c, value_case_graph);
	value = (struct value){.kind = SLAB_WIDE, .node = value_case_node(&c, "p0"), .stage = 8};
	cr_assert(check_wide(&c, &value, 0, 0));
	value_plant(&c, &value);
	cr_assert_not(check_wide(&c, &value, 0, 0));
	value_case_end(&c);
}

// The gradient of weight (k, r, s, channel), or with r < 0 of the bias, over the cuts so far.
static float filter_gradient(struct value_case *c, int node, const struct golden_range *cuts, int count, int k, int r, int s, int channel)
{
	const struct net_node *of = &c->net.nodes[node];
	struct chunks chunks = {0};

	for (int i = 0; i < count; i++) {
		for (int n = cuts[i].sample_lo; n < cuts[i].sample_hi; n++)
			for (int y = cuts[i].row_lo; y < cuts[i].row_hi; y++)
				for (int x = 0; x < of->out.width; x++) {
					const int iy = y * of->conv.stride_h - of->conv.pad_h + r * of->conv.dilation_h;
					const int ix = x * of->conv.stride_w - of->conv.pad_w + s * of->conv.dilation_w;

					chunks_add(&chunks, value_map(c, SLAB_GRAD, node, n, y, x, k),
						   r < 0 ? 1 : value_map(c, SLAB_ACT, of->inputs[0], n, iy, ix, channel));
				}
		chunks_end(&chunks);
	}
	return chunks.acc;
}

static bool check_filters(struct value_case *c, int node, const struct golden_range *cuts, int count)
{
	const struct net_node *of = &c->net.nodes[node];
	const struct value filters = {.kind = SLAB_WGRAD, .node = node, .stage = count - 1}, bias = {.kind = SLAB_BIAS_WGRAD, .node = node, .stage = count - 1};
	bool right = true;

	for (int k = 0; k < of->out.channels; k++) {
		for (int i = 0; i < of->conv.kernel_h * of->conv.kernel_w * of->in.channels; i++)
			right &= value_case_bits(c, &filters, 0, k, 0, (uint64_t)i) ==
				 naive_bits(filter_gradient(c, node, cuts, count, k, i / of->in.channels / of->conv.kernel_w,
							    i / of->in.channels % of->conv.kernel_w, i % of->in.channels));
		if (of->bias)
			right &= value_case_bits(c, &bias, 0, k, 0, 0) == naive_bits(filter_gradient(c, node, cuts, count, k, -1, 0, 0));
	}
	return right;
}

static bool check_gamma_and_beta(struct value_case *c, int node, const struct golden_range *cuts, int count)
{
	const struct value sums = {.kind = SLAB_PARAMETERS_WGRAD, .node = node, .stage = count - 1}, rows = {.kind = SLAB_ROW_SUMS, .node = node};
	bool right = true;

	for (int vector = 0; vector < 2; vector++)
		for (int k = 0; k < c->net.nodes[node].out.channels; k++) {
			float sum = 0;

			for (int i = 0; i < count; i++)
				for (int n = cuts[i].sample_lo; n < cuts[i].sample_hi; n++)
					for (int y = cuts[i].row_lo; y < cuts[i].row_hi; y++)
						sum = naive_add(sum, value_float(c, &rows, n, y, 2 + vector, (uint64_t)k));
			right &= value_case_bits(c, &sums, 0, 0, vector, (uint64_t)k) == naive_bits(sum);
		}
	return right;
}

Test(sums, over_cuts)
{
	static const char *const names[] = {"c0", "a1", "b1", "d1", "fc", "g0", "a2"};
	struct value_case c;

	value_case_begin(&c, value_case_graph);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const int node = value_case_node(&c, names[i]), height = c.net.nodes[node].out.height;
		const bool norm = c.net.nodes[node].op == NET_GN;
		const struct golden_range cuts[3] = {{0, 2, 0, height}, {2, 3, 0, (height + 1) / 2}, {2, 3, (height + 1) / 2, height}};
		struct wc_error err = {""};
		bool (*check)(struct value_case *, int, const struct golden_range *, int) = norm ? check_gamma_and_beta : check_filters;
		struct value value = {.kind = norm ? SLAB_PARAMETERS_WGRAD : SLAB_WGRAD, .node = node};

		cr_expect_null(expect_values(&c.expect, &value, 0, 0, 0, &err));
		for (int cut = 0; cut < 3; cut++) {
			cr_assert_eq(expect_advance(&c.expect, 0, node, cut, cuts[cut], &err), 0, "%s", err.text);
			// Asking twice moves nothing.
			cr_assert_eq(expect_advance(&c.expect, 0, node, cut, cuts[cut], &err), 0, "%s", err.text);
			cr_expect(check(&c, node, cuts, cut + 1), "%s, cut %d", names[i], cut);
			cr_expect(cut == 0 || check(&c, node, cuts, cut), "%s, before cut %d", names[i], cut);
			value.stage = cut;
			value_plant(&c, &value);
			cr_expect_not(check(&c, node, cuts, cut + 1), "%s, cut %d", names[i], cut);
			value_plant(&c, &value);
		}
		value.stage = 0;
		cr_expect_null(expect_values(&c.expect, &value, 0, 0, 0, &err));
		cr_expect(strstr(err.text, "cut 0 of '") && strstr(err.text, "is no longer there to compare with"), "%s", err.text);
		cr_expect_eq(expect_advance(&c.expect, 0, node, 4, cuts[2], &err), WC_ERR_SYSTEM);
		cr_expect_eq(expect_advance(&c.expect, 0, node, 3, (struct golden_range){0, 1, 0, height + 1}, &err), WC_ERR_INPUT);
	}
	value_case_end(&c);
}

// Rows of a normalization's sums come one by one, so that cuts of whole rows leave no trace; nor does another run.
Test(sums, of_a_normalization_do_not_know_of_cuts)
{
	const struct golden_range whole = {0, 3, 0, 9}, cuts[2] = {{0, 1, 0, 9}, {1, 3, 0, 9}};
	struct value_case c;
	float one[16];

	value_case_begin(&c, value_case_graph);
	cr_assert_eq(expect_advance(&c.expect, 0, value_case_node(&c, "g0"), 0, whole, NULL), 0);
	memcpy(one, expect_sums(&c.expect, 0, value_case_node(&c, "g0"), 0), sizeof(one));
	expect_restart(&c.expect, 1);
	for (int cut = 0; cut < 2; cut++)
		cr_assert_eq(expect_advance(&c.expect, 0, value_case_node(&c, "g0"), cut, cuts[cut], NULL), 0);
	cr_expect_arr_eq(one, expect_sums(&c.expect, 0, value_case_node(&c, "g0"), 1), sizeof(one));
	value_case_end(&c);
}
