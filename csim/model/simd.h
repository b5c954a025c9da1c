// SPDX-License-Identifier: Apache-2.0
//
// SIMD: the vector unit's machine as rtl/README.md ("Vector unit") describes it. simd.c walks the loop nest, simd_stream.c moves vectors
// between buffer and lanes, simd_lanes.c and lane_ops.c execute operations. The micro-programs are the ones the ROM is made of; of the golden model
// only the conversions between fp16 and fp32 are used, and none of its operators.
#ifndef WC_MODEL_SIMD_H
#define WC_MODEL_SIMD_H

#include "csim/model/lane_ops.h"
#include "csim/model/model.h"
#include "wc_programs.h"

enum { SIMD_STREAMS = 8, SIMD_TAP_STREAMS = 4, SIMD_REGISTERS = 8, SIMD_CONSTANTS = 4, SIMD_LANES_MAX = LANE_OPS_MAX };

// Types of a stream; from SIMD_BITS + 1 on, bit fields of type - SIMD_BITS bits.
enum simd_type { SIMD_HALF, SIMD_FLOAT, SIMD_SCALAR, SIMD_BITS = 2 };

struct simd_stream {
	uint32_t base, stride_n, stride_y, stride_x, tap_y, tap_x;
	uint32_t stride_block;
	int type;
	bool is_zero, is_off;
};

// Where in the nest the machine is.
struct simd_place {
	uint32_t n, block, y, x, tap_y, tap_x;
};

struct simd_run {
	struct wc_model *model;
	const struct wc_simd_command *command;
	uint32_t index;   // of the command in the run
	const struct wc_simd_text *text;
	struct simd_stream streams[SIMD_STREAMS];
	uint32_t constants[SIMD_CONSTANTS];
	uint32_t lanes;   // of the unit
	uint32_t channel; // of lane 0 in this block
	uint32_t active;  // lanes with a channel in this block
	uint32_t tap;     // its number
	struct simd_place place;
	uint64_t written; // vectors

	uint32_t registers[SIMD_REGISTERS][SIMD_LANES_MAX];
	uint32_t predicate[SIMD_LANES_MAX]; // masks, as in lane_ops.h
	uint32_t first[SIMD_LANES_MAX];

	// Bit fields written last: the bit behind them, and the bits of the half that it lies in.
	bool has_fields;
	uint32_t fields_end;
	uint16_t fields_rest;
};

void simd_streams_init(struct simd_run *run);
// The next vector of stream `index` at the present place of `part`; lanes without a channel are +0. 0 or an enum wc_status.
model_result simd_read(const struct simd_run *run, int index, enum wc_simd_part part, uint32_t *lanes);
// `lanes` is changed by a planted fault.
model_result simd_write(struct simd_run *run, int index, enum wc_simd_part part, uint32_t *lanes);

// The operations of a part, where there are any.
model_result simd_execute(struct simd_run *run, enum wc_simd_part part);

#endif
