// SPDX-License-Identifier: Apache-2.0
//
// LOAD and STORE: every byte arrives where the strides say, nothing else is touched, and the memory moves exactly the beats that
// the shapes need.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/device/harness.h"

struct shape {
	uint32_t row_bytes, count1, count2;
	uint32_t dram_stride1, dram_stride2, gbuf_stride1, gbuf_stride2;
};

static uint32_t round_up(uint32_t value, uint32_t to)
{
	return (value + to - 1) / to * to;
}

static uint64_t beats_of(const struct shape *s, uint32_t bus)
{
	return (uint64_t)(round_up(s->row_bytes, bus) / bus) * s->count1 * s->count2;
}

static union command shaped(union command c, const struct shape *s)
{
	c.load.count1 = s->count1;
	c.load.count2 = s->count2;
	c.load.dram_stride1 = s->dram_stride1;
	c.load.dram_stride2 = s->dram_stride2;
	c.load.gbuf_stride1 = s->gbuf_stride1;
	c.load.gbuf_stride2 = s->gbuf_stride2;
	return c;
}

// Load the shape, store it elsewhere with the same strides; compare the whole data region with what plain copies give.
static void round_trip(struct bench *b, uint64_t *rng, const struct shape *s)
{
	uint32_t bus = b->params.bus_bytes;
	uint64_t half = b->data_bytes / 2;
	uint32_t gbuf = random_in(rng, 0, 7) * bus;
	uint64_t from = b->data + random_in(rng, 0, 300) * bus;
	uint64_t to = b->data + half + random_in(rng, 0, 300) * bus;
	uint64_t read_before = b->memory.read_bytes[WC_CLASS_ACTIVATION];
	uint64_t write_before = b->memory.write_bytes[WC_CLASS_ACTIVATION];
	uint8_t *expected = malloc(b->data_bytes);
	union command load, store;

	random_fill(rng, bench_at(b, b->data), b->data_bytes);
	memcpy(expected, bench_at(b, b->data), b->data_bytes);
	for (uint32_t i2 = 0; i2 < s->count2; i2++)
		for (uint32_t i1 = 0; i1 < s->count1; i1++) {
			uint64_t offset = (uint64_t)i1 * s->dram_stride1 + (uint64_t)i2 * s->dram_stride2;

			memcpy(expected + (to - b->data) + offset, expected + (from - b->data) + offset, s->row_bytes);
		}

	load = shaped(command_load(from, gbuf, s->row_bytes), s);
	bench_issue(b, &load);
	store = shaped(command_store(to, gbuf, s->row_bytes), s);
	store.store.wait_load = bench_csr(b, WC_CSR_DONE) / 2 + 1;
	bench_issue(b, &store);
	bench_finish(b);

	for (uint64_t i = 0; i < b->data_bytes; i++)
		cr_assert(expected[i] == bench_at(b, b->data)[i], "byte %llu: got %02x, expected %02x (row_bytes %u, counts %u %u)",
			  (unsigned long long)i, bench_at(b, b->data)[i], expected[i], s->row_bytes, s->count1, s->count2);
	cr_assert(b->memory.read_bytes[WC_CLASS_ACTIVATION] - read_before == beats_of(s, bus) * bus);
	cr_assert(b->memory.write_bytes[WC_CLASS_ACTIVATION] - write_before == beats_of(s, bus) * bus);
	free(expected);
}

// Strides that keep rows apart in the buffer and in memory, from tight to loose.
static struct shape random_shape(uint64_t *rng, const struct wc_device_params *p)
{
	struct shape s = { .count1 = random_in(rng, 1, 6), .count2 = random_in(rng, 1, 4) };
	uint32_t bus = p->bus_bytes, rows = s.count1 * s.count2;

	s.row_bytes = random_in(rng, 1, p->buffer_bytes / 2 / rows);
	s.gbuf_stride1 = round_up(s.row_bytes, bus) + random_in(rng, 0, 2) * bus;
	s.gbuf_stride2 = s.gbuf_stride1 * s.count1;
	s.dram_stride1 = round_up(s.row_bytes, bus) + random_in(rng, 0, 40) * bus;
	s.dram_stride2 = s.dram_stride1 * s.count1 + random_in(rng, 0, 40) * bus;
	return s;
}

