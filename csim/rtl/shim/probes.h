// SPDX-License-Identifier: Apache-2.0
//
// The observer's probe: operands as they enter the array, partial sums of one column, accumulator rows (csim/backend.h, enum
// wc_probe_kind).
//
// A vector's partial sums exist at different times: with T the cycle in which it enters, PE row r of column c holds its sum in cycle
// T + (r + 1) MacStages + c. They are gathered per vector and reported when the last row's is there.
#ifndef WC_RTL_PROBES_H
#define WC_RTL_PROBES_H

#include "csim/backend.h"
#include "csim/rtl/shim/faults.h"
#include "csim/rtl/shim/state.h"
#include "csim/rtl/shim/taps.h"

enum { PROBE_LANES = 128 }; // most rows or columns

// A vector on its way down the probed column.
struct probe_vector {
	uint64_t entered;
	uint32_t command_index;
	int wave, row;
	uint32_t sums[PROBE_LANES];
};

enum { PROBE_VECTORS = 512 }; // a power of two above the longest way, 128 x 2 + 128 cycles

struct probes {
	const struct taps *taps;          // borrowed
	const struct device_state *state; // borrowed
	const struct faults *faults;      // borrowed; an accumulator row is reported as it will be after a planted fault
	int mac_stages;
	uint32_t head, tail;              // of vectors, oldest first
	struct probe_vector vectors[PROBE_VECTORS];
};

// In every cycle while the observer has a probe. Returns what the callback returned, if not 0.
int probes_report(struct probes *probes, const struct wc_observer *observer, uint64_t cycle);

#endif
