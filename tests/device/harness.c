// SPDX-License-Identifier: Apache-2.0
//
// A device on a bench: see harness.h.
#include "tests/device/harness.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/splitmix.h"

enum { DATA_BYTES = 1 << 20, STEP_CYCLES = 20000000 };

// Parameters from the configuration's name.
static struct wc_device_params params_of(const char *config)
{
	struct wc_device_params p = { .acc_rows = 256, .mem_ports = 1, .cores = 1 };
	int at = 0, n = sscanf(config, "r%dc%d-b%u-w%u-%n", &p.rows, &p.cols, &p.buffer_bytes, &p.bus_bytes, &at);

	cr_assert(n == 4 && at, "bad configuration name '%s'", config);
	if (sscanf(config + at, "p%u-", &p.mem_ports) == 1)
		at += 3;
	if (sscanf(config + at, "c%d-", &p.cores) == 1)
		at += 3;
	cr_assert(sscanf(config + at, "m%d-", &p.mac_stages) == 1, "bad configuration name '%s'", config);
	return p;
}

static void open_memory(struct bench *b, const char *config)
{
	uint64_t regions[WC_CLASS_COUNT] = { [WC_CLASS_ACTIVATION] = DATA_BYTES, [WC_CLASS_COMMAND] = RING_SLOTS * WC_COMMAND_BYTES };

	memset(b, 0, sizeof *b);
	b->params = params_of(config);
	if (b->params.cores == 2)
		regions[WC_CLASS_MASK] = regions[WC_CLASS_IO] = DATA_BYTES + RING_SLOTS * WC_COMMAND_BYTES;
	cr_assert(wc_memory_init(&b->memory, b->params.bus_bytes, regions, &b->err) == 0, "%s", b->err.text);
	b->data = b->memory.regions[WC_CLASS_ACTIVATION].base;
	b->data_bytes = DATA_BYTES;
	b->ring = b->memory.regions[WC_CLASS_COMMAND].base;
}

static void start_backend(struct bench *b, uint64_t seed)
{
	cr_assert(b->backend, "%s", b->err.text);
	cr_assert(b->backend->ops->reset(b->backend, seed, &b->err) == 0, "%s", b->err.text);
	bench_start(b);
}

void bench_open(struct bench *b, const char *config, const struct wc_rtl_options *options, uint64_t seed)
{
	struct wc_rtl_options o = options ? *options : (struct wc_rtl_options){ 0 };
	const char *dir = getenv("WC_RTL");
	char library[256];

	snprintf(library, sizeof library, "%s/%s/wc_rtl.so", dir ? dir : "build/rtl", config);
	o.library = library;
	open_memory(b, config);
	b->backend = wc_rtl_create(&b->params, &o, &b->memory, &b->err);
	start_backend(b, seed);
}

void bench_open_model(struct bench *b, const char *config, uint64_t seed)
{
	open_memory(b, config);
	b->backend = wc_model_create(&b->params, &b->memory, &b->err);
	start_backend(b, seed);
}

void bench_core(struct bench *view, const struct bench *b, int core)
{
	const struct wc_region *region = &b->memory.regions[core == 0 ? WC_CLASS_MASK : WC_CLASS_IO];

	*view = *b;
	view->core = core;
	view->memory.data += region->base - b->memory.base;
	view->memory.base = region->base;
	view->memory.bytes = region->bytes;
	view->data = region->base;
	view->ring = region->base + DATA_BYTES;
	bench_start(view);
}

void bench_close(struct bench *b)
{
	wc_backend_free(b->backend);
	wc_memory_release(&b->memory);
}

static void set_csr64(struct bench *b, enum wc_csr low, uint64_t value)
{
	bench_set_csr(b, low, (uint32_t)value);
	bench_set_csr(b, low + 4, value >> 32);
}

void bench_start(struct bench *b)
{
	b->issued = 0;
	set_csr64(b, WC_CSR_RING_BASE_LO, b->ring);
	set_csr64(b, WC_CSR_MEM_BASE_LO, b->memory.base);
	set_csr64(b, WC_CSR_MEM_LIMIT_LO, b->memory.base + b->memory.bytes);
	bench_set_csr(b, WC_CSR_RING_SIZE, RING_SLOTS);
	bench_set_csr(b, WC_CSR_CTRL, 1);
}

uint32_t bench_csr(struct bench *b, enum wc_csr csr)
{
	return b->backend->ops->csr_read(b->backend, WC_CSR_CORE(b->core) + csr);
}

void bench_set_csr(struct bench *b, enum wc_csr csr, uint32_t value)
{
	b->backend->ops->csr_write(b->backend, WC_CSR_CORE(b->core) + csr, value);
}

uint64_t bench_counter(struct bench *b, enum wc_counter counter)
{
	uint32_t low = bench_csr(b, WC_CSR_COUNTERS + 8 * counter);

	return (uint64_t)bench_csr(b, WC_CSR_COUNTERS + 8 * counter + 4) << 32 | low;
}

