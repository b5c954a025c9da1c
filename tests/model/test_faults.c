// SPDX-License-Identifier: Apache-2.0
//
// Planted faults: each flips what it names, once, in its command and wave, and nothing else.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "csim/golden/half.h"
#include "tests/model/device.h"
#include "tests/simd_cases.h"

// Two equal matrix products of 6 x 16 with 16 x 3, in two waves: operands are all 1.0, so that sums count lanes. The results
// are at OUT and OUT + 256, as fp32.
enum { M = 6, N = 3, K = 16, A = 0, B = 1024, OUT = 2048 };

static void run_products(struct device *device, const struct wc_fault *fault, uint32_t results[2][M * N])
{
	uint16_t ones[M * K];

	for (int i = 0; i < M * K; i++)
		ones[i] = 0x3c00;
	device_start(device, 1);
	device->backend->ops->set_fault(device->backend, fault);
	device->backend->ops->buffer_write(device->backend, A, ones, sizeof(ones));
	device->backend->ops->buffer_write(device->backend, B, ones, 2 * K * N);
	for (uint32_t i = 0; i < 2; i++) {
		struct wc_gemm_command command = device_matmul(8, M, N, K, A, B, OUT + 256 * i);

		command.flags = 2;
		command.out_delta0 = 4 * N;
		cr_assert_eq(device_execute(device, &command), WC_STATUS_OK);
		device->backend->ops->buffer_read(device->backend, OUT + 256 * i, results[i], sizeof(results[i]));
	}
}

// What the sums are: `wrong` where `hit` says so, else K.
static void expect(uint32_t results[2][M * N], int command, int row, int column, float wrong)
{
	for (int i = 0; i < 2; i++)
		for (int m = 0; m < M; m++)
			for (int n = 0; n < N; n++) {
				bool hit = i == command && (row < 0 || m == row) && n == column;

				cr_assert_float_eq(golden_float_of(results[i][m * N + n]), hit ? wrong : K, 0, "command %d, row %d, column %d: %08x", i, m, n,
				                   results[i][m * N + n]);
			}
}

Test(faults, none_is_planted_by_default)
{
	struct device device;
	uint32_t results[2][M * N];

	device_open(&device, &device_small, 1);
	run_products(&device, NULL, results);
	expect(results, -1, -1, -1, 0);
	device_close(&device);
}

// A flipped weight register counts for all vectors of one wave, in one column: 1.0 becomes -1.0.
Test(faults, weight_register)
{
	struct device device;
	uint32_t results[2][M * N];
	struct wc_fault fault = {.kind = WC_FAULT_WEIGHT, .command = 1, .wave = 0, .row = 5, .column = 2, .bit = 15};

	device_open(&device, &device_small, 1);
	run_products(&device, &fault, results);
	expect(results, 1, -1, 2, K - 2);
	fault.command = 0;
	fault.wave = 1;
	run_products(&device, &fault, results);
	expect(results, 0, -1, 2, K - 2);
	fault.column = 3; // loaded with zeros and not drained
	run_products(&device, &fault, results);
	expect(results, -1, -1, -1, 0);
	device_close(&device);
}

// 8 after the first wave, in binary 1.0 x 2^3: bit 23 makes it 16. After the second wave 16 becomes 8.
Test(faults, accumulator)
{
	struct device device;
	uint32_t results[2][M * N];
	struct wc_fault fault = {.kind = WC_FAULT_ACCUMULATOR, .command = 0, .wave = 0, .row = 4, .column = 1, .bit = 23};

	device_open(&device, &device_small, 1);
	cr_assert_eq(golden_bits_of(8.0f) >> 23 & 1, 0);
	run_products(&device, &fault, results);
	expect(results, 0, 4, 1, 16 + 8);
	fault.wave = 1;
	run_products(&device, &fault, results);
	expect(results, 0, 4, 1, 8);
	device_close(&device);
}

// The sign of A[3][0], before the second command reads it; the byte stays flipped.
Test(faults, buffer)
{
	struct device device;
	uint32_t results[2][M * N];
	struct wc_fault fault = {.kind = WC_FAULT_BUFFER, .command = 1, .address = A + 3 * K * 2 + 1, .bit = 7};
	uint16_t half;

	device_open(&device, &device_small, 1);
	run_products(&device, &fault, results);
	for (int n = 0; n < N; n++) {
		cr_assert_eq(golden_float_of(results[0][3 * N + n]), K);
		cr_assert_eq(golden_float_of(results[1][3 * N + n]), K - 2);
		cr_assert_eq(golden_float_of(results[1][2 * N + n]), K);
	}
	device.backend->ops->buffer_read(device.backend, A + 3 * K * 2, &half, 2);
	cr_assert_eq(half, 0xbc00);
	device_close(&device);
}

static int remember_at_end(void *context, const struct wc_event *event)
{
	uint8_t **bytes = context;

	if (event->kind == WC_EVENT_COMMAND_END && event->command_index == 0)
		bytes[1][0] = bytes[0][5];
	return 0;
}

