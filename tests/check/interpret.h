// SPDX-License-Identifier: Apache-2.0
//
// A brute-force interpreter of schedules, the checker's opponent. It shares no code with it and argues about nothing: it runs every
// iteration of every group on every sample with a 64-bit value per row, so that a row's value tells from which rows it was made.
// Slabs are memory that really is overwritten (a ReLU in place writes over its input) and really is garbage before it is
// filled and after its last use. At the end, outputs and weight gradients are compared with values computed straight
// from the network.
#ifndef INTERPRET_H
#define INTERPRET_H

#include "driver/plan/schedule.h"

struct interpretation {
	bool meaningless;      // a statement that cannot be run at all; nothing else is set
	bool garbage_read;     // some statement read a row that was not there, whether or not it mattered
	bool output_wrong;     // a row of the last layer in DRAM differs from the reference
	bool gradient_wrong;   // a weight gradient in DRAM differs; not judged if the schedule is forward only
	bool dram_wrong;       // a row that some statement stored differs from the reference
	bool forward_only;
	uint64_t peak_bytes;   // by adding up live slabs, weights and sums at every statement of every iteration
};

struct interpretation interpret(const struct schedule *schedule, const struct net *net);

// Everything that the schedule delivers is right, and nothing was read that was not there.
bool interpretation_right(const struct interpretation *result);

#endif