void bench_check_causes(struct bench *b)
{
	static const enum wc_counter causes[] = { WC_COUNTER_ARRAY_BUSY, WC_COUNTER_STALL_OPERAND, WC_COUNTER_STALL_WEIGHT, WC_COUNTER_STALL_ACCUMULATOR,
						  WC_COUNTER_STALL_LOAD, WC_COUNTER_STALL_STORE, WC_COUNTER_STALL_VECTOR, WC_COUNTER_STALL_DRAIN,
						  WC_COUNTER_STALL_COMMAND };
	uint64_t cycles = bench_counter(b, WC_COUNTER_CYCLES), sum = 0;

	for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
		sum += bench_counter(b, causes[i]);
	cr_assert(sum == cycles, "the causes add up to %" PRIu64 " cycles of %" PRIu64, sum, cycles);
}

void bench_buffer_read(struct bench *b, uint32_t address, void *bytes, uint32_t count)
{
	b->backend->ops->buffer_read(b->backend, (uint32_t)b->core * b->params.buffer_bytes + address, bytes, count);
}

void bench_buffer_write(struct bench *b, uint32_t address, const void *bytes, uint32_t count)
{
	b->backend->ops->buffer_write(b->backend, (uint32_t)b->core * b->params.buffer_bytes + address, bytes, count);
}

uint32_t bench_issue(struct bench *b, const void *command)
{
	// Full: let the device fetch what is there.
	for (int tries = 0; b->issued - bench_csr(b, WC_CSR_HEAD) >= RING_SLOTS; tries++) {
		cr_assert(tries < 100000, "the ring stays full");
		bench_set_csr(b, WC_CSR_TAIL, b->issued);
		cr_assert(b->backend->ops->step(b->backend, 100, &b->err) == 0, "%s", b->err.text);
	}
	memcpy(bench_at(b, b->ring + b->issued % RING_SLOTS * WC_COMMAND_BYTES), command, WC_COMMAND_BYTES);
	return b->issued++;
}

void bench_run(struct bench *b)
{
	uint32_t status;
	int ret;

	bench_set_csr(b, WC_CSR_TAIL, b->issued);
	ret = b->backend->ops->step(b->backend, STEP_CYCLES, &b->err);
	cr_assert(ret == 0, "%s", b->err.text);
	status = bench_csr(b, WC_CSR_STATUS);
	cr_assert(status & 6, "neither idle nor stopped after %d cycles", STEP_CYCLES);
	bench_check_causes(b);
}

void bench_finish(struct bench *b)
{
	uint32_t status;

	bench_run(b);
	status = bench_csr(b, WC_CSR_STATUS);
	cr_assert(status == 2, "status is 0x%x at command %u, 2 (idle) expected", status, bench_csr(b, WC_CSR_ERROR_INDEX));
	cr_assert(bench_csr(b, WC_CSR_DONE) == b->issued);
	cr_assert(bench_csr(b, WC_CSR_HEAD) == b->issued);
}

void bench_expect_error(struct bench *b, enum wc_status status, uint32_t index)
{
	uint32_t got;

	bench_run(b);
	got = bench_csr(b, WC_CSR_STATUS);
	cr_expect(got == ((uint32_t)status << 8 | 4), "status is 0x%x, 0x%x expected", got, (uint32_t)status << 8 | 4);
	got = bench_csr(b, WC_CSR_ERROR_INDEX);
	cr_expect(got == index, "error index is %u, %u expected", got, index);
}

uint8_t *bench_at(struct bench *b, uint64_t addr)
{
	return wc_memory_at(&b->memory, addr, 0);
}

static struct wc_load_command transfer(enum wc_opcode opcode, uint64_t dram, uint32_t gbuf, uint32_t row_bytes)
{
	return (struct wc_load_command){
		.opcode = opcode,
		.version = WC_COMMAND_VERSION,
		.dram_addr = dram,
		.gbuf_addr = gbuf,
		.row_bytes = row_bytes,
		.count1 = 1,
		.count2 = 1,
	};
}

union command command_load(uint64_t dram, uint32_t gbuf, uint32_t row_bytes)
{
	return (union command){ .load = transfer(WC_OP_LOAD, dram, gbuf, row_bytes) };
}

union command command_store(uint64_t dram, uint32_t gbuf, uint32_t row_bytes)
{
	return (union command){ .load = transfer(WC_OP_STORE, dram, gbuf, row_bytes) };
}

union command command_vector(int op, uint32_t elements, uint32_t src, uint32_t dst, uint32_t aux)
{
	return (union command){ .vector = {
		.opcode = WC_OP_VECTOR,
		.version = WC_COMMAND_VERSION,
		.op = op,
		.row_elements = elements,
		.count1 = 1,
		.count2 = 1,
		.src_base = src,
		.dst_base = dst,
		.aux_base = aux,
	} };
}

uint64_t test_seed(uint64_t seed)
{
	const char *text = getenv("WC_SEED");

	if (text)
		seed = strtoull(text, NULL, 0);
	printf("seed: WC_SEED=%" PRIu64 "\n", seed);
	return seed;
}

uint32_t random_in(uint64_t *state, uint32_t lo, uint32_t hi)
{
	return lo + splitmix_next(state) % ((uint64_t)hi - lo + 1);
}

void random_fill(uint64_t *state, void *bytes, uint64_t count)
{
	uint8_t *to = bytes;

	for (uint64_t i = 0; i < count; i++)
		to[i] = splitmix_next(state);
}
