// SPDX-License-Identifier: Apache-2.0
//
// The engine computes the three GEMMs of training, for every kernel, stride, padding, dilation and tail, whatever else uses the
// buffer's ports.
#include <criterion/criterion.h>
#include <string.h>

#include "bench.h"

TestSuite(gemm, .timeout = 300);

static void describe(char *text, size_t size, const char *pass, const struct conv *v)
{
	snprintf(text, size, "%s %dx%dx%dx%d -> %dx%dx%d, kernel %dx%d stride %d pad %d dilation %d", pass, v->batch, v->in_h, v->in_w, v->in_c,
		 v->out_h, v->out_w, v->out_c, v->kernel_h, v->kernel_w, v->stride, v->pad, v->dilation);
}

static void forward(struct bench *b, const struct conv *v, bool wild, int pressure)
{
	char what[256];

	describe(what, sizeof(what), "forward", v);
	bench_fill(b, wild);
	b->count = conv_forward(v, &b->array, rng_chance(&b->rng, 70), b->commands, BENCH_COMMANDS_MAX);
	cr_assert_gt(b->count, 0);
	bench_run(b, pressure, what);
}

static void data_gradient(struct bench *b, const struct conv *v, bool wild, int pressure)
{
	char what[256];

	describe(what, sizeof(what), "data gradient", v);
	bench_fill(b, wild);
	b->count = conv_data_gradient(v, &b->array, b->commands, BENCH_COMMANDS_MAX);
	cr_assert_gt(b->count, 0);
	bench_run(b, pressure, what);
}

// In cuts of one sample; each starts from the sums of the one before.
static void weight_gradient(struct bench *b, const struct conv *v, uint32_t dw, bool wild, int pressure)
{
	bool merge = rng_chance(&b->rng, 70);
	char what[256];

	describe(what, sizeof(what), "weight gradient", v);
	bench_fill(b, wild);
	b->count = 0;
	for (int n = 0; n < v->batch; n++) {
		int first = b->count;
		int more = conv_weight_gradient(v, &b->array, dw, n, n + 1, n == 0, merge, b->commands + first, BENCH_COMMANDS_MAX - first);

		cr_assert_gt(more, 0);
		for (int i = first; i < first + more; i++)
			b->commands[i].wait_gemm = (uint32_t)first;
		b->count += more;
	}
	bench_run(b, pressure, what);
}

static void all_passes(const struct gemm_ops *ops, const char *test)
{
	struct bench *b = bench_create(ops, test);

	for (int i = 0; i < 66; i++) {
		uint32_t dw;
		struct conv v = bench_conv(b, i < 44 ? 1 + i % 11 : 0, &dw);
		bool wild = rng_chance(&b->rng, 50);
		int pressure = rng_chance(&b->rng, 50) ? 0 : rng_below(&b->rng, 101);

		forward(b, &v, wild, pressure);
		data_gradient(b, &v, wild, pressure);
		weight_gradient(b, &v, dw, wild, pressure);
	}
	bench_free(b);
}

Test(gemm, passes_8x4)
{
	all_passes(&gemm_8x4_1, "passes_8x4");
}

Test(gemm, passes_16x16)
{
	all_passes(&gemm_16x16_1, "passes_16x16");
}

Test(gemm, passes_4x8_two_stages)
{
	all_passes(&gemm_4x8_2, "passes_4x8_two_stages");
}
