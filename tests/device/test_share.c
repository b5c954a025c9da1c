// SPDX-License-Identifier: Apache-2.0
//
// Two cores on one memory port: while both ask for it, each has half of the beats, to a burst; what only one asks for, it has alone.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/device/gemm.h"

enum { CORES = 2, BURST_BYTES = 4096, BLOCK_BYTES = 8192, SHORT_BYTES = 32 };

// Bytes that have moved, at each burst of a run.
struct meter {
	const struct wc_memory *memory;
	bool write;
	int bursts[CORES];      // commands are not counted
	int in_a_row, longest;  // of one core
	int last;
	int64_t start[CORES];   // bytes when both were at work
	int64_t largest;        // difference of bytes since
	int compared;
};

static int64_t moved(const struct meter *m, int core)
{
	enum wc_class class = core == 0 ? WC_CLASS_MASK : WC_CLASS_IO;

	return (int64_t)(m->write ? m->memory->write_bytes : m->memory->read_bytes)[class];
}

enum { WARM_BURSTS = 20, LAST_BURSTS = 75, BURSTS = 80 };

static int on_event(void *context, const struct wc_event *event)
{
	struct meter *m = context;
	bool warm = m->bursts[0] >= WARM_BURSTS && m->bursts[1] >= WARM_BURSTS;

	if (event->kind != WC_EVENT_BURST || event->write != m->write || event->command_index == UINT32_MAX)
		return 0;
	m->in_a_row = event->core == m->last ? m->in_a_row + 1 : 1;
	m->last = event->core;
	m->bursts[event->core]++;
	if (!warm) {
		for (int i = 0; i < CORES; i++)
			m->start[i] = moved(m, i);
	} else if (m->bursts[0] < LAST_BURSTS && m->bursts[1] < LAST_BURSTS) {
		int64_t difference = llabs((moved(m, 0) - m->start[0]) - (moved(m, 1) - m->start[1]));

		m->longest = m->in_a_row > m->longest ? m->in_a_row : m->longest;
		m->largest = difference > m->largest ? difference : m->largest;
		m->compared++;
	}
	return 0;
}

static union command transfer(enum wc_opcode opcode, uint64_t dram, uint32_t bytes)
{
	return opcode == WC_OP_LOAD ? command_load(dram, 0, bytes) : command_store(dram, 0, bytes);
}

// Both cores move rows of so many bytes as fast as they can, core i with opcodes[i]; cycles of each.
static void hammer(const enum wc_opcode *opcodes, uint32_t row_bytes, bool random_memory, uint64_t seed, struct meter *m, uint64_t *cycles)
{
	struct wc_rtl_options options = { .latency_cycles = 40, .random_memory = random_memory };
	struct bench b, cores[CORES];

	bench_open(&b, CONFIG_CORES, &options, seed);
	*m = (struct meter){ .memory = &b.memory, .write = opcodes[0] == WC_OP_STORE, .last = -1 };
	b.backend->ops->set_observer(b.backend, &(struct wc_observer){ .context = m, .event = on_event });
	for (int i = 0; i < CORES; i++) {
		union command c;

		bench_core(&cores[i], &b, i);
		c = transfer(opcodes[i], cores[i].data, row_bytes);
		c.load.count1 = row_bytes < BURST_BYTES ? 8 : 4; // again and again the same bytes of the buffer
		c.load.dram_stride1 = (int32_t)row_bytes;
		for (int k = 0; k < 10; k++)
			bench_issue(&cores[i], &c);
	}
	for (int i = 0; i < CORES; i++)
		bench_set_csr(&cores[i], WC_CSR_TAIL, cores[i].issued);
	for (int i = 0; i < CORES; i++) {
		bench_finish(&cores[i]);
		cycles[i] = bench_counter(&cores[i], WC_COUNTER_CYCLES);
	}
	bench_close(&b);
}

static void expect_half(enum wc_opcode opcode, uint32_t row_bytes, bool random_memory, uint64_t seed)
{
	uint64_t cycles[CORES];
	struct meter m;

	hammer((enum wc_opcode[]){ opcode, opcode }, row_bytes, random_memory, seed, &m, cycles);
	cr_assert(m.compared > BURSTS / 2, "%d bursts compared", m.compared);
	// A burst (or 16 that are short) more than half for the one, a burst less for the other.
	cr_assert(m.largest <= (row_bytes < BURST_BYTES ? 2 * 16 * SHORT_BYTES : 2 * BURST_BYTES), "opcode %d, rows of %u: one core is %lld bytes ahead",
		  opcode, row_bytes, (long long)m.largest);
	cr_assert(m.longest <= (row_bytes < BURST_BYTES ? 16 : 2), "opcode %d, rows of %u: %d bursts of one core in a row", opcode, row_bytes, m.longest);
}

