// SPDX-License-Identifier: Apache-2.0
//
// Counter-based random numbers; see random.h.
#include "driver/host/random.h"

#include "traces/splitmix.h"

uint64_t random_bits(uint64_t seed, uint64_t stream, uint64_t index)
{
	return splitmix_mix(splitmix_mix(splitmix_mix(seed + SPLITMIX_STEP) + stream * SPLITMIX_STEP) + index * SPLITMIX_STEP);
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
