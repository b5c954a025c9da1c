// SPDX-License-Identifier: Apache-2.0
//
// splitmix64 (Steele, Lea, Flood 2014), the one generator behind every random number here: a counter that advances by
// SPLITMIX_STEP, and a mixer that spreads it over 64 bits. The same bits on every machine.
#ifndef WC_SPLITMIX_H
#define WC_SPLITMIX_H

#include <stdint.h>

#define SPLITMIX_STEP UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t splitmix_mix(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

// The next number of a stream; any state is a good one.
static inline uint64_t splitmix_next(uint64_t *state)
{
	return splitmix_mix(*state += SPLITMIX_STEP);
}

#endif
