// SPDX-License-Identifier: Apache-2.0
//
// Planted faults: flips one bit of the running device when the fault's time comes (csim/backend.h, struct wc_fault).
#ifndef WC_RTL_FAULTS_H
#define WC_RTL_FAULTS_H

#include "csim/backend.h"
#include "csim/rtl/shim/state.h"
#include "csim/rtl/shim/taps.h"

struct faults {                           // of one core
	const struct taps *taps;          // borrowed
	const struct device_state *state; // borrowed
	struct wc_memory *memory;         // borrowed
	struct wc_device_params params;
	struct wc_fault fault;            // kind NONE: nothing more will happen
	bool due;                         // weight: the wave has begun; accumulator: the row is added at this cycle's edge; lane: the command is at work
	uint64_t due_cycle;
	uint64_t put;                     // lane: vectors of the command that are written
	int sel, side;
};

// Rejects nothing: a fault of another core, or one that names a place the device does not have, never strikes.
void faults_set(struct faults *faults, const struct wc_fault *fault);
// In every cycle while fault.kind is not NONE: before the cycle is reported, and after its clock edge.
void faults_before(struct faults *faults, uint64_t cycle);
void faults_after(struct faults *faults);

#endif
