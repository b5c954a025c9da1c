// SPDX-License-Identifier: Apache-2.0
//
// A run's commands before it begins: where to plant a fault.
#ifndef WC_TESTS_HOST_FIND_H
#define WC_TESTS_HOST_FIND_H

#include "driver/host/lower.h"
#include "rig.h"

struct found {
	uint32_t index;
	struct op op;
	struct program program;
	struct layout layout;
	struct wc_memory memory;
	struct op_queue queue;
	struct lower lower;
};

// Lower the whole program of rig->schedule as the run will. The queue holds all commands.
void find_all(struct found *found, struct rig *rig);
// The same, and `index` and `op` are the n-th command of a kind.
void find_command(struct found *found, struct rig *rig, enum op_kind kind, int n);
// Whether an earlier command of the run has the same kind, program and phase, and belongs to a step of the same kind.
bool find_seen_before(const struct found *found, uint32_t index);
void find_release(struct found *found);

#endif
