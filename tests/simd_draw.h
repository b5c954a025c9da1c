// SPDX-License-Identifier: Apache-2.0
//
// Inside simd_*.c: a case while it is drawn.
#ifndef WC_TESTS_SIMD_DRAW_H
#define WC_TESTS_SIMD_DRAW_H

#include "tests/simd_cases.h"

struct draw {
	struct simd_case *made;
	const struct wc_device_params *params;
	uint64_t *state;
	uint64_t used; // bytes of the buffer
	int lanes;
};

struct stream_fields {
	uint32_t *base;
	int32_t *n, *y, *x, *tap_y, *tap_x;
	uint8_t *type;
};

int simd_draw_between(struct draw *d, int lo, int hi);
uint32_t simd_draw_pattern(float value);

// A tensor behind those before it: any; of the map's shape; per sample and channel; per sample, row and channel.
struct simd_tensor *simd_draw_tensor(struct draw *d, int stream, enum simd_kind kind, int h, int w, int c, int bits);
struct simd_tensor *simd_draw_map_of(struct draw *d, int stream, enum simd_kind kind);
struct simd_tensor *simd_draw_statistic(struct draw *d, int stream);
struct simd_tensor *simd_draw_row_sums(struct draw *d, int stream);
// The result goes where the source is, sometimes.
void simd_draw_in_place(struct draw *d, int result, int source);

// The stream starts at (y, x) of its tensor and goes y_step rows and x_step pixels at a time; a tap is a row or a pixel.
void simd_draw_stream(struct draw *d, int i, int y, int x, int y_step, int x_step);
// Rows and pixels one by one; what has one row or one pixel stands still.
void simd_draw_plain_all(struct draw *d);
struct stream_fields simd_draw_fields(struct wc_simd_command *c, int i);

void simd_draw_map(struct draw *d);
void simd_draw_nest(struct draw *d, int h, int w);
void simd_draw_blocks(struct draw *d, int group, int groups, int step);
void simd_draw_any_blocks(struct draw *d);
void simd_draw_whole_groups(struct draw *d);

// Whole cases: simd_pool.c, simd_norm.c.
void simd_draw_pool(struct draw *d);
void simd_draw_pool_gradient(struct draw *d);
void simd_draw_weighted_sum(struct draw *d);
void simd_draw_norm_sums(struct draw *d);
void simd_draw_norm_stats(struct draw *d);
void simd_draw_norm_apply(struct draw *d);

#endif
