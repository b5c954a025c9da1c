// SPDX-License-Identifier: Apache-2.0
//
// Where a difference comes from. A wrong tile is computed again on a second device, from a copy of the global buffer
// taken when the difference showed, with the column's partial sums, operands and accumulators probed, and followed wave by wave along
// the golden model's account of that element. The first thing that differs names the stage at fault.
#ifndef WC_DIAGNOSE_H
#define WC_DIAGNOSE_H

#include "csim/memory.h"
#include "driver/host/device.h"
#include "driver/host/expect.h"
#include "driver/host/fault.h"
#include "driver/host/layout.h"
#include "driver/host/mismatch.h"

enum diagnosis_stage {
	STAGE_NONE,
	STAGE_COMMAND,        // the command in the ring is not the one that was lowered
	STAGE_PE,             // a PE's partial sum is not that of its operands
	STAGE_BUFFER,         // an operand in the global buffer is wrong: DMA or storage
	STAGE_PRELOAD,        // a preloaded sum in the global buffer is wrong
	STAGE_FEED_A,         // the buffer is right, the activation that enters the array is not: fetcher, im2col, operand buffer A
	STAGE_FEED_B,         // the same of weights
	STAGE_ACCUMULATOR,    // all PEs are right, the accumulator is not
	STAGE_DRAIN,          // the accumulator is right, the drained value is not
	STAGE_VECTOR,         // the vector unit
	STAGE_LOAD,           // DRAM is right, the buffer behind a LOAD is not
	STAGE_STORE,          // the buffer is right, DRAM behind a STORE is not
	STAGE_MEMORY,         // DRAM does not hold what was stored or placed
	STAGE_NOT_REPRODUCED, // the replay is right
};

struct diagnosis {
	enum diagnosis_stage stage;
	int wave, pe_row, column; // -1: none
	uint64_t address;         // of the operand at fault, in the buffer or in DRAM
	bool has_address;
	char text[4][256];        // lines for the report; empty: no more
};

struct diagnose_context {
	const struct program *program;
	const struct layout *layout;
	struct expect *expect;
	const struct device *device;
	const struct fault *fault;
	uint64_t seed;
	const uint8_t *buffer;        // the global buffer when the difference showed; NULL: not kept
	const struct wc_memory *memory;
	uint32_t ring_entries;
	uint32_t tail;                // commands written to the ring so far
};

// Fill `diagnosis`. Failures of the replay itself are told in its text: the mismatch stands in any case.
void diagnose(const struct diagnose_context *context, const struct mismatch *mismatch, struct diagnosis *diagnosis);

// "pe", "buffer", ... as JSON has it. Static storage.
const char *diagnosis_stage_name(enum diagnosis_stage stage);

#endif
