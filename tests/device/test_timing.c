// SPDX-License-Identifier: Apache-2.0
//
// Cycles: same seed, same cycles, whatever looks on; another memory, the same results. Counters add up, and agree with the
// memory's monitor.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/device/gemm.h"

#define CONFIG_WAVES "r8c4-b16384-w32-m2-rtl-waves" // CONFIG_SMALL with waveforms compiled in and undefined state 0

struct outcome {
	uint64_t cycles, counters[WC_COUNTER_COUNT];
	uint64_t read, written; // bytes in the data region
	uint32_t bus_bytes;
	uint8_t buffer[65536], stored[4096];
	int events;
};

static int count_event(void *context, const struct wc_event *event)
{
	(void)event;
	(*(int *)context)++;
	return 0;
}

// Loads, tiles, vector work and stores that depend on each other, twice over, with overlap.
static void workload(const char *config, const struct wc_rtl_options *options, uint64_t seed, bool observed, struct outcome *o)
{
	struct conv_tile t = { .batch = 1, .height = 6, .width = 6, .channels = 20, .kernel = 3, .stride = 1, .pad = 1, .n_cols = 4, .m_rows = 36,
			       .w = 2048, .out = 6144 };
	struct wc_observer observer = { .context = &o->events, .event = count_event, .waves = true };
	struct bench b;
	union command c;
	uint64_t rng = 61, start;

	memset(o, 0, sizeof *o);
	bench_open(&b, config, options, seed);
	if (observed)
		b.backend->ops->set_observer(b.backend, &observer);
	b.backend->ops->buffer_write(b.backend, 0, o->buffer, b.params.buffer_bytes); // zeros
	for (uint64_t i = 0; i < 8192; i += 2) {
		uint16_t half = (uint16_t)(random_in(&rng, 0, 1) << 15 | random_in(&rng, 9, 16) << 10 | random_in(&rng, 0, 1023));

		memcpy(bench_at(&b, b.data + i), &half, 2);
	}
	start = b.backend->ops->cycle(b.backend);
	for (uint32_t i = 0; i < 2; i++) {
		c = command_load(b.data, 0, 1440);
		c.load.wait_gemm = i;
		bench_issue(&b, &c);
		c = command_load(b.data + 2048, 2048, 1440);
		c.load.wait_gemm = i;
		bench_issue(&b, &c);
		c = command_conv(&t, b.params.rows);
		c.gemm.wait_load = 2 * i + 2;
		c.gemm.wait_store = i;
		bench_issue(&b, &c);
		c = command_vector(0, 144, 6144, 7168, 8192);
		c.vector.flags = 1;
		c.vector.wait_gemm = i + 1;
		c.vector.wait_store = i;
		bench_issue(&b, &c);
		c = command_store(b.data + 16384 + 1024 * i, 7168, 288);
		c.store.wait_vector = i + 1;
		bench_issue(&b, &c);
	}
	bench_finish(&b);
	o->cycles = b.backend->ops->cycle(b.backend) - start;
	for (int i = 0; i < WC_COUNTER_COUNT; i++)
		o->counters[i] = bench_counter(&b, (enum wc_counter)i);
	o->bus_bytes = b.params.bus_bytes;
	o->read = b.memory.read_bytes[WC_CLASS_ACTIVATION];
	o->written = b.memory.write_bytes[WC_CLASS_ACTIVATION];
	memcpy(o->stored, bench_at(&b, b.data + 16384), sizeof o->stored);
	b.backend->ops->buffer_read(b.backend, 0, o->buffer, b.params.buffer_bytes);
	bench_close(&b);
}

static void same_results(const struct outcome *a, const struct outcome *b)
{
	cr_expect(memcmp(a->buffer, b->buffer, sizeof a->buffer) == 0, "the buffers differ");
	cr_expect(memcmp(a->stored, b->stored, sizeof a->stored) == 0, "the memories differ");
	cr_expect(a->read == b->read && a->written == b->written);
	cr_expect(a->counters[WC_COUNTER_WAVES] == b->counters[WC_COUNTER_WAVES]);
	cr_expect(a->counters[WC_COUNTER_ARRAY_BUSY] == b->counters[WC_COUNTER_ARRAY_BUSY]);
}

static void same_cycles(const struct outcome *a, const struct outcome *b)
{
	cr_expect(a->cycles == b->cycles, "%llu and %llu cycles", (unsigned long long)a->cycles, (unsigned long long)b->cycles);
	cr_expect(memcmp(a->counters, b->counters, sizeof a->counters) == 0, "the counters differ");
}

static const struct wc_rtl_options random_memory = { .latency_cycles = 40, .random_memory = true };

