// SPDX-License-Identifier: Apache-2.0
//
// Registers, the command ring, dependences, the interrupt and the soft reset.
#include <criterion/criterion.h>
#include <string.h>

#include "tests/device/harness.h"

Test(ring, registers_tell_the_configuration)
{
	struct bench b;

	bench_open(&b, CONFIG_SMALL, NULL, 1);
	cr_assert(bench_csr(&b, WC_CSR_ID) == 0x57415645);
	cr_assert(bench_csr(&b, WC_CSR_VERSION) == WC_COMMAND_VERSION);
	cr_assert(bench_csr(&b, WC_CSR_PARAM0) == (256u << 16 | 2 << 8 | 3));
	cr_assert(bench_csr(&b, WC_CSR_PARAM1) == b.params.buffer_bytes);
	cr_assert(bench_csr(&b, WC_CSR_STATUS) == 2);
	cr_assert(bench_csr(&b, WC_CSR_RING_SIZE) == RING_SLOTS);
	bench_set_csr(&b, WC_CSR_MEM_LIMIT_HI, 0x12345678);
	cr_assert(bench_csr(&b, WC_CSR_MEM_LIMIT_HI) == 0x12345678);
	cr_assert(bench_csr(&b, 0x7c) == 0, "an unused offset reads 0");
	bench_close(&b);
}

Test(ring, commands_go_round_the_ring_and_each_is_executed_once)
{
	struct bench b;

	bench_open(&b, CONFIG_QUICK, NULL, 1);
	// Word i travels through the buffer to its place: 5 times round the ring, in pieces, so that TAIL moves while the device runs.
	for (uint32_t i = 0; i < 40; i++) {
		union command load = command_load(b.data + 16 * i, 16 * i, 16), store = command_store(b.data + 65536 + 16 * i, 16 * i, 16);

		memset(bench_at(&b, b.data + 16 * i), 1 + (int)i, 16);
		store.store.wait_load = i + 1;
		bench_issue(&b, &load);
		bench_issue(&b, &store);
		if (i % 7 == 3) {
			bench_set_csr(&b, WC_CSR_TAIL, b.issued);
			cr_assert(b.backend->ops->step(b.backend, 37, &b.err) == 0);
		}
	}
	bench_finish(&b);
	for (uint32_t i = 0; i < 40 * 16; i++)
		cr_assert(bench_at(&b, b.data + 65536)[i] == 1 + i / 16);
	cr_assert(b.memory.read_bytes[WC_CLASS_COMMAND] == 80 * WC_COMMAND_BYTES);
	cr_assert(bench_counter(&b, WC_COUNTER_COMMAND_BEATS) * b.params.bus_bytes == 80 * WC_COMMAND_BYTES);
	bench_close(&b);
}

// Order of ends, by command index.
struct order {
	uint32_t begin[16], end[16];
	int begins, ends;
};

static int note(void *context, const struct wc_event *event)
{
	struct order *o = context;

	if (event->kind == WC_EVENT_COMMAND_BEGIN)
		o->begin[o->begins++] = event->command_index;
	if (event->kind == WC_EVENT_COMMAND_END)
		o->end[o->ends++] = event->command_index;
	return 0;
}

Test(ring, waits_hold_a_command_and_the_others_pass_it)
{
	struct order o = { 0 };
	struct bench b;
	union command c;

	bench_open(&b, CONFIG_QUICK, NULL, 1);
	b.backend->ops->set_observer(b.backend, &(struct wc_observer){ .context = &o, .event = note });
	// 0: a long load. 1: a store that waits for it. 2: a vector op that waits for nothing. 3: a vector op that waits for the store.
	c = command_load(b.data, 0, 32768);
	bench_issue(&b, &c);
	c = command_store(b.data + 65536, 0, 64);
	c.store.wait_load = 1;
	bench_issue(&b, &c);
	c = command_vector(0, 16, 40960, 40960, 0);
	bench_issue(&b, &c);
	c.vector.wait_store = 1;
	bench_issue(&b, &c);
	bench_finish(&b);
	cr_assert(o.ends == 4 && o.begins == 4);
	cr_assert(o.end[0] == 2 && o.end[1] == 0 && o.end[2] == 1 && o.end[3] == 3);
	cr_assert(o.begin[0] == 0 && o.begin[1] == 2 && o.begin[2] == 1 && o.begin[3] == 3);
	bench_close(&b);
}

