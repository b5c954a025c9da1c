// SPDX-License-Identifier: Apache-2.0
//
// Random numbers by position, not by order: value i of a stream is a function of (seed, stream, i)
// alone. So a tensor's element does not depend on batch size, on other tensors or on the machine.
//
//     bits(seed, stream, i) = mix(mix(mix(seed + G) + stream * G) + i * G)
//
// with splitmix_mix() and SPLITMIX_STEP (traces/splitmix.h) as mix and G.
//
// A normal number is the sum of twelve uniform 16-bit integers, the four of each of bits(3 i), bits(3 i + 1), bits(3 i + 2),
// less 393210, over 65536: mean 0, variance 1, range (-6, 6). Only integers and a division by a power of two are involved, so the value
// is exact everywhere.
#ifndef WC_RANDOM_H
#define WC_RANDOM_H

#include <stdint.h>

uint64_t random_bits(uint64_t seed, uint64_t stream, uint64_t index);
double random_normal(uint64_t seed, uint64_t stream, uint64_t index);

#endif
