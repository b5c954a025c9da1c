// SPDX-License-Identifier: Apache-2.0
//
// Gradients of what slides over an image, along one axis.
#ifndef WC_LOWER_AXIS_H
#define WC_LOWER_AXIS_H

#include <stdint.h>

// Pixels of the input with one residue modulo the stride: the same taps of the kernel reach them, tap_first, tap_first + tap_step, ...
struct lower_axis {
	int64_t first, step, count; // pixels: first + i step
	int64_t taps, tap_first, tap_step;
	int64_t position;     // output position that tap tap_first of the first pixel reads
	int64_t tap_position; // added to it per tap, negative
};

// Of pixels [lo, hi). Without taps no output depends on them.
struct lower_axis lower_axis_of(int residue, int lo, int hi, int kernel, int stride, int pad, int dilation);

#endif
