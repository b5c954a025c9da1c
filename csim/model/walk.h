// SPDX-License-Identifier: Apache-2.0
//
// The address walkers of a GEMM command, as rtl/README.md ("The two walkers") describes them.
//
// Addresses wrap modulo 2^32 as the design's do; whoever reads or writes checks the range. `ended` is set by the step that leaves
// the last position: a command that uses the walk after that stops with the status buffer_range.
#ifndef WC_MODEL_WALK_H
#define WC_MODEL_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "wc_commands.h"

// The fields a_* or b_* of a GEMM command. Names as in commands.def.
struct fetch_fields {
	uint32_t base;
	int mode, merge, taps_y, taps_x;
	int count0, count1, count2, start0, start1, start2;
	uint32_t delta0, delta1, delta2;
	int y_first, x_first, y_start, x_start, y_step, x_step, y_size, x_size;
	int tap_y_step, tap_x_step;
	uint32_t tap_x_delta, tap_y_delta, block_delta, chan_delta;
	int chan_total, chan_block;
	int tap_y_start, tap_x_start, chan_start, tap_y_pos, tap_x_pos;
	int run_length, run_start;
};

struct fetch_fields fetch_fields_a(const struct wc_gemm_command *command);
struct fetch_fields fetch_fields_b(const struct wc_gemm_command *command);

// Positions (count2, count1, count0), innermost count0.
struct vector_walk {
	const struct fetch_fields *fields;
	int index0, index1, index2;
	uint32_t address;
	int y, x; // image position of tap (0, 0)
	bool ended;
};

void vector_walk_init(struct vector_walk *walk, const struct fetch_fields *fields);
void vector_walk_step(struct vector_walk *walk);

// Elements (block, r, s, c), innermost c.
struct tap_walk {
	const struct fetch_fields *fields;
	int first;    // first channel of the block
	int channels; // of the block
	int r, s, c;  // c counts inside the block
	uint32_t offset; // of the tap, relative to the vector's address
	int y, x;     // of the tap, relative to the vector's position
	bool ended;
};

// From tap (0, 0), channel 0; or, for mode 1, from the command's start tap and channel.
void tap_walk_init(struct tap_walk *walk, const struct fetch_fields *fields);
void tap_walk_init_start(struct tap_walk *walk, const struct fetch_fields *fields);
// Skip `count` channels, no more than are left in the block; the last one moves on to the next tap.
void tap_walk_advance(struct tap_walk *walk, int count);

// Rows of the drained or preloaded tile.
struct row_walk {
	const struct wc_gemm_command *command;
	int index0, index1, index2;
	uint32_t address;
	bool ended;
};

void row_walk_init(struct row_walk *walk, const struct wc_gemm_command *command, uint32_t base);
void row_walk_step(struct row_walk *walk);

#endif
