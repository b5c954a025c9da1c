// SPDX-License-Identifier: Apache-2.0
//
// Two cores: each has its own registers, counters, events, errors and resets, and what happens to one leaves the other alone.
#include <criterion/criterion.h>
#include <string.h>

#include "tests/device/gemm.h"

enum { CORES = 2, PIECE_BYTES = 4096, HALF_BYTES = 32768 };

struct pair {
	struct bench device, cores[CORES];
};

static void open_pair(struct pair *p, const struct wc_rtl_options *options, uint64_t seed)
{
	bench_open(&p->device, CONFIG_CORES, options, seed);
	for (int i = 0; i < CORES; i++)
		bench_core(&p->cores[i], &p->device, i);
}

static void tell(struct bench *core)
{
	bench_set_csr(core, WC_CSR_TAIL, core->issued);
}

// Word for word through the buffer: `pieces` of 4 KiB from the core's data to what lies HALF_BYTES behind.
static void issue_copies(struct bench *core, uint32_t pieces)
{
	for (uint32_t i = 0; i < pieces; i++) {
		uint32_t at = i % 2 * PIECE_BYTES;
		union command load = command_load(core->data + i * PIECE_BYTES, at, PIECE_BYTES);
		union command store = command_store(core->data + HALF_BYTES + i * PIECE_BYTES, at, PIECE_BYTES);

		load.load.wait_store = i < 2 ? 0 : i - 1;
		store.store.wait_load = i + 1;
		bench_issue(core, &load);
		bench_issue(core, &store);
	}
}

static bool copied(struct bench *core, uint32_t pieces)
{
	return memcmp(bench_at(core, core->data), bench_at(core, core->data + HALF_BYTES), pieces * PIECE_BYTES) == 0;
}

// One tile of a convolution, its result stored.
static uint32_t issue_tile(struct bench *core, uint64_t seed)
{
	struct conv_tile t = { .batch = 1, .height = 10, .width = 10, .channels = 8, .kernel = 3, .stride = 1, .pad = 1, .n_cols = 4, .m_rows = 100,
			       .w = 2048, .out = 4096 };
	union command c = command_conv(&t, core->params.rows), relu = command_vector(0, 400, t.out, 6144, 7168);

	buffer_fill_halves(core, &seed, 0, 4096);
	bench_issue(core, &c);
	relu.vector.wait_gemm = 1;
	bench_issue(core, &relu);
	c = command_store(core->data, 6144, 800);
	c.store.wait_vector = 1;
	bench_issue(core, &c);
	return 800;
}

Test(cores, have_registers_of_their_own)
{
	struct pair p;

	open_pair(&p, NULL, 1);
	for (int i = 0; i < CORES; i++) {
		cr_assert(bench_csr(&p.cores[i], WC_CSR_ID) == 0x57415645);
		bench_set_csr(&p.cores[i], WC_CSR_MEM_LIMIT_HI, 0x1234 + (uint32_t)i);
	}
	for (int i = 0; i < CORES; i++) {
		cr_assert(bench_csr(&p.cores[i], WC_CSR_MEM_LIMIT_HI) == 0x1234 + (uint32_t)i);
		for (uint32_t offset = 0x100; offset < WC_CSR_CORE(1); offset *= 2)
			cr_assert(bench_csr(&p.cores[i], offset) == 0, "core %d, offset 0x%x", i, offset);
	}
	bench_close(&p.device);
}

// Every counter of a run of one core, with the other one idle.
static void count(struct bench *core, uint64_t *counters)
{
	random_fill(&(uint64_t){ 1 }, bench_at(core, core->data), HALF_BYTES);
	issue_copies(core, 5);
	bench_finish(core);
	cr_assert(copied(core, 5));
	issue_tile(core, 2);
	bench_finish(core);
	for (int i = 0; i < WC_COUNTER_COUNT; i++)
		counters[i] = bench_counter(core, i);
}

Test(cores, alone_lose_no_cycle)
{
	uint64_t one[WC_COUNTER_COUNT], of_two[WC_COUNTER_COUNT];
	struct bench b;

	bench_open(&b, CONFIG_SMALL, NULL, 1);
	count(&b, one);
	bench_close(&b);
	for (int i = 0; i < CORES; i++) {
		struct pair p;

		open_pair(&p, NULL, 1);
		count(&p.cores[i], of_two);
		bench_close(&p.device);
		for (int k = 0; k < WC_COUNTER_COUNT; k++)
			cr_assert(one[k] == of_two[k], "core %d: %s is %llu, of a device of one core %llu", i, wc_counter_name(k), (unsigned long long)of_two[k],
				  (unsigned long long)one[k]);
	}
}

