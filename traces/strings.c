// SPDX-License-Identifier: Apache-2.0
//
// Open addressing over FNV-1a hashes.
#include "traces/strings.h"

#include <string.h>

#include "traces/alloc.h"

static uint64_t hash_of(const char *text, size_t length)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
	return hash ^ hash >> 32;
}

// The slot that holds the string, or the free one where it belongs.
static uint32_t *find_slot(const struct string_table *table, const char *text, size_t length)
{
	size_t mask = table->slot_count - 1;

	for (size_t at = hash_of(text, length) & mask;; at = (at + 1) & mask) {
		uint32_t *slot = &table->slots[at];

		if (!*slot || (strlen(table->texts[*slot - 1]) == length && !memcmp(table->texts[*slot - 1], text, length)))
			return slot;
	}
}

static int grow(struct string_table *table)
{
	uint32_t capacity = table->capacity ? 2 * table->capacity : 32;
	uint32_t *slots = wc_alloc(4 * (size_t)capacity, sizeof(*slots));
	char **texts;

	if (!slots)
		return -1;
	texts = wc_realloc(table->texts, capacity, sizeof(*texts));
	if (!texts) {
		wc_free(slots);
		return -1;
	}
	wc_free(table->slots);
	table->texts = texts;
	table->slots = slots;
	table->capacity = capacity;
	table->slot_count = 4 * (size_t)capacity;
	for (uint32_t i = 0; i < table->count; i++)
		*find_slot(table, texts[i], strlen(texts[i])) = i + 1;
	return 0;
}

uint32_t string_table_intern(struct string_table *table, const char *text, size_t length)
{
	uint32_t *slot;
	char *copy;

	if (table->count == table->capacity && grow(table))
		return STRINGS_NONE;
	slot = find_slot(table, text, length);
	if (*slot)
		return *slot - 1;
	copy = wc_alloc(length + 1, 1);
	if (!copy)
		return STRINGS_NONE;
	memcpy(copy, text, length);
	table->texts[table->count] = copy;
	*slot = ++table->count;
	return table->count - 1;
}

void string_table_clear(struct string_table *table)
{
	for (uint32_t i = 0; i < table->count; i++)
		wc_free(table->texts[i]);
	if (table->count)
		memset(table->slots, 0, table->slot_count * sizeof(*table->slots));
	table->count = 0;
}

void string_table_release(struct string_table *table)
{
	string_table_clear(table);
	wc_free(table->texts);
	wc_free(table->slots);
	memset(table, 0, sizeof(*table));
}
