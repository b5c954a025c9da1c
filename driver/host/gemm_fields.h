// SPDX-License-Identifier: Apache-2.0
//
// The operands of a GEMM tile in plain integers, and how they become the fields of a command.
#ifndef WC_GEMM_FIELDS_H
#define WC_GEMM_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "wc_commands.h"

enum fetch_mode { FETCH_K_IN_VECTOR, FETCH_K_OVER_PIXELS, FETCH_K_OVER_TAPS };

// A 3-D box of positions: 0 innermost (x), 1 (y), 2 (sample).
struct walk_box {
	int64_t count[3];
	int64_t stride[3]; // bytes
};

// Position of flattened index i, innermost fastest.
void walk_start(const struct walk_box *box, int64_t i, int64_t start[3]);

// An operand fetcher (rtl/README.md, "The two walkers"); image positions are those of index 0 of the box.
struct gemm_fetch {
	int64_t base; // byte address of the tile's first vector
	enum fetch_mode mode;
	int64_t taps_y, taps_x;
	struct walk_box box;
	int64_t start[3];
	int64_t y_first, x_first, y_step, x_step, y_size, x_size;
	int64_t tap_y_step, tap_x_step;
	int64_t tap_x_delta, tap_y_delta, block_delta, chan_delta;
	int64_t chan_total, chan_block;
	int64_t tap_y_start, tap_x_start, chan_start;
};

// A fetcher that stands on one block of `channels` contiguous elements inside its image.
struct gemm_fetch gemm_fetch_plain(int64_t base, enum fetch_mode mode, int64_t channels);
// The three tap deltas, from the bytes per tap along each axis and per channel block.
void gemm_fetch_taps(struct gemm_fetch *fetch, int64_t bytes_y, int64_t bytes_x, int64_t bytes_block);

// Rows of the tile in the buffer.
struct gemm_walk {
	int64_t base;
	struct walk_box box;
	int64_t start[3];
};

// Write the fields; everything must fit them (lower_check), which is asserted.
void gemm_put_a(struct wc_gemm_command *command, const struct gemm_fetch *fetch);
void gemm_put_b(struct wc_gemm_command *command, const struct gemm_fetch *fetch);
void gemm_put_out(struct wc_gemm_command *command, const struct gemm_walk *walk);

#endif
