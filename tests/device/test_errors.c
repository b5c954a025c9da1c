// SPDX-License-Identifier: Apache-2.0
//
// Bad commands and bus errors: the device stops with the status and the command's index, never hangs, leaves the memory alone,
// and runs again after a soft reset.
#include <criterion/criterion.h>
#include <string.h>

#include "tests/device/gemm.h"

// A tile that fits both configurations.
static struct conv_tile small_tile(void)
{
	return (struct conv_tile){ .batch = 1, .height = 4, .width = 4, .channels = 8, .kernel = 1, .stride = 1, .n_cols = 4, .m_rows = 16, .w = 1024,
				   .out = 2048, .pre = 3072 };
}

static union command good(enum wc_opcode opcode, struct bench *b)
{
	struct conv_tile t = small_tile();

	switch (opcode) {
	case WC_OP_LOAD:
		return command_load(b->data, 0, 64);
	case WC_OP_STORE:
		return command_store(b->data + 65536, 0, 64);
	case WC_OP_VECTOR:
		return command_vector(0, 32, 0, 128, 256);
	default:
		return command_conv(&t, b->params.rows);
	}
}

// A device with one good load in the ring; command 1 is the bad one, a good load that must not happen follows.
static void expect(const char *config, const struct wc_rtl_options *options, void (*spoil)(struct bench *b, union command *c), enum wc_opcode opcode,
		   enum wc_status status)
{
	struct bench b;
	union command c;
	uint8_t byte = 0xee;

	bench_open(&b, config, options, 1);
	memset(bench_at(&b, b.data), 0x11, 8192);
	c = good(WC_OP_LOAD, &b);
	bench_issue(&b, &c);
	c = good(opcode, &b);
	spoil(&b, &c);
	bench_issue(&b, &c);
	c = command_load(b.data, b.params.buffer_bytes - 64, 64);
	c.load.wait_load = 1;
	bench_issue(&b, &c);
	b.backend->ops->buffer_write(b.backend, b.params.buffer_bytes - 64, &byte, 1);
	bench_expect_error(&b, status, 1);
	if (opcode != WC_OP_LOAD) {
		// What came before is complete.
		b.backend->ops->buffer_read(b.backend, 63, &byte, 1);
		cr_expect(byte == 0x11, "the command before the bad one has no effect");
	}

	// And on it goes.
	bench_set_csr(&b, WC_CSR_CTRL, 0);
	bench_start(&b);
	c = good(WC_OP_LOAD, &b);
	bench_issue(&b, &c);
	bench_finish(&b);
	bench_close(&b);
}

static void on_both(void (*spoil)(struct bench *b, union command *c), enum wc_opcode opcode, enum wc_status status)
{
	struct wc_rtl_options options = { .latency_cycles = 20, .random_memory = true };

	expect(CONFIG_QUICK, NULL, spoil, opcode, status);
	expect(CONFIG_SMALL, &options, spoil, opcode, status);
}

// ---- found before a command is issued ------------------------------------------------------------

static void set_opcode(struct bench *b, union command *c)
{
	(void)b;
	c->bytes[0] = 6;
}

static void set_version(struct bench *b, union command *c)
{
	(void)b;
	c->load.version++;
}

static void set_reserved(struct bench *b, union command *c)
{
	(void)b;
	c->bytes[WC_COMMAND_BYTES - 1] = 1;
}

// Every bit of `flags` that the command does not define.
static uint16_t flag;

static void set_flag(struct bench *b, union command *c)
{
	(void)b;
	c->load.flags |= flag;
}

static void set_zero_count(struct bench *b, union command *c)
{
	(void)b;
	c->load.count1 = 0;
}

static void set_long_row(struct bench *b, union command *c)
{
	c->load.row_bytes = b->params.buffer_bytes + 1;
}

static void set_many_rows(struct bench *b, union command *c)
{
	c->gemm.m_rows = b->params.acc_rows + 1;
}

static void set_many_columns(struct bench *b, union command *c)
{
	c->gemm.n_cols = b->params.cols + 1;
}

static void set_op(struct bench *b, union command *c)
{
	(void)b;
	c->vector.op = 3;
}

static void set_odd_dram(struct bench *b, union command *c)
{
	(void)b;
	c->load.dram_addr += 8;
}

static void set_odd_stride(struct bench *b, union command *c)
{
	(void)b;
	c->load.gbuf_stride2 = 2;
}

static void set_odd_base(struct bench *b, union command *c)
{
	(void)b;
	c->gemm.a_base++;
}

static void set_odd_vector(struct bench *b, union command *c)
{
	(void)b;
	c->vector.aux_base = 2;
}

