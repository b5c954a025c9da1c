// SPDX-License-Identifier: Apache-2.0
//
// Two cores on one memory: each does what it would do alone, in turns or in an order drawn from the seed.
#include <criterion/criterion.h>
#include <string.h>

#include "tests/model/device.h"

enum { CORES = 2, ROUNDS = 4, PIECE_BYTES = 64, COMMANDS = 3 * ROUNDS, RING = 16 };

static struct wc_device_params params_of(int cores)
{
	struct wc_device_params params = device_small;

	params.cores = cores;
	return params;
}

// Core i's data and ring lie in a region of their own.
static uint64_t data_of(const struct device *device, int core)
{
	return device_region(device, core == 0 ? WC_CLASS_ACTIVATION : WC_CLASS_GRADIENT);
}

static uint64_t ring_of(const struct device *device, int core)
{
	return device_region(device, core == 0 ? WC_CLASS_COMMAND : WC_CLASS_IO);
}

static void set_csr(struct device *device, int at, enum wc_csr csr, uint32_t value)
{
	device->backend->ops->csr_write(device->backend, WC_CSR_CORE(at) + csr, value);
}

static uint32_t csr(struct device *device, int at, enum wc_csr csr)
{
	return device_csr(device, WC_CSR_CORE(at) + csr);
}

static void put(struct device *device, int core, uint32_t slot, const void *command)
{
	memcpy(wc_memory_at(&device->memory, ring_of(device, core) + slot * WC_COMMAND_BYTES, WC_COMMAND_BYTES), command, WC_COMMAND_BYTES);
}

// Pieces through the buffer, ReLU on the way; core i's pieces are its own. The device's core `at` does it.
static void start_rounds(struct device *device, int core, int at)
{
	uint64_t data = data_of(device, core);
	uint8_t *memory = wc_memory_at(&device->memory, data, DEVICE_REGION_BYTES);

	for (int i = 0; i < ROUNDS * PIECE_BYTES; i++)
		memory[i] = (uint8_t)(i * (core + 3) % 251);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		struct wc_load_command load = device_load(device, 0, 0, PIECE_BYTES);
		struct wc_vector_command relu = device_vector(0, PIECE_BYTES / 2, 0, 0, PIECE_BYTES);
		struct wc_store_command store = device_store(device, 0, PIECE_BYTES, PIECE_BYTES);

		load.dram_addr = data + i * PIECE_BYTES;
		store.dram_addr = data + 4096 + i * PIECE_BYTES;
		load.wait_vector = i;
		relu.wait_load = i + 1;
		relu.wait_store = i;
		store.wait_vector = i + 1;
		put(device, core, 3 * i, &load);
		put(device, core, 3 * i + 1, &relu);
		put(device, core, 3 * i + 2, &store);
	}
	set_csr(device, at, WC_CSR_RING_BASE_LO, (uint32_t)ring_of(device, core));
	set_csr(device, at, WC_CSR_RING_SIZE, RING);
	set_csr(device, at, WC_CSR_MEM_BASE_LO, (uint32_t)device->memory.base);
	set_csr(device, at, WC_CSR_MEM_LIMIT_LO, (uint32_t)(device->memory.base + device->memory.bytes));
	set_csr(device, at, WC_CSR_CTRL, 1);
	set_csr(device, at, WC_CSR_TAIL, COMMANDS);
}

static void open_two(struct device *device, uint64_t seed)
{
	struct wc_device_params params = params_of(CORES);

	device_open(device, &params, seed);
	for (int i = 0; i < CORES; i++)
		start_rounds(device, i, i);
}

static void run(struct device *device)
{
	cr_assert_eq(device->backend->ops->step(device->backend, UINT64_MAX, &device->err), 0, "%s", device->err.text);
}

// The core's region after a run of its commands on a device of one core.
static void alone(int core, uint8_t *region)
{
	struct device device;

	device_open(&device, &device_small, 1);
	start_rounds(&device, core, 0);
	run(&device);
	memcpy(region, wc_memory_at(&device.memory, data_of(&device, core), DEVICE_REGION_BYTES), DEVICE_REGION_BYTES);
	device_close(&device);
}

Test(cores, each_gives_what_it_gives_alone)
{
	static uint8_t right[CORES][DEVICE_REGION_BYTES];

	for (int i = 0; i < CORES; i++)
		alone(i, right[i]);
	for (uint64_t seed = 0; seed < 50; seed++) {
		struct device device;

		open_two(&device, device_seed() + seed);
		wc_model_set_overlap(device.backend, seed > 0);
		run(&device);
		for (int i = 0; i < CORES; i++) {
			cr_assert_eq(csr(&device, i, WC_CSR_DONE), COMMANDS);
			cr_assert_eq(csr(&device, i, WC_CSR_IRQ_STATUS), 1);
			cr_assert_arr_eq(wc_memory_at(&device.memory, data_of(&device, i), DEVICE_REGION_BYTES), right[i], DEVICE_REGION_BYTES);
		}
		cr_assert_eq(device.memory.read_bytes[WC_CLASS_GRADIENT], ROUNDS * PIECE_BYTES);
		cr_assert_eq(device.memory.read_bytes[WC_CLASS_IO], COMMANDS * WC_COMMAND_BYTES);
		device_close(&device);
	}
}

