// SPDX-License-Identifier: Apache-2.0
//
// GEMM on the whole device against the functional C model, which interprets the same command on its own: every drained row, in
// order, and the whole global buffer afterwards. (tests/gemm walks the shapes of all three GEMMs; here it is about the device
// round the engine.)
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/device/gemm.h"

// Drained rows, as one long list of words.
struct rows {
	uint32_t words[300 * 130 * 4];
	size_t count;
};

static int collect(void *context, const struct wc_tile_row *row)
{
	struct rows *rows = context;

	cr_assert(rows->count + 2 + (size_t)row->count <= sizeof rows->words / sizeof rows->words[0]);
	rows->words[rows->count++] = row->command_index;
	rows->words[rows->count++] = (uint32_t)row->row << 16 | (uint32_t)row->count << 1 | row->is_fp32;
	memcpy(rows->words + rows->count, row->bits, sizeof *row->bits * (size_t)row->count);
	rows->count += (size_t)row->count;
	return 0;
}

static void compare(const char *config, const struct wc_rtl_options *options, uint64_t seed, int count)
{
	struct bench rtl, model;
	struct rows *got = malloc(sizeof *got), *expected = malloc(sizeof *expected);
	uint64_t rng = seed;
	uint8_t *a, *b;

	bench_open(&rtl, config, options, seed);
	bench_open_model(&model, config, seed);
	rtl.backend->ops->set_observer(rtl.backend, &(struct wc_observer){ .context = got, .tile_row = collect });
	model.backend->ops->set_observer(model.backend, &(struct wc_observer){ .context = expected, .tile_row = collect });
	a = malloc(rtl.params.buffer_bytes);
	b = malloc(rtl.params.buffer_bytes);
	for (int i = 0; i < count; i++) {
		struct conv_tile t = random_conv(&rng, &rtl.params);
		union command c = command_conv(&t, rtl.params.rows);

		buffer_fill_halves(&rtl, &rng, 0, rtl.params.buffer_bytes);
		rtl.backend->ops->buffer_read(rtl.backend, 0, a, rtl.params.buffer_bytes);
		model.backend->ops->buffer_write(model.backend, 0, a, rtl.params.buffer_bytes);
		got->count = expected->count = 0;
		bench_issue(&rtl, &c);
		bench_issue(&model, &c);
		bench_finish(&rtl);
		bench_finish(&model);
		cr_assert(got->count == expected->count && got->count > 0, "tile %d: %zu words drained, %zu expected", i, got->count, expected->count);
		for (size_t k = 0; k < got->count; k++)
			cr_assert(got->words[k] == expected->words[k], "tile %d, word %zu: got %08x, expected %08x", i, k, got->words[k],
				  expected->words[k]);
		rtl.backend->ops->buffer_read(rtl.backend, 0, a, rtl.params.buffer_bytes);
		model.backend->ops->buffer_read(model.backend, 0, b, rtl.params.buffer_bytes);
		cr_assert(memcmp(a, b, rtl.params.buffer_bytes) == 0, "tile %d: the buffers differ", i);
	}
	cr_assert(bench_counter(&rtl, WC_COUNTER_WAVES) == bench_counter(&model, WC_COUNTER_WAVES));
	bench_close(&rtl);
	bench_close(&model);
	free(got);
	free(expected);
	free(a);
	free(b);
}

Test(gemm, tiles_equal_the_model_bit_by_bit)
{
	compare(CONFIG_QUICK, NULL, test_seed(21), 40);
	compare(CONFIG_SMALL, NULL, test_seed(22), 40);
}

struct span {
	uint64_t first, last, waves;
};

static int span_of_waves(void *context, const struct wc_event *event)
{
	struct span *span = context;

	if (event->kind == WC_EVENT_WAVE_BEGIN && span->waves++ == 0)
		span->first = event->cycle;
	if (event->kind == WC_EVENT_WAVE_END)
		span->last = event->cycle;
	return 0;
}

Test(gemm, full_waves_follow_without_an_idle_cycle_across_tiles)
{
	struct conv_tile t = { .batch = 1, .height = 16, .width = 16, .channels = 64, .kernel = 1, .stride = 1, .n_cols = 16, .m_rows = 256,
			       .w = 32768, .out = 40960 };
	struct span span = { 0 };
	struct bench b;
	union command c;
	uint64_t rng = 1;

	bench_open(&b, CONFIG_QUICK, NULL, 1);
	b.backend->ops->set_observer(b.backend, &(struct wc_observer){ .context = &span, .event = span_of_waves, .waves = true });
	c = command_conv(&t, b.params.rows);
	buffer_fill_halves(&b, &rng, 0, b.params.buffer_bytes);
	for (int i = 0; i < 12; i++)
		bench_issue(&b, &c);
	bench_finish(&b);
	cr_assert(span.waves == 48);
	cr_assert(span.last - span.first + 1 == 48 * 256, "%llu cycles for 48 waves of 256", (unsigned long long)(span.last - span.first + 1));
	cr_assert(bench_counter(&b, WC_COUNTER_ARRAY_BUSY) == 48 * 256);
	cr_assert(bench_counter(&b, WC_COUNTER_BUBBLES) == 0);
	bench_close(&b);
}
