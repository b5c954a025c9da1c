// SPDX-License-Identifier: Apache-2.0
//
// Two memory ports: a large block moves at two beats a cycle, commands complete and fail in order although the ports finish their bursts in
// any order, and nothing is left on a port after a stop or a reset.
#include <criterion/criterion.h>
#include <string.h>

#include "tests/device/harness.h"

enum { BLOCK_BYTES = 65536, ROW_BYTES = 4096 };

// Cycles to load, or store, one contiguous block.
static uint64_t block_cycles(const char *config, enum wc_opcode opcode)
{
	struct wc_rtl_options options = { .latency_cycles = 100 };
	enum wc_counter beats = opcode == WC_OP_LOAD ? WC_COUNTER_DMA_READ_BEATS : WC_COUNTER_DMA_WRITE_BEATS;
	struct bench b;
	union command c;
	uint64_t cycles;

	bench_open(&b, config, &options, 1);
	c = opcode == WC_OP_LOAD ? command_load(b.data, 0, BLOCK_BYTES) : command_store(b.data, 0, BLOCK_BYTES);
	bench_issue(&b, &c);
	bench_finish(&b);
	cycles = bench_counter(&b, WC_COUNTER_CYCLES);
	cr_assert(bench_counter(&b, beats) == BLOCK_BYTES / b.params.bus_bytes);
	bench_close(&b);
	return cycles;
}

Test(ports, two_move_a_block_in_half_the_cycles)
{
	static const enum wc_opcode opcodes[] = { WC_OP_LOAD, WC_OP_STORE };

	for (int i = 0; i < 2; i++) {
		uint64_t one = block_cycles(CONFIG_QUICK, opcodes[i]), two = block_cycles(CONFIG_TWO, opcodes[i]);

		// Ring fetch, latency and answer: less than 300 cycles beside the beats.
		cr_expect(one >= BLOCK_BYTES / 16 && one < BLOCK_BYTES / 16 + 300, "opcode %d: %llu cycles", opcodes[i], (unsigned long long)one);
		cr_expect(two < BLOCK_BYTES / 32 + 300, "opcode %d: %llu cycles", opcodes[i], (unsigned long long)two);
	}
}

// Rows of one beat and of a page in turn: in turns of bursts, one port would have all the pages.
Test(ports, beats_and_not_bursts_are_shared_out)
{
	struct wc_rtl_options options = { .latency_cycles = 20 };
	struct bench b;
	union command c;

	bench_open(&b, CONFIG_TWO, &options, 1);
	for (int i = 0; i < 14; i++) {
		c = command_load(b.data, 0, i % 2 ? ROW_BYTES : b.params.bus_bytes);
		bench_issue(&b, &c);
	}
	bench_finish(&b);
	cr_expect(bench_counter(&b, WC_COUNTER_CYCLES) < 7 * ROW_BYTES / 32 + 500, "%llu cycles", (unsigned long long)bench_counter(&b, WC_COUNTER_CYCLES));
	bench_close(&b);
}

static void on_two(const char *config, enum wc_opcode opcode, void (*check)(struct bench *b, enum wc_opcode opcode, int variant), int variants)
{
	struct wc_rtl_options options = { .latency_cycles = 60, .random_memory = true };

	for (int variant = 0; variant < variants; variant++) {
		struct bench b;

		bench_open(&b, config, &options, (uint64_t)variant + 1);
		memset(bench_at(&b, b.data), 0x11, b.data_bytes);
		// The window is larger than the memory: what lies behind its end is answered with an error.
		bench_set_csr(&b, WC_CSR_MEM_LIMIT_LO, (uint32_t)(b.memory.base + b.memory.bytes) + (1 << 20));
		check(&b, opcode, variant);
		bench_close(&b);
	}
}

static union command transfer(enum wc_opcode opcode, uint64_t dram, uint32_t gbuf, uint32_t bytes)
{
	return opcode == WC_OP_LOAD ? command_load(dram, gbuf, bytes) : command_store(dram, gbuf, bytes);
}

// Row `variant` of a command is bad; the row after it begins at once on the other port.
static void check_row(struct bench *b, enum wc_opcode opcode, int variant)
{
	uint64_t end = b->memory.base + b->memory.bytes;
	union command c = transfer(opcode, b->data, 0, 64);

	bench_issue(b, &c);
	c = transfer(opcode, end - (uint64_t)variant * ROW_BYTES, 1024, 64 + (uint32_t)variant * 32);
	c.load.count1 = (uint16_t)variant + 2;
	c.load.dram_stride1 = ROW_BYTES;
	c.load.gbuf_stride1 = 512;
	bench_issue(b, &c);
	c = transfer(opcode, b->data, 0, 64);
	bench_issue(b, &c);
	bench_expect_error(b, WC_STATUS_AXI_ERROR, 1);
}

// Two bad commands, each on either port: the first is reported, whichever is answered first.
static void check_first_of_two(struct bench *b, enum wc_opcode opcode, int variant)
{
	uint64_t end = b->memory.base + b->memory.bytes;
	union command c;

	for (int i = 0; i < 4; i++) {
		uint32_t bytes = i < 2 ? 256 + (uint32_t)(variant % 7) * 512 : 64;

		c = transfer(opcode, i == 0 ? b->data : end + (uint64_t)i * ROW_BYTES, 4096 * (uint32_t)(i % 3), bytes);
		bench_issue(b, &c);
	}
	bench_expect_error(b, WC_STATUS_AXI_ERROR, 1);
}

