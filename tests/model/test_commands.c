// SPDX-License-Identifier: Apache-2.0
//
// The ring and the checks: every field's limits, alignment, reserved bytes, waits, wrap-around, CSRs, stopping.
#include <criterion/criterion.h>
#include <string.h>

#include "tests/model/device.h"

// A good command of each opcode.
static void good_command(const struct device *device, uint8_t opcode, uint8_t *command)
{
	struct wc_load_command load = device_load(device, 0, 0, 16);
	struct wc_store_command store = device_store(device, 0, 0, 16);
	struct wc_gemm_command gemm = device_matmul(device_small.rows, 2, 2, 4, 0, 1024, 2048);
	struct wc_vector_command vector = device_vector(0, 4, 0, 0, 0);
	struct wc_simd_command simd = device_copy(4, 0, 64);
	const void *commands[] = {NULL, &load, &store, &gemm, &vector, &simd};

	memcpy(command, commands[opcode], WC_COMMAND_BYTES);
}

static void set_field(uint8_t *command, const struct wc_command_field *field, uint64_t value)
{
	memcpy(command + field->offset, &value, field->bytes);
}

static uint64_t limit(enum wc_limit kind, int64_t value)
{
	switch (kind) {
	case WC_LIMIT_ROWS:
		return (uint64_t)device_small.rows;
	case WC_LIMIT_COLS:
		return (uint64_t)device_small.cols;
	case WC_LIMIT_ACC_ROWS:
		return (uint64_t)device_small.acc_rows;
	case WC_LIMIT_GBUF_BYTES:
		return device_small.buffer_bytes;
	case WC_LIMIT_LANES:
		return wc_device_lanes(&device_small);
	default:
		return (uint64_t)value;
	}
}

// A bad command between two good ones: status and index as expected, the one before complete, the one behind without effect.
static void expect_refused(const uint8_t *bad, enum wc_status expected, const char *what)
{
	struct device device;
	struct wc_load_command before, behind;
	uint8_t bytes[16];

	device_open(&device, &device_small, 1);
	before = device_load(&device, 0, 0, 16);
	behind = device_load(&device, 0, 4096, 16);
	memset(wc_memory_at(&device.memory, before.dram_addr, 16), 0x5a, 16);
	device.backend->ops->buffer_write(device.backend, 4096, "untouched bytes", 16);
	device_push(&device, &before);
	device_push(&device, bad);
	device_push(&device, &behind);
	cr_assert_eq(device_run(&device), expected, "%s: status %u", what, device_csr(&device, WC_CSR_STATUS) >> 8);
	cr_assert_eq(device_csr(&device, WC_CSR_STATUS) & 7, 4, "%s", what);
	cr_assert_eq(device_csr(&device, WC_CSR_ERROR_INDEX), 1, "%s", what);
	cr_assert_eq(device_csr(&device, WC_CSR_DONE), 1, "%s", what);
	cr_assert_eq(device_csr(&device, WC_CSR_IRQ_STATUS), 2, "%s", what);
	device.backend->ops->buffer_read(device.backend, 0, bytes, 16);
	cr_assert_eq(bytes[15], 0x5a, "%s", what);
	device.backend->ops->buffer_read(device.backend, 4096, bytes, 16);
	cr_assert_arr_eq(bytes, "untouched bytes", 16);
	// Stopped is stopped.
	cr_assert_eq(device_run(&device), expected);
	cr_assert_eq(device_csr(&device, WC_CSR_DONE), 1);
	device_close(&device);
}

Test(commands, every_limit_of_every_field_is_checked)
{
	struct device device;
	int checked = 0;

	device_open(&device, &device_small, 1);
	for (size_t i = 0; i < WC_COMMAND_FIELD_COUNT; i++) {
		const struct wc_command_field *field = &wc_command_fields[i];
		uint64_t lo = limit(field->min_kind, field->min), hi = limit(field->max_kind, field->max), top = UINT64_MAX >> (64 - 8 * field->bytes);
		uint8_t command[WC_COMMAND_BYTES];

		good_command(&device, field->opcode, command);
		if (field->min_kind != WC_LIMIT_NONE && lo > 0) {
			set_field(command, field, lo - 1);
			expect_refused(command, WC_STATUS_BAD_FIELD, field->name);
			checked++;
		}
		if (field->max_kind != WC_LIMIT_NONE && hi < top) {
			set_field(command, field, hi + 1);
			expect_refused(command, WC_STATUS_BAD_FIELD, field->name);
			checked++;
		}
		if (field->align != 1) {
			good_command(&device, field->opcode, command);
			set_field(command, field, field->align ? field->align / 2 : device_small.bus_bytes / 2);
			expect_refused(command, WC_STATUS_MISALIGNED, field->name);
			checked++;
		}
	}
	cr_assert_geq(checked, 94, "the field table has lost limits: %d", checked);
	device_close(&device);
}

