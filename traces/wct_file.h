// SPDX-License-Identifier: Apache-2.0
//
// A trace file as a list of chunks, for the reader alone. Chunks lie without gaps, so file header, chunks, index and trailer cover
// every byte: what this list and the chunks' CRCs do not vouch for is reported as the fault behind the last chunk.
#ifndef WC_WCT_FILE_H
#define WC_WCT_FILE_H

#include "traces/error.h"
#include "traces/wct_reader.h"

struct wct_file {
	int fd;
	char *path;               // for messages, owned
	uint64_t file_bytes;
	enum wct_level level;
	struct wct_chunk *chunks; // owned; whole chunks as far as the sizes say
	uint32_t *payload_crcs;   // of the chunks, owned
	size_t chunk_count, chunk_capacity;
	uint64_t end_offset;      // behind the last whole chunk
	const char *end_fault;    // what is wrong there, in static storage, or NULL: the trace is complete
	bool is_cut;              // ... and it is only that the end is missing
};

// Open, check the file header and list the chunks, by the index or by walking from header to header. Errors: as wct_reader_open().
// After an error only wct_file_close() may be called.
int wct_file_open(struct wct_file *file, const char *path, struct wc_error *err);
void wct_file_close(struct wct_file *file);

// Read chunk `number` and unpack it to `raw`, using `packed`, which hold at least the chunk's raw_bytes and packed_bytes. Its header
// and CRC are checked.
int wct_file_load(struct wct_file *file, size_t number, uint8_t *packed, uint8_t *raw, struct wc_error *err);

// Set a text that names file, chunk and offset, then `prefix` and `fault`; returns `code`. `number` may be chunk_count: behind the last.
int wct_file_fail(const struct wct_file *file, size_t number, int code, const char *prefix, const char *fault, struct wc_error *err);

#endif
