// SPDX-License-Identifier: Apache-2.0
//
// Counter-based random numbers; see random.h.
#include "driver/host/random.h"

static const uint64_t golden_ratio = 0x9e3779b97f4a7c15u;

static uint64_t mix(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

uint64_t random_bits(uint64_t seed, uint64_t stream, uint64_t index)
{
	return mix(mix(mix(seed + golden_ratio) + stream * golden_ratio) + index * golden_ratio);
}

double random_normal(uint64_t seed, uint64_t stream, uint64_t index)
{
	int64_t sum = -393210; // twelve times the mean of 0..65535

	for (uint64_t i = 0; i < 3; i++) {
		const uint64_t bits = random_bits(seed, stream, 3 * index + i);

		sum += (int64_t)((bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48));
	}
	return (double)sum / 65536;
}
