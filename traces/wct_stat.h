// SPDX-License-Identifier: Apache-2.0
//
// What a trace holds, in numbers.
#ifndef WC_WCT_STAT_H
#define WC_WCT_STAT_H

#include <stdio.h>

#include "traces/error.h"
#include "traces/wct.h"

struct wct_stat {
	enum wct_level level;
	bool is_cut;
	uint64_t chunks, file_bytes;
	uint64_t raw_bytes;                   // of all chunks unpacked
	uint64_t events, kinds[WCT_KIND_END]; // together, and by kind
	uint64_t levels[WCT_LEVEL_COUNT];     // ... and by level
	uint64_t tile_elements, tile_elements_with_data;
	uint64_t burst_read_bytes, burst_write_bytes;
	bool has_cycles;
	uint64_t cycle_min, cycle_max;        // of all events with a cycle
};

// Read the whole trace. Errors: as wct_reader_open() and wct_reader_next(); `stat` holds what came before.
int wct_stat(const char *path, struct wct_stat *stat, struct wc_error *err);

// Print for people or, one line of JSON, for machines. WC_ERR_SYSTEM: failed write, out of memory.
int wct_stat_print(const struct wct_stat *stat, FILE *out, struct wc_error *err);
int wct_stat_print_json(const struct wct_stat *stat, FILE *out, struct wc_error *err);

#endif
