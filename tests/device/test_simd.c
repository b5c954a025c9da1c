// SPDX-License-Identifier: Apache-2.0
//
// SIMD: every program on random shapes leaves in the RTL's buffer what the C model leaves, byte for byte, whatever else wants the buffer.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/device/gemm.h"
#include "tests/simd_cases.h"

struct pair {
	struct bench rtl, model;
	uint8_t *image, *other; // buffers
};

static void open_pair(struct pair *p, const char *config, const struct wc_rtl_options *options, uint64_t seed)
{
	bench_open(&p->rtl, config, options, seed);
	bench_open_model(&p->model, config, seed);
	p->image = malloc(p->rtl.params.buffer_bytes);
	p->other = malloc(p->rtl.params.buffer_bytes);
}

static void close_pair(struct pair *p)
{
	bench_close(&p->rtl);
	bench_close(&p->model);
	free(p->image);
	free(p->other);
}

// The same data in both buffers.
static void fill(struct pair *p, const struct simd_case *c, uint64_t *rng)
{
	random_fill(rng, p->image, p->rtl.params.buffer_bytes);
	simd_case_fill(c, p->image, rng);
	p->rtl.backend->ops->buffer_write(p->rtl.backend, 0, p->image, p->rtl.params.buffer_bytes);
	p->model.backend->ops->buffer_write(p->model.backend, 0, p->image, p->rtl.params.buffer_bytes);
}

// First byte that differs between the two; the size of the buffer: none does.
static uint32_t difference(struct pair *p)
{
	uint32_t at = 0, bytes = p->rtl.params.buffer_bytes;

	p->rtl.backend->ops->buffer_read(p->rtl.backend, 0, p->image, bytes);
	p->model.backend->ops->buffer_read(p->model.backend, 0, p->other, bytes);
	while (at < bytes && p->image[at] == p->other[at])
		at++;
	return at;
}

static void check(struct pair *p, enum wc_simd_program program, uint64_t *rng)
{
	uint64_t start = *rng;
	struct simd_case c;
	uint32_t at;

	simd_case_draw(&c, program, &p->rtl.params, rng);
	fill(p, &c, rng);
	bench_issue(&p->rtl, &c.command);
	bench_issue(&p->model, &c.command);
	bench_finish(&p->rtl);
	bench_finish(&p->model);
	at = difference(p);
	cr_assert(at == p->rtl.params.buffer_bytes, "%s: byte %u is %02x, the model has %02x: n %d h %d w %d c %d k %dx%d cpg %d block %u (state %llu)",
		  wc_simd_texts[program].name, at, p->image[at], p->other[at], c.n, c.h, c.w, c.c, c.kh, c.kw, c.cpg, c.command.block, (unsigned long long)start);
}

static void all_programs(const char *config, const struct wc_rtl_options *options, uint64_t seed)
{
	int rounds = getenv("WC_LONG") ? 400 : 25;
	uint64_t rng = seed;
	struct pair p;

	open_pair(&p, config, options, seed);
	for (int program = 0; program < WC_SIMD_PROGRAMS; program++)
		for (int i = 0; i < rounds; i++)
			check(&p, (enum wc_simd_program)program, &rng);
	close_pair(&p);
}

Test(simd, programs_equal_the_model)
{
	all_programs(CONFIG_QUICK, NULL, test_seed(91));
}

Test(simd, programs_equal_the_model_on_a_small_array)
{
	all_programs(CONFIG_SMALL, &(struct wc_rtl_options){ .random_memory = true }, test_seed(92));
}

// ---- beside other engines ------------------------------------------------------------------------

// A tile over data in the upper half, loads into and stores out of what lies behind it.
static void issue_others(struct bench *b, uint32_t half)
{
	struct conv_tile t = { .x = half, .batch = 1, .height = 8, .width = 8, .channels = 16, .kernel = 1, .stride = 1, .n_cols = 4, .m_rows = 64,
			       .w = half + 2048, .out = half + 3072 };
	union command c;

	for (uint32_t i = 0; i < 3; i++) {
		c = command_load(b->data, half + 4096, 1024);
		bench_issue(b, &c);
		c = command_conv(&t, b->params.rows);
		c.gemm.a_base = (int32_t)half; // read all the time, never written
		bench_issue(b, &c);
		c = command_store(b->data + 8192 + 4096 * i, half + 3072, 512);
		c.store.wait_gemm = i + 1;
		bench_issue(b, &c);
	}
}

