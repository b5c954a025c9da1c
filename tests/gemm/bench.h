// SPDX-License-Identifier: Apache-2.0
//
// Runs commands on a verilated engine and compares the whole global buffer with what the interpreter makes of them.
#ifndef WC_TESTS_GEMM_BENCH_H
#define WC_TESTS_GEMM_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "conv.h"
#include "models.h"
#include "tests/array/random.h"
#include "wc_commands.h"

// The last bytes of the buffer belong to the load port's random writes.
enum { BENCH_SCRATCH_BYTES = 2048, BENCH_COMMANDS_MAX = 4096 };

struct bench {
	const struct gemm_ops *ops;
	void *model;
	struct rng rng;
	struct array_shape array;
	uint32_t data_bytes;  // of the buffer, without the scratch area
	uint8_t *buffer;      // what the buffer holds
	bool wild;            // ... with special values
	struct wc_gemm_command commands[BENCH_COMMANDS_MAX];
	int count;
};

// All configurations.
extern const struct gemm_ops *const bench_ops[];
enum { BENCH_OPS_COUNT = 3 };

struct bench *bench_create(const struct gemm_ops *ops, const char *test);
void bench_free(struct bench *bench);

// Fill the data area. wild: all magnitudes and special values; else values whose sums are finite.
void bench_fill(struct bench *bench, bool wild);

// Load the buffer, run the commands, and compare buffer, counters and order of completion; fails the test with the first difference.
// Returns the result.
struct gemm_result bench_run(struct bench *bench, int pressure_percent, const char *what);

// A random convolution that fits the data area with two weight gradients' room; addresses are set. kernel 0: any of 1..11.
struct conv bench_conv(struct bench *bench, int kernel, uint32_t *dw);

#endif
