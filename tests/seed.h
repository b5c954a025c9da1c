// SPDX-License-Identifier: Apache-2.0
//
// The seed of a random test: WC_SEED from the environment, or else in the long suites (WC_LONG) the clock, so that each run tries
// something new, and in the quick ones a fixed number, so that what passed passes again. It is printed; given back, it repeats the test.
#ifndef WC_TESTS_SEED_H
#define WC_TESTS_SEED_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline uint64_t tests_seed(const char *test, uint64_t quick)
{
	const char *text = getenv("WC_SEED");
	uint64_t seed = quick;
	struct timespec now;

	if (text) {
		seed = strtoull(text, NULL, 0);
	} else if (getenv("WC_LONG")) {
		clock_gettime(CLOCK_REALTIME, &now);
		seed = (uint64_t)now.tv_sec * 1000000007u + (uint64_t)now.tv_nsec;
	}
	fprintf(stderr, "%s: WC_SEED=%" PRIu64 "\n", test, seed);
	return seed;
}

// One seed for all tests of a binary: chosen and printed before their processes are made, which find it in the environment.
#define TESTS_ONE_SEED(area, quick)                                                \
	static __attribute__((constructor)) void tests_choose_seed(void)           \
	{                                                                          \
		char text[32];                                                     \
                                                                                   \
		if (getenv("WC_SEED"))                                             \
			return;                                                    \
		snprintf(text, sizeof(text), "%" PRIu64, tests_seed(area, quick)); \
		setenv("WC_SEED", text, 1);                                        \
	}

static inline uint64_t tests_seed_chosen(void)
{
	return strtoull(getenv("WC_SEED"), NULL, 0);
}

#endif