// Bursts of one core that are in flight, and what is on its way inside it, when the other one stops.
Test(cores, go_on_when_the_other_stops)
{
	struct wc_rtl_options options = { .latency_cycles = 60, .random_memory = true };

	for (int variant = 0; variant < 12; variant++) {
		int bad = variant % 2;
		struct pair p;
		struct bench *stops, *goes;
		union command c;

		open_pair(&p, &options, (uint64_t)variant);
		stops = &p.cores[bad];
		goes = &p.cores[1 - bad];
		random_fill(&(uint64_t){ 3 }, bench_at(goes, goes->data), HALF_BYTES);
		issue_copies(goes, 7);
		tell(goes);
		for (int i = 0; i < 3; i++) {
			c = i % 2 ? command_load(stops->data, 0, 12000) : command_store(stops->data + 65536, 0, 12000);
			bench_issue(stops, &c);
		}
		if (variant % 3 == 0)
			c.load.version++;
		else
			c.load.dram_addr = p.device.memory.base + p.device.memory.bytes;
		if (variant % 3 == 1) // answered with an error
			bench_set_csr(stops, WC_CSR_MEM_LIMIT_LO, (uint32_t)(p.device.memory.base + p.device.memory.bytes) + 65536);
		bench_issue(stops, &c);
		tell(stops);
		bench_finish(goes);
		cr_assert(copied(goes, 7));
		bench_expect_error(stops, variant % 3 == 0 ? WC_STATUS_BAD_VERSION : variant % 3 == 1 ? WC_STATUS_AXI_ERROR : WC_STATUS_MEMORY_RANGE, 3);

		// Started again, it runs.
		bench_set_csr(stops, WC_CSR_CTRL, 0);
		bench_start(stops);
		cr_assert(bench_csr(goes, WC_CSR_DONE) == goes->issued && bench_csr(stops, WC_CSR_DONE) == 0);
		issue_copies(stops, 2);
		bench_finish(stops);
		cr_assert(copied(stops, 2));
		bench_close(&p.device);
	}
}

Test(cores, are_reset_one_by_one_while_the_other_runs)
{
	struct wc_rtl_options options = { .latency_cycles = 60, .random_memory = true };

	for (int i = 0; i < 20; i++) {
		struct pair p;
		struct bench *resets, *runs;

		open_pair(&p, &options, (uint64_t)i);
		resets = &p.cores[i % 2];
		runs = &p.cores[1 - i % 2];
		for (int k = 0; k < CORES; k++) {
			random_fill(&(uint64_t){ 4 }, bench_at(&p.cores[k], p.cores[k].data), HALF_BYTES);
			issue_copies(&p.cores[k], 7);
			tell(&p.cores[k]);
		}
		cr_assert(p.device.backend->ops->step(p.device.backend, 50 + 61 * (uint64_t)i, &p.device.err) == 0, "%s", p.device.err.text);
		bench_set_csr(resets, WC_CSR_CTRL, 0);
		cr_assert(bench_csr(resets, WC_CSR_STATUS) == 2 && bench_counter(resets, WC_COUNTER_CYCLES) == 0);
		cr_assert(bench_csr(runs, WC_CSR_STATUS) == 1, "still busy");
		memset(bench_at(resets, resets->data + HALF_BYTES), 0, HALF_BYTES);
		bench_start(resets);
		issue_copies(resets, 5);
		tell(resets);
		bench_finish(runs);
		bench_finish(resets);
		cr_assert(copied(runs, 7) && copied(resets, 5));
		bench_close(&p.device);
	}
}

// What an observer heard of each core.
struct heard {
	int rows[CORES], probes[CORES], begins[CORES], ends[CORES];
	uint64_t read_bytes[CORES], written_bytes[CORES];
};

static int hear_row(void *context, const struct wc_tile_row *row)
{
	((struct heard *)context)->rows[row->core]++;
	return 0;
}

static int hear_probe(void *context, const struct wc_probe *probe)
{
	((struct heard *)context)->probes[probe->core] += probe->kind == WC_PROBE_OPERAND_A;
	return 0;
}

static int hear_event(void *context, const struct wc_event *event)
{
	struct heard *h = context;

	h->begins[event->core] += event->kind == WC_EVENT_COMMAND_BEGIN;
	h->ends[event->core] += event->kind == WC_EVENT_COMMAND_END;
	if (event->kind == WC_EVENT_BURST)
		*(event->write ? &h->written_bytes[event->core] : &h->read_bytes[event->core]) += event->b;
	return 0;
}