Test(timing, same_seed_same_cycles_watched_or_not)
{
	static struct outcome a, b;

	workload(CONFIG_QUICK, NULL, 7, false, &a);
	workload(CONFIG_QUICK, NULL, 7, true, &b);
	same_cycles(&a, &b);
	same_results(&a, &b);
	cr_assert(b.events > 40 && a.events == 0);
	workload(CONFIG_SMALL, &random_memory, 7, false, &a);
	workload(CONFIG_SMALL, &random_memory, 7, true, &b);
	same_cycles(&a, &b);
	same_results(&a, &b);
}

Test(timing, another_seed_changes_cycles_and_no_result)
{
	static struct outcome a, b, c;

	workload(CONFIG_SMALL, NULL, 1, false, &a);
	for (uint64_t seed = 1; seed <= 20; seed++) {
		workload(CONFIG_SMALL, &random_memory, seed, false, &b);
		same_results(&a, &b);
	}
	workload(CONFIG_SMALL, &random_memory, 19, false, &c);
	cr_assert(c.cycles != b.cycles, "seeds 19 and 20 take the same %llu cycles", (unsigned long long)b.cycles);
}

Test(timing, undefined_state_does_not_matter)
{
	static struct outcome a, b;

	// Without -rand every register that reset leaves alone starts at 0.
	workload(CONFIG_WAVES, NULL, 1, false, &a);
	for (uint64_t seed = 1; seed <= 10; seed++) {
		workload(CONFIG_SMALL, NULL, seed, false, &b);
		same_results(&a, &b);
		same_cycles(&a, &b);
	}
}

static void adds_up(const char *config, const struct wc_rtl_options *options)
{
	static struct outcome o;
	uint64_t bus;

	workload(config, options, 3, false, &o);
	bus = o.bus_bytes;
	cr_assert(o.counters[WC_COUNTER_CYCLES] > 0 && o.counters[WC_COUNTER_CYCLES] <= o.cycles);
	cr_assert(o.counters[WC_COUNTER_DMA_READ_BEATS] * bus == o.read);
	cr_assert(o.counters[WC_COUNTER_DMA_WRITE_BEATS] * bus == o.written);
	cr_assert(o.counters[WC_COUNTER_COMMAND_BEATS] * bus == 10 * WC_COMMAND_BYTES);
	cr_assert(o.counters[WC_COUNTER_VECTOR_BUSY] > 0 && o.counters[WC_COUNTER_VECTOR_BUSY] < o.counters[WC_COUNTER_CYCLES]);
}

Test(timing, beats_add_up_to_what_the_memory_counted)
{
	adds_up(CONFIG_QUICK, NULL);
	adds_up(CONFIG_SMALL, NULL);
	adds_up(CONFIG_SMALL, &random_memory);
}

Test(timing, a_waveform_of_a_window_is_written_and_changes_nothing)
{
	static struct outcome a, b;
	struct wc_rtl_options options = random_memory;
	const char *dir = getenv("WC_BUILD") ? getenv("WC_BUILD") : "build";
	char path[256], file[300];
	struct stat all, window;

	snprintf(path, sizeof path, "%s/wc_waves_XXXXXX", dir);
	cr_assert(mkdtemp(path));
	snprintf(file, sizeof file, "%s/w.fst", path);
	workload(CONFIG_WAVES, &options, 5, false, &a);
	options.waveform = file;
	workload(CONFIG_WAVES, &options, 5, false, &b);
	same_cycles(&a, &b);
	same_results(&a, &b);
	cr_assert(stat(file, &all) == 0);
	options.wave_from = 500;
	options.wave_to = 600;
	workload(CONFIG_WAVES, &options, 5, false, &b);
	same_cycles(&a, &b);
	cr_assert(stat(file, &window) == 0);
	cr_assert(window.st_size > 0 && window.st_size < all.st_size, "window %lld bytes, whole run %lld", (long long)window.st_size,
		  (long long)all.st_size);
	unlink(file);
	rmdir(path);
}

Test(timing, a_library_without_waveforms_refuses_to_record)
{
	struct wc_device_params params = { 16, 16, 256, 1, 65536, 16, 1, 1 };
	const char *dir = getenv("WC_RTL");
	struct wc_rtl_options options = { .waveform = "nowhere.fst" };
	struct wc_memory memory;
	struct wc_error err = { "" };
	char library[256];
	uint64_t regions[WC_CLASS_COUNT] = { 0 };

	snprintf(library, sizeof library, "%s/%s/wc_rtl.so", dir ? dir : "build/rtl", CONFIG_QUICK);
	options.library = library;
	cr_assert(wc_memory_init(&memory, 16, regions, &err) == 0);
	cr_assert(wc_rtl_create(&params, &options, &memory, &err) == NULL);
	cr_assert(strstr(err.text, "without waveforms"), "%s", err.text);
	options.waveform = NULL;
	params.rows = 32;
	cr_assert(wc_rtl_create(&params, &options, &memory, &err) == NULL);
	cr_assert(strstr(err.text, "built for rows 16, the run asks for 32"), "%s", err.text);
	wc_memory_release(&memory);
}
