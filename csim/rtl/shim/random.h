// SPDX-License-Identifier: Apache-2.0
//
// splitmix64: a small generator with one word of state, for the memory's timing. Same seed, same sequence, on every host.
#ifndef WC_RANDOM_H
#define WC_RANDOM_H

#include <stdint.h>

struct wc_random {
	uint64_t state;
};

static inline uint64_t wc_random_next(struct wc_random *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

#endif
