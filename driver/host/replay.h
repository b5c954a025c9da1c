// SPDX-License-Identifier: Apache-2.0
//
// One command alone on a second device of the same kind, from a copy of the global buffer.
#ifndef WC_REPLAY_H
#define WC_REPLAY_H

#include "driver/host/device.h"
#include "driver/host/fault.h"
#include "driver/host/op.h"

// What one wave did for one element of a tile.
struct replay_wave {
	uint16_t *a, *b;      // [rows] operands as they entered the array
	uint32_t *psum;       // [rows] partial sums, PE row 0 first
	uint32_t accumulator; // after the wave
	bool seen_accumulator;
	int seen_psum, seen_b; // values that were reported
	bool seen_a;
};

struct replay {
	int rows;
	int wave_count;
	struct replay_wave *waves; // owned
	uint16_t *halves;          // storage of a and b
	uint32_t *sums;            // storage of psum
	uint32_t drained;          // bits of the element
	bool seen_drained;
	uint8_t *buffer;           // the global buffer afterwards, owned
};

// Run `command`, whose waits are ignored, on core `core` of a fresh device whose buffer holds `buffer`. For a GEMM, watch row m and
// column n. `fault`: planted in this command, its index is 0 here; or NULL. WC_ERR_SYSTEM; also if the device stops with an error.
int replay_run(struct replay *replay, const struct device *device, uint64_t seed, int core, const uint8_t *buffer, const union op_command *command, int m,
	       int n, const struct wc_fault *fault, struct wc_error *err);
void replay_release(struct replay *replay);

#endif
