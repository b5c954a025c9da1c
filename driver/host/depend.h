// SPDX-License-Identifier: Apache-2.0
//
// Dependences between commands: from the bytes that each reads and writes, how many LOADs, GEMMs,
// VECTORs and STOREs must be complete before it may start.
//
// Engines take their commands in order and complete them in order, so a wait on a later command of
// an engine covers the earlier ones. Within one engine only a read after a write needs a wait, and
// only in the engines that read ahead (GEMM, VECTOR): LOADs and STOREs touch the buffer in order.
#ifndef WC_DEPEND_H
#define WC_DEPEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "traces/error.h"

enum depend_engine { DEPEND_LOAD, DEPEND_GEMM, DEPEND_VECTOR, DEPEND_STORE, DEPEND_ENGINE_COUNT };
enum depend_space { DEPEND_BUFFER, DEPEND_MEMORY, DEPEND_SPACE_COUNT };

// Bytes [lo, hi) that a command reads or writes.
struct depend_access {
	enum depend_space space;
	bool write;
	uint64_t lo, hi;
};

enum { DEPEND_ACCESS_MAX = 10 };

// Disjoint intervals in ascending order; `count` is that of the last command that touched one.
struct depend_interval {
	uint64_t lo, hi;
	uint32_t count;
};

struct depend_intervals {
	struct depend_interval *items;
	size_t count, capacity;
};

struct depend {
	uint32_t issued[DEPEND_ENGINE_COUNT];
	struct depend_intervals touched[DEPEND_ENGINE_COUNT][DEPEND_SPACE_COUNT][2]; // [2]: read, write
};

void depend_init(struct depend *depend);
void depend_release(struct depend *depend);

// The next command goes to `engine` and makes these accesses: set `wait` to the counts it must wait
// for (0: nothing), and remember it. WC_ERR_SYSTEM without memory.
int depend_add(struct depend *depend, enum depend_engine engine, const struct depend_access *accesses, int access_count,
	       uint32_t wait[DEPEND_ENGINE_COUNT], struct wc_error *err);

#endif