// Beside GEMMs, loads and stores in the other half of the buffer: the results are the same.
static void beside_others(const char *config, const struct wc_rtl_options *options, uint64_t seed)
{
	uint64_t rng = seed;
	struct pair p;

	open_pair(&p, config, options, seed);
	for (int program = 0; program < WC_SIMD_PROGRAMS; program++) {
		struct wc_device_params half = p.rtl.params;
		struct simd_case c;

		half.buffer_bytes /= 2;
		simd_case_draw(&c, (enum wc_simd_program)program, &half, &rng);
		fill(&p, &c, &rng);
		for (uint64_t i = 0; i < 1024; i++)
			*bench_at(&p.rtl, p.rtl.data + i) = *bench_at(&p.model, p.model.data + i) = (uint8_t)i;
		for (int i = 0; i < 2; i++) {
			struct bench *b = i ? &p.model : &p.rtl;

			cr_assert(b->backend->ops->reset(b->backend, seed, &b->err) == 0);
			bench_start(b);
			b->backend->ops->buffer_write(b->backend, 0, p.image, b->params.buffer_bytes);
			bench_issue(b, &c.command);
			issue_others(b, half.buffer_bytes);
			bench_finish(b);
		}
		cr_assert(difference(&p) == p.rtl.params.buffer_bytes, "%s", wc_simd_texts[program].name);
		cr_assert(memcmp(p.rtl.memory.data, p.model.memory.data, p.rtl.memory.bytes) == 0, "%s", wc_simd_texts[program].name);
	}
	close_pair(&p);
}

Test(simd, programs_equal_the_model_beside_other_engines)
{
	beside_others(CONFIG_QUICK, NULL, test_seed(93));
	beside_others(CONFIG_SMALL, &(struct wc_rtl_options){ .random_memory = true }, test_seed(94));
}

// SIMD and VECTOR commands share a queue: counted together, complete in order.
Test(simd, vector_commands_take_turns_with_simd)
{
	uint64_t rng = test_seed(95);
	struct pair p;

	open_pair(&p, CONFIG_QUICK, NULL, 1);
	for (int round = 0; round < 10; round++) {
		struct wc_device_params half = p.rtl.params;
		struct simd_case c;
		union command relu = command_vector(0, 500, half.buffer_bytes / 2, half.buffer_bytes / 2 + 2048, 0);

		half.buffer_bytes /= 2;
		simd_case_draw(&c, (enum wc_simd_program)random_in(&rng, 0, WC_SIMD_PROGRAMS - 1), &half, &rng);
		fill(&p, &c, &rng);
		for (int i = 0; i < 2; i++) {
			struct bench *b = i ? &p.model : &p.rtl;
			union command store = command_store(b->data, half.buffer_bytes + 2048, 1000);

			store.store.wait_vector = 3 * (uint32_t)round + 3;
			bench_issue(b, &relu);
			bench_issue(b, &c.command);
			bench_issue(b, &relu);
			bench_issue(b, &store);
			bench_finish(b);
		}
		cr_assert(difference(&p) == p.rtl.params.buffer_bytes, "round %d", round);
		cr_assert(memcmp(bench_at(&p.rtl, p.rtl.data), bench_at(&p.model, p.model.data), 1000) == 0, "round %d", round);
	}
	close_pair(&p);
}

static int note_opcode(void *context, const struct wc_event *event)
{
	uint64_t *seen = context;

	if (event->kind == WC_EVENT_COMMAND_BEGIN || event->kind == WC_EVENT_COMMAND_END)
		*seen = *seen * 16 + event->a;
	return 0;
}

Test(simd, events_name_the_opcode)
{
	union command relu = command_vector(0, 16, 0, 64, 0), simd;
	uint64_t rng = 1;
	struct simd_case c;
	struct pair p;

	open_pair(&p, CONFIG_QUICK, NULL, 1);
	simd_case_draw(&c, WC_SIMD_COPY, &p.rtl.params, &rng);
	simd.simd = c.command;
	for (int i = 0; i < 2; i++) {
		struct bench *b = i ? &p.model : &p.rtl;
		uint64_t seen = 0;

		b->backend->ops->set_observer(b->backend, &(struct wc_observer){ .context = &seen, .event = note_opcode });
		bench_issue(b, &relu);
		bench_issue(b, &simd);
		bench_issue(b, &relu);
		bench_finish(b);
		cr_assert(seen == 0x445544, "%llx", (unsigned long long)seen);
	}
	close_pair(&p);
}

