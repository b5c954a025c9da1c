// SPDX-License-Identifier: Apache-2.0
//
// LOAD and STORE: 3-D strides against copying byte by byte, beats counted at the memory, ranges.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/model/device.h"

static const uint32_t BUS = 16;

static void fill(struct device *device, uint8_t *buffer, uint64_t *state)
{
	uint8_t *memory = wc_memory_at(&device->memory, device_region(device, WC_CLASS_ACTIVATION), DEVICE_REGION_BYTES);

	for (int i = 0; i < DEVICE_REGION_BYTES; i++)
		memory[i] = (uint8_t)device_random(state);
	for (uint32_t i = 0; i < device_small.buffer_bytes; i++)
		buffer[i] = (uint8_t)device_random(state);
	device->backend->ops->buffer_write(device->backend, 0, buffer, device_small.buffer_bytes);
}

// A transfer whose every row lies in the middle of the region and of the buffer; rows may overlap where they are read.
static struct wc_load_command draw_transfer(const struct device *device, bool write, uint64_t *state)
{
	struct wc_load_command command = device_load(device, 32768, 8192, (uint32_t)device_between(state, 1, 200));
	int room = (int)(command.row_bytes + BUS - 1) / (int)BUS; // rows that are written must not share a byte

	command.opcode = write ? WC_OP_STORE : WC_OP_LOAD;
	command.count1 = (uint16_t)device_between(state, 1, 4);
	command.count2 = (uint16_t)device_between(state, 1, 3);
	command.dram_stride1 = (write ? room + device_between(state, 0, 4) : device_between(state, -15, 15)) * (int)BUS;
	command.dram_stride2 = (write ? -5 * (room + 5) : device_between(state, -15, 15)) * (int)BUS;
	command.gbuf_stride1 = (write ? device_between(state, -15, 15) : -(room + device_between(state, 0, 4))) * (int)BUS;
	command.gbuf_stride2 = (write ? device_between(state, -15, 15) : 5 * (room + 5)) * (int)BUS;
	return command;
}

static void check_transfer(struct device *device, bool write, uint64_t *state)
{
	uint8_t *buffer = malloc(device_small.buffer_bytes), *got = malloc(device_small.buffer_bytes), *memory = malloc(DEVICE_REGION_BYTES);
	struct wc_load_command command = draw_transfer(device, write, state);
	uint64_t base = device_region(device, WC_CLASS_ACTIVATION);
	uint64_t beats = (uint64_t)command.count1 * command.count2 * ((command.row_bytes + BUS - 1) / BUS);
	uint64_t counted = write ? device->memory.write_bytes[WC_CLASS_ACTIVATION] : device->memory.read_bytes[WC_CLASS_ACTIVATION];
	enum wc_status status;

	fill(device, buffer, state);
	memcpy(memory, wc_memory_at(&device->memory, base, DEVICE_REGION_BYTES), DEVICE_REGION_BYTES);
	for (int i2 = 0; i2 < command.count2; i2++)
		for (int i1 = 0; i1 < command.count1; i1++)
			for (uint32_t i = 0; i < command.row_bytes; i++) {
				uint8_t *in_memory = memory + 32768 + i1 * command.dram_stride1 + i2 * command.dram_stride2 + i;
				uint8_t *in_buffer = buffer + 8192 + i1 * command.gbuf_stride1 + i2 * command.gbuf_stride2 + i;

				if (write)
					*in_memory = *in_buffer;
				else
					*in_buffer = *in_memory;
			}
	status = device_execute(device, &command);
	cr_assert_eq(status, WC_STATUS_OK, "status %d", status);
	device->backend->ops->buffer_read(device->backend, 0, got, device_small.buffer_bytes);
	cr_assert_arr_eq(got, buffer, device_small.buffer_bytes);
	cr_assert_arr_eq(wc_memory_at(&device->memory, base, DEVICE_REGION_BYTES), memory, DEVICE_REGION_BYTES);
	counted = (write ? device->memory.write_bytes : device->memory.read_bytes)[WC_CLASS_ACTIVATION] - counted;
	cr_assert_eq(counted, beats * BUS, "%u rows of %u bytes", command.count1 * command.count2, command.row_bytes);
	free(buffer);
	free(got);
	free(memory);
}

