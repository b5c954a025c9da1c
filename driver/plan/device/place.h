// SPDX-License-Identifier: Apache-2.0
//
// Placement of pieces with lifetimes in a stretch of the global buffer, and the record of when each
// address was last in use. Knows nothing of schedules.
#ifndef WC_PLAN_PLACE_H
#define WC_PLAN_PLACE_H

#include <stdbool.h>
#include <stdint.h>

struct piece {
	uint32_t bytes;
	int first, last; // steps between which it is live, inclusive
	uint32_t offset; // result
};

// Greatest sum of the bytes live at one step, and the first such step. 0 or WC_ERR_SYSTEM.
int place_live_bytes(const struct piece *pieces, int count, uint64_t *bytes, int *step);

// Place the pieces in [0, room) so that those live at the same time do not overlap: first fit in several
// orders, each time moving what did not fit to the front. 0, WC_ERR_INPUT if no order fits, or
// WC_ERR_SYSTEM. Depends on nothing but its arguments.
int place_offline(struct piece *pieces, int count, uint32_t room);

// Place them in order of `first`, each behind the one before, wrapping at `room`: addresses are reused as late as
// possible. *cursor is where to begin, and afterwards where the next call should. False if that does not fit.
bool place_rotating(struct piece *pieces, int count, uint32_t room, uint32_t *cursor);

// When the bytes of the buffer were last used: a sorted list of spans.
struct usage {
	struct usage_span *spans;
	int count, capacity;
	uint32_t bytes;
};

struct usage_span {
	uint32_t start; // to the next span's start
	int last;       // step, -1: never
};

int usage_init(struct usage *usage, uint32_t bytes);
void usage_release(struct usage *usage);
// The latest step that used any byte of [offset, offset + bytes); -1: none.
int usage_latest(const struct usage *usage, uint32_t offset, uint32_t bytes);
// Record that [offset, offset + bytes) is in use until step `last`.
int usage_record(struct usage *usage, uint32_t offset, uint32_t bytes, int last);

#endif