static void random_round_trips(const char *config, const struct wc_rtl_options *options, uint64_t seed, int count)
{
	struct bench b;
	uint64_t rng = seed;

	bench_open(&b, config, options, seed);
	for (int i = 0; i < count; i++) {
		struct shape s = random_shape(&rng, &b.params);
		uint64_t span = (uint64_t)s.dram_stride2 * s.count2 + 300 * b.params.bus_bytes;

		if (span > b.data_bytes / 2 || (uint64_t)s.gbuf_stride2 * s.count2 + 8 * b.params.bus_bytes > b.params.buffer_bytes)
			s = (struct shape){ .row_bytes = s.row_bytes, .count1 = 1, .count2 = 1 };
		round_trip(&b, &rng, &s);
	}
	bench_close(&b);
}

Test(transfer, any_shape_moves_its_bytes_and_no_others)
{
	random_round_trips(CONFIG_QUICK, NULL, test_seed(11), 40);
	random_round_trips(CONFIG_SMALL, NULL, test_seed(12), 40);
	random_round_trips(CONFIG_TWO, NULL, test_seed(16), 40);
	random_round_trips(CONFIG_SMALL_TWO, NULL, test_seed(17), 40);
}

Test(transfer, back_pressure_and_random_latency_change_nothing)
{
	struct wc_rtl_options options = { .latency_cycles = 30, .random_memory = true };

	random_round_trips(CONFIG_QUICK, &options, test_seed(13), 20);
	random_round_trips(CONFIG_SMALL, &options, test_seed(14), 20);
	random_round_trips(CONFIG_TWO, &options, test_seed(18), 20);
	random_round_trips(CONFIG_SMALL_TWO, &options, test_seed(19), 20);
}

static void check_edges(const char *config)
{
	struct bench b;
	uint64_t rng = test_seed(15);

	bench_open(&b, config, NULL, 1);
	for (uint32_t row_bytes = 1; row_bytes <= 2 * b.params.bus_bytes + 1; row_bytes++)
		round_trip(&b, &rng, &(struct shape){ row_bytes, 3, 2, 64, 256, 64, 192 });
	// A page and its neighbours, and the whole buffer in one row.
	for (uint32_t row_bytes = 4095; row_bytes <= 4097; row_bytes++)
		round_trip(&b, &rng, &(struct shape){ row_bytes, 2, 1, 8192, 0, 4112, 0 });
	round_trip(&b, &rng, &(struct shape){ b.params.buffer_bytes - 7 * b.params.bus_bytes, 1, 1, 0, 0, 0, 0 });
	bench_close(&b);
}

Test(transfer, edges_of_rows_and_pages)
{
	check_edges(CONFIG_QUICK);
	check_edges(CONFIG_TWO);
}

Test(transfer, negative_strides_walk_backwards)
{
	struct bench b;
	union command c;
	uint32_t bus;

	bench_open(&b, CONFIG_QUICK, NULL, 1);
	bus = b.params.bus_bytes;
	for (uint32_t i = 0; i < 8 * bus; i++)
		bench_at(&b, b.data)[i] = i / bus;
	// Rows 7..0 of memory into rows 0..7 of the buffer, stored forward.
	c = command_load(b.data + 7 * bus, 0, bus);
	c.load.count1 = 8;
	c.load.dram_stride1 = -(int32_t)bus;
	c.load.gbuf_stride1 = bus;
	bench_issue(&b, &c);
	c = command_store(b.data + 4096, 0, 8 * bus);
	c.store.wait_load = 1;
	bench_issue(&b, &c);
	bench_finish(&b);
	for (uint32_t i = 0; i < 8 * bus; i++)
		cr_assert(bench_at(&b, b.data + 4096)[i] == 7 - i / bus);
	bench_close(&b);
}

Test(transfer, one_latency_is_paid_per_stream_and_not_per_burst)
{
	struct wc_rtl_options options = { .latency_cycles = 100 };
	struct bench b;
	union command c;
	uint64_t before, cycles, beats;

	bench_open(&b, CONFIG_QUICK, &options, 1);
	// 64 rows of 512 bytes, each a burst of its own.
	c = command_load(b.data, 0, 512);
	c.load.count1 = 64;
	c.load.dram_stride1 = 1024;
	c.load.gbuf_stride1 = 512;
	bench_issue(&b, &c);
	before = b.backend->ops->cycle(b.backend);
	bench_finish(&b);
	cycles = b.backend->ops->cycle(b.backend) - before;
	beats = 64 * 512 / b.params.bus_bytes;
	cr_assert(cycles < beats + 100 + 100 + 150, "%llu cycles for %llu beats", (unsigned long long)cycles, (unsigned long long)beats);
	bench_close(&b);
}