Test(share, each_core_has_half_of_what_both_ask_for)
{
	expect_half(WC_OP_LOAD, BLOCK_BYTES, false, 1);
	expect_half(WC_OP_STORE, BLOCK_BYTES, false, 1);
	expect_half(WC_OP_LOAD, SHORT_BYTES, false, 1);
	expect_half(WC_OP_STORE, SHORT_BYTES, false, 1);
}

Test(share, neither_core_starves_under_random_back_pressure)
{
	uint64_t seed = test_seed(7);

	for (uint64_t i = 0; i < 4; i++) {
		expect_half(WC_OP_LOAD, BLOCK_BYTES, true, seed + i);
		expect_half(WC_OP_STORE, BLOCK_BYTES, true, seed + i);
	}
}

// 320 KiB each. Both ways at once the port moves a beat a cycle each way; one way, the two need twice the cycles.
Test(share, the_port_is_never_idle_while_a_core_asks)
{
	static const enum wc_opcode cases[][CORES] = { { WC_OP_LOAD, WC_OP_STORE }, { WC_OP_STORE, WC_OP_LOAD }, { WC_OP_LOAD, WC_OP_LOAD }, { WC_OP_STORE, WC_OP_STORE } };
	uint64_t beats = 10 * 4 * BLOCK_BYTES / 32, cycles[CORES];
	struct meter m;

	for (int k = 0; k < 4; k++) {
		uint64_t least = k < 2 ? beats : 2 * beats, last;

		hammer(cases[k], BLOCK_BYTES, false, 1, &m, cycles);
		last = cycles[0] > cycles[1] ? cycles[0] : cycles[1];
		cr_assert(last >= least && last < least + least / 20 + 300, "case %d: %llu cycles, %llu beats", k, (unsigned long long)last, (unsigned long long)least);
	}
}

// Both arrays read their buffers all the time, so that neither core can write its beats as they come; and none is lost or written twice.
Test(share, beats_that_a_core_cannot_take_hold_up_the_others_and_are_kept)
{
	struct wc_rtl_options options = { .latency_cycles = 20 };
	struct conv_tile t = { .batch = 1, .height = 10, .width = 10, .channels = 8, .kernel = 3, .stride = 1, .pad = 1, .n_cols = 4, .m_rows = 100,
			       .w = 2048, .out = 4096, .fp32 = true };
	static uint8_t got[BLOCK_BYTES];
	struct bench b, cores[CORES];
	uint64_t beats = 0;

	bench_open(&b, CONFIG_CORES, &options, 1);
	for (int i = 0; i < CORES; i++) {
		union command gemm = command_conv(&t, b.params.rows), load;

		bench_core(&cores[i], &b, i);
		random_fill(&(uint64_t){ (uint64_t)i }, bench_at(&cores[i], cores[i].data), 8 * BLOCK_BYTES);
		buffer_fill_halves(&cores[i], &(uint64_t){ 1 }, 0, 4096);
		for (uint32_t k = 0; k < 8; k++) {
			load = command_load(cores[i].data + k * BLOCK_BYTES, 8192, BLOCK_BYTES);
			bench_issue(&cores[i], &gemm);
			bench_issue(&cores[i], &load);
		}
	}
	for (int i = 0; i < CORES; i++)
		bench_set_csr(&cores[i], WC_CSR_TAIL, cores[i].issued);
	for (int i = 0; i < CORES; i++) {
		bench_finish(&cores[i]);
		beats += bench_counter(&cores[i], WC_COUNTER_DMA_READ_BEATS);
		bench_buffer_read(&cores[i], 8192, got, BLOCK_BYTES);
		cr_assert(memcmp(got, bench_at(&cores[i], cores[i].data + 7 * BLOCK_BYTES), BLOCK_BYTES) == 0, "core %d", i);
	}
	cr_assert(beats == CORES * 8 * BLOCK_BYTES / b.params.bus_bytes);
	bench_close(&b);
}
