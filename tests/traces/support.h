// SPDX-License-Identifier: Apache-2.0
//
// What the tests of traces share: scratch files, random numbers, a made-up run and its traces.
#ifndef TESTS_TRACES_SUPPORT_H
#define TESTS_TRACES_SUPPORT_H

#include <stddef.h>
#include <stdint.h>

#include "traces/wct.h"

// A directory of the test's own, for .init and .fini of a test suite.
void scratch_create(void);
void scratch_remove(void);

// "SCRATCH/name"; a static buffer for each of the last four calls.
const char *scratch_path(const char *name);

// Whole files. Failures fail the test. file_read() gives a block to free().
void file_write(const char *path, const void *bytes, size_t count);
uint8_t *file_read(const char *path, size_t *count);

// The seed of this run, as tests/seed.h chooses it.
uint64_t test_seed(void);
// splitmix64.
uint64_t random_next(uint64_t *state);

// The events of a made-up run: headers, commands of two layers with waves, tiles (fp16, fp32), results, bursts, high-water marks
// and counters, in the order of the golden model. `with_cycles` gives them cycles, rows of tiles included, bursts and counters.
struct run {
	struct wct_event *events;
	size_t count;
	uint32_t *bits[64];       // data of the tiles, owned
	uint64_t *row_cycles[64];
	int tiles;
};
void run_create(struct run *run, uint64_t seed, bool with_cycles);
void run_free(struct run *run);

// Let commands overlap as a device does: exchange neighbours of different commands at random, each command's own order kept.
void run_interleave(struct run *run, uint64_t seed);

// The index of the `nth` event of a kind (from 0) of `command` (WCT_NO_COMMAND: any); fails the test when there is none.
size_t run_find(const struct run *run, enum wct_kind kind, uint32_t command, size_t nth);
// Take an event out.
void run_remove(struct run *run, size_t index);

// Write events [0, count) as a trace, a chunk after each `chunk_events`, with index and trailer when `finish`. Failures fail the test.
void run_write(const struct run *run, size_t count, const char *path, enum wct_level level, size_t chunk_events, bool finish);

// Read a trace to its end or error and return wct_reader_next()'s last result (or open's), the events as text in *text (to free())
// and the error's text in `error` (WC_ERROR_TEXT_BYTES).
int trace_read(const char *path, char **text, char *error);

#endif
