// SPDX-License-Identifier: Apache-2.0
//
// Where a run's cycles go: each belongs to the layer and phase whose command of the array or the vector unit was the next to
// be complete. Transfers that overlap such work take none, those that it waits for take its cycles; the entries add up to
// the cycles in which the device was at work; of several cores, to the sum over them.
#ifndef WC_PROFILE_H
#define WC_PROFILE_H

#include "csim/backend.h"
#include "driver/host/op.h"
#include "driver/plan/device/program.h"

enum profile_phase {
	PROFILE_FORWARD,
	PROFILE_RECOMPUTE,       // forward work in a backward group
	PROFILE_DATA_GRADIENT,
	PROFILE_WEIGHT_GRADIENT, // and those of biases; a normalization makes its own with the data gradient
	PROFILE_LOSS,
	PROFILE_UPDATE,          // and the reduction over several cores
	PROFILE_PHASES
};
const char *profile_phase_name(enum profile_phase phase);

struct profile_entry {
	uint64_t cycles;      // 0: the backend has none
	uint64_t busy_cycles; // of the array: vectors that enter it
	uint64_t macs;        // of the tiles, padding included
	uint64_t commands;    // GEMM, VECTOR, SIMD
};

struct profile {
	struct profile_entry *entries; // owned: [node][phase]
	int node_count;
	struct profile_core {
		uint64_t last_cycle;        // when its last such command was complete, or when it was at rest
		struct profile_entry *last; // its entry; NULL: none yet
		uint64_t cycles;            // of its commands
	} cores[WC_CORES_MAX];
};

// WC_ERR_SYSTEM without memory.
int profile_init(struct profile *profile, int node_count, struct wc_error *err);
void profile_release(struct profile *profile);
const struct profile_entry *profile_at(const struct profile *profile, int node, enum profile_phase phase);
// Of all nodes.
struct profile_entry profile_sum(const struct profile *profile, enum profile_phase phase);

// `op` is complete at `cycle`; `rows` of the array. Nothing if it is a transfer.
void profile_add(struct profile *profile, const struct program *program, const struct op *op, int rows, uint64_t cycle);

// The core is at rest until `cycle`; when it is again, it has been at work for `cycles` in all: the rest of them goes to its last command.
void profile_begin(struct profile *profile, int core, uint64_t cycle);
void profile_settle(struct profile *profile, int core, uint64_t cycles);

#endif
