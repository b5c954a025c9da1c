// SPDX-License-Identifier: Apache-2.0
#include "tests/model/device.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/seed.h"
#include "traces/alloc.h"
#include "traces/splitmix.h"

const struct wc_device_params device_small = {.rows = 8, .cols = 4, .acc_rows = 16, .mac_stages = 1, .buffer_bytes = 16384, .bus_bytes = 16, .cores = 1};

TESTS_ONE_SEED("tests/model", 1)

uint64_t device_seed(void)
{
	return tests_seed_chosen();
}

uint64_t device_random(uint64_t *state)
{
	return splitmix_next(state);
}

int device_between(uint64_t *state, int lo, int hi)
{
	return lo + (int)(device_random(state) % (uint64_t)(hi - lo + 1));
}

static void write64(struct device *device, uint32_t low_offset, uint64_t value)
{
	device->backend->ops->csr_write(device->backend, low_offset, (uint32_t)value);
	device->backend->ops->csr_write(device->backend, low_offset + 4, (uint32_t)(value >> 32));
}

void device_start(struct device *device, uint64_t seed)
{
	const struct wc_backend_ops *ops = device->backend->ops;

	cr_assert_eq(ops->reset(device->backend, seed, &device->err), 0, "%s", device->err.text);
	write64(device, WC_CSR_RING_BASE_LO, device_region(device, WC_CLASS_COMMAND));
	ops->csr_write(device->backend, WC_CSR_RING_SIZE, DEVICE_RING);
	write64(device, WC_CSR_MEM_BASE_LO, device->memory.base);
	write64(device, WC_CSR_MEM_LIMIT_LO, device->memory.base + device->memory.bytes);
	ops->csr_write(device->backend, WC_CSR_CTRL, 1);
	device->pushed = 0;
}

void device_open(struct device *device, const struct wc_device_params *params, uint64_t seed)
{
	uint64_t bytes[WC_CLASS_COUNT];

	memset(device, 0, sizeof(*device));
	for (int i = 0; i < WC_CLASS_COUNT; i++)
		bytes[i] = DEVICE_REGION_BYTES;
	cr_assert_eq(wc_memory_init(&device->memory, params->bus_bytes, bytes, &device->err), 0, "%s", device->err.text);
	device->backend = wc_model_create(params, &device->memory, &device->err);
	cr_assert_not_null(device->backend, "%s", device->err.text);
	device_start(device, seed);
}

void device_close(struct device *device)
{
	wc_backend_free(device->backend);
	wc_memory_release(&device->memory);
}

void device_push(struct device *device, const void *command)
{
	uint64_t slot = device_region(device, WC_CLASS_COMMAND) + device->pushed % DEVICE_RING * WC_COMMAND_BYTES;

	cr_assert_lt(device->pushed - device_csr(device, WC_CSR_HEAD), DEVICE_RING, "the ring is full");
	memcpy(wc_memory_at(&device->memory, slot, WC_COMMAND_BYTES), command, WC_COMMAND_BYTES);
	device->backend->ops->csr_write(device->backend, WC_CSR_TAIL, ++device->pushed);
}

enum wc_status device_run(struct device *device)
{
	cr_assert_eq(device->backend->ops->step(device->backend, UINT64_MAX, &device->err), 0, "%s", device->err.text);
	return (enum wc_status)(device_csr(device, WC_CSR_STATUS) >> 8);
}

enum wc_status device_execute(struct device *device, const void *command)
{
	device_push(device, command);
	return device_run(device);
}

uint32_t device_csr(struct device *device, uint32_t offset)
{
	return device->backend->ops->csr_read(device->backend, offset);
}

uint64_t device_counter(struct device *device, enum wc_counter counter)
{
	uint64_t low = device_csr(device, WC_CSR_COUNTERS + 8 * counter);

	return low | (uint64_t)device_csr(device, WC_CSR_COUNTERS + 8 * counter + 4) << 32;
}

