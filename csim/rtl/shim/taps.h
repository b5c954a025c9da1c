// SPDX-License-Identifier: Apache-2.0
//
// Where the simulated test bench (rtl/sim/wc_tb.sv) keeps the signals that traces, probes and faults look at. Filled once per model and core; each
// pointer is a core's part of the port of the same name. Wide ports are 32-bit words, least significant first.
#ifndef WC_TAPS_H
#define WC_TAPS_H

#include <stdint.h>

// Bits of `events`.
enum tap_event {
	TAP_BEGIN = 0xf << 0, // bit e: engine e takes a command
	TAP_END = 0xf << 4,   // bit 4 + e: engine e completes one
	TAP_WAVE_BEGIN = 1 << 8,
	TAP_WAVE_END = 1 << 9,
	TAP_DRAIN = 1 << 10,
	TAP_ACCUMULATE = 1 << 11,
	TAP_FEED_A = 1 << 12,
	TAP_FEED_B = 1 << 13,
	TAP_BEGIN_SIMD = 1 << 14, // what the vector engine takes is a SIMD
	TAP_END_SIMD = 1 << 15,   // ... completes
	TAP_PUT = 1 << 16,        // the vector unit writes a vector
};

// Bits of `levels`.
enum tap_level { TAP_IDLE = 1, TAP_STOPPED = 2, TAP_INTERRUPT = 4, TAP_MOVES = 8 };

enum tap_engine { TAP_LOAD, TAP_GEMM, TAP_VECTOR, TAP_STORE, TAP_ENGINES };

struct taps {
	int core;
	const uint32_t *events;
	const uint8_t *levels, *waiting;
	const uint32_t *begin_index, *end_index, *complete; // TAP_ENGINES words
	const uint32_t *waits;                              // TAP_ENGINES x 4 words
	const uint32_t *ar_index, *aw_index;                // a word per memory port
	const uint32_t *wave_index, *wave_rows, *wave_cmd;
	const uint32_t *drain_row, *drain_cmd, *drain_cols, *drain_bits;
	const uint8_t *drain_fp32;
	const uint32_t *feed_a_row, *feed_a_sel, *feed_a_bits;
	const uint32_t *feed_b_k, *feed_b_wave, *feed_b_cmd, *feed_b_bits;
	const uint32_t *acc_row, *acc_wave, *acc_cmd, *acc_side, *acc_bits;
};

#endif
