// SPDX-License-Identifier: Apache-2.0
//
// A device on a bench: the verilated RTL behind struct wc_backend, a memory, a command ring, and the few calls that every test
// needs. Faults of the harness itself (no library, no memory) fail the test at once.
#ifndef WC_TEST_DEVICE_HARNESS_H
#define WC_TEST_DEVICE_HARNESS_H

#include <stdbool.h>
#include <stdint.h>

#include "csim/backend.h"
#include "wc_commands.h"

// The configurations that tests/device/rules.mk builds.
#define CONFIG_QUICK "r16c16-b65536-w16-m1-dpi" // square, array as C macro
#define CONFIG_SMALL "r8c4-b16384-w32-m2-rtl-rand" // not square, wider bus than lines, synthesizable array, undefined state random
// The same with two memory ports.
#define CONFIG_TWO "r16c16-b65536-w16-p2-m1-dpi"
#define CONFIG_SMALL_TWO "r8c4-b16384-w32-p2-m2-rtl-rand"
// The small one with two cores.
#define CONFIG_CORES "r8c4-b16384-w32-c2-m2-rtl-rand"

enum { RING_SLOTS = 16 };

struct bench {
	struct wc_memory memory;
	struct wc_backend *backend;
	struct wc_device_params params;
	int core;         // which one the calls below drive
	uint64_t ring;    // address
	uint64_t data;    // address of the region `activation`, where tests put what they like
	uint64_t data_bytes;
	uint32_t issued;  // commands written to the ring
	struct wc_error err;
};

// One of any kind.
union command {
	struct wc_load_command load;
	struct wc_store_command store;
	struct wc_gemm_command gemm;
	struct wc_vector_command vector;
	struct wc_simd_command simd;
	uint8_t bytes[WC_COMMAND_BYTES];
};

// A device of CONFIG, reset with `seed`, registers set up, running, with nothing to do. `options` without library; NULL: all defaults.
void bench_open(struct bench *b, const char *config, const struct wc_rtl_options *options, uint64_t seed);
// The same around the functional C model.
void bench_open_model(struct bench *b, const char *config, uint64_t seed);
// Another view of a device of two cores: of one core, with a part of the memory of its own, whose last bytes are its ring; and that core is
// started in it. The whole of core 0's is counted as WC_CLASS_MASK, of core 1's as WC_CLASS_IO. Only the memory's owner counts and is closed.
void bench_core(struct bench *view, const struct bench *b, int core);
void bench_close(struct bench *b);
// Set the registers up and run; after a reset of the backend, or a soft reset.
void bench_start(struct bench *b);

uint32_t bench_csr(struct bench *b, enum wc_csr csr);
void bench_set_csr(struct bench *b, enum wc_csr csr, uint32_t value);
uint64_t bench_counter(struct bench *b, enum wc_counter counter);
// Every cycle so far was counted by one cause. The device must be idle or stopped.
void bench_check_causes(struct bench *b);

// Debug access to the core's buffer.
void bench_buffer_read(struct bench *b, uint32_t address, void *bytes, uint32_t count);
void bench_buffer_write(struct bench *b, uint32_t address, const void *bytes, uint32_t count);

// Write a command into the ring; run() tells the device of it. Waits until a slot is free when the ring is full. Returns its index.
uint32_t bench_issue(struct bench *b, const void *command);
// Tell the device of all commands issued and let it run until it is idle or stopped. Fails the test on an assertion of the design, and when the
// causes of its cycles do not add up.
void bench_run(struct bench *b);
// run(), and the device must be idle without error.
void bench_finish(struct bench *b);
// run(), and the device must have stopped with this status at this command.
void bench_expect_error(struct bench *b, enum wc_status status, uint32_t index);

uint8_t *bench_at(struct bench *b, uint64_t addr);

// Commands with their headers filled in; waits are 0.
union command command_load(uint64_t dram, uint32_t gbuf, uint32_t row_bytes);
union command command_store(uint64_t dram, uint32_t gbuf, uint32_t row_bytes);
// One contiguous row of `elements`.
union command command_vector(int op, uint32_t elements, uint32_t src, uint32_t dst, uint32_t aux);

// ---- random numbers ------------------------------------------------------------------------------

// Seed of a random test: WC_SEED from the environment, or `seed`. Printed.
uint64_t test_seed(uint64_t seed);
// Uniform in [lo, hi].
uint32_t random_in(uint64_t *state, uint32_t lo, uint32_t hi);
void random_fill(uint64_t *state, void *bytes, uint64_t count);

#endif