Test(transfer, rows_and_planes_move_and_are_counted)
{
	uint64_t state = device_seed() + 200;
	struct device device;

	device_open(&device, &device_small, 1);
	for (int i = 0; i < 200; i++)
		check_transfer(&device, i % 2, &state);
	cr_assert_eq(device_counter(&device, WC_COUNTER_DMA_READ_BEATS) * BUS, device.memory.read_bytes[WC_CLASS_ACTIVATION]);
	cr_assert_eq(device_counter(&device, WC_COUNTER_DMA_WRITE_BEATS) * BUS, device.memory.write_bytes[WC_CLASS_ACTIVATION]);
	cr_assert_eq(device_counter(&device, WC_COUNTER_COMMAND_BEATS) * BUS, 200 * WC_COMMAND_BYTES);
	cr_assert_eq(device.memory.read_bytes[WC_CLASS_COMMAND], 200 * WC_COMMAND_BYTES);
	device_close(&device);
}

// Each beat belongs to the region that it falls into, also when a row crosses from one to the next.
Test(transfer, a_row_over_two_regions_counts_in_both)
{
	struct device device;
	struct wc_load_command command;
	int below = -1;

	device_open(&device, &device_small, 1);
	for (int i = 0; i < WC_CLASS_COUNT; i++)
		if (device_region(&device, i) + DEVICE_REGION_BYTES == device_region(&device, WC_CLASS_GRADIENT))
			below = i;
	cr_assert_geq(below, 0);
	command = device_load(&device, 0, 0, 100);
	command.dram_addr = device_region(&device, WC_CLASS_GRADIENT) - 48;
	cr_assert_eq(device_execute(&device, &command), WC_STATUS_OK);
	cr_assert_eq(device.memory.read_bytes[below], 48);
	cr_assert_eq(device.memory.read_bytes[WC_CLASS_GRADIENT], 64);
	device_close(&device);
}

struct range_case {
	const char *name;
	int64_t dram;   // relative to the window's end
	uint32_t gbuf;
	uint32_t bytes;
	int32_t dram_stride1, gbuf_stride1;
	enum wc_status status;
};

Test(transfer, rows_outside_buffer_or_window_are_refused)
{
	static const struct range_case cases[] = {
		{"up to both ends", -160, 16384 - 160, 160, 0, 0, WC_STATUS_OK},
		{"one byte beyond the buffer", -160, 16384 - 96, 97, 0, 0, WC_STATUS_BUFFER_RANGE},
		{"far beyond the buffer", -160, 0xfffffff0, 16, 0, 0, WC_STATUS_BUFFER_RANGE},
		{"second row beyond the buffer", -1600, 16384 - 16, 16, 16, 16, WC_STATUS_BUFFER_RANGE},
		{"second row before the buffer", -1600, 0, 16, 16, -16, WC_STATUS_BUFFER_RANGE},
		{"one byte beyond the window", -96, 0, 97, 0, 0, WC_STATUS_MEMORY_RANGE},
		{"behind the window", 4096, 0, 16, 0, 0, WC_STATUS_MEMORY_RANGE},
		{"second row beyond the window", -16, 0, 16, 16, 16, WC_STATUS_MEMORY_RANGE},
		{"both beyond: the memory first", -16, 16384 - 16, 32, 0, 0, WC_STATUS_MEMORY_RANGE},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (int write = 0; write < 2; write++) {
			const struct range_case *c = &cases[i];
			struct device device;
			struct wc_load_command command, good;

			device_open(&device, &device_small, 1);
			good = device_load(&device, 0, 0, 16);
			command = device_load(&device, 0, c->gbuf, c->bytes);
			command.opcode = write ? WC_OP_STORE : WC_OP_LOAD;
			command.dram_addr = device.memory.base + device.memory.bytes + (uint64_t)c->dram;
			command.dram_stride1 = c->dram_stride1;
			command.gbuf_stride1 = c->gbuf_stride1;
			command.count1 = 2;
			device_push(&device, &good);
			device_push(&device, &command);
			device_push(&device, &good);
			cr_assert_eq(device_run(&device), c->status, "%s", c->name);
			if (c->status != WC_STATUS_OK) {
				cr_assert_eq(device_csr(&device, WC_CSR_ERROR_INDEX), 1, "%s", c->name);
				cr_assert_eq(device_csr(&device, WC_CSR_DONE), 1, "%s", c->name);
			}
			device_close(&device);
		}
}

// A window wider than the memory: the bus answers with an error.
Test(transfer, a_window_without_memory_behind_it_is_an_axi_error)
{
	struct device device;
	struct wc_load_command command;

	device_open(&device, &device_small, 1);
	device.backend->ops->csr_write(device.backend, WC_CSR_MEM_LIMIT_HI, 0xffff);
	command = device_load(&device, 0, 0, 16);
	command.dram_addr = device.memory.base + device.memory.bytes;
	cr_assert_eq(device_execute(&device, &command), WC_STATUS_AXI_ERROR);
	device_close(&device);
}