Test(ring, the_interrupt_follows_idle_and_error_and_is_cleared_by_writing)
{
	struct bench b;
	union command c;

	bench_open(&b, CONFIG_QUICK, NULL, 1);
	bench_set_csr(&b, WC_CSR_IRQ_ENABLE, 3);
	cr_assert(bench_csr(&b, WC_CSR_IRQ_STATUS) == 0);
	c = command_load(b.data, 0, 16);
	bench_issue(&b, &c);
	bench_finish(&b);
	cr_assert(bench_csr(&b, WC_CSR_IRQ_STATUS) == 1);
	bench_set_csr(&b, WC_CSR_IRQ_STATUS, 1);
	cr_assert(bench_csr(&b, WC_CSR_IRQ_STATUS) == 0);
	c.load.version++;
	bench_issue(&b, &c);
	bench_expect_error(&b, WC_STATUS_BAD_VERSION, 1);
	cr_assert(bench_csr(&b, WC_CSR_IRQ_STATUS) == 2);
	bench_set_csr(&b, WC_CSR_IRQ_STATUS, 2);
	cr_assert(bench_csr(&b, WC_CSR_IRQ_STATUS) == 0);
	bench_close(&b);
}

Test(ring, a_soft_reset_waits_for_bursts_and_the_device_runs_again)
{
	struct wc_rtl_options options = { .latency_cycles = 300 };
	struct bench b;
	union command c;

	bench_open(&b, CONFIG_QUICK, &options, 1);
	// Reset in the middle of a load and a store.
	c = command_load(b.data, 0, 32768);
	bench_issue(&b, &c);
	c = command_store(b.data + 65536, 32768, 16384);
	bench_issue(&b, &c);
	bench_set_csr(&b, WC_CSR_TAIL, b.issued);
	cr_assert(b.backend->ops->step(b.backend, 1500, &b.err) == 0);
	cr_assert((bench_csr(&b, WC_CSR_STATUS) & 1) == 1, "still busy");
	bench_set_csr(&b, WC_CSR_CTRL, 0);
	cr_assert(bench_csr(&b, WC_CSR_CTRL) == 0);
	cr_assert(bench_csr(&b, WC_CSR_STATUS) == 2);
	cr_assert(bench_csr(&b, WC_CSR_HEAD) == 0 && bench_csr(&b, WC_CSR_DONE) == 0 && bench_csr(&b, WC_CSR_TAIL) == 0);
	cr_assert(bench_counter(&b, WC_COUNTER_CYCLES) == 0);

	// The checker in the test bench would report a beat or response left over.
	bench_start(&b);
	memset(bench_at(&b, b.data), 0x5a, 64);
	c = command_load(b.data, 0, 64);
	bench_issue(&b, &c);
	c = command_store(b.data + 4096, 0, 64);
	c.store.wait_load = 1;
	bench_issue(&b, &c);
	bench_finish(&b);
	cr_assert(memcmp(bench_at(&b, b.data + 4096), bench_at(&b, b.data), 64) == 0);
	bench_close(&b);
}

Test(ring, a_soft_reset_clears_an_error)
{
	struct bench b;
	union command c = { .bytes = { 0x77, WC_COMMAND_VERSION } };

	bench_open(&b, CONFIG_QUICK, NULL, 1);
	bench_issue(&b, &c);
	bench_expect_error(&b, WC_STATUS_BAD_OPCODE, 0);
	bench_set_csr(&b, WC_CSR_CTRL, 0);
	cr_assert(bench_csr(&b, WC_CSR_STATUS) == 2);
	bench_start(&b);
	c = command_load(b.data, 0, 16);
	bench_issue(&b, &c);
	bench_finish(&b);
	bench_close(&b);
}

Test(ring, a_device_that_cannot_move_is_reported_with_what_it_waits_for)
{
	struct wc_rtl_options options = { .latency_cycles = 3000000 };
	struct bench b;
	union command c;
	int ret;

	bench_open(&b, CONFIG_QUICK, &options, 1);
	c = command_load(b.data, 0, 16);
	bench_issue(&b, &c);
	bench_set_csr(&b, WC_CSR_TAIL, b.issued);
	ret = b.backend->ops->step(b.backend, 4000000, &b.err);
	cr_assert(ret == WC_ERR_SYSTEM);
	cr_assert(strstr(b.err.text, "not moved for 1000000 cycles") && strstr(b.err.text, "1 bursts wait for the memory"), "%s", b.err.text);
	bench_close(&b);
}
