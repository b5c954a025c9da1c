// SPDX-License-Identifier: Apache-2.0
//
// The learning rate of every step of a training. Steps count from 0, over all runs that go on from each other's parameters; with a warm-up of W steps
// and a training of L the rate of step t is
//
//     t < W:               peak (t + 1) / (W + 1)
//     t >= W, no decay:    peak
//     t >= W, linear:      peak (L - t) / (L - W)     the last step has peak / (L - W), none has 0
//
// in double, each operation rounded once, left to right, and the result to fp32: the same bits on every machine.
#ifndef WC_RATE_H
#define WC_RATE_H

#include <stdint.h>

enum rate_decay { RATE_CONSTANT, RATE_LINEAR, RATE_DECAYS };

struct rate {
	double peak;
	enum rate_decay decay;
	uint64_t warmup, length; // steps
};

// As options and results have it; static.
const char *rate_decay_name(enum rate_decay decay);
// `step` is below the length.
float rate_at(const struct rate *rate, uint64_t step);

#endif
