// SPDX-License-Identifier: Apache-2.0
//
// The learning rate of a step; see rate.h.
#include "driver/host/rate.h"

#include <assert.h>

const char *rate_decay_name(enum rate_decay decay)
{
	static const char *const names[RATE_DECAYS] = {"none", "linear"};

	return names[decay];
}

float rate_at(const struct rate *rate, uint64_t step)
{
	assert(step < rate->length);
	if (step < rate->warmup)
		return (float)(rate->peak * (double)(step + 1) / (double)(rate->warmup + 1));
	if (rate->decay == RATE_CONSTANT)
		return (float)rate->peak;
	return (float)(rate->peak * (double)(rate->length - step) / (double)(rate->length - rate->warmup));
}
