// SPDX-License-Identifier: Apache-2.0
//
// Pairing the events of two traces that interleave commands differently. Each (kind, core, command) is a queue of its own, in which
// both traces have the same order; the trace that is ahead leaves its events there until the other one comes.
#ifndef WC_WCT_ALIGN_H
#define WC_WCT_ALIGN_H

#include "traces/strings.h"
#include "traces/wct.h"

struct wct_pending {
	struct wct_pending *next;
	struct wct_event event; // a copy; strings live in the table, tile data in the node's own memory
	uint32_t *bits;         // owned
	uint64_t *row_cycles;   // owned
};

struct wct_queue {
	uint8_t kind;           // 0: a free slot of the table
	uint8_t phase;          // key only without a command
	uint32_t command;
	int64_t core;           // whose command; 0 where there is one core
	int32_t layer;          // key only without a command, else -1
	uint32_t name;          // header's key or counter's name in the string table, else STRINGS_NONE
	int side;               // whose events wait, 0 or 1
	uint64_t matched;       // pairs so far
	struct wct_pending *head, *tail; // oldest first
};

// Zeroed: empty and valid.
struct wct_align {
	struct wct_queue *queues; // hash table, queue_count a power of two
	size_t queue_count, queues_used;
	struct string_table strings;
};

// The queue where the event belongs, created when there is none. NULL: out of memory. Holds until the next call.
struct wct_queue *wct_align_queue(struct wct_align *align, const struct wct_event *event);

// Leave a copy of `side`'s event, behind those that wait. The queue must not hold the other side's. -1: out of memory.
int wct_align_push(struct wct_align *align, struct wct_queue *queue, int side, const struct wct_event *event);

// Take the oldest event; the caller frees it.
struct wct_pending *wct_align_pop(struct wct_queue *queue);
void wct_pending_free(struct wct_pending *pending);

void wct_align_release(struct wct_align *align);

#endif
