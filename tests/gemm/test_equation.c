// SPDX-License-Identifier: Apache-2.0
//
// The commands of conv.c, carried out by the engine, are the convolution and its gradients: with small integers every sum is
// exact, so plain integer loops over the equations must give the same values. This holds the interpreter and the command builders
// to the mathematics.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

TestSuite(gemm_equation, .timeout = 300);

static int value_at(const struct bench *b, uint32_t address)
{
	_Float16 half;

	memcpy(&half, b->buffer + address, 2);
	return (int)(float)half;
}

static void put(struct bench *b, uint32_t address, int value)
{
	_Float16 half = (_Float16)value;

	memcpy(b->buffer + address, &half, 2);
}

static uint32_t x_at(const struct conv *v, int n, int y, int x, int c)
{
	return v->x + (uint32_t)(n * v->in_h + y) * v->x_pitch + 2 * (uint32_t)(x * v->in_c + c);
}

static uint32_t y_at(const struct conv *v, int n, int p, int q, int k)
{
	return v->y + (uint32_t)(n * v->out_h + p) * v->y_pitch + 2 * (uint32_t)(q * v->out_c + k);
}

static uint32_t w_index(const struct conv *v, int k, int r, int s, int c)
{
	return (uint32_t)(((k * v->kernel_h + r) * v->kernel_w + s) * v->in_c + c);
}

// Values in {-1, 0, 1}: no sum of up to 2048 terms leaves the exact integers of fp16.
static void fill(struct bench *b)
{
	for (uint32_t i = 0; i < b->data_bytes; i += 2)
		put(b, i, rng_below(&b->rng, 3) - 1);
}

// One loop nest for all three: it adds x w to y, y w to x, or x y to w.
enum pass { FORWARD, DATA, WEIGHT };

static void equation(const struct bench *b, const struct conv *v, enum pass pass, int *sums)
{
	for (int n = 0; n < v->batch; n++)
	for (int p = 0; p < v->out_h; p++)
	for (int q = 0; q < v->out_w; q++)
	for (int r = 0; r < v->kernel_h; r++)
	for (int s = 0; s < v->kernel_w; s++) {
		int y = p * v->stride - v->pad + r * v->dilation, x = q * v->stride - v->pad + s * v->dilation;

		if (y < 0 || y >= v->in_h || x < 0 || x >= v->in_w)
			continue;
		for (int k = 0; k < v->out_c; k++)
		for (int c = 0; c < v->in_c; c++) {
			int xv = value_at(b, x_at(v, n, y, x, c)), yv = value_at(b, y_at(v, n, p, q, k));
			int wv = value_at(b, v->w + 2 * w_index(v, k, r, s, c));

			if (pass == FORWARD)
				sums[((n * v->out_h + p) * v->out_w + q) * v->out_c + k] += xv * wv;
			else if (pass == DATA)
				sums[((n * v->in_h + y) * v->in_w + x) * v->in_c + c] += yv * wv;
			else
				sums[w_index(v, k, r, s, c)] += xv * yv;
		}
	}
}

static int forward_differs(const struct bench *b, const struct conv *v, const int *sums)
{
	for (int n = 0; n < v->batch; n++)
	for (int p = 0; p < v->out_h; p++)
	for (int q = 0; q < v->out_w; q++)
	for (int k = 0; k < v->out_c; k++)
		if (value_at(b, y_at(v, n, p, q, k)) != *sums++)
			return 1;
	return 0;
}

static int data_differs(const struct bench *b, const struct conv *v, const int *sums)
{
	for (int n = 0; n < v->batch; n++)
	for (int y = 0; y < v->in_h; y++)
	for (int x = 0; x < v->in_w; x++)
	for (int c = 0; c < v->in_c; c++)
		if (value_at(b, x_at(v, n, y, x, c)) != *sums++)
			return 1;
	return 0;
}

static int weight_differs(const struct bench *b, const struct conv *v, uint32_t dw, const int *sums)
{
	for (int i = 0; i < v->out_c * v->kernel_h * v->kernel_w * v->in_c; i++) {
		float value;

		memcpy(&value, b->buffer + dw + 4 * i, 4);
		if (value != (float)sums[i])
			return 1;
	}
	return 0;
}

Test(gemm_equation, three_passes)
{
	for (int config = 0; config < BENCH_OPS_COUNT; config++) {
		struct bench *b = bench_create(bench_ops[config], "three_passes");

		for (int i = 0; i < 22; i++) {
			uint32_t dw;
			struct conv v = bench_conv(b, 1 + i % 11, &dw);
			int *sums = calloc((size_t)b->data_bytes, sizeof(*sums));

			if (v.kernel_h * v.kernel_w * (v.in_c > v.out_c ? v.in_c : v.out_c) > 2048)
				v.kernel_h = v.kernel_w = 1;
			v.out_h = (v.in_h + 2 * v.pad - v.dilation * (v.kernel_h - 1) - 1) / v.stride + 1;
			v.out_w = (v.in_w + 2 * v.pad - v.dilation * (v.kernel_w - 1) - 1) / v.stride + 1;
			if (v.out_h * v.out_w > 400 || y_at(&v, v.batch, 0, 0, 0) > dw)
				v.out_h = v.out_w = 1;

			fill(b);
			equation(b, &v, FORWARD, sums);
			b->count = conv_forward(&v, &b->array, true, b->commands, BENCH_COMMANDS_MAX);
			bench_run(b, 0, "forward");
			cr_assert(!forward_differs(b, &v, sums), "forward is not the equation");

			memset(sums, 0, b->data_bytes * sizeof(*sums));
			fill(b);
			equation(b, &v, DATA, sums);
			b->count = conv_data_gradient(&v, &b->array, b->commands, BENCH_COMMANDS_MAX);
			bench_run(b, 0, "data gradient");
			cr_assert(!data_differs(b, &v, sums), "data gradient is not the equation");

			memset(sums, 0, b->data_bytes * sizeof(*sums));
			fill(b);
			equation(b, &v, WEIGHT, sums);
			b->count = conv_weight_gradient(&v, &b->array, dw, 0, v.batch, true, true, b->commands, BENCH_COMMANDS_MAX);
			bench_run(b, 0, "weight gradient");
			cr_assert(!weight_differs(b, &v, dw, sums), "weight gradient is not the equation");
			free(sums);
		}
		bench_free(b);
	}
}
