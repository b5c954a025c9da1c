// SPDX-License-Identifier: Apache-2.0
//
// Comparing two traces of the same run, for instance the device's and the golden model's. How events are
// aligned and which divergence counts as the first: README.md, "Comparing traces".
#ifndef WC_WCT_DIFF_H
#define WC_WCT_DIFF_H

#include <stdio.h>

#include "traces/error.h"
#include "traces/wct.h"

struct wct_diff_options {
	bool timing; // compare cycles, counters and the bursts that fetch commands too
};

enum wct_difference {
	WCT_SAME,
	WCT_DIFFERS,          // both traces have the event, with different content
	WCT_ONLY_IN_GOT,
	WCT_ONLY_IN_EXPECTED,
};

enum { WCT_DIFF_TEXT_BYTES = 256 };

// Where two traces part. Numbers that are not known are -1.
struct wct_divergence {
	enum wct_difference difference;
	enum wct_kind kind;
	uint32_t command;                    // WCT_NO_COMMAND: none
	int64_t core;                        // whose command it is; of one core alone not known
	int32_t layer;
	char layer_name[WCT_DIFF_TEXT_BYTES]; // may be shortened
	enum wct_phase phase;
	int64_t sample;                      // of the element, where the tile says how m maps to samples, else the event's first
	int64_t tile_m, tile_n;
	int64_t wave;                        // of a tile: the last wave of its sum
	bool has_cycle;
	uint64_t cycle;                      // got's, of the element's row when known; else expected's
	bool has_element;                    // the members up to elements_differing are valid
	uint32_t m, n;                       // in the tile; n is the PE column
	bool is_fp32;
	uint32_t got, expected;              // bits
	uint64_t ulps;                       // wct_ulps()
	uint64_t elements, elements_differing; // of the tile
	char text[WCT_DIFF_TEXT_BYTES];      // the difference in words, one line
};

struct wct_diff_report {
	struct wct_divergence first;          // difference is WCT_SAME when the traces agree
	uint64_t compared[WCT_KIND_END];      // events by kind
	uint64_t differing[WCT_KIND_END];     // of these
	uint64_t only_got[WCT_KIND_END];      // one-sided events of kinds that both have
	uint64_t only_expected[WCT_KIND_END];
	uint64_t not_compared_got[WCT_KIND_END];      // the other trace has not this kind or level, or options exclude it
	uint64_t not_compared_expected[WCT_KIND_END];
	uint64_t elements_compared;           // of tiles with data in both
	bool got_is_cut, expected_is_cut;     // compared as far as they go
};

// Compare. 0: they agree; WC_ERR_MISMATCH: report->first says where not; WC_ERR_INPUT: a trace cannot be read or is damaged (what a cut-off one
// still has is compared first; a divergence in it is a mismatch), the traces are of different runs, or no result was compared;
// WC_ERR_SYSTEM: out of memory, failed read. The report is valid for 0, WC_ERR_MISMATCH and cut-off traces.
int wct_diff(const char *got_path, const char *expected_path, const struct wct_diff_options *options, struct wct_diff_report *report,
	     struct wc_error *err);

// Print a report for people or, one line of JSON, for machines. WC_ERR_SYSTEM: out of memory; failed writes are left to `out`.
int wct_diff_print(const struct wct_diff_report *report, FILE *out, struct wc_error *err);
int wct_diff_print_json(const struct wct_diff_report *report, FILE *out, struct wc_error *err);

#endif
