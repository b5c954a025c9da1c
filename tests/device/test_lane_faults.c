// SPDX-License-Identifier: Apache-2.0
//
// A planted fault in one lane of the vector unit does in the RTL what it does in the C model, in every program: one element is wrong, and no other.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/device/harness.h"
#include "tests/simd_cases.h"

// The same command in three devices: right, and with a fault in the RTL and in the model.
struct trio {
	struct bench right, rtl, model;
	uint8_t *image, *expected, *got; // buffers
};

static void open_trio(struct trio *t, const char *config)
{
	bench_open_model(&t->right, config, 1);
	bench_open(&t->rtl, config, NULL, 1);
	bench_open_model(&t->model, config, 1);
	t->image = malloc(t->rtl.params.buffer_bytes);
	t->expected = malloc(t->rtl.params.buffer_bytes);
	t->got = malloc(t->rtl.params.buffer_bytes);
}

static void close_trio(struct trio *t)
{
	bench_close(&t->right);
	bench_close(&t->rtl);
	bench_close(&t->model);
	free(t->image);
	free(t->expected);
	free(t->got);
}

static void run(struct bench *b, const uint8_t *image, const union command *c, const struct wc_fault *fault, uint8_t *result)
{
	union command before = command_vector(0, 3 * wc_device_lanes(&b->params), 0, 0, 0);

	b->backend->ops->set_fault(b->backend, fault);
	cr_assert(b->backend->ops->reset(b->backend, 1, &b->err) == 0);
	bench_start(b);
	// Commands 0 and 2 are not hit.
	bench_issue(b, &before);
	bench_finish(b);
	b->backend->ops->buffer_write(b->backend, 0, image, b->params.buffer_bytes);
	bench_issue(b, c);
	bench_finish(b);
	b->backend->ops->buffer_read(b->backend, 0, result, b->params.buffer_bytes);
	bench_issue(b, &before);
	bench_finish(b);
}

// Bytes that are wrong: their number, from the first to the last. Neither the RTL nor the model has others.
static uint32_t wrong_bytes(struct trio *t, const union command *c, const struct wc_fault *fault, const char *what)
{
	uint32_t bytes = t->rtl.params.buffer_bytes, first = 0, end = bytes;

	run(&t->model, t->image, c, fault, t->expected);
	run(&t->rtl, t->image, c, fault, t->got);
	cr_assert(memcmp(t->expected, t->got, bytes) == 0, "%s: vector %d, lane %d, bit %d: RTL and model differ", what, fault->row, fault->column, fault->bit);
	run(&t->right, t->image, c, NULL, t->expected);
	while (first < bytes && t->expected[first] == t->got[first])
		first++;
	while (end > first && t->expected[end - 1] == t->got[end - 1])
		end--;
	return end - first;
}

static void all_programs(const char *config, uint64_t seed)
{
	uint64_t rng = seed;
	struct trio t;

	open_trio(&t, config);
	for (int program = 0; program < WC_SIMD_PROGRAMS; program++) {
		int shown = 0;

		for (int tries = 0; tries < 60 && shown < 3; tries++) {
			struct wc_fault fault = { .kind = WC_FAULT_LANE, .command = 1 };
			struct simd_case c;
			union command command;
			uint32_t wrong;

			simd_case_draw(&c, (enum wc_simd_program)program, &t.rtl.params, &rng);
			command.simd = c.command;
			random_fill(&rng, t.image, t.rtl.params.buffer_bytes);
			simd_case_fill(&c, t.image, &rng);
			fault.row = (int)random_in(&rng, 0, 7);
			fault.column = (int)random_in(&rng, 0, random_in(&rng, 0, 3) ? 2 : wc_device_lanes(&t.rtl.params));
			fault.bit = (int)random_in(&rng, 0, 31);
			wrong = wrong_bytes(&t, &command, &fault, wc_simd_program_name((unsigned)program));
			cr_assert(wrong <= 4, "%s: %u bytes are wrong", wc_simd_program_name((unsigned)program), wrong);
			shown += wrong > 0;
		}
		cr_assert(shown, "%s: no fault shows", wc_simd_program_name((unsigned)program));
	}
	close_trio(&t);
}

