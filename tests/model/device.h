// SPDX-License-Identifier: Apache-2.0
//
// A model with memory and ring, as the model's tests drive it.
#ifndef TESTS_MODEL_DEVICE_H
#define TESTS_MODEL_DEVICE_H

#include <stdint.h>

#include "csim/model/model.h"

enum { DEVICE_RING = 8, DEVICE_REGION_BYTES = 65536 };

struct device {
	struct wc_memory memory;
	struct wc_backend *backend;
	uint32_t pushed;      // commands written so far
	struct wc_error err;
};

// The seed of this run, as tests/seed.h chooses it.
uint64_t device_seed(void);
uint64_t device_random(uint64_t *state);
// In [lo, hi].
int device_between(uint64_t *state, int lo, int hi);

extern const struct wc_device_params device_small; // 8x4, 16 accumulator rows, 16 KiB, bus 16

// Create, reset, and set the CSRs: ring in the command region, window over all the memory, running.
void device_open(struct device *device, const struct wc_device_params *params, uint64_t seed);
void device_start(struct device *device, uint64_t seed);
void device_close(struct device *device);
// Make a model fail at each of its allocations in turn, with a message; the first number that is beyond them.
size_t device_allocations(struct device *device, const struct wc_device_params *params);

// Put a command into the ring, without and with running it to its end. The version and opcode are the caller's.
void device_push(struct device *device, const void *command);
// Step until idle or stopped; asserts that step() itself succeeds. Returns the status.
enum wc_status device_run(struct device *device);
enum wc_status device_execute(struct device *device, const void *command);
uint32_t device_csr(struct device *device, uint32_t offset);
uint64_t device_counter(struct device *device, enum wc_counter counter);

// Base address of a class's region.
uint64_t device_region(const struct device *device, enum wc_class class);

// One row of `bytes` from the activation region + dram_offset to gbuf.
struct wc_load_command device_load(const struct device *device, uint64_t dram_offset, uint32_t gbuf, uint32_t bytes);
struct wc_store_command device_store(const struct device *device, uint64_t dram_offset, uint32_t gbuf, uint32_t bytes);
// out[m][n] = sum of A[m][k] B[k][n], plain matrices in the buffer: A row by row, B column by column, out packed fp16.
struct wc_gemm_command device_matmul(int rows, int m, int n, int k, uint32_t a, uint32_t b, uint32_t out);
// One row of elements.
struct wc_vector_command device_vector(int op, uint32_t elements, uint32_t src, uint32_t aux, uint32_t dst);
// One row of fp16 copied by the vector unit, at most a block of lanes at a time.
struct wc_simd_command device_copy(uint32_t elements, uint32_t from, uint32_t to);

#endif
