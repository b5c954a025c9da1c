// SPDX-License-Identifier: Apache-2.0
//
// One verilated array to be timed: its shape, and a loop that clocks it through a periodic program.
#ifndef WC_BENCH_ARRAY_H
#define WC_BENCH_ARRAY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BENCH_MAX_LANES = 128 };

// Inputs of one cycle, packed as at the ports of rtl/array.v.
struct bench_cycle {
	uint32_t a[BENCH_MAX_LANES / 2], a_valid[BENCH_MAX_LANES / 32], a_sel[BENCH_MAX_LANES / 32];
	uint32_t w[BENCH_MAX_LANES / 2], w_en[BENCH_MAX_LANES / 32], w_sel[BENCH_MAX_LANES / 32];
};

struct bench_model {
	const char *form; // module name
	int rows, cols;
	// Reset, run `cycles` cycles over the `period` entries of the program again and again, and return a hash
	// of all sums that came out.
	uint64_t (*run)(const struct bench_cycle *program, int period, long cycles);
};

extern const struct bench_model bench_array_16, bench_fast_16, bench_fast_32, bench_fast_128, bench_dpi_16, bench_dpi_32,
	bench_dpi_128;

#ifdef __cplusplus
}
#endif
#endif