// ---- errors --------------------------------------------------------------------------------------

// Vectors that leave the buffer or stand at an odd byte, in every stream of every program: both stop with the same status.
Test(simd, every_stream_is_checked)
{
	uint64_t rng = test_seed(96);
	int stopped = 0;
	struct pair p;

	open_pair(&p, CONFIG_SMALL, NULL, 1);
	for (int program = 0; program < WC_SIMD_PROGRAMS; program++)
		for (int stream = 0; stream < SIMD_CASE_STREAMS; stream++)
			for (int kind = 0; kind < 3; kind++) {
				struct simd_case c;
				uint32_t *base;
				uint32_t unit, status;

				simd_case_draw(&c, (enum wc_simd_program)program, &p.rtl.params, &rng);
				if (!c.tensors[stream].used)
					continue;
				c.command.zero = c.command.off = 0;
				base = (uint32_t *)((uint8_t *)&c.command + offsetof(struct wc_simd_command, s0_base) + 16 * stream);
				unit = c.tensors[stream].kind == KIND_BITS ? 8 : 1;
				*base = kind == 0 ? (p.rtl.params.buffer_bytes - 1) * unit : kind == 1 ? *base + 1 : 0u - 64;
				for (int i = 0; i < 2; i++) {
					struct bench *b = i ? &p.model : &p.rtl;

					cr_assert(b->backend->ops->reset(b->backend, 1, &b->err) == 0);
					bench_start(b);
					bench_issue(b, &c.command);
					bench_run(b);
				}
				status = bench_csr(&p.rtl, WC_CSR_STATUS);
				cr_assert(status == bench_csr(&p.model, WC_CSR_STATUS), "%s, stream %d, kind %d: status %x, the model has %x",
					  wc_simd_texts[program].name, stream, kind, status, bench_csr(&p.model, WC_CSR_STATUS));
				stopped += (status >> 8 == WC_STATUS_BUFFER_RANGE) + (status >> 8 == WC_STATUS_MISALIGNED);
			}
	cr_assert(stopped > 200, "%d", stopped);
	close_pair(&p);
}

// Fields of two blocks that would share a half.
Test(simd, torn_fields_are_misaligned)
{
	struct wc_simd_command c = {
		.opcode = WC_OP_SIMD, .version = WC_COMMAND_VERSION, .program = WC_SIMD_COPY, .count_n = 1, .count_y = 1, .count_x = 2, .channels = 20,
		.block = 16, .block_step = 16, .group = 1, .groups = 16, .taps_y = 1, .taps_x = 1, .y_size = 1, .x_size = 1, .type1 = 2 + 3,
		.s0_stride_x = 40, .s1_base = 8 * 1024, .s1_stride_x = 60,
	};
	struct pair p;

	open_pair(&p, CONFIG_SMALL, NULL, 1);
	for (int i = 0; i < 2; i++) {
		struct bench *b = i ? &p.model : &p.rtl;

		bench_issue(b, &c);
		bench_expect_error(b, WC_STATUS_MISALIGNED, 0);
	}
	close_pair(&p);
}

// ---- faults --------------------------------------------------------------------------------------

// A bit of an operand that flips in the RTL shows in the result of every program.
Test(simd, a_flipped_operand_bit_shows_in_every_program)
{
	uint64_t rng = test_seed(97);
	struct pair p;

	open_pair(&p, CONFIG_QUICK, NULL, 1);
	for (int program = 0; program < WC_SIMD_PROGRAMS; program++) {
		bool shown = program == WC_SIMD_FILL; // has no operand

		for (int tries = 0; tries < 20 && !shown; tries++) {
			struct wc_fault fault = { .kind = WC_FAULT_BUFFER, .bit = 6 };
			struct simd_case c;
			uint32_t at;

			simd_case_draw(&c, (enum wc_simd_program)program, &p.rtl.params, &rng);
			c.wild = false;
			fill(&p, &c, &rng);
			fault.address = c.tensors[0].base + (uint32_t)c.tensors[0].bits / 8 - 1;
			for (int i = 0; i < 2; i++) {
				struct bench *b = i ? &p.model : &p.rtl;

				b->backend->ops->set_fault(b->backend, i ? NULL : &fault);
				cr_assert(b->backend->ops->reset(b->backend, 1, &b->err) == 0);
				bench_start(b);
				b->backend->ops->buffer_write(b->backend, 0, p.image, b->params.buffer_bytes);
				bench_issue(b, &c.command);
				bench_finish(b);
			}
			// The operand itself differs; unless the result is written over it.
			at = difference(&p);
			if (at == fault.address) {
				p.other[at] = p.image[at];
				for (at = 0; at < p.rtl.params.buffer_bytes && p.image[at] == p.other[at];)
					at++;
			}
			shown = at < p.rtl.params.buffer_bytes;
		}
		cr_assert(shown, "%s", wc_simd_texts[program].name);
	}
	close_pair(&p);
}