Test(lane_faults, a_flipped_bit_of_a_lane_shows_in_one_element_of_every_program)
{
	all_programs(CONFIG_QUICK, test_seed(101));
	all_programs(CONFIG_SMALL, test_seed(102));
}

// Three rows of two and a half lines: vector 5 is the last one of row 1. The bit is one of the element.
static void relu(struct trio *t, int op, int row, int lane, uint32_t at)
{
	uint32_t lanes = wc_device_lanes(&t->rtl.params), elements = 5 * lanes / 2;
	union command c = command_vector(op, elements, 0, 8192, 4096);
	struct wc_fault fault = { .kind = WC_FAULT_LANE, .command = 1, .row = row, .column = lane, .bit = 14 };
	uint32_t wrong;

	c.vector.flags = op == 0;
	c.vector.count1 = 3;
	c.vector.src_stride1 = c.vector.dst_stride1 = c.vector.aux_stride1 = 6 * lanes;
	wrong = wrong_bytes(t, &c, &fault, "relu");
	if (at == UINT32_MAX) {
		cr_assert(wrong == 0);
		return;
	}
	cr_assert(wrong == 1, "op %d, vector %d, lane %d: %u bytes", op, row, lane, wrong);
	cr_assert((t->expected[8192 + at + 1] ^ t->got[8192 + at + 1]) == 0x40, "op %d, vector %d, lane %d", op, row, lane);
}

static void relu_operators(const char *config, uint64_t seed)
{
	uint64_t rng = seed;
	struct trio t;
	uint32_t lanes;

	open_trio(&t, config);
	lanes = wc_device_lanes(&t.rtl.params);
	for (int op = 0; op < 3; op++) {
		random_fill(&rng, t.image, t.rtl.params.buffer_bytes);
		relu(&t, op, 0, 0, 0);
		relu(&t, op, 1, (int)lanes - 1, 2 * (2 * lanes - 1));
		relu(&t, op, 5, 1, 6 * lanes + 2 * (2 * lanes + 1));
		relu(&t, op, 5, (int)lanes - 1, UINT32_MAX); // behind the row's end
		relu(&t, op, 0, (int)lanes, UINT32_MAX);     // no such lane
		relu(&t, op, 9, 0, UINT32_MAX);              // no such vector
	}
	close_trio(&t);
}

Test(lane_faults, a_flipped_bit_of_a_lane_shows_in_one_element_of_relu)
{
	relu_operators(CONFIG_QUICK, test_seed(103));
	relu_operators(CONFIG_SMALL, test_seed(104));
}

// A fault whose vector never comes leaves the next command alone, and goes with the fault that takes its place.
Test(lane_faults, a_fault_that_never_strikes_is_forgotten)
{
	union command first = command_vector(0, 8, 0, 1024, 0), second = command_vector(0, 64, 0, 2048, 0);
	uint8_t bytes[128], zeros[128] = { 0 };
	struct wc_fault fault = { .kind = WC_FAULT_LANE, .command = 0, .row = 1, .column = 0, .bit = 3 };
	struct bench b;

	bench_open(&b, CONFIG_SMALL, NULL, 1);
	b.backend->ops->set_fault(b.backend, &fault);
	b.backend->ops->buffer_write(b.backend, 0, zeros, sizeof zeros);
	bench_issue(&b, &first);
	bench_issue(&b, &second);
	bench_finish(&b);
	b.backend->ops->buffer_read(b.backend, 2048, bytes, sizeof bytes);
	cr_assert(memcmp(bytes, zeros, sizeof bytes) == 0);
	b.backend->ops->set_fault(b.backend, NULL);
	bench_issue(&b, &second);
	bench_finish(&b);
	b.backend->ops->buffer_read(b.backend, 2048, bytes, sizeof bytes);
	cr_assert(memcmp(bytes, zeros, sizeof bytes) == 0);
	bench_close(&b);
}
