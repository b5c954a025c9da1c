// SPDX-License-Identifier: Apache-2.0
//
// Random numbers of the array tests. The seed is that of tests/seed.h.
#ifndef WC_TESTS_ARRAY_RANDOM_H
#define WC_TESTS_ARRAY_RANDOM_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/seed.h"
#include "traces/splitmix.h"

struct rng {
	uint64_t state;
};

static inline struct rng rng_start(const char *test)
{
	return (struct rng){tests_seed(test, 1)};
}

static inline uint64_t rng_next(struct rng *rng)
{
	return splitmix_next(&rng->state);
}

// 0 <= result < limit
static inline int rng_below(struct rng *rng, int limit)
{
	return (int)((rng_next(rng) >> 32) * (uint64_t)limit >> 32);
}

// True in `percent` of the calls.
static inline bool rng_chance(struct rng *rng, int percent)
{
	return rng_below(rng, 100) < percent;
}

// An fp16 of magnitude 0.5 to 2: products and long sums of these are finite and never absorbed.
static inline uint16_t rng_tame_half(struct rng *rng)
{
	return (uint16_t)(0x3800 + rng_below(rng, 0x800) + (rng_next(rng) & 0x8000));
}

// Any fp16: mostly of all magnitudes, subnormals, zeros of both signs, rarely infinity and NaN.
static inline uint16_t rng_wild_half(struct rng *rng)
{
	uint64_t r = rng_next(rng);
	uint16_t sign = r & 0x8000;

	switch (r >> 56) {
	case 0:
		return sign | 0x7c00;
	case 1:
		return sign | 0x7c00 | (uint16_t)(1 + (r & 0x3fe));
	case 2 ... 31:
		return sign;
	case 32 ... 79:
		return sign | (r & 0x3ff);
	default:
		return sign | (uint16_t)((r >> 16) % 0x7c00);
	}
}

#endif
