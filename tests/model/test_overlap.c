// SPDX-License-Identifier: Apache-2.0
//
// Execution in any order that the waits allow: complete waits give the same result in every order, a missing one is found out.
#include <criterion/criterion.h>
#include <string.h>

#include "tests/model/device.h"

// Four times: LOAD a piece, ReLU it, STORE it, all through the same buffer bytes. Every command of a round needs the one
// before it, and the next round's LOAD must wait for the STORE.
enum { ROUNDS = 4, PIECE_BYTES = 64 };

static bool run_rounds(uint64_t seed, bool all_waits)
{
	struct device device;
	bool equal;
	uint8_t *memory;

	device_open(&device, &device_small, seed);
	wc_model_set_overlap(device.backend, true);
	memory = wc_memory_at(&device.memory, device_region(&device, WC_CLASS_ACTIVATION), DEVICE_REGION_BYTES);
	for (int i = 0; i < ROUNDS * PIECE_BYTES; i++)
		memory[i] = (uint8_t)(i % 100); // positive halves
	for (uint32_t i = 0; i < ROUNDS; i++) {
		struct wc_load_command load = device_load(&device, i * PIECE_BYTES, 0, PIECE_BYTES);
		struct wc_vector_command relu = device_vector(0, PIECE_BYTES / 2, 0, 0, PIECE_BYTES);
		struct wc_store_command store = device_store(&device, 4096 + i * PIECE_BYTES, PIECE_BYTES, PIECE_BYTES);

		load.wait_vector = i;
		relu.wait_load = i + 1;
		relu.wait_store = all_waits ? i : 0;
		store.wait_vector = i + 1;
		device_push(&device, &load);
		device_push(&device, &relu);
		if (i == 2)
			cr_assert_eq(device_run(&device), WC_STATUS_OK);
		device_push(&device, &store);
	}
	cr_assert_eq(device_run(&device), WC_STATUS_OK);
	cr_assert_eq(device_csr(&device, WC_CSR_DONE), 3 * ROUNDS);
	equal = memcmp(memory, memory + 4096, ROUNDS * PIECE_BYTES) == 0;
	device_close(&device);
	return equal;
}

Test(overlap, complete_waits_give_the_same_result_in_every_order)
{
	for (uint64_t seed = 0; seed < 50; seed++)
		cr_assert(run_rounds(device_seed() + seed, true), "seed %llu", (unsigned long long)(device_seed() + seed));
}

Test(overlap, a_missing_wait_is_found_out)
{
	int wrong = 0;

	for (uint64_t seed = 0; seed < 50; seed++)
		wrong += !run_rounds(device_seed() + seed, false);
	cr_assert_gt(wrong, 0);
}

// A bad command is reported when its turn comes, whatever was fetched ahead of it.
Test(overlap, a_bad_command_waits_for_those_before_it)
{
	struct device device;
	struct wc_load_command command;

	device_open(&device, &device_small, device_seed());
	wc_model_set_overlap(device.backend, true);
	command = device_load(&device, 0, 0, 16);
	device_push(&device, &command);
	device_push(&device, &command);
	command.version = 0;
	device_push(&device, &command);
	cr_assert_eq(device_run(&device), WC_STATUS_BAD_VERSION);
	cr_assert_eq(device_csr(&device, WC_CSR_ERROR_INDEX), 2);
	cr_assert_eq(device_csr(&device, WC_CSR_DONE), 2);
	device_close(&device);
}
