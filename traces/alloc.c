// SPDX-License-Identifier: Apache-2.0
//
// Allocation with a countdown to one planned failure.
#include "traces/alloc.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

static _Thread_local size_t allocations_until_failure;

static bool fails_now(void)
{
	return allocations_until_failure && !--allocations_until_failure;
}

void *wc_alloc(size_t count, size_t bytes)
{
	if (fails_now())
		return NULL;
	if (!count || !bytes)
		return calloc(1, 1);
	return calloc(count, bytes);
}

void *wc_realloc(void *block, size_t count, size_t bytes)
{
	if (fails_now() || (bytes && count > SIZE_MAX / bytes))
		return NULL;
	return realloc(block, count && bytes ? count * bytes : 1);
}

void wc_free(void *block)
{
	free(block);
}

void wc_alloc_fail_nth(size_t nth)
{
	allocations_until_failure = nth;
}

int wc_alloc_fail_pending(void)
{
	return allocations_until_failure != 0;
}