// ---- time ----------------------------------------------------------------------------------------

// An addition of fp16 takes three accesses a vector; reads that wait for a write cost it less than one more cycle.
Test(simd, additions_take_less_than_four_cycles_a_vector)
{
	enum { ROWS = 64, LANES = 32 };
	struct wc_simd_command c = {
		.opcode = WC_OP_SIMD, .version = WC_COMMAND_VERSION, .program = WC_SIMD_ADD, .count_n = 1, .count_y = ROWS, .count_x = 4,
		.channels = LANES, .block = LANES, .block_step = LANES, .group = 1, .groups = LANES, .taps_y = 1, .taps_x = 1, .y_size = 1, .x_size = 1,
		.s0_stride_y = 256, .s1_base = 16384, .s1_stride_y = 256, .s2_base = 32768, .s2_stride_y = 256,
		.s0_stride_x = 64, .s1_stride_x = 64, .s2_stride_x = 64,
	};
	struct bench b;
	uint64_t busy;

	bench_open(&b, CONFIG_QUICK, NULL, 1);
	bench_issue(&b, &c);
	bench_finish(&b);
	busy = bench_counter(&b, WC_COUNTER_VECTOR_BUSY);
	cr_assert(busy >= 3 * 4 * ROWS && busy <= 4 * 4 * ROWS, "%llu cycles for %d vectors", (unsigned long long)busy, 4 * ROWS);
	bench_close(&b);
}

// Sums of groups of this many channels, 16 vectors a row: cycles in 100 vectors.
static uint64_t cycles_of_sums(struct bench *b, enum wc_simd_program program, uint16_t group)
{
	enum { ROWS = 64, PIXELS = 16, LANES = 32 };
	bool backward = program == WC_SIMD_NORM_BACKWARD_SUMS;
	uint64_t before = bench_counter(b, WC_COUNTER_VECTOR_BUSY);
	struct wc_simd_command c = {
		.opcode = WC_OP_SIMD, .version = WC_COMMAND_VERSION, .program = (uint8_t)program, .count_n = 1, .count_y = ROWS, .count_x = PIXELS,
		.channels = LANES, .block = LANES, .block_step = LANES, .group = group, .groups = LANES / group, .taps_y = 1, .taps_x = 1, .y_size = 1, .x_size = 1,
		.s0_stride_x = 64, .s1_base = 1024, .s1_stride_x = backward ? 64 : 0, .s2_base = 2048, .type3 = 1, .type4 = 1, .type5 = 1, .type6 = 1,
		.s3_base = 4096, .s4_base = 8192, .s5_base = 12288, .s6_base = 16384,
	};

	bench_issue(b, &c);
	bench_finish(b);
	return 100 * (bench_counter(b, WC_COUNTER_VECTOR_BUSY) - before) / (ROWS * PIXELS);
}

// Both sums take a cycle a channel together, and few more.
Test(simd, sums_of_groups_take_a_cycle_a_channel)
{
	struct bench b;

	bench_open(&b, CONFIG_QUICK, NULL, 1);
	for (uint16_t group = 2; group <= 32; group *= 2) {
		uint64_t forward = cycles_of_sums(&b, WC_SIMD_NORM_SUMS, group), backward = cycles_of_sums(&b, WC_SIMD_NORM_BACKWARD_SUMS, group);

		cr_assert(forward <= 100u * (group + 4u), "groups of %d: %llu cycles for 100 vectors", group, (unsigned long long)forward);
		cr_assert(backward <= 100u * (group + 6u), "groups of %d: %llu cycles for 100 vectors", group, (unsigned long long)backward);
	}
	bench_close(&b);
}