static void wait_for_later_load(struct bench *b, union command *c)
{
	(void)b;
	c->load.wait_load = 2; // one was issued before
}

static void wait_for_no_store(struct bench *b, union command *c)
{
	(void)b;
	c->load.wait_store = 1;
}

Test(errors, commands_that_cannot_be_meant_are_refused)
{
	on_both(set_opcode, WC_OP_STORE, WC_STATUS_BAD_OPCODE);
	on_both(set_version, WC_OP_GEMM, WC_STATUS_BAD_VERSION);
	on_both(set_reserved, WC_OP_STORE, WC_STATUS_BAD_FIELD);
	on_both(set_reserved, WC_OP_VECTOR, WC_STATUS_BAD_FIELD);
	on_both(set_zero_count, WC_OP_STORE, WC_STATUS_BAD_FIELD);
	for (int bit = 0; bit < 16; bit++) {
		flag = (uint16_t)(1 << bit);
		on_both(set_flag, WC_OP_LOAD, WC_STATUS_BAD_FIELD);
		on_both(set_flag, WC_OP_STORE, WC_STATUS_BAD_FIELD);
		if (bit > 0)
			on_both(set_flag, WC_OP_VECTOR, WC_STATUS_BAD_FIELD);
		if (bit > 1)
			on_both(set_flag, WC_OP_GEMM, WC_STATUS_BAD_FIELD);
	}
	on_both(set_long_row, WC_OP_LOAD, WC_STATUS_BAD_FIELD);
	on_both(set_many_rows, WC_OP_GEMM, WC_STATUS_BAD_FIELD);
	on_both(set_many_columns, WC_OP_GEMM, WC_STATUS_BAD_FIELD);
	on_both(set_op, WC_OP_VECTOR, WC_STATUS_BAD_FIELD);
	on_both(set_odd_dram, WC_OP_LOAD, WC_STATUS_MISALIGNED);
	on_both(set_odd_stride, WC_OP_STORE, WC_STATUS_MISALIGNED);
	on_both(set_odd_base, WC_OP_GEMM, WC_STATUS_MISALIGNED);
	on_both(set_odd_vector, WC_OP_VECTOR, WC_STATUS_MISALIGNED);
}

Test(errors, a_wait_for_a_later_command_is_refused)
{
	on_both(wait_for_later_load, WC_OP_LOAD, WC_STATUS_DEPENDENCE);
	on_both(wait_for_later_load, WC_OP_VECTOR, WC_STATUS_DEPENDENCE);
	on_both(wait_for_no_store, WC_OP_GEMM, WC_STATUS_DEPENDENCE);
	on_both(wait_for_no_store, WC_OP_STORE, WC_STATUS_DEPENDENCE);
}

// ---- found by the engines ------------------------------------------------------------------------
// The spoilt command waits for the load before it, which is then complete when the error is found.

static void leave_buffer(struct bench *b, union command *c)
{
	c->load.wait_load = 1;
	c->load.gbuf_addr = b->params.buffer_bytes - b->params.bus_bytes;
}

static void leave_buffer_in_second_row(struct bench *b, union command *c)
{
	c->load.wait_load = 1;
	c->load.count1 = 2;
	c->load.gbuf_stride1 = -(int32_t)b->params.bus_bytes;
}

static void leave_buffer_with_src(struct bench *b, union command *c)
{
	c->vector.wait_load = 1;
	c->vector.src_base = b->params.buffer_bytes - b->params.bus_bytes;
}

static void leave_buffer_with_dst(struct bench *b, union command *c)
{
	c->vector.wait_load = 1;
	c->vector.count2 = 3;
	c->vector.dst_stride2 = b->params.buffer_bytes / 2;
}

static void leave_buffer_with_mask(struct bench *b, union command *c)
{
	c->vector.wait_load = 1;
	c->vector.op = 1;
	c->vector.aux_base = b->params.buffer_bytes;
}

static void leave_buffer_with_aux(struct bench *b, union command *c)
{
	c->vector.wait_load = 1;
	c->vector.op = 2;
	c->vector.aux_base = b->params.buffer_bytes - b->params.bus_bytes;
}

static void leave_buffer_with_a(struct bench *b, union command *c)
{
	c->gemm.wait_load = 1;
	c->gemm.a_base = (int32_t)b->params.buffer_bytes - 16;
}

static void leave_buffer_with_b(struct bench *b, union command *c)
{
	(void)b;
	c->gemm.wait_load = 1;
	c->gemm.b_base = -2;
}

