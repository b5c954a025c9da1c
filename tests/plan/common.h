// SPDX-License-Identifier: Apache-2.0
//
// Random networks and options, and schedules as text, for the tests of this directory.
#ifndef COMMON_H
#define COMMON_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/plan/plan.h"

// xorshift64*; the state must not be 0.
struct random {
	uint64_t state;
};

// From the seed that tests/seed.h chooses; `seed` is the quick tests'.
struct random random_begin(const char *test, uint64_t seed);
int random_below(struct random *random, int limit);
// How many rounds: `quick`, or `thorough` with WC_LONG in the environment.
int rounds(int quick, int thorough);

// A chain of up to 6 convolutions with ReLUs between: any kernel, stride, padding and dilation, images from 1x1 on.
void common_random_net(struct net *net, struct random *random);

// Chains with normalizations, pools, residual blocks and concatenations between.
void common_random_graph(struct net *net, struct random *random);

// A 16x16 array with a 16-byte bus.
struct plan_options common_options(int batch, uint32_t buffer_bytes);

// Plan; fails the test on an error.
void common_plan(struct schedule *schedule, const char *planner, const struct net *net, const struct plan_options *options);
// The schedule's text; the caller frees.
char *common_write(const struct schedule *schedule, const struct net *net);
// Parse a text as the file "s.txt".
int common_read(struct schedule *schedule, const struct net *net, const char *text, size_t bytes, struct wc_error *err);

#endif