struct order {
	int cores[2 * COMMANDS], count;
};

static int note(void *context, const struct wc_event *event)
{
	struct order *order = context;

	if (event->kind == WC_EVENT_COMMAND_BEGIN)
		order->cores[order->count++] = event->core;
	return 0;
}

static void order_of(uint64_t seed, bool overlap, struct order *order)
{
	struct device device;

	*order = (struct order){.count = 0};
	open_two(&device, seed);
	wc_model_set_overlap(device.backend, overlap);
	device.backend->ops->set_observer(device.backend, &(struct wc_observer){.context = order, .event = note});
	run(&device);
	cr_assert_eq(order->count, CORES * COMMANDS);
	device_close(&device);
}

Test(cores, take_turns_or_are_drawn_from_the_seed)
{
	struct order order, again, other;

	order_of(5, false, &order);
	for (int i = 0; i < order.count; i++)
		cr_assert_eq(order.cores[i], i % 2);
	order_of(5, true, &order);
	order_of(5, true, &again);
	order_of(6, true, &other);
	cr_assert_arr_eq(order.cores, again.cores, sizeof(order.cores));
	cr_assert_arr_neq(order.cores, other.cores, sizeof(order.cores));
}

Test(cores, one_goes_on_when_the_other_stops_or_is_reset)
{
	for (int bad = 0; bad < CORES; bad++) {
		struct device device;
		struct wc_load_command command;

		open_two(&device, 1);
		command = device_load(&device, 0, 0, 16);
		command.version = 0;
		put(&device, bad, 4, &command);
		run(&device);
		cr_assert_eq(csr(&device, bad, WC_CSR_STATUS), WC_STATUS_BAD_VERSION << 8 | 4);
		cr_assert_eq(csr(&device, bad, WC_CSR_ERROR_INDEX), 4);
		cr_assert_eq(csr(&device, 1 - bad, WC_CSR_STATUS), 2);
		set_csr(&device, bad, WC_CSR_CTRL, 0);
		cr_assert_eq(csr(&device, bad, WC_CSR_DONE), 0);
		cr_assert_eq(csr(&device, 1 - bad, WC_CSR_DONE), COMMANDS);
		start_rounds(&device, bad, bad);
		run(&device);
		cr_assert_eq(csr(&device, bad, WC_CSR_DONE), COMMANDS);
		device_close(&device);
	}
}

Test(cores, a_fault_strikes_the_one_it_names)
{
	static uint8_t right[CORES][DEVICE_REGION_BYTES];

	for (int i = 0; i < CORES; i++)
		alone(i, right[i]);
	for (int named = 0; named < CORES; named++) {
		struct device device;

		open_two(&device, 1);
		device.backend->ops->set_fault(device.backend, &(struct wc_fault){.kind = WC_FAULT_BUFFER, .core = named, .command = 1, .address = 4, .bit = 3});
		run(&device);
		for (int i = 0; i < CORES; i++) {
			int differs = memcmp(wc_memory_at(&device.memory, data_of(&device, i), DEVICE_REGION_BYTES), right[i], DEVICE_REGION_BYTES);

			cr_assert_eq(differs != 0, i == named, "core %d", i);
		}
		device_close(&device);
	}
}

Test(cores, have_buffers_one_after_another)
{
	struct device device;
	uint8_t bytes[CORES][16], got[16];

	open_two(&device, 1);
	for (uint32_t i = 0; i < CORES; i++) {
		memset(bytes[i], 0x40 + (int)i, 16);
		device.backend->ops->buffer_write(device.backend, i * device_small.buffer_bytes + 8192, bytes[i], 16);
	}
	for (uint32_t i = 0; i < CORES; i++) {
		device.backend->ops->buffer_read(device.backend, i * device_small.buffer_bytes + 8192, got, 16);
		cr_assert_arr_eq(got, bytes[i], 16);
	}
	device_close(&device);
}

Test(cores, wrong_numbers_and_failed_allocations_are_errors)
{
	static const int wrong[] = {-1, 0, 3};
	struct wc_device_params two = params_of(CORES);
	struct device device;
	struct wc_error err = {0};
	size_t nth;

	device_open(&device, &device_small, 1);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct wc_device_params params = params_of(wrong[i]);

		err.text[0] = 0;
		cr_assert_null(wc_model_create(&params, &device.memory, &err));
		cr_assert(strstr(err.text, "cores: 1 or 2"), "%s", err.text);
	}
	nth = device_allocations(&device, &two);
	cr_assert_gt(nth, 17);
	device_close(&device);
}