static void leave_buffer_with_out(struct bench *b, union command *c)
{
	c->gemm.wait_load = 1;
	c->gemm.out_base = b->params.buffer_bytes - 64;
}

static void leave_buffer_with_preload(struct bench *b, union command *c)
{
	c->gemm.wait_load = 1;
	c->gemm.flags = 1;
	c->gemm.pre_base = b->params.buffer_bytes - 64;
}

Test(errors, accesses_outside_the_buffer_are_refused_in_every_engine)
{
	on_both(leave_buffer, WC_OP_LOAD, WC_STATUS_BUFFER_RANGE);
	on_both(leave_buffer, WC_OP_STORE, WC_STATUS_BUFFER_RANGE);
	on_both(leave_buffer_in_second_row, WC_OP_LOAD, WC_STATUS_BUFFER_RANGE);
	on_both(leave_buffer_in_second_row, WC_OP_STORE, WC_STATUS_BUFFER_RANGE);
	on_both(leave_buffer_with_src, WC_OP_VECTOR, WC_STATUS_BUFFER_RANGE);
	on_both(leave_buffer_with_dst, WC_OP_VECTOR, WC_STATUS_BUFFER_RANGE);
	on_both(leave_buffer_with_mask, WC_OP_VECTOR, WC_STATUS_BUFFER_RANGE);
	on_both(leave_buffer_with_aux, WC_OP_VECTOR, WC_STATUS_BUFFER_RANGE);
	on_both(leave_buffer_with_a, WC_OP_GEMM, WC_STATUS_BUFFER_RANGE);
	on_both(leave_buffer_with_b, WC_OP_GEMM, WC_STATUS_BUFFER_RANGE);
	on_both(leave_buffer_with_out, WC_OP_GEMM, WC_STATUS_BUFFER_RANGE);
	on_both(leave_buffer_with_preload, WC_OP_GEMM, WC_STATUS_BUFFER_RANGE);
}

static void leave_memory_below(struct bench *b, union command *c)
{
	c->load.wait_load = 1;
	c->load.dram_addr = b->memory.base - b->params.bus_bytes;
}

static void leave_memory_above(struct bench *b, union command *c)
{
	c->load.wait_load = 1;
	c->load.dram_addr = b->memory.base + b->memory.bytes - b->params.bus_bytes;
}

static void leave_address_space(struct bench *b, union command *c)
{
	c->load.wait_load = 1;
	c->load.dram_addr = -(uint64_t)b->params.bus_bytes;
}

// The row fits, the last beat does not.
static void leave_memory_with_a_beat(struct bench *b, union command *c)
{
	c->load.wait_load = 1;
	c->load.dram_addr = b->memory.base + b->memory.bytes - b->params.bus_bytes;
	c->load.row_bytes = 1;
	bench_set_csr(b, WC_CSR_MEM_LIMIT_LO, (uint32_t)c->load.dram_addr + 1);
}

Test(errors, accesses_outside_the_window_never_reach_the_bus)
{
	on_both(leave_memory_with_a_beat, WC_OP_LOAD, WC_STATUS_MEMORY_RANGE);
	on_both(leave_memory_with_a_beat, WC_OP_STORE, WC_STATUS_MEMORY_RANGE);
	on_both(leave_memory_below, WC_OP_LOAD, WC_STATUS_MEMORY_RANGE);
	on_both(leave_memory_below, WC_OP_STORE, WC_STATUS_MEMORY_RANGE);
	on_both(leave_memory_above, WC_OP_LOAD, WC_STATUS_MEMORY_RANGE);
	on_both(leave_memory_above, WC_OP_STORE, WC_STATUS_MEMORY_RANGE);
	on_both(leave_address_space, WC_OP_LOAD, WC_STATUS_MEMORY_RANGE);
	on_both(leave_address_space, WC_OP_STORE, WC_STATUS_MEMORY_RANGE);
}

// ---- bus errors: the window is made larger than the memory --------------------------------------

// The memory answers SLVERR in the 4096 bytes behind its end, DECERR further on.
static void answer_slverr(struct bench *b, union command *c)
{
	c->load.wait_load = 1;
	c->load.dram_addr = b->memory.base + b->memory.bytes;
	bench_set_csr(b, WC_CSR_MEM_LIMIT_LO, (uint32_t)(b->memory.base + b->memory.bytes) + 65536);
}

static void answer_decerr(struct bench *b, union command *c)
{
	answer_slverr(b, c);
	c->load.dram_addr += 8192;
	c->load.row_bytes = 4096;
}

