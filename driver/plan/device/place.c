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

// Pieces that have their offsets, by the time that they are live: those of a strip are many, those live at once few.
struct placed {
	int first_step, bucket_steps, bucket_count;
	int *start, *filled;          // of each bucket: its first entry, and how many it has
	const struct piece **entries; // a piece is in every bucket of its life
	const struct piece **found;   // those that live together with the one at hand
};

enum { BUCKETS_MAX = 1024 };

static int bucket_of(const struct placed *placed, int step)
{
	return (step - placed->first_step) / placed->bucket_steps;
}

static void placed_release(struct placed *placed)
{
	free(placed->start);
	free(placed->filled);
	free(placed->entries);
	free(placed->found);
}

// Room for all of the pieces, of which there is one at least; WC_ERR_SYSTEM without memory.
static int placed_init(struct placed *placed, const struct piece *pieces, int count)
{
	int first = pieces[0].first, last = pieces[0].last;

	for (int i = 1; i < count; i++) {
		first = pieces[i].first < first ? pieces[i].first : first;
		last = pieces[i].last > last ? pieces[i].last : last;
	}
	*placed = (struct placed){ .first_step = first, .bucket_steps = (last - first) / BUCKETS_MAX + 1 };
	placed->bucket_count = bucket_of(placed, last) + 1;
	placed->start = calloc((size_t)placed->bucket_count + 1, sizeof(*placed->start));
	placed->filled = calloc((size_t)placed->bucket_count, sizeof(*placed->filled));
	placed->found = malloc((size_t)count * sizeof(const struct piece *));
	if (!placed->start || !placed->filled || !placed->found)
		return WC_ERR_SYSTEM;
	for (int i = 0; i < count; i++)
		for (int b = bucket_of(placed, pieces[i].first); b <= bucket_of(placed, pieces[i].last); b++)
			placed->start[b + 1]++;
	for (int b = 0; b < placed->bucket_count; b++)
		placed->start[b + 1] += placed->start[b];
	placed->entries = malloc((size_t)placed->start[placed->bucket_count] * sizeof(const struct piece *));
	return placed->entries ? 0 : WC_ERR_SYSTEM;
}

static void clear(struct placed *placed)
{
	memset(placed->filled, 0, (size_t)placed->bucket_count * sizeof(*placed->filled));
}

static void put(struct placed *placed, const struct piece *piece)
{
	for (int b = bucket_of(placed, piece->first); b <= bucket_of(placed, piece->last); b++)
		placed->entries[placed->start[b] + placed->filled[b]++] = piece;
}

static int by_offset(const void *a, const void *b)
{
	const struct piece *left = *(const struct piece *const *)a, *right = *(const struct piece *const *)b;

	return (left->offset > right->offset) - (left->offset < right->offset);
}

// Fill placed->found, lowest offset first, with what lives together with `piece` and ends above `from`.
static int find_neighbours(const struct placed *placed, const struct piece *piece, uint32_t from)
{
	const int first = bucket_of(placed, piece->first);
	int count = 0;

	for (int b = first; b <= bucket_of(placed, piece->last); b++)
		for (int i = 0; i < placed->filled[b]; i++) {
			const struct piece *other = placed->entries[placed->start[b] + i];
			const int others_first = bucket_of(placed, other->first);

			// In the first bucket that both are in.
			if (b == (others_first > first ? others_first : first) && live_together(piece, other) && other->offset + other->bytes > from)
				placed->found[count++] = other;
		}
	qsort(placed->found, (size_t)count, sizeof(*placed->found), by_offset);
	return count;
}

// The lowest offset >= `from` at which `piece` is free of those placed, or room if there is none.
static uint32_t first_fit(const struct placed *placed, const struct piece *piece, uint32_t from, uint32_t room)
{
	const int count = find_neighbours(placed, piece, from);
	uint32_t offset = from;

	// Whatever lies higher begins behind the present one's start, so that one pass finds the lowest gap.
	for (int i = 0; i < count && placed->found[i]->offset < offset + piece->bytes; i++) {
		const struct piece *other = placed->found[i];

		if (offset < other->offset + other->bytes)
			offset = other->offset + other->bytes;
		if (piece->bytes > room || offset > room - piece->bytes)
			return room;
	}
	return piece->bytes > room || offset > room - piece->bytes ? room : offset;
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

static int desk_init(struct desk *desk, const struct piece *pieces, int count)
{
	const size_t size = (size_t)count;

	*desk = (struct desk){ .ranked = malloc(size * sizeof(*desk->ranked)), .order = malloc(size * sizeof(*desk->order)) };
	return desk->ranked && desk->order ? placed_init(&desk->placed, pieces, count) : WC_ERR_SYSTEM;
}

static void desk_release(struct desk *desk)
{
	free(desk->ranked);
	free(desk->order);
	placed_release(&desk->placed);
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
	clear(&desk->placed);
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
	if (desk_init(&desk, pieces, count)) {
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
	bool fits;

	if (!count)
		return true;
	fits = !desk_init(&desk, pieces, count);
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
