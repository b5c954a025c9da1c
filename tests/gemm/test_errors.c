// SPDX-License-Identifier: Apache-2.0
//
// An access outside the global buffer stops the engine with status buffer_range and the index of the first bad command, whichever
// unit finds it first. Commands before it are complete, nothing after it has an effect, and nothing is accessed any more. A halt
// stops all accesses at once.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "interpret.h"

TestSuite(gemm_errors, .timeout = 120);

enum bad { BAD_A, BAD_B, BAD_PRELOAD, BAD_OUT, BAD_COUNT };

static const char *const bad_name[] = {"operand A", "operand B", "preload", "drain"};

// Three good convolution tiles (as many as there are) and the bad one at `at`.
static void commands(struct bench *b, struct conv *v, int at, enum bad bad, bool below)
{
	uint32_t dw;
	struct wc_gemm_command *c = &b->commands[at];

	do {
		*v = bench_conv(b, 3, &dw);
		b->count = conv_forward(v, &b->array, true, b->commands, BENCH_COMMANDS_MAX);
	} while (b->count < at + 2);
	// The last elements leave the buffer at its end, or the first ones at its beginning.
	switch (bad) {
	case BAD_A:
		c->a_base = below ? -1048576 : (int32_t)b->ops->gbuf_bytes - 16;
		c->a_y_start = c->a_x_start = 0;
		break;
	case BAD_B:
		c->b_base = below ? -2 : (int32_t)(b->ops->gbuf_bytes - 2 * (int)c->k_total + 2);
		break;
	case BAD_PRELOAD:
		c->flags |= 1;
		c->pre_base = below ? 0xfffffffc : (uint32_t)b->ops->gbuf_bytes - 4;
		c->out_delta0 = 4;
		c->out_count0 = 65535;
		c->out_start0 = 0;
		break;
	default:
		c->out_base = below ? 0xfffffffe : (uint32_t)b->ops->gbuf_bytes - 2 * c->n_cols + 2;
		break;
	}
}

// Every unit, at both ends of the buffer.
static void range_errors(const struct gemm_ops *ops, const char *test)
{
	struct bench *b = bench_create(ops, test);
	uint8_t *got = malloc((size_t)ops->gbuf_bytes);

	for (int i = 0; i < 8 * BAD_COUNT; i++) {
		enum bad bad = (enum bad)(i % BAD_COUNT);
		bool below = i / BAD_COUNT % 2;
		int at = i % 3;
		struct conv v;
		struct gemm_run run = {.commands = b->commands, .first_index = 1000, .pressure_percent = rng_below(&b->rng, 50),
				       .seed = rng_next(&b->rng), .scratch_address = b->data_bytes, .halt_cycle = -1, .cycles_max = 100000};
		struct gemm_result result;

		commands(b, &v, at, bad, below);
		bench_fill(b, false);
		run.count = b->count;
		ops->reset(b->model);
		ops->write(b->model, b->buffer);
		ops->run(b->model, &run, &result);
		ops->read(b->model, got);
		cr_assert(result.error, "%s %s: no error after %d cycles", bad_name[bad], below ? "below" : "above", result.cycles);
		cr_assert_eq(result.error_status, WC_STATUS_BUFFER_RANGE);
		cr_assert_eq(result.error_index, 1000 + (uint32_t)at, "%s: index %u, expected %u", bad_name[bad], result.error_index, 1000 + at);
		cr_assert_eq(result.done, at);
		cr_assert(result.in_order);
		cr_assert_eq(result.late_accesses, 0, "%d accesses after the error", result.late_accesses);
		for (int j = 0; j < at; j++)
			cr_assert(gemm_interpret(&b->commands[j], ops->rows, b->buffer, b->data_bytes));
		// The bad command may have written rows of its own tile before the bad one; nothing else has changed.
		for (uint32_t y = 0; y < (uint32_t)(v.batch * v.out_h); y++)
			for (uint32_t x = 0; x < (uint32_t)v.out_w * (uint32_t)v.out_c; x++) {
				uint32_t address = v.y + y * v.y_pitch + 2 * x, pixel = y * (uint32_t)v.out_w + x / (uint32_t)v.out_c;
				uint32_t tiles_n = (uint32_t)((v.out_c + ops->cols - 1) / ops->cols);
				uint32_t tile = pixel / (uint32_t)ops->acc_rows * tiles_n + x % (uint32_t)v.out_c / (uint32_t)ops->cols;

				if (tile != (uint32_t)at)
					cr_assert(!memcmp(got + address, b->buffer + address, 2), "%s: tile %u was touched", bad_name[bad], tile);
			}
		cr_assert(!memcmp(got, b->buffer, v.y), "%s: inputs were touched", bad_name[bad]);
	}
	ops->reset(b->model);
	free(got);
	bench_free(b);
}

Test(gemm_errors, range_8x4)
{
	range_errors(&gemm_8x4_1, "range_8x4");
}

Test(gemm_errors, range_16x16)
{
	range_errors(&gemm_16x16_1, "range_16x16");
}

// Accesses that end exactly at the buffer's end are good; padding outside of it is never read.
Test(gemm_errors, limits_are_inside)
{
	struct bench *b = bench_create(&gemm_8x4_1, "limits_are_inside");
	uint32_t bytes = (uint32_t)b->ops->gbuf_bytes;
	struct conv v = {.batch = 1, .in_h = 4, .in_w = 4, .in_c = 8, .out_h = 4, .out_w = 4, .out_c = 4, .kernel_h = 3, .kernel_w = 3, .stride = 1,
			 .pad = 1, .dilation = 1, .x_pitch = 64, .y_pitch = 32};

	// The whole buffer is data here, so no other port writes.
	b->data_bytes = bytes;
	for (int i = 0; i < 3; i++) {
		uint32_t x_bytes = 4 * 64, w_bytes = 9 * 8 * 4 * 2, y_bytes = 4 * 32;

		v.x = i == 0 ? bytes - x_bytes : 0;
		v.w = i == 1 ? bytes - w_bytes : 4096;
		v.y = i == 2 ? bytes - y_bytes : 8192;
		bench_fill(b, false);
		b->count = conv_forward(&v, &b->array, true, b->commands, BENCH_COMMANDS_MAX);
		bench_run(b, 0, "operands at the ends of the buffer");
	}
	bench_free(b);
}

// After halt_i rises no access is granted any more and no command completes, and the engine is usable again after a reset.
Test(gemm_errors, halt)
{
	struct bench *b = bench_create(&gemm_16x16_1, "halt");

	for (int i = 0; i < 20; i++) {
		uint32_t dw;
		struct conv v = bench_conv(b, 3, &dw);
		struct gemm_run run = {.commands = b->commands, .seed = rng_next(&b->rng), .scratch_address = b->data_bytes, .halt_cycle = rng_below(&b->rng, 300),
				       .cycles_max = 100000};
		struct gemm_result result;

		b->count = run.count = conv_forward(&v, &b->array, true, b->commands, BENCH_COMMANDS_MAX);
		bench_fill(b, false);
		b->ops->write(b->model, b->buffer);
		b->ops->run(b->model, &run, &result);
		cr_assert_eq(result.late_accesses, 0, "%d accesses after the halt", result.late_accesses);
		cr_assert(!result.error);
		b->ops->reset(b->model);
		bench_run(b, 0, "after a halt and a reset");
	}
	bench_free(b);
}