uint64_t device_region(const struct device *device, enum wc_class class)
{
	return device->memory.regions[class].base;
}

struct wc_load_command device_load(const struct device *device, uint64_t dram_offset, uint32_t gbuf, uint32_t bytes)
{
	return (struct wc_load_command){
		.opcode = WC_OP_LOAD, .version = WC_COMMAND_VERSION, .dram_addr = device_region(device, WC_CLASS_ACTIVATION) + dram_offset,
		.gbuf_addr = gbuf, .row_bytes = bytes, .count1 = 1, .count2 = 1,
	};
}

struct wc_store_command device_store(const struct device *device, uint64_t dram_offset, uint32_t gbuf, uint32_t bytes)
{
	return (struct wc_store_command){
		.opcode = WC_OP_STORE, .version = WC_COMMAND_VERSION, .dram_addr = device_region(device, WC_CLASS_ACTIVATION) + dram_offset,
		.gbuf_addr = gbuf, .row_bytes = bytes, .count1 = 1, .count2 = 1,
	};
}

struct wc_gemm_command device_matmul(int rows, int m, int n, int k, uint32_t a, uint32_t b, uint32_t out)
{
	int block_delta = 2 * rows;

	return (struct wc_gemm_command){
		.opcode = WC_OP_GEMM, .version = WC_COMMAND_VERSION, .m_rows = (uint16_t)m, .n_cols = (uint16_t)n, .k_total = (uint32_t)k,
		.a_base = (int32_t)a, .a_taps_y = 1, .a_taps_x = 1, .a_count0 = (uint16_t)m, .a_count1 = 1, .a_count2 = 1, .a_delta0 = 2 * k,
		.a_y_size = 1, .a_x_size = 1, .a_block_delta = block_delta, .a_chan_total = (uint16_t)k, .a_chan_block = (uint16_t)rows,
		.b_base = (int32_t)b, .b_taps_y = 1, .b_taps_x = 1, .b_count0 = (uint16_t)n, .b_count1 = 1, .b_count2 = 1, .b_delta0 = 2 * k,
		.b_y_size = 1, .b_x_size = 1, .b_block_delta = block_delta, .b_chan_total = (uint16_t)k, .b_chan_block = (uint16_t)rows,
		.out_base = out, .out_count0 = (uint16_t)m, .out_count1 = 1, .out_count2 = 1, .out_delta0 = 2 * n,
	};
}

struct wc_vector_command device_vector(int op, uint32_t elements, uint32_t src, uint32_t aux, uint32_t dst)
{
	return (struct wc_vector_command){
		.opcode = WC_OP_VECTOR, .version = WC_COMMAND_VERSION, .op = (uint8_t)op, .row_elements = elements, .count1 = 1, .count2 = 1,
		.src_base = src, .aux_base = aux, .dst_base = dst,
	};
}

struct wc_simd_command device_copy(uint32_t elements, uint32_t from, uint32_t to)
{
	return (struct wc_simd_command){
		.opcode = WC_OP_SIMD, .version = WC_COMMAND_VERSION, .program = WC_SIMD_COPY, .count_n = 1, .count_y = 1, .count_x = 1, .channels = elements,
		.block = 1, .block_step = 1, .group = 1, .groups = 1, .taps_y = 1, .taps_x = 1, .y_size = 1, .x_size = 1, .s0_base = from, .s1_base = to,
	};
}

size_t device_allocations(struct device *device, const struct wc_device_params *params)
{
	for (size_t nth = 1;; nth++) {
		struct wc_error err;
		struct wc_backend *backend;

		wc_alloc_fail_nth(nth);
		backend = wc_model_create(params, &device->memory, &err);
		if (wc_alloc_fail_pending()) {
			wc_backend_free(backend);
			wc_alloc_fail_nth(0);
			return nth;
		}
		cr_assert_null(backend);
		cr_assert(strstr(err.text, "out of memory"));
	}
}
