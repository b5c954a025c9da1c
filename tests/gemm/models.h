// SPDX-License-Identifier: Apache-2.0
//
// The verilated gemm_bench configurations as the tests see them: an engine, its global buffer, and a loop that feeds it commands.
#ifndef WC_TESTS_GEMM_MODELS_H
#define WC_TESTS_GEMM_MODELS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GEMM_STALL_OPERAND, GEMM_STALL_WEIGHT, GEMM_STALL_ACCUMULATOR, GEMM_STALL_COMMAND, GEMM_STALLS };

struct gemm_run {
	const void *commands;     // `count` commands of 256 bytes. Each is offered once wait_gemm commands are done
	int count;
	uint32_t first_index;     // index of the first command
	int pressure_percent;     // cycles in which each other port makes a new request, when it has none
	uint64_t seed;
	uint32_t scratch_address; // where the load port may write meanwhile: [scratch_address, GbufBytes)
	int halt_cycle;           // cycle in which halt_i rises, or -1
	int cycles_max;
};

struct gemm_result {
	int cycles;               // until the last command was done, the error or cycles_max
	int done;                 // commands done
	bool in_order;            // every done_index was the next one
	bool error;
	int error_status;
	uint32_t error_index;
	int busy, stalls[GEMM_STALLS], waves, bubbles;
	int first_busy, last_busy; // cycles
	int between[GEMM_STALLS]; // the stalls between these two
	int late_accesses;        // accesses granted in cycles after the error or the halt
	int stray_operands;       // operands other than +0 fed beyond k_total or n_cols
	int stray_sums;           // sums other than +0 beyond n_cols, in the accumulator
	int read_errors;          // words that the store and vector ports read wrongly from the scratch area
};

struct gemm_ops {
	int rows, cols, acc_rows, gbuf_bytes, line_bytes, mac_stages;
	void *(*create)(uint64_t seed);
	void (*destroy)(void *model);
	void (*reset)(void *model);
	void (*write)(void *model, const uint8_t *bytes);  // the whole buffer, through the vector port
	void (*read)(void *model, uint8_t *bytes);
	void (*run)(void *model, const struct gemm_run *run, struct gemm_result *result);
};

extern const struct gemm_ops gemm_8x4_1, gemm_16x16_1, gemm_4x8_2;

#ifdef __cplusplus
}
#endif

#endif