// A stored byte, seen flipped when the STORE's end is reported, and by the LOAD that follows.
Test(faults, memory)
{
	struct device device;
	struct wc_store_command store;
	struct wc_load_command load;
	struct wc_fault fault = {.kind = WC_FAULT_MEMORY, .command = 0, .bit = 3};
	uint8_t seen = 0, bytes[16] = {0};
	uint8_t *watched[2] = {NULL, &seen};
	struct wc_observer observer = {.context = watched, .event = remember_at_end};

	device_open(&device, &device_small, 1);
	store = device_store(&device, 0, 0, 16);
	load = device_load(&device, 0, 64, 16);
	fault.address = store.dram_addr + 5;
	watched[0] = wc_memory_at(&device.memory, store.dram_addr, 16);
	device.backend->ops->set_fault(device.backend, &fault);
	device.backend->ops->set_observer(device.backend, &observer);
	device.backend->ops->buffer_write(device.backend, 0, bytes, 16);
	device_push(&device, &store);
	device_push(&device, &load);
	cr_assert_eq(device_run(&device), WC_STATUS_OK);
	cr_assert_eq(seen, 8);
	device.backend->ops->buffer_read(device.backend, 64, bytes, 16);
	cr_assert_eq(bytes[5], 8);
	device_close(&device);
}

Test(faults, a_fault_strikes_once_and_again_after_reset)
{
	struct device device;
	uint32_t results[2][M * N];
	struct wc_fault fault = {.kind = WC_FAULT_WEIGHT, .command = 0, .wave = 0, .row = 0, .column = 0, .bit = 15};

	device_open(&device, &device_small, 1);
	for (int i = 0; i < 2; i++) {
		run_products(&device, &fault, results);
		expect(results, 0, -1, 0, K - 2);
	}
	device_close(&device);
}

// ---- the vector unit -------------------------------------------------------------------------------

// 40 elements on 8 lanes, or the ReLU of them: element 19 is what lane 3 writes in vector 2.
static void flip_lane(const void *command, struct wc_fault fault, uint16_t expected)
{
	uint16_t halves[40], got[40];
	struct device device;

	for (int i = 0; i < 40; i++)
		halves[i] = 0x3c00;
	device_open(&device, &device_small, 1);
	device.backend->ops->set_fault(device.backend, &fault);
	for (int i = 0; i < 2; i++) {
		device.backend->ops->buffer_write(device.backend, 0, halves, sizeof(halves));
		cr_assert_eq(device_execute(&device, command), WC_STATUS_OK);
		device.backend->ops->buffer_read(device.backend, 1024, got, sizeof(got));
		for (int e = 0; e < 40; e++)
			cr_assert_eq(got[e], i == 1 && e == 19 ? expected : 0x3c00, "command %d, element %d: %04x", i, e, got[e]);
	}
	device_close(&device);
}

// Bit 20 of an fp32 result is bit 7 of what is left of it; a bit of ReLU is one of fp16.
Test(faults, lane)
{
	struct wc_fault fault = {.kind = WC_FAULT_LANE, .command = 1, .row = 2, .column = 3, .bit = 20};
	struct wc_simd_command copy = device_copy(40, 0, 1024);
	struct wc_vector_command relu = device_vector(0, 40, 0, 2048, 1024);

	copy.block = copy.block_step = copy.groups = 8;
	flip_lane(&copy, fault, 0x3c80);
	fault.bit = 7;
	flip_lane(&relu, fault, 0x3c80);
	fault.column = 8; // of 8 lanes
	flip_lane(&copy, fault, 0x3c00);
	flip_lane(&relu, fault, 0x3c00);
	fault.column = 3;
	fault.row = 5; // of 5 vectors
	flip_lane(&copy, fault, 0x3c00);
	flip_lane(&relu, fault, 0x3c00);
}

// Bytes that the command leaves otherwise with the fault than without, from the first to the last.
static uint32_t wrong_bytes(struct device *device, const struct wc_simd_command *command, const uint8_t *image, const struct wc_fault *fault)
{
	uint32_t bytes = device->backend->params.buffer_bytes, first = 0, end = bytes;
	uint8_t *results[2];

	for (int i = 0; i < 2; i++) {
		results[i] = malloc(bytes);
		device_start(device, 1);
		device->backend->ops->set_fault(device->backend, i ? fault : NULL);
		device->backend->ops->buffer_write(device->backend, 0, image, bytes);
		cr_assert_eq(device_execute(device, command), WC_STATUS_OK);
		device->backend->ops->buffer_read(device->backend, 0, results[i], bytes);
	}
	while (first < bytes && results[0][first] == results[1][first])
		first++;
	while (end > first && results[0][end - 1] == results[1][end - 1])
		end--;
	free(results[0]);
	free(results[1]);
	return end - first;
}

Test(faults, a_lane_shows_in_one_element_of_every_program)
{
	uint64_t state = device_seed() + 600;
	struct device device;
	uint8_t *image;

	device_open(&device, &device_small, 1);
	image = malloc(device_small.buffer_bytes);
	for (unsigned program = 0; program < WC_SIMD_PROGRAMS; program++) {
		int shown = 0;

		for (int tries = 0; tries < 200 && shown < 5; tries++) {
			struct wc_fault fault = {.kind = WC_FAULT_LANE};
			struct simd_case c;
			uint32_t wrong;

			simd_case_draw(&c, (enum wc_simd_program)program, &device_small, &state);
			for (uint32_t i = 0; i < device_small.buffer_bytes; i++)
				image[i] = (uint8_t)device_random(&state);
			simd_case_fill(&c, image, &state);
			fault.row = device_between(&state, 0, 7);
			fault.column = device_between(&state, 0, 3);
			fault.bit = device_between(&state, 0, 31);
			wrong = wrong_bytes(&device, &c.command, image, &fault);
			cr_assert_leq(wrong, 4, "%s: %u bytes are wrong", wc_simd_program_name(program), wrong);
			shown += wrong > 0;
		}
		cr_assert(shown, "%s: no fault shows", wc_simd_program_name(program));
	}
	free(image);
	device_close(&device);
}
