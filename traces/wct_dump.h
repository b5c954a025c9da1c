// SPDX-License-Identifier: Apache-2.0
//
// Printing a trace, one event a line:
//
//   tile cycle=4711 command=12 layer=1 layer_name=conv1 phase=forward sample=0 tile_rows=196 tile_cols=16 waves=9 type=fp16 digest=0x0badcafe
//
// or one JSON object a line, with the same names.
#ifndef WC_WCT_DUMP_H
#define WC_WCT_DUMP_H

#include <stdio.h>

#include "traces/error.h"
#include "traces/wct.h"

struct wct_dump_options {
	bool json_lines;
	bool data;                       // the values of tiles too, in hexadecimal (JSON: as integers), a line for each row
	enum wct_level level;            // up to this one
	bool has_command;                // this command's events alone
	uint32_t command;
	bool has_core;                   // events of this core's commands alone
	int core;
	bool has_window;                 // events with a cycle in [cycle_from, cycle_to) alone
	uint64_t cycle_from, cycle_to;
	uint32_t kinds;                  // mask by kind; 0: all
};

// Every event that the options let through.
void wct_dump_options_init(struct wct_dump_options *options);

// Print events to `out` until the trace's end. Errors: as wct_reader_open() and wct_reader_next(), after the events before them were printed (so
// a trace that was cut off prints all it has and then ends with WC_ERR_INPUT); WC_ERR_SYSTEM when `out` cannot be written.
// *printed, unless NULL, gets the number of events printed.
int wct_dump(const char *path, const struct wct_dump_options *options, FILE *out, uint64_t *printed, struct wc_error *err);

#endif