Test(commands, every_undefined_flag_must_be_zero)
{
	static const int defined[] = {[WC_OP_LOAD] = 0, [WC_OP_STORE] = 0, [WC_OP_GEMM] = 2, [WC_OP_VECTOR] = 1, [WC_OP_SIMD] = 0};
	struct device device;

	device_open(&device, &device_small, 1);
	for (uint8_t opcode = WC_OP_LOAD; opcode <= WC_OP_SIMD; opcode++)
		for (int bit = defined[opcode]; bit < 16; bit++) {
			uint8_t command[WC_COMMAND_BYTES];

			good_command(&device, opcode, command);
			command[offsetof(struct wc_load_command, flags) + bit / 8] |= (uint8_t)(1 << bit % 8);
			expect_refused(command, WC_STATUS_BAD_FIELD, "flags");
		}
	device_close(&device);
}

Test(commands, every_reserved_byte_must_be_zero)
{
	struct device device;
	int checked = 0;

	device_open(&device, &device_small, 1);
	for (uint8_t opcode = WC_OP_LOAD; opcode <= WC_OP_SIMD; opcode++)
		for (int at = 0; at < WC_COMMAND_BYTES; at++) {
			uint8_t command[WC_COMMAND_BYTES];
			bool named = false;

			for (size_t i = 0; i < WC_COMMAND_FIELD_COUNT; i++)
				named |= wc_command_fields[i].opcode == opcode && at >= wc_command_fields[i].offset && at < wc_command_fields[i].offset + wc_command_fields[i].bytes;
			if (named)
				continue;
			good_command(&device, opcode, command);
			command[at] = 1;
			expect_refused(command, WC_STATUS_BAD_FIELD, "reserved byte");
			checked++;
		}
	cr_assert_gt(checked, 400);
	device_close(&device);
}

Test(commands, opcode_version_and_waits_are_checked)
{
	struct device device;
	struct wc_load_command command;
	uint32_t *const waits[] = {&command.wait_load, &command.wait_gemm, &command.wait_vector, &command.wait_store};

	device_open(&device, &device_small, 1);
	command = device_load(&device, 0, 0, 16);
	command.opcode = 0;
	expect_refused((uint8_t *)&command, WC_STATUS_BAD_OPCODE, "opcode 0");
	command.opcode = WC_OP_SIMD + 1;
	expect_refused((uint8_t *)&command, WC_STATUS_BAD_OPCODE, "opcode 6");
	command.opcode = WC_OP_LOAD;
	command.version++;
	expect_refused((uint8_t *)&command, WC_STATUS_BAD_VERSION, "version");
	command.version--;
	for (int i = 0; i < 4; i++) {
		*waits[i] = i == 0 ? 2 : 1; // one LOAD was issued before
		expect_refused((uint8_t *)&command, WC_STATUS_DEPENDENCE, "wait");
		*waits[i] = 0;
	}
	device_close(&device);
}

// Three times round a ring of eight, refilled while it runs.
Test(commands, the_ring_wraps)
{
	struct device device;
	uint8_t expected[3 * DEVICE_RING * 16], got[sizeof(expected)];

	device_open(&device, &device_small, 1);
	for (uint32_t i = 0; i < sizeof(expected); i++)
		expected[i] = (uint8_t)(i * 7 + 1);
	memcpy(wc_memory_at(&device.memory, device_region(&device, WC_CLASS_ACTIVATION), sizeof(expected)), expected, sizeof(expected));
	for (uint32_t i = 0; i < 3 * DEVICE_RING; i++) {
		struct wc_load_command command = device_load(&device, i * 16, i * 16, 16);

		command.wait_load = i;
		device_push(&device, &command);
		if (i % 5 == 4)
			cr_assert_eq(device_run(&device), WC_STATUS_OK);
	}
	cr_assert_eq(device_run(&device), WC_STATUS_OK);
	device.backend->ops->buffer_read(device.backend, 0, got, sizeof(got));
	cr_assert_arr_eq(got, expected, sizeof(expected));
	cr_assert_eq(device_csr(&device, WC_CSR_HEAD), 3 * DEVICE_RING);
	cr_assert_eq(device_csr(&device, WC_CSR_DONE), 3 * DEVICE_RING);
	device_close(&device);
}