// A long good command on one port, a bad one that is answered before it on the other: the good one has its whole effect.
static void check_effect(struct bench *b, enum wc_opcode opcode, int variant)
{
	uint64_t end = b->memory.base + b->memory.bytes;
	uint8_t bytes[ROW_BYTES];
	union command c;

	memset(bytes, 0x22, sizeof bytes);
	b->backend->ops->buffer_write(b->backend, 0, bytes, sizeof bytes);
	if (variant % 2) {
		c = transfer(opcode, b->data + ROW_BYTES, 8192, 64); // so that the ports change their roles
		bench_issue(b, &c);
	}
	c = transfer(opcode, b->data, 0, ROW_BYTES);
	bench_issue(b, &c);
	c = transfer(opcode, end + 8192, 4096, 32);
	bench_issue(b, &c);
	bench_expect_error(b, WC_STATUS_AXI_ERROR, b->issued - 1);
	if (opcode == WC_OP_LOAD)
		b->backend->ops->buffer_read(b->backend, 0, bytes, sizeof bytes);
	else
		memcpy(bytes, bench_at(b, b->data), sizeof bytes);
	for (int i = 0; i < ROW_BYTES; i++)
		cr_assert(bytes[i] == (opcode == WC_OP_LOAD ? 0x11 : 0x22), "variant %d: byte %d is 0x%02x", variant, i, bytes[i]);
}

Test(ports, errors_on_either_port_are_reported_in_order)
{
	static const char *const configs[] = { CONFIG_TWO, CONFIG_SMALL_TWO };
	static const enum wc_opcode opcodes[] = { WC_OP_LOAD, WC_OP_STORE };

	for (int i = 0; i < 4; i++) {
		on_two(configs[i / 2], opcodes[i % 2], check_row, 8);
		on_two(configs[i / 2], opcodes[i % 2], check_first_of_two, 24);
		on_two(configs[i / 2], opcodes[i % 2], check_effect, 8);
	}
}

// Loads that meet no error while a store does, and the other way round: both engines' bursts on both ports are brought home, which the AXI
// checker sees when the device runs again and becomes idle.
static void check_drained(struct bench *b, enum wc_opcode opcode, int variant)
{
	uint64_t end = b->memory.base + b->memory.bytes;
	enum wc_opcode other = opcode == WC_OP_LOAD ? WC_OP_STORE : WC_OP_LOAD;
	union command c;

	c = transfer(other, b->data + 32768, 0, 12288 / (b->params.buffer_bytes <= 16384 ? 2 : 1));
	bench_issue(b, &c);
	c = transfer(opcode, end + 8192 * (uint64_t)(variant % 2), 8192, 64 + (uint32_t)variant * 100);
	bench_issue(b, &c);
	bench_expect_error(b, WC_STATUS_AXI_ERROR, 1);

	bench_set_csr(b, WC_CSR_CTRL, 0);
	bench_start(b);
	c = command_load(b->data, 0, 8192);
	bench_issue(b, &c);
	bench_finish(b);
}

Test(ports, nothing_is_left_out_after_a_stop)
{
	on_two(CONFIG_TWO, WC_OP_LOAD, check_drained, 10);
	on_two(CONFIG_TWO, WC_OP_STORE, check_drained, 10);
	on_two(CONFIG_SMALL_TWO, WC_OP_LOAD, check_drained, 10);
	on_two(CONFIG_SMALL_TWO, WC_OP_STORE, check_drained, 10);
}

Test(ports, a_soft_reset_brings_the_bursts_of_both_home)
{
	struct wc_rtl_options options = { .latency_cycles = 60, .random_memory = true };

	for (int i = 0; i < 40; i++) {
		struct bench b;
		union command c;
		uint8_t byte;

		bench_open(&b, CONFIG_TWO, &options, (uint64_t)i);
		c = command_load(b.data, 0, 30000);
		bench_issue(&b, &c);
		c = command_store(b.data + 65536, 32768, 30000);
		bench_issue(&b, &c);
		bench_set_csr(&b, WC_CSR_TAIL, b.issued);
		cr_assert(b.backend->ops->step(b.backend, 50 + 37 * (uint64_t)i, &b.err) == 0, "%s", b.err.text);
		bench_set_csr(&b, WC_CSR_CTRL, 0);
		cr_assert(bench_csr(&b, WC_CSR_STATUS) == 2);
		bench_start(&b);
		memset(bench_at(&b, b.data), 0x33, 8192);
		c = command_load(b.data, 0, 8192);
		bench_issue(&b, &c);
		bench_finish(&b);
		b.backend->ops->buffer_read(b.backend, 8191, &byte, 1);
		cr_assert(byte == 0x33);
		bench_close(&b);
	}
}

// The window shrinks under a command whose rows were checked before, so the next burst is outside of it, on whichever port it is.
Test(ports, each_has_an_axi_checker)
{
	struct wc_rtl_options options = { .latency_cycles = 60, .random_memory = true };
	bool seen[2] = { false, false };

	for (uint64_t seed = 0; seed < 16; seed++) {
		struct bench b;
		union command c;

		bench_open(&b, CONFIG_TWO, &options, seed);
		c = command_load(b.data + 16, 0, 65536);
		for (int i = 0; i < 4; i++)
			bench_issue(&b, &c);
		bench_set_csr(&b, WC_CSR_TAIL, b.issued);
		cr_assert(b.backend->ops->step(b.backend, 300, &b.err) == 0, "%s", b.err.text);
		bench_set_csr(&b, WC_CSR_MEM_LIMIT_LO, (uint32_t)b.memory.base);
		cr_assert(b.backend->ops->step(b.backend, 100000, &b.err) == WC_ERR_SYSTEM);
		cr_assert(strstr(b.err.text, "outside the memory window"), "%s", b.err.text);
		seen[strstr(b.err.text, "g_port[1]") != NULL] = true;
		bench_close(&b);
	}
	cr_expect(seen[0] && seen[1]);
}
