// SPDX-License-Identifier: Apache-2.0
//
// A hash table of queues.
#include "traces/wct_align.h"

#include <assert.h>
#include <string.h>

#include "traces/alloc.h"

static uint64_t hash_of(const struct wct_queue *key)
{
	uint64_t hash = (uint64_t)key->command << 32 | (uint64_t)key->kind << 8 | key->phase;

	hash += (uint64_t)key->core << 16;
	hash ^= ((uint64_t)(uint32_t)key->layer << 32 | key->name) * UINT64_C(0x9e3779b97f4a7c15);
	hash *= UINT64_C(0xff51afd7ed558ccd);
	return hash ^ hash >> 32;
}

static struct wct_queue *find(const struct wct_align *align, const struct wct_queue *key)
{
	size_t mask = align->queue_count - 1;

	for (size_t at = hash_of(key) & mask;; at = (at + 1) & mask) {
		struct wct_queue *queue = &align->queues[at];

		if (!queue->kind || (queue->kind == key->kind && queue->command == key->command && queue->core == key->core && queue->phase == key->phase &&
				     queue->layer == key->layer && queue->name == key->name))
			return queue;
	}
}

static int grow(struct wct_align *align)
{
	struct wct_align larger = { .queue_count = align->queue_count ? 2 * align->queue_count : 1024 };

	larger.queues = wc_alloc(larger.queue_count, sizeof(*larger.queues));
	if (!larger.queues)
		return -1;
	for (size_t i = 0; i < align->queue_count; i++) {
		if (align->queues[i].kind)
			*find(&larger, &align->queues[i]) = align->queues[i];
	}
	wc_free(align->queues);
	align->queues = larger.queues;
	align->queue_count = larger.queue_count;
	return 0;
}

struct wct_queue *wct_align_queue(struct wct_align *align, const struct wct_event *event)
{
	struct wct_queue key = { .kind = (uint8_t)event->kind, .command = event->command, .layer = -1, .name = STRINGS_NONE };
	const char *name = event->kind == WCT_HEADER ? event->header.key : event->kind == WCT_COUNTER ? event->counter.name : NULL;
	struct wct_queue *queue;

	if (wct_event_has_coord(event, WCT_CORE))
		key.core = event->coord[WCT_CORE];
	if (event->command == WCT_NO_COMMAND) {
		key.layer = event->layer;
		key.phase = (uint8_t)event->phase;
	}
	if (name) {
		key.name = string_table_intern(&align->strings, name, strlen(name));
		if (key.name == STRINGS_NONE)
			return NULL;
	}
	if (4 * (align->queues_used + 1) > 3 * align->queue_count && grow(align))
		return NULL;
	queue = find(align, &key);
	if (!queue->kind) {
		*queue = key;
		align->queues_used++;
	}
	return queue;
}

// Point the copy's string at the table's. -1: out of memory.
static int keep_string(struct wct_align *align, const char **text)
{
	uint32_t number = string_table_intern(&align->strings, *text, strlen(*text));

	if (number == STRINGS_NONE)
		return -1;
	*text = string_table_get(&align->strings, number);
	return 0;
}

static int keep_strings(struct wct_align *align, struct wct_event *event)
{
	if (event->layer >= 0 && keep_string(align, &event->layer_name))
		return -1;
	switch (event->kind) {
	case WCT_HEADER:
		return keep_string(align, &event->header.key) || keep_string(align, &event->header.value) ? -1 : 0;
	case WCT_COMMAND_BEGIN:
	case WCT_COMMAND_END:
		return keep_string(align, &event->command_info.name);
	case WCT_RESULT:
		return keep_string(align, &event->result.name);
	case WCT_COUNTER:
		return keep_string(align, &event->counter.name);
	default:
		return 0;
	}
}

static int keep_tile(struct wct_pending *pending)
{
	struct wct_event *event = &pending->event;
	size_t count = (size_t)event->tile.rows * event->tile.cols;

	if (event->tile.bits) {
		pending->bits = wc_alloc(count, sizeof(*pending->bits));
		if (!pending->bits)
			return -1;
		memcpy(pending->bits, event->tile.bits, count * sizeof(*pending->bits));
		event->tile.bits = pending->bits;
	}
	if (event->tile.row_cycles) {
		pending->row_cycles = wc_alloc(event->tile.rows, sizeof(*pending->row_cycles));
		if (!pending->row_cycles)
			return -1;
		memcpy(pending->row_cycles, event->tile.row_cycles, event->tile.rows * sizeof(*pending->row_cycles));
		event->tile.row_cycles = pending->row_cycles;
	}
	return 0;
}

int wct_align_push(struct wct_align *align, struct wct_queue *queue, int side, const struct wct_event *event)
{
	struct wct_pending *pending = wc_alloc(1, sizeof(*pending));

	assert(!queue->head || queue->side == side);
	if (!pending)
		return -1;
	pending->event = *event;
	if (keep_strings(align, &pending->event) || (event->kind == WCT_TILE && keep_tile(pending))) {
		wct_pending_free(pending);
		return -1;
	}
	if (queue->head)
		queue->tail->next = pending;
	else
		queue->head = pending;
	queue->tail = pending;
	queue->side = side;
	return 0;
}

struct wct_pending *wct_align_pop(struct wct_queue *queue)
{
	struct wct_pending *pending = queue->head;

	queue->head = pending->next;
	return pending;
}

void wct_pending_free(struct wct_pending *pending)
{
	wc_free(pending->bits);
	wc_free(pending->row_cycles);
	wc_free(pending);
}

void wct_align_release(struct wct_align *align)
{
	for (size_t i = 0; i < align->queue_count; i++) {
		while (align->queues[i].head)
			wct_pending_free(wct_align_pop(&align->queues[i]));
	}
	wc_free(align->queues);
	string_table_release(&align->strings);
	memset(align, 0, sizeof(*align));
}