Test(commands, a_ring_outside_the_window_is_a_range_error)
{
	struct device device;
	struct wc_load_command command;

	device_open(&device, &device_small, 1);
	command = device_load(&device, 0, 0, 16);
	device_push(&device, &command);
	device.backend->ops->csr_write(device.backend, WC_CSR_RING_BASE_HI, 0x1000);
	cr_assert_eq(device_run(&device), WC_STATUS_MEMORY_RANGE);
	cr_assert_eq(device_csr(&device, WC_CSR_ERROR_INDEX), 0);
	device_close(&device);
}

Test(commands, steps_are_counted_in_commands)
{
	struct device device;
	struct wc_load_command command;

	device_open(&device, &device_small, 1);
	command = device_load(&device, 0, 0, 16);
	for (int i = 0; i < 5; i++)
		device_push(&device, &command);
	cr_assert_eq(device.backend->ops->step(device.backend, 2, &device.err), 0);
	cr_assert_eq(device_csr(&device, WC_CSR_DONE), 2);
	cr_assert_eq(device_csr(&device, WC_CSR_STATUS) & 7, 1, "busy");
	cr_assert_eq(device_csr(&device, WC_CSR_IRQ_STATUS), 0);
	device_run(&device);
	cr_assert_eq(device_csr(&device, WC_CSR_STATUS), 2, "idle");
	cr_assert_eq(device_csr(&device, WC_CSR_IRQ_STATUS), 1);
	device.backend->ops->csr_write(device.backend, WC_CSR_IRQ_STATUS, 1);
	cr_assert_eq(device_csr(&device, WC_CSR_IRQ_STATUS), 0);
	device_close(&device);
}

Test(commands, csrs_read_back_and_a_soft_reset_keeps_the_settings)
{
	static const uint32_t settings[] = {WC_CSR_RING_BASE_LO, WC_CSR_RING_BASE_HI, WC_CSR_RING_SIZE,  WC_CSR_MEM_BASE_LO,
	                                    WC_CSR_MEM_BASE_HI,  WC_CSR_MEM_LIMIT_LO, WC_CSR_MEM_LIMIT_HI};
	uint32_t values[sizeof(settings) / sizeof(settings[0])];
	struct device device;
	struct wc_load_command command;

	device_open(&device, &device_small, 1);
	cr_assert_eq(device_csr(&device, WC_CSR_ID), 0x57415645);
	cr_assert_eq(device_csr(&device, WC_CSR_VERSION), WC_COMMAND_VERSION);
	cr_assert_eq(device_csr(&device, WC_CSR_PARAM0), 3 | 2 << 8 | 16 << 16);
	cr_assert_eq(device_csr(&device, WC_CSR_PARAM1), 16384);
	cr_assert_eq(device_csr(&device, 0x7c), 0);
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		values[i] = device_csr(&device, settings[i]);
	cr_assert_eq(values[2], DEVICE_RING);
	command = device_load(&device, 0, 0, 16);
	command.version = 99;
	cr_assert_eq(device_execute(&device, &command), WC_STATUS_BAD_VERSION);

	device.backend->ops->csr_write(device.backend, WC_CSR_CTRL, 0);
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		cr_assert_eq(device_csr(&device, settings[i]), values[i]);
	cr_assert_eq(device_csr(&device, WC_CSR_STATUS), 2);
	cr_assert_eq(device_csr(&device, WC_CSR_TAIL), 0);
	cr_assert_eq(device_csr(&device, WC_CSR_HEAD), 0);
	cr_assert_eq(device_csr(&device, WC_CSR_IRQ_STATUS), 0);
	cr_assert_eq(device_counter(&device, WC_COUNTER_COMMAND_BEATS), 0);

	// Nothing moves until it runs again.
	device.pushed = 0;
	command.version = WC_COMMAND_VERSION;
	cr_assert_eq(device_execute(&device, &command), WC_STATUS_OK);
	cr_assert_eq(device_csr(&device, WC_CSR_DONE), 0);
	device.backend->ops->csr_write(device.backend, WC_CSR_CTRL, 1);
	cr_assert_eq(device_run(&device), WC_STATUS_OK);
	cr_assert_eq(device_csr(&device, WC_CSR_DONE), 1);
	device_close(&device);
}

Test(commands, a_gemm_outside_the_buffer_is_a_range_error_at_its_index)
{
	static const char *const names[] = {"A", "B", "preload", "drain", "negative A"};

	for (int i = 0; i < 5; i++) {
		struct device device;
		struct wc_gemm_command command = device_matmul(8, 4, 4, 16, 0, 1024, 2048);
		struct wc_gemm_command good = command;

		device_open(&device, &device_small, 1);
		if (i == 0)
			command.a_base = 16384 - 32 * 4 + 2;
		else if (i == 1)
			command.b_base = 16384 - 32 * 4 + 2;
		else if (i == 2)
			command.flags = 1, command.pre_base = 16384 - 16 * 2;
		else if (i == 3)
			command.out_base = 16384 - 8 * 4 + 2;
		else
			command.a_base = -2;
		device_push(&device, &good);
		device_push(&device, &command);
		cr_assert_eq(device_run(&device), WC_STATUS_BUFFER_RANGE, "%s", names[i]);
		cr_assert_eq(device_csr(&device, WC_CSR_ERROR_INDEX), 1, "%s", names[i]);
		device_close(&device);
	}
}

