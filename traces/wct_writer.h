// SPDX-License-Identifier: Apache-2.0
//
// Writing a `.wct` trace while the run goes on. Events collect in a chunk; a full chunk is compressed and written in one
// piece, so that a kill loses at most the last one.
//
// Use: open -> event ... -> finish -> free. Without finish, free leaves a trace that reads as cut off, as after a kill.
// The first failed write or allocation is kept: every later call returns it again.
#ifndef WC_WCT_WRITER_H
#define WC_WCT_WRITER_H

#include "traces/error.h"
#include "traces/wct.h"

struct wct_writer;

// Create the file, replacing an old one, and write its header. WC_ERR_SYSTEM; *writer is then NULL.
int wct_writer_open(struct wct_writer **writer, const char *path, enum wct_level level, struct wc_error *err);

// Add an event; what it points to is copied before the return. An event above the writer's level is dropped, which is
// no error. Tile data are kept from level wave up, below only their digest is.
// WC_ERR_INPUT: a string with control characters or too long, a tile beyond its limits or empty; the trace goes on without the event.
int wct_writer_event(struct wct_writer *writer, const struct wct_event *event, struct wc_error *err);

// One header event of level run.
int wct_writer_header(struct wct_writer *writer, const char *key, const char *value, struct wc_error *err);

// Write the events so far as a chunk, full or not: before a stop, or when somebody reads along.
int wct_writer_flush(struct wct_writer *writer, struct wc_error *err);

// Flush, then write index and trailer. No event may follow.
int wct_writer_finish(struct wct_writer *writer, struct wc_error *err);

// Close the file. Accepts NULL.
void wct_writer_free(struct wct_writer *writer);

enum wct_level wct_writer_level(const struct wct_writer *writer);

#endif
