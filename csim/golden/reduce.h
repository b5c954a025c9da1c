// SPDX-License-Identifier: Apache-2.0
//
// The reduction of weight gradients over cores: sum = sum + added, each element in binary32 and rounded once, NaNs canonical. Core 0's come
// first, the others' are added in ascending order.
#ifndef WC_GOLDEN_REDUCE_H
#define WC_GOLDEN_REDUCE_H

#include <stddef.h>

// `count` elements of both.
void golden_reduce(float *sum, const float *added, size_t count);

#endif
