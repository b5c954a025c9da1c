// SPDX-License-Identifier: Apache-2.0
//
// The interpreter's machine (interpret.h), and the slabs of the strip it is running.
#ifndef MACHINE_H
#define MACHINE_H

#include "tests/check/interpret.h"
#include "tests/check/values.h"

enum { KINDS = 3 };

// A tensor's slab in the strip being run: its memory is `value`, shared by input and output of a ReLU in place.
struct cells {
	int lo, hi, first, last; // first > last: none
	uint64_t *value;         // [sample in iteration * (hi - lo) + y - lo]
	bool shared;             // value belongs to another slab
};

struct machine {
	const struct schedule *schedule;
	const struct net *net;
	const struct sched_group *group;
	const struct sched_strip *strip;
	int sample_first, sample_count;
	struct values reference, dram, forward_kept, before, now;
	uint64_t *want_sums, *dram_sums, *resident_sums; // [node]
	bool *sums_begun;                                // [node]
	struct cells *cells;                             // [kind * node_count + node]
	struct interpretation *result;
};

// Zeroed memory; fails the test if there is none.
void *machine_allocate(size_t count, size_t bytes);

// Hull and life of every slab of machine->strip, before any of its statements runs.
void slabs_lay_out(const struct machine *machine);
// Give memory, full of garbage, to slabs whose first statement is `at`; a ReLU in place gets its input's.
void slabs_open(const struct machine *machine, int at);
// Take it from slabs whose last statement is `at`.
void slabs_close(const struct machine *machine, int at);
// A row of a sample of the iteration; NULL if no slab holds it at this moment.
uint64_t *slabs_cell(const struct machine *machine, int kind, int node, int sample, int y);
// Live bytes at statement `at`, between open and close: slabs, weights, sums.
uint64_t slabs_bytes(const struct machine *machine, int at);

#endif