Test(errors, error_responses_stop_the_device_at_their_command)
{
	on_both(answer_slverr, WC_OP_LOAD, WC_STATUS_AXI_ERROR);
	on_both(answer_slverr, WC_OP_STORE, WC_STATUS_AXI_ERROR);
	on_both(answer_decerr, WC_OP_LOAD, WC_STATUS_AXI_ERROR);
	on_both(answer_decerr, WC_OP_STORE, WC_STATUS_AXI_ERROR);
}

static void ring_at(uint64_t offset, enum wc_status status, uint32_t index, bool widen)
{
	struct bench b;
	union command c;

	bench_open(&b, CONFIG_QUICK, NULL, 1);
	// Slot `index` is the first that lies behind the memory's end.
	bench_set_csr(&b, WC_CSR_RING_BASE_LO, (uint32_t)(b.memory.base + b.memory.bytes + offset));
	if (widen)
		bench_set_csr(&b, WC_CSR_MEM_LIMIT_LO, (uint32_t)(b.memory.base + b.memory.bytes) + 65536);
	c = command_load(b.data, 0, 64);
	for (uint32_t i = 0; i < index; i++)
		memcpy(bench_at(&b, b.memory.base + b.memory.bytes + offset + i * WC_COMMAND_BYTES), &c, sizeof c);
	b.issued = index + 3;
	bench_expect_error(&b, status, index);
	cr_expect(bench_csr(&b, WC_CSR_DONE) == index);
	bench_close(&b);
}

Test(errors, a_ring_outside_the_window_or_the_memory_is_reported_at_its_slot)
{
	ring_at(0, WC_STATUS_MEMORY_RANGE, 0, false);
	ring_at(-(uint64_t)3 * WC_COMMAND_BYTES, WC_STATUS_MEMORY_RANGE, 3, false);
	ring_at(0, WC_STATUS_AXI_ERROR, 0, true);
	ring_at(-(uint64_t)2 * WC_COMMAND_BYTES, WC_STATUS_AXI_ERROR, 2, true);
}

Test(errors, a_bad_command_waits_for_its_turn_and_the_earliest_is_reported)
{
	struct bench b;
	union command c;

	bench_open(&b, CONFIG_QUICK, NULL, 1);
	// 0: a long load. 1: a store that waits for it and then leaves the memory. 2: a command that is refused at sight.
	c = command_load(b.data, 0, 16384);
	bench_issue(&b, &c);
	c = command_store(b.memory.base - 4096, 0, 64);
	c.store.wait_load = 1;
	bench_issue(&b, &c);
	c.store.version = 99;
	bench_issue(&b, &c);
	bench_expect_error(&b, WC_STATUS_MEMORY_RANGE, 1);
	bench_close(&b);
}

// Any bytes at all: the device works, ends idle or stops, trips no assertion (the AXI checker's among them), and can be reset at
// any time. Commands are good ones with a few bytes changed, so that they get past the first check; a changed count can mean
// hours of work, which a reset cuts short.
Test(errors, random_commands_never_hang_the_device)
{
	static const enum wc_opcode opcodes[] = { WC_OP_LOAD, WC_OP_STORE, WC_OP_GEMM, WC_OP_VECTOR };
	uint64_t rng = test_seed(41);
	int stopped = 0, idle = 0;

	for (int round = 0; round < 100; round++) {
		struct bench b;
		uint32_t status;

		bench_open(&b, round % 2 ? CONFIG_SMALL : CONFIG_QUICK, NULL, (uint64_t)round);
		for (int i = 0; i < 6; i++) {
			union command c = good(opcodes[random_in(&rng, 0, 3)], &b);

			for (uint32_t n = random_in(&rng, 0, 3) == 0 ? random_in(&rng, 1, 3) : 0; n; n--)
				c.bytes[random_in(&rng, 0, c.load.opcode == WC_OP_GEMM ? 231 : 71)] = (uint8_t)random_in(&rng, 0, 255);
			bench_issue(&b, &c);
		}
		bench_set_csr(&b, WC_CSR_TAIL, b.issued);
		cr_assert(b.backend->ops->step(b.backend, 20000, &b.err) == 0, "round %d: %s", round, b.err.text);
		status = bench_csr(&b, WC_CSR_STATUS);
		stopped += (status & 4) != 0;
		idle += (status & 2) != 0;
		bench_set_csr(&b, WC_CSR_CTRL, 0);
		cr_assert(bench_csr(&b, WC_CSR_STATUS) == 2, "round %d: no reset", round);
		cr_assert(b.backend->ops->step(b.backend, 1, &b.err) == 0, "round %d: %s", round, b.err.text);
		bench_close(&b);
	}
	cr_assert(stopped > 20 && idle > 5, "%d stopped, %d idle", stopped, idle);
}
