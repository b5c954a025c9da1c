// SPDX-License-Identifier: Apache-2.0
//
// Reading a `.wct` trace, event by event, from the start or from any chunk. Nothing in the file is believed before it is checked.
#ifndef WC_WCT_READER_H
#define WC_WCT_READER_H

#include "traces/error.h"
#include "traces/wct.h"

struct wct_reader;

struct wct_chunk {
	uint64_t offset;                // of the chunk's header in the file
	uint64_t first_event;           // number of its first event in the file
	uint32_t packed_bytes, raw_bytes;
	uint32_t events;
	uint32_t kinds;                 // bit k: it holds events of kind k
	uint64_t cycle_min, cycle_max;  // of its events with a cycle; min > max when none has one
};

// Open and find the chunks, by the index or, in a trace without one, by walking the headers.
// WC_ERR_INPUT: no such file, not a regular file, not a trace, another version. *reader is then NULL. A trace that is damaged
// or cut off further on can be opened; wct_reader_next() says so when it gets there.
int wct_reader_open(struct wct_reader **reader, const char *path, struct wc_error *err);

// Accepts NULL.
void wct_reader_free(struct wct_reader *reader);

// The next event: 1 with `event` filled, whose pointers hold until the next call; 0 at the end of a complete trace; or an error.
// WC_ERR_INPUT names file, chunk and offset, and comes again on every later call. A trace that was cut off gives the events of all whole chunks and then
// this error, and wct_reader_is_cut() is true.
int wct_reader_next(struct wct_reader *reader, struct wct_event *event, struct wc_error *err);

// Continue with the first event of chunk `chunk`, 0 to wct_reader_chunks() (the end).
// After an error in one chunk this is the way to those behind it.
int wct_reader_seek(struct wct_reader *reader, size_t chunk, struct wc_error *err);

// No end was written: the run was killed or is still going on.
bool wct_reader_is_cut(const struct wct_reader *reader);

enum wct_level wct_reader_level(const struct wct_reader *reader);
uint64_t wct_reader_file_bytes(const struct wct_reader *reader);

// The whole chunks. From the index, or walked; their payloads are only checked when they are read.
size_t wct_reader_chunks(const struct wct_reader *reader);
void wct_reader_chunk(const struct wct_reader *reader, size_t chunk, struct wct_chunk *info);

// Kinds in the whole chunks, as a mask.
uint32_t wct_reader_kinds(const struct wct_reader *reader);

#endif
