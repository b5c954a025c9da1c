// SPDX-License-Identifier: Apache-2.0
//
// What an observer is told: commands, waves and bursts, in order and complete; and how it, or an assertion of the design, ends a step.
#include <criterion/criterion.h>
#include <string.h>

#include "tests/device/gemm.h"

struct log {
	struct wc_event events[256];
	int count;
	int stop_at; // number of the event at which to ask for a stop; 0: never
};

static int note(void *context, const struct wc_event *event)
{
	struct log *log = context;

	cr_assert(log->count < 256);
	log->events[log->count++] = *event;
	return log->count == log->stop_at;
}

// Load, tile, store; returns the bus's bytes.
static uint32_t record(const char *config, struct log *log, bool waves)
{
	struct conv_tile t = { .batch = 1, .height = 5, .width = 5, .channels = 20, .kernel = 1, .stride = 1, .n_cols = 4, .m_rows = 25, .w = 2048,
			       .out = 4096 };
	struct bench b;
	union command c;
	uint32_t bus;

	bench_open(&b, config, NULL, 1);
	bus = b.params.bus_bytes;
	b.backend->ops->set_observer(b.backend, &(struct wc_observer){ .context = log, .event = note, .waves = waves });
	// Over a page's end: two bursts.
	c = command_load(b.data + 4096 - 64, 0, 1000);
	bench_issue(&b, &c);
	c = command_conv(&t, b.params.rows);
	c.gemm.wait_load = 1;
	bench_issue(&b, &c);
	c = command_store(b.data + 65536, 4096, 200);
	c.store.wait_gemm = 1;
	bench_issue(&b, &c);
	bench_finish(&b);
	bench_close(&b);
	return bus;
}

static int count_of(const struct log *log, enum wc_event_kind kind, uint32_t index)
{
	int count = 0;

	for (int i = 0; i < log->count; i++)
		count += log->events[i].kind == kind && log->events[i].command_index == index;
	return count;
}

static void check_events(const char *config, int waves)
{
	static struct log log;
	uint32_t bus;
	uint64_t cycle = 0;

	log = (struct log){ 0 };
	bus = record(config, &log, true);
	for (uint32_t i = 0; i < 3; i++) {
		static const uint64_t opcodes[] = { WC_OP_LOAD, WC_OP_GEMM, WC_OP_STORE };
		bool begun = false;

		cr_assert(count_of(&log, WC_EVENT_COMMAND_BEGIN, i) == 1 && count_of(&log, WC_EVENT_COMMAND_END, i) == 1);
		for (int e = 0; e < log.count; e++) {
			const struct wc_event *event = &log.events[e];

			if (event->command_index != i)
				continue;
			if (event->kind == WC_EVENT_COMMAND_BEGIN || event->kind == WC_EVENT_COMMAND_END) {
				cr_assert(event->a == opcodes[i]);
				cr_assert(begun == (event->kind == WC_EVENT_COMMAND_END));
				begun = true;
			} else {
				cr_assert(begun, "something of command %u happens before it begins", i);
			}
		}
	}
	for (int e = 0; e < log.count; e++) {
		cr_assert(log.events[e].cycle >= cycle, "cycles go backwards");
		cycle = log.events[e].cycle;
	}
	cr_assert(count_of(&log, WC_EVENT_WAVE_BEGIN, 1) == waves && count_of(&log, WC_EVENT_WAVE_END, 1) == waves);
	for (int e = 0, wave = 0; e < log.count; e++)
		if (log.events[e].kind == WC_EVENT_WAVE_BEGIN) {
			cr_assert(log.events[e].a == (uint64_t)wave++ && log.events[e].b == 25);
		}
	// 64 bytes to the page's end, the rest rounded up to beats; 200 bytes stored; three commands fetched.
	cr_assert(count_of(&log, WC_EVENT_BURST, 0) == 2 && count_of(&log, WC_EVENT_BURST, 2) == 1 && count_of(&log, WC_EVENT_BURST, UINT32_MAX) == 3);
	for (int e = 0, part = 0; e < log.count; e++) {
		const struct wc_event *event = &log.events[e];

		if (event->kind != WC_EVENT_BURST)
			continue;
		if (event->command_index == UINT32_MAX)
			cr_assert(event->b == WC_COMMAND_BYTES && !event->write);
		else if (event->command_index == 0)
			cr_assert(!event->write && event->b == (part++ == 0 ? 64 : (1000 - 64 + bus - 1) / bus * bus));
		else
			cr_assert(event->write && event->b == (200 + bus - 1) / bus * bus);
	}
}

Test(events, commands_waves_and_bursts_are_told_in_order)
{
	check_events(CONFIG_QUICK, 2);
	check_events(CONFIG_SMALL, 3);
	check_events(CONFIG_TWO, 2);
}

Test(events, waves_only_when_wanted)
{
	static struct log log;

	record(CONFIG_QUICK, &log, false);
	cr_assert(log.count > 0 && count_of(&log, WC_EVENT_WAVE_BEGIN, 1) == 0);
}

Test(events, an_observer_stops_the_step_at_once)
{
	static struct log log = { .stop_at = 4 };
	struct bench b;
	union command c;

	bench_open(&b, CONFIG_QUICK, NULL, 1);
	b.backend->ops->set_observer(b.backend, &(struct wc_observer){ .context = &log, .event = note });
	c = command_load(b.data, 0, 64);
	for (int i = 0; i < 8; i++)
		bench_issue(&b, &c);
	bench_set_csr(&b, WC_CSR_TAIL, b.issued);
	cr_assert(b.backend->ops->step(b.backend, 100000, &b.err) == WC_ERR_STOPPED);
	cr_assert(log.count == 4 || log.events[log.count - 1].cycle == log.events[3].cycle);
	log.stop_at = 0;
	cr_assert(b.backend->ops->step(b.backend, 100000, &b.err) == 0);
	cr_assert(bench_csr(&b, WC_CSR_DONE) == 8, "it can go on");
	bench_close(&b);
}

Test(events, an_assertion_of_the_design_ends_the_step_with_its_text)
{
	struct bench b;
	union command c;
	int ret;

	bench_open(&b, CONFIG_QUICK, NULL, 1);
	// The window shrinks under a row whose range was checked before: the 17th burst, which waits for one of 16 before it to
	// come home, is outside, and the AXI checker says so.
	c = command_load(b.data + 16, 0, 65536);
	bench_issue(&b, &c);
	bench_set_csr(&b, WC_CSR_TAIL, b.issued);
	cr_assert(b.backend->ops->step(b.backend, 200, &b.err) == 0, "%s", b.err.text);
	bench_set_csr(&b, WC_CSR_MEM_LIMIT_LO, (uint32_t)b.memory.base);
	ret = b.backend->ops->step(b.backend, 100000, &b.err);
	cr_assert(ret == WC_ERR_SYSTEM);
	cr_assert(strstr(b.err.text, "assertion") && strstr(b.err.text, "outside the memory window"), "%s", b.err.text);
	bench_close(&b);
}