Test(cores, are_told_apart_by_the_observer)
{
	struct heard h = { .rows = { 0 } };
	struct pair p;

	open_pair(&p, NULL, 1);
	p.device.backend->ops->set_observer(p.device.backend, &(struct wc_observer){ .context = &h, .tile_row = hear_row, .event = hear_event, .probe = hear_probe });
	issue_tile(&p.cores[1], 2);
	issue_copies(&p.cores[0], 3);
	tell(&p.cores[0]);
	bench_finish(&p.cores[1]);
	bench_finish(&p.cores[0]);
	cr_assert(h.rows[0] == 0 && h.rows[1] == 100);
	cr_assert(h.probes[0] == 0 && h.probes[1] == 900, "9 waves, %d vectors", h.probes[1]);
	cr_assert(h.begins[0] == 6 && h.ends[0] == 6 && h.begins[1] == 3 && h.ends[1] == 3);
	cr_assert(h.read_bytes[0] == p.device.memory.read_bytes[WC_CLASS_MASK] && h.read_bytes[0] == 6 * WC_COMMAND_BYTES + 3 * PIECE_BYTES);
	cr_assert(h.written_bytes[0] == p.device.memory.write_bytes[WC_CLASS_MASK] && h.written_bytes[0] == 3 * PIECE_BYTES);
	cr_assert(h.read_bytes[1] == p.device.memory.read_bytes[WC_CLASS_IO] && h.written_bytes[1] == p.device.memory.write_bytes[WC_CLASS_IO]);
	bench_close(&p.device);
}

// The same tile on both cores; what each made of it.
static void run_tiles(const struct wc_fault *fault, uint8_t results[CORES][800])
{
	struct pair p;

	open_pair(&p, NULL, 1);
	p.device.backend->ops->set_fault(p.device.backend, fault);
	for (int i = 0; i < CORES; i++) {
		issue_tile(&p.cores[i], 5);
		tell(&p.cores[i]);
	}
	for (int i = 0; i < CORES; i++) {
		bench_finish(&p.cores[i]);
		memcpy(results[i], bench_at(&p.cores[i], p.cores[i].data), 800);
	}
	bench_close(&p.device);
}

Test(cores, a_fault_strikes_the_one_it_names)
{
	struct bench b, core;
	struct wc_fault faults[] = {
		{ .kind = WC_FAULT_BUFFER, .command = 0, .address = 2 * (55 * 8 + 3) + 1, .bit = 2 },
		{ .kind = WC_FAULT_WEIGHT, .command = 0, .wave = 4, .row = 3, .column = 2, .bit = 13 },
		{ .kind = WC_FAULT_ACCUMULATOR, .command = 0, .wave = 3, .row = 50, .column = 1, .bit = 30 },
		{ .kind = WC_FAULT_LANE, .command = 1, .row = 4, .column = 3, .bit = 9 },
		{ .kind = WC_FAULT_MEMORY, .command = 2, .address = 77, .bit = 5 },
	};
	static uint8_t right[CORES][800], got[CORES][800];

	run_tiles(NULL, right);
	cr_assert(memcmp(right[0], right[1], sizeof right[0]) == 0);
	for (size_t f = 0; f < sizeof faults / sizeof *faults; f++)
		for (int i = 0; i < CORES; i++) {
			struct wc_fault fault = faults[f];

			fault.core = i;
			if (fault.kind == WC_FAULT_MEMORY) {
				bench_open_model(&b, CONFIG_CORES, 1);
				bench_core(&core, &b, i);
				fault.address += core.data;
				bench_close(&b);
			}
			run_tiles(&fault, got);
			cr_assert(memcmp(got[1 - i], right[1 - i], sizeof right[0]) == 0, "fault %zu of core %d strikes the other", f, i);
			cr_assert(memcmp(got[i], right[i], sizeof right[0]) != 0, "fault %zu of core %d does not strike", f, i);
		}
}

Test(cores, one_that_cannot_move_is_named)
{
	struct wc_rtl_options options = { .latency_cycles = 3000000 };
	struct pair p;
	union command c;

	open_pair(&p, &options, 1);
	c = command_load(p.cores[1].data, 0, 16);
	bench_issue(&p.cores[1], &c);
	tell(&p.cores[1]);
	cr_assert(p.device.backend->ops->step(p.device.backend, 4000000, &p.device.err) == WC_ERR_SYSTEM);
	cr_assert(strstr(p.device.err.text, "core 1 has not moved for 1000000 cycles"), "%s", p.device.err.text);
	bench_close(&p.device);
}
