// SPDX-License-Identifier: Apache-2.0
//
// SIMD commands by hand: a nest, and streams over dense tensors.
#ifndef TESTS_MODEL_SIMD_NEST_H
#define TESTS_MODEL_SIMD_NEST_H

#include "tests/model/device.h"

enum { NEST_HALF = 0, NEST_FLOAT = 1, NEST_ONE = 2 };

// One tap, blocks of `block` channels in groups of one.
struct wc_simd_command nest(enum wc_simd_program program, int n, int y, int x, int channels, int block);
void nest_groups(struct wc_simd_command *c, int group, int groups, int step);
// Strides in the stream's unit.
void nest_stream(struct wc_simd_command *c, int stream, int type, uint32_t base, int stride_n, int stride_y, int stride_x);
void nest_taps(struct wc_simd_command *c, int stream, int tap_y, int tap_x);
uint32_t nest_pattern(float value);

// Execute, and expect that it ends well.
void nest_run(struct device *device, const struct wc_simd_command *c);
void nest_write(struct device *device, uint32_t at, const void *bytes, size_t count);
// The buffer holds just these bytes there.
void nest_expect(struct device *device, uint32_t at, const void *bytes, size_t count, const char *what);

#endif
