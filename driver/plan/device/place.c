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

// Pieces that have their offsets, lowest first.
struct placed {
	const struct piece **list;
	int count;
};

// The lowest offset >= `from` at which `piece` is free of those placed, or room if there is none.
static uint32_t first_fit(const struct placed *placed, const struct piece *piece, uint32_t from, uint32_t room)
{
	uint32_t offset = from;

	// Whatever lies higher begins behind the present one's start, so that one pass finds the lowest gap.
	for (int i = 0; i < placed->count && placed->list[i]->offset < offset + piece->bytes; i++) {
		const struct piece *other = placed->list[i];

		if (live_together(piece, other) && offset < other->offset + other->bytes)
			offset = other->offset + other->bytes;
		if (piece->bytes > room || offset > room - piece->bytes)
			return room;
	}
	return piece->bytes > room || offset > room - piece->bytes ? room : offset;
}

static void put(struct placed *placed, const struct piece *piece)
{
	int i = placed->count++;

	for (; i > 0 && placed->list[i - 1]->offset > piece->offset; i--)
		placed->list[i] = placed->list[i - 1];
	placed->list[i] = piece;
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

struct ranked {
	double key;
	int index;
};

static int by_rank(const void *a, const void *b)
{
	const struct ranked *left = a, *right = b;

	if (left->key != right->key)
		return left->key < right->key ? 1 : -1;
	return left->index - right->index;
}

// Orders and lists for a number of pieces.
struct desk {
	struct ranked *ranked;
	int *order;
	struct placed placed;
};

static int desk_init(struct desk *desk, int count)
{
	const size_t size = (size_t)count + 1;

	*desk = (struct desk){ .ranked = malloc(size * sizeof(*desk->ranked)), .order = malloc(size * sizeof(*desk->order)),
			       .placed = { .list = malloc(size * sizeof(const struct piece *)) } };
	return desk->ranked && desk->order && desk->placed.list ? 0 : WC_ERR_SYSTEM;
}

static void desk_release(struct desk *desk)
{
	free(desk->ranked);
	free(desk->order);
	free(desk->placed.list);
}

// Largest key first, those of equal keys as they come, so that the result depends on nothing else.
static void sort(struct desk *desk, const struct piece *pieces, int count, enum order_key key)
{
	for (int i = 0; i < count; i++)
		desk->ranked[i] = (struct ranked){ key_of(&pieces[i], key), i };
	qsort(desk->ranked, (size_t)count, sizeof(*desk->ranked), by_rank);
	for (int i = 0; i < count; i++)
		desk->order[i] = desk->ranked[i].index;
}

// First fit in the desk's order. The index in it of the first piece without room, `count` if all fit.
static int fit_in_order(struct desk *desk, struct piece *pieces, int count, uint32_t room)
{
	desk->placed.count = 0;
	for (int i = 0; i < count; i++) {
		struct piece *piece = &pieces[desk->order[i]];

		piece->offset = first_fit(&desk->placed, piece, 0, room);
		if (piece->offset >= room)
			return i;
		put(&desk->placed, piece);
	}
	return count;
}

int place_offline(struct piece *pieces, int count, uint32_t room)
{
	enum { ROUNDS = 24 };
	int rc = WC_ERR_INPUT;
	struct desk desk;

	if (!count)
		return 0;
	if (desk_init(&desk, count)) {
		desk_release(&desk);
		return WC_ERR_SYSTEM;
	}
	for (enum order_key key = BY_BYTES; rc && key < ORDER_KEYS; key++) {
		sort(&desk, pieces, count, key);
		for (int round = 0; rc && round < ROUNDS; round++) {
			const int stuck = fit_in_order(&desk, pieces, count, room);
			int piece;

			if (stuck == count) {
				rc = 0;
				break;
			}
			piece = desk.order[stuck];
			memmove(desk.order + 1, desk.order, (size_t)stuck * sizeof(*desk.order));
			desk.order[0] = piece;
		}
	}
	desk_release(&desk);
	return rc;
}

bool place_rotating(struct piece *pieces, int count, uint32_t room, uint32_t *cursor)
{
	uint32_t at = *cursor;
	struct desk desk;
	bool fits = !desk_init(&desk, count);

	if (fits)
		sort(&desk, pieces, count, BY_START);
	for (int i = 0; fits && i < count; i++) {
		struct piece *piece = &pieces[desk.order[i]];

		piece->offset = first_fit(&desk.placed, piece, at, room);
		if (piece->offset >= room)
			piece->offset = first_fit(&desk.placed, piece, 0, room);
		fits = piece->offset < room;
		at = piece->offset + piece->bytes;
		put(&desk.placed, piece);
	}
	desk_release(&desk);
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
	uint32_t end = offset + bytes, tail_end;
	struct usage_span made[3];
	int from, to, tail_last, count = 0, removed;

	// The index of a pool of one element has no bits.
	if (!bytes)
		return 0;
	from = span_at(usage, offset);
	to = span_at(usage, end - 1);
	tail_last = usage->spans[to].last;
	tail_end = to + 1 < usage->count ? usage->spans[to + 1].start : usage->bytes;
	removed = to - from + 1;
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
