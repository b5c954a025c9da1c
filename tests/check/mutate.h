// SPDX-License-Identifier: Apache-2.0
//
// Random changes of schedules, and the judgement of what the checker says of them.
#ifndef MUTATE_H
#define MUTATE_H

#include "driver/plan/check/check.h"

// xorshift64*; the state must not be 0.
struct random {
	uint64_t state;
};

// From the seed that tests/seed.h chooses; `seed` is the quick tests'.
struct random random_begin(const char *test, uint64_t seed);
int random_below(struct random *random, int limit);
// A small number up or down, not 0.
int random_step(struct random *random);

// Change one thing: rows, a statement, a strip, a group's property, the buffer. The schedule stays safe to release.
void mutate(struct schedule *schedule, const struct net *net, struct random *random);

struct verdicts {
	int proven, caught[CHECK_BUFFER + 1];
};

// The schedule's text; the caller frees it.
char *mutant_text(const struct schedule *schedule, const struct net *net);
// The verdict is contradicted: show everything and fail.
void contradict(const struct schedule *schedule, const struct net *net, uint64_t seed, const char *what, const char *verdict);

// Check the schedule and interpret it by brute force; fail the test, with the schedule's text, if
// - it is proven, but something it delivers is wrong, or its peak occupancy is another, or
// - rows are said to be missing, but nothing is wrong; or an overflow is reported, but it fits.
void judge_schedule(const struct schedule *schedule, const struct net *net, uint64_t seed, struct verdicts *verdicts);

#endif