// Each is refused with the status given; the first four when the walk ends, the others at sight.
Test(commands, gemms_whose_walks_do_not_hold_are_refused)
{
	for (int i = 0; i < 13; i++) {
		struct device device;
		struct wc_gemm_command command = device_matmul(8, 4, 4, 16, 0, 1024, 2048);

		device_open(&device, &device_small, 1);
		if (i == 0)
			command.a_count0 = 3;
		else if (i == 1)
			command.b_chan_total = 15;
		else if (i == 2)
			command.out_count0 = 3;
		else if (i == 3)
			command.out_count0 = 3, command.flags = 1;
		else if (i == 4)
			command.a_start1 = 1;
		else if (i == 5)
			command.a_merge = 1;
		else if (i == 6)
			command.a_merge = 1, command.a_tap_x_step = 1, command.a_chan_block = 16, command.a_run_length = 15;
		else if (i == 7)
			command.b_start2 = command.b_count2;
		else if (i == 8)
			command.out_start0 = command.out_count0;
		else if (i == 9)
			command.a_tap_y_start = command.a_taps_y;
		else if (i == 10)
			command.b_tap_x_start = command.b_taps_x;
		else if (i == 11)
			command.b_chan_start = command.b_chan_total;
		else
			command.a_chan_start = command.a_chan_block;
		device_push(&device, &command);
		cr_assert_eq(device_run(&device), i < 4 ? WC_STATUS_BUFFER_RANGE : WC_STATUS_BAD_FIELD, "case %d: status %u", i,
			     device_csr(&device, WC_CSR_STATUS) >> 8);
		cr_assert_eq(device_csr(&device, WC_CSR_ERROR_INDEX), 0);
		device_close(&device);
	}
}

static int stop_at_third(void *context, const struct wc_event *event)
{
	int *ends = context;

	return event->kind == WC_EVENT_COMMAND_END && ++*ends == 3;
}

Test(commands, an_observer_stops_the_run)
{
	struct device device;
	struct wc_load_command command;
	int ends = 0;
	struct wc_observer observer = {.context = &ends, .event = stop_at_third};

	device_open(&device, &device_small, 1);
	device.backend->ops->set_observer(device.backend, &observer);
	command = device_load(&device, 0, 0, 16);
	for (int i = 0; i < 5; i++)
		device_push(&device, &command);
	cr_assert_eq(device.backend->ops->step(device.backend, UINT64_MAX, &device.err), WC_ERR_STOPPED);
	cr_assert_eq(device_csr(&device, WC_CSR_DONE), 3);
	cr_assert(strstr(device.err.text, "command 2"), "%s", device.err.text);
	cr_assert_eq(device_run(&device), WC_STATUS_OK);
	cr_assert_eq(device_csr(&device, WC_CSR_DONE), 5);
	device_close(&device);
}

Test(commands, the_buffer_after_reset_depends_on_the_seed_alone)
{
	struct device device;
	uint8_t first[64], again[64], other[64];

	device_open(&device, &device_small, 7);
	device.backend->ops->buffer_read(device.backend, 0, first, 64);
	device_start(&device, 8);
	device.backend->ops->buffer_read(device.backend, 0, other, 64);
	device_start(&device, 7);
	device.backend->ops->buffer_read(device.backend, 0, again, 64);
	cr_assert_arr_eq(first, again, 64);
	cr_assert_arr_neq(first, other, 64);
	device_close(&device);
}

Test(commands, wrong_parameters_and_failed_allocations_are_errors)
{
	struct device device;
	struct wc_error err = {0};
	size_t nth;

	device_open(&device, &device_small, 1);
	for (int i = 0; i < 5; i++) {
		struct wc_device_params params = device_small;

		if (i == 0)
			params.rows = 12;
		else if (i == 1)
			params.cols = 256;
		else if (i == 2)
			params.buffer_bytes = 5000;
		else if (i == 3)
			params.bus_bytes = 32; // the memory has 16
		else
			params.acc_rows = 0;
		cr_assert_null(wc_model_create(&params, &device.memory, &err), "case %d", i);
		cr_assert_neq(err.text[0], 0);
		err.text[0] = 0;
	}
	nth = device_allocations(&device, &device_small);
	cr_assert_geq(nth, 9);
	device_close(&device);
}
