// SPDX-License-Identifier: Apache-2.0
//
// A table of distinct strings, numbered from 0 in order of first use.
#ifndef WC_STRINGS_H
#define WC_STRINGS_H

#include <stddef.h>
#include <stdint.h>

#define STRINGS_NONE UINT32_MAX

// Zeroed: empty and valid.
struct string_table {
	char **texts;   // count terminated strings, owned
	uint32_t count, capacity;
	uint32_t *slots; // hash table of numbers + 1, 0: free; slot_count is a power of two above 2 * count
	size_t slot_count;
};

// The string's number, added when it is new. STRINGS_NONE: out of memory. `text` need not be terminated.
uint32_t string_table_intern(struct string_table *table, const char *text, size_t length);

// The string of a number below count; holds until clear or release.
static inline const char *string_table_get(const struct string_table *table, uint32_t number)
{
	return table->texts[number];
}

// Forget all strings, keeping memory for the next ones.
void string_table_clear(struct string_table *table);

void string_table_release(struct string_table *table);

#endif
