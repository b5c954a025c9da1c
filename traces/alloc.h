// SPDX-License-Identifier: Apache-2.0
//
// The one place through which memory is allocated, so that a test can make the Nth allocation fail.
#ifndef WC_ALLOC_H
#define WC_ALLOC_H

#include <stddef.h>

// `count` elements of `bytes` each, zeroed. NULL when the memory or the product's range is exhausted;
// a size of 0 gives a pointer that must be freed too.
void *wc_alloc(size_t count, size_t bytes);

// Resize to `count` elements of `bytes`; what is new is not zeroed. On NULL the old block is untouched.
void *wc_realloc(void *block, size_t count, size_t bytes);

// Accepts NULL.
void wc_free(void *block);

// Tests only: the `nth` allocation from now (1: the next) fails, and only that one; 0: none does.
void wc_alloc_fail_nth(size_t nth);

// Tests only: whether the allocation set with wc_alloc_fail_nth() is still to come.
int wc_alloc_fail_pending(void);

#endif
