// SPDX-License-Identifier: Apache-2.0
#include "csim/golden/reduce.h"

#include "csim/golden/half.h"

void golden_reduce(float *sum, const float *added, size_t count)
{
	for (size_t i = 0; i < count; i++)
		sum[i] = golden_float_of(golden_float_bits(sum[i] + added[i]));
}
