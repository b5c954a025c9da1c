// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/device/place.h"

#include <stdlib.h>
#include <string.h>

#include "traces/error.h"

static bool live_together(const struct piece *a, const struct piece *b)
{
	return a->first <= b->last && b->first <= a->last;
}

int place_live_bytes(const struct piece *pieces, int count, uint64_t *bytes, int *step)
{
	int first = count ? pieces[0].first : 0, last = first;
	int64_t *change, live = 0;

	*bytes = 0;
	*step = first;
	for (int i = 0; i < count; i++) {
		first = pieces[i].first < first ? pieces[i].first : first;
		last = pieces[i].last > last ? pieces[i].last : last;
	}
	change = calloc((size_t)(last - first) + 2, sizeof(*change));
	if (!change)
		return WC_ERR_SYSTEM;
	for (int i = 0; i < count; i++) {
		change[pieces[i].first - first] += pieces[i].bytes;
		change[pieces[i].last - first + 1] -= pieces[i].bytes;
	}
	for (int i = first; i <= last; i++) {
		live += change[i - first];
		if ((uint64_t)live > *bytes) {
			*bytes = (uint64_t)live;
			*step = i;
		}
	}
	free(change);
	return 0;
}

// The lowest offset >= `from` at which `piece` is free of the first `placed` pieces of `order`, or room if there is none.
static uint32_t first_fit(const struct piece *pieces, const int *order, int placed, const struct piece *piece, uint32_t from, uint32_t room)
{
	uint32_t offset = from;
	bool moved = true;

	while (moved) {
		moved = false;
		if (piece->bytes > room || offset > room - piece->bytes)
			return room;
		for (int i = 0; i < placed; i++) {
			const struct piece *other = &pieces[order[i]];

			if (live_together(piece, other) && offset < other->offset + other->bytes && other->offset < offset + piece->bytes) {
				offset = other->offset + other->bytes;
				moved = true;
			}
		}
	}
	return offset;
}

enum order_key { BY_BYTES, BY_AREA, BY_START, BY_DURATION, ORDER_KEYS };

static double key_of(const struct piece *piece, enum order_key key)
{
	double duration = piece->last - piece->first + 1;

	switch (key) {
	case BY_BYTES:
		return piece->bytes;
	case BY_AREA:
		return piece->bytes * duration;
	case BY_START:
		return -piece->first;
	default:
		return duration;
	}
}

// Insertion sort, largest key first; stable, so that the result depends on nothing else.
static void sort(int *order, const struct piece *pieces, int count, enum order_key key)
{
	for (int i = 0; i < count; i++) {
		int j = i;

		for (; j > 0 && key_of(&pieces[order[j - 1]], key) < key_of(&pieces[i], key); j--)
			order[j] = order[j - 1];
		order[j] = i;
	}
}

// First fit in the given order. The index in `order` of the first piece without room, `count` if all fit.
static int fit_in_order(struct piece *pieces, const int *order, int count, uint32_t room)
{
	for (int i = 0; i < count; i++) {
		struct piece *piece = &pieces[order[i]];

		piece->offset = first_fit(pieces, order, i, piece, 0, room);
		if (piece->offset >= room)
			return i;
	}
	return count;
}

int place_offline(struct piece *pieces, int count, uint32_t room)
{
	enum { ROUNDS = 24 };
	int rc = WC_ERR_INPUT;
	int *order;

	if (!count)
		return 0;
	order = malloc((size_t)count * sizeof(*order));
	if (!order)
		return WC_ERR_SYSTEM;
	for (enum order_key key = BY_BYTES; rc && key < ORDER_KEYS; key++) {
		sort(order, pieces, count, key);
		for (int round = 0; rc && round < ROUNDS; round++) {
			int stuck = fit_in_order(pieces, order, count, room), piece;

			if (stuck == count) {
				rc = 0;
				break;
			}
			piece = order[stuck];
			memmove(order + 1, order, (size_t)stuck * sizeof(*order));
			order[0] = piece;
		}
	}
	free(order);
	return rc;
}

bool place_rotating(struct piece *pieces, int count, uint32_t room, uint32_t *cursor)
{
	uint32_t at = *cursor;
	int *order = malloc((size_t)(count ? count : 1) * sizeof(*order));
	bool fits = order != NULL;

	if (fits)
		sort(order, pieces, count, BY_START);
	for (int i = 0; fits && i < count; i++) {
		struct piece *piece = &pieces[order[i]];

		piece->offset = first_fit(pieces, order, i, piece, at, room);
		if (piece->offset >= room)
			piece->offset = first_fit(pieces, order, i, piece, 0, room);
		fits = piece->offset < room;
		at = piece->offset + piece->bytes;
	}
	free(order);
	if (fits)
		*cursor = at;
	return fits;
}

int usage_init(struct usage *usage, uint32_t bytes)
{
	*usage = (struct usage){ .bytes = bytes, .capacity = 64, .count = 1 };
	usage->spans = malloc((size_t)usage->capacity * sizeof(*usage->spans));
	if (!usage->spans)
		return WC_ERR_SYSTEM;
	usage->spans[0] = (struct usage_span){ .start = 0, .last = -1 };
	return 0;
}

void usage_release(struct usage *usage)
{
	free(usage->spans);
	memset(usage, 0, sizeof(*usage));
}

// Index of the span that holds the byte at `offset`.
static int span_at(const struct usage *usage, uint32_t offset)
{
	int lo = 0, hi = usage->count;

	while (hi - lo > 1) {
		int mid = (lo + hi) / 2;

		if (usage->spans[mid].start <= offset)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

int usage_latest(const struct usage *usage, uint32_t offset, uint32_t bytes)
{
	int latest = -1;

	for (int i = span_at(usage, offset); i < usage->count && usage->spans[i].start < offset + bytes; i++)
		if (usage->spans[i].last > latest)
			latest = usage->spans[i].last;
	return latest;
}

int usage_record(struct usage *usage, uint32_t offset, uint32_t bytes, int last)
{
	uint32_t end = offset + bytes;
	int from = span_at(usage, offset), to = span_at(usage, end - 1);
	int tail_last = usage->spans[to].last;
	uint32_t tail_end = to + 1 < usage->count ? usage->spans[to + 1].start : usage->bytes;
	struct usage_span made[3];
	int count = 0, removed = to - from + 1;

	if (usage->count + 2 > usage->capacity) {
		struct usage_span *spans = reallocarray(usage->spans, (size_t)usage->capacity * 2, sizeof(*spans));

		if (!spans)
			return WC_ERR_SYSTEM;
		usage->spans = spans;
		usage->capacity *= 2;
	}
	if (usage->spans[from].start < offset)
		made[count++] = usage->spans[from];
	made[count++] = (struct usage_span){ .start = offset, .last = last };
	if (end < tail_end)
		made[count++] = (struct usage_span){ .start = end, .last = tail_last };
	memmove(usage->spans + from + count, usage->spans + to + 1, (size_t)(usage->count - to - 1) * sizeof(*usage->spans));
	memcpy(usage->spans + from, made, (size_t)count * sizeof(*made));
	usage->count += count - removed;
	return 0;
}
