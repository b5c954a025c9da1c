// SPDX-License-Identifier: Apache-2.0
//
// Dependences from byte ranges; see depend.h. Newer accesses replace older ones of the same engine
// and kind where they overlap, as waiting for the newer covers the older; so the lists stay as
// short as the buffer is fragmented, whatever the length of the run.
#include "driver/host/depend.h"

#include <assert.h>
#include <string.h>

#include "traces/alloc.h"

void depend_init(struct depend *depend)
{
	*depend = (struct depend){0};
}

void depend_release(struct depend *depend)
{
	for (int e = 0; e < DEPEND_ENGINE_COUNT; e++)
		for (int s = 0; s < DEPEND_SPACE_COUNT; s++)
			for (int w = 0; w < 2; w++)
				wc_free(depend->touched[e][s][w].items);
	*depend = (struct depend){0};
}

// Index of the first interval that ends behind `lo`.
static size_t first_behind(const struct depend_intervals *list, uint64_t lo)
{
	size_t low = 0, high = list->count;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (list->items[middle].hi <= lo)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint32_t latest(const struct depend_intervals *list, uint64_t lo, uint64_t hi)
{
	uint32_t count = 0;

	for (size_t i = first_behind(list, lo); i < list->count && list->items[i].lo < hi; i++)
		if (list->items[i].count > count)
			count = list->items[i].count;
	return count;
}

static int reserve(struct depend_intervals *list, size_t count, struct wc_error *err)
{
	struct depend_interval *items;
	size_t capacity = list->capacity ? list->capacity : 16;

	if (count <= list->capacity)
		return 0;
	while (capacity < count)
		capacity *= 2;
	items = wc_realloc(list->items, capacity, sizeof(*items));
	if (!items)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for %zu byte intervals of dependences", capacity);
	list->items = items;
	list->capacity = capacity;
	return 0;
}

// Put [lo, hi) with `count` in the place of what it overlaps; parts outside survive.
static int replace(struct depend_intervals *list, uint64_t lo, uint64_t hi, uint32_t count, struct wc_error *err)
{
	struct depend_interval pieces[3];
	size_t piece_count = 0;
	const size_t first = first_behind(list, lo);
	size_t end = first;
	int result = reserve(list, list->count + 2, err);

	if (result)
		return result;
	while (end < list->count && list->items[end].lo < hi)
		end++;
	if (end > first && list->items[first].lo < lo) {
		pieces[piece_count] = list->items[first];
		pieces[piece_count++].hi = lo;
	}
	pieces[piece_count++] = (struct depend_interval){lo, hi, count};
	if (end > first && list->items[end - 1].hi > hi) {
		pieces[piece_count] = list->items[end - 1];
		pieces[piece_count++].lo = hi;
	}
	memmove(&list->items[first + piece_count], &list->items[end], (list->count - end) * sizeof(*list->items));
	memcpy(&list->items[first], pieces, piece_count * sizeof(*pieces));
	list->count = list->count - (end - first) + piece_count;
	return 0;
}

static bool reads_ahead(enum depend_engine engine)
{
	return engine == DEPEND_GEMM || engine == DEPEND_VECTOR;
}

int depend_add(struct depend *depend, enum depend_engine engine, const struct depend_access *accesses, int access_count,
	       uint32_t wait[DEPEND_ENGINE_COUNT], struct wc_error *err)
{
	memset(wait, 0, DEPEND_ENGINE_COUNT * sizeof(*wait));
	assert(access_count <= DEPEND_ACCESS_MAX);
	for (int i = 0; i < access_count; i++)
		for (enum depend_engine other = 0; other < DEPEND_ENGINE_COUNT; other++) {
			const struct depend_access *access = &accesses[i];
			const struct depend_intervals *touched = depend->touched[other][access->space];
			uint32_t count = 0;

			if (other != engine || (!access->write && reads_ahead(engine)))
				count = latest(&touched[1], access->lo, access->hi);
			if (other != engine && access->write) {
				const uint32_t reads = latest(&touched[0], access->lo, access->hi);

				count = count > reads ? count : reads;
			}
			wait[other] = wait[other] > count ? wait[other] : count;
		}

	depend->issued[engine]++;
	for (int i = 0; i < access_count; i++) {
		struct depend_intervals *list = &depend->touched[engine][accesses[i].space][accesses[i].write];
		int result = replace(list, accesses[i].lo, accesses[i].hi, depend->issued[engine], err);

		if (result)
			return result;
	}
	return 0;
}
