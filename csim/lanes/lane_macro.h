// SPDX-License-Identifier: Apache-2.0
//
// The lanes of rtl/simd_lanes.v as a cycle-exact C macro: the same registers after every clock edge, for units too wide to simulate as RTL.
// rtl/sim/simd_lanes_dpi.sv calls it at the edges at which something happens.
//
// State: what simd_lanes.v has, as words of 32 bits per lane; the predicate as a mask per lane. It is never reset.
#ifndef WC_LANE_MACRO_H
#define WC_LANE_MACRO_H

#include <stdbool.h>
#include <stdint.h>

#include "traces/error.h"

struct lane_macro;

// Seed of the undefined state of instances created from now on. The default is 0. Not for use from several threads at once.
void lane_macro_seed(uint64_t seed);

// Make an instance with this many lanes (a power of two, 8 to 256). `name` is its hierarchical name, on which its undefined state depends.
// Returns 0, WC_ERR_INPUT (bad number) or WC_ERR_SYSTEM (no memory). Accepts NULL in free.
int lane_macro_create(const char *name, int lanes, struct lane_macro **out, struct wc_error *err);
void lane_macro_free(struct lane_macro *m);

// A line of 2 * lanes bytes for a slot, its first or its second one.
void lane_macro_line(struct lane_macro *m, int slot, bool high, const uint32_t *line);

// An operation and what stands at the ports with it. `acc2` has three different registers, as in the ROM.
struct lane_macro_inputs {
	uint32_t code;               // as in the ROM: op 22:18, destination 17:14, sources 13:7 and 6:0
	bool has_vector;             // its stream is in slot `head`, else it reads as +0
	int head, type, shift;
	uint32_t scalar_a, scalar_b; // what a source is that is no register, stream or channel
	uint32_t channel;            // of lane 0
	uint32_t active;             // lanes with a channel
	const uint32_t *first;       // a bit per lane: it begins a group
};
void lane_macro_fire(struct lane_macro *m, const struct lane_macro_inputs *in);

int lane_macro_lanes(const struct lane_macro *m);
// What the last operation gave, `lanes` words that stay until the next one.
const uint32_t *lane_macro_result(const struct lane_macro *m);
// Register `index`, `lanes` words, and the predicate, a mask per lane, as they stand.
const uint32_t *lane_macro_register(const struct lane_macro *m, int index);
const uint32_t *lane_macro_predicate(const struct lane_macro *m);

#endif
