// SPDX-License-Identifier: Apache-2.0
//
// Inside csim/golden: a GEMM whose left operand is read from a feature map through taps (never laid out as a whole), for forward
// and data gradient.
//
//     result[pixel][column] = sum over (block of channels, tap, channel in block) of source[pixel + tap][channel] * weight[column][tap][channel]
//
// Use: fill the members of the first group -> init -> add_tap for each tap, in the order of the sum -> set_weights -> for each sample
// set_source, add_pixel for each pixel, flush -> release. Without taps the results are +0.
//
// With set_sums in set_source's place, sums in float are continued instead, over the channels [channel_lo, channel_hi) alone.
#ifndef WC_GOLDEN_IMPLICIT_H
#define WC_GOLDEN_IMPLICIT_H

#include <stddef.h>
#include <stdint.h>

#include "traces/error.h"

struct implicit_tap {
	int y, x;      // relative to a pixel's position in the source
	size_t weight; // index of its weight of column 0, channel 0
};

// A run of K inside one chunk: channels [channel, channel + count) of one tap, from lane `lane` on.
struct implicit_run {
	int tap, channel, lane, count;
};

enum { IMPLICIT_PIXELS = 64 }; // pixels worked on together

struct implicit_gemm {
	// Set by the caller.
	int rows;                    // lanes of a chunk
	int height, width, channels; // of the source
	int channel_lo, channel_hi;  // those that are summed; channel_lo is a multiple of `rows`, so that K's chunks are those of the whole sum
	int columns;
	size_t column_stride, channel_stride; // elements between weights of adjacent columns, channels
	const uint16_t *bias;        // [columns], where the accumulators start, borrowed; NULL: they start from +0

	// Owned.
	struct implicit_tap *taps;
	int tap_count;
	struct implicit_run *runs;
	int *chunk_runs;             // chunk i has runs [chunk_runs[i], chunk_runs[i + 1])
	int chunk_count;
	int padded;                  // columns rounded up for golden_wave_add()
	float *weights;              // [chunk_count * rows][padded]
	float *source;               // [height][width][channels]
	float *acc;                  // [IMPLICIT_PIXELS][padded]
	float *a;                    // [IMPLICIT_PIXELS][rows]

	uint16_t *result;            // borrowed
	float *sums;                 // borrowed; NULL: there is a result
	int pixel_count;             // waiting for flush
	int pixel_y[IMPLICIT_PIXELS], pixel_x[IMPLICIT_PIXELS];
	size_t pixel_out[IMPLICIT_PIXELS];
};

// Room for `tap_max` taps. On failure nothing needs releasing.
int implicit_init(struct implicit_gemm *gemm, int tap_max, struct wc_error *err);
void implicit_add_tap(struct implicit_gemm *gemm, int y, int x, size_t weight);
// Cut K into chunks and gather the weights in that order. WC_ERR_SYSTEM: release is still needed.
int implicit_set_weights(struct implicit_gemm *gemm, const uint16_t *weights, struct wc_error *err);
void implicit_set_source(struct implicit_gemm *gemm, const uint16_t *source, uint16_t *result);
void implicit_set_sums(struct implicit_gemm *gemm, const uint16_t *source, float *sums);
// `out`: index in `result` or `sums` of the pixel's column 0.
void implicit_add_pixel(struct implicit_gemm *gemm, int y, int x, size_t out);
void implicit_flush(struct implicit_gemm *gemm);
void implicit_release(struct implicit_gemm *gemm);

#endif
