// SPDX-License-Identifier: Apache-2.0
//
// The loop nest and the streams of a SIMD command in plain integers, and how they become its fields (rtl/README.md, "Vector unit").
#ifndef WC_SIMD_FIELDS_H
#define WC_SIMD_FIELDS_H

#include <stdint.h>

#include "wc_commands.h"
#include "wc_programs.h"

// Types of a stream; from SIMD_BITS + 1 on, fields of type - SIMD_BITS bits.
enum simd_type { SIMD_HALF, SIMD_FLOAT, SIMD_SCALAR, SIMD_BITS = 2 };

struct simd_nest {
	enum wc_simd_program program;
	int64_t n, y, x;  // samples, rows, pixels of a row
	int64_t channels; // of a pixel
	int64_t lanes;    // of the vector unit
};

// One side of the taps: pixel i has tap t at image position first + i step + t tap_step; outside [0, size) it is left out.
struct simd_window {
	int64_t taps, first, step, size, tap_step;
	int64_t number; // what a tap adds to its number
};

// Bytes, of fields of bits bits: of the first element, and from sample to sample, row to row, pixel to pixel.
struct simd_stream {
	int64_t base, n, y, x;
};

// The nest without taps, over blocks as wide as the unit.
void simd_put_nest(struct wc_simd_command *command, const struct simd_nest *nest);
// Into how many equal parts a group must be cut for each to fit the unit; 1: it fits as it is.
int simd_group_parts(int group, int64_t lanes);
// Blocks of whole groups of `group` channels. A group wider than the unit is cut into its parts, which taps walk: their number.
int simd_put_groups(struct wc_simd_command *command, const struct simd_nest *nest, int group);
void simd_put_windows(struct wc_simd_command *command, const struct simd_window *y, const struct simd_window *x, int64_t first_number);
void simd_put_stream(struct wc_simd_command *command, int index, int type, struct simd_stream stream);
// What a tap adds to the address of stream `index`, 0 to 3.
void simd_put_tap(struct wc_simd_command *command, int index, int64_t y, int64_t x);
void simd_put_constant(struct wc_simd_command *command, int index, float value);

#endif
