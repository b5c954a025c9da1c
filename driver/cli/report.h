// SPDX-License-Identifier: Apache-2.0
//
// Inside `wavecore report`: tables over networks and schedules, for a person, as JSON, or as columns for gnuplot.
#ifndef WC_CLI_REPORT_H
#define WC_CLI_REPORT_H

#include <stdio.h>

#include "driver/plan/plan.h"
#include "traces/error.h"

enum report_form { REPORT_TABLE, REPORT_JSON, REPORT_COLUMNS };

struct report_options {
	enum report_form form;
	const char *nets;      // comma-separated; NULL: the report's own
	const char *schedules; // likewise
	int cores;
	int batch;             // of all cores. 0: 32, and 64 for AlexNet; footprint: both 32 and 64
	int image;             // 0: the network's own size; footprint: 224, 448 and 1024
	uint32_t buffer_bytes; // a core's
	int max_extra_percent; // of the training MACs, for `hybrid`
	int strips;            // footprint: 0: 2 to 16
	uint64_t dram_bytes;   // footprint: what must hold a training step; 0: not asked
};

// DRAM bytes of each schedule by class, and their ratio to the baseline.
int report_traffic(const struct report_options *options, FILE *file, struct wc_error *err);
// The ratio to the baseline over buffers from 1 to 40 MiB.
int report_sweep(const struct report_options *options, FILE *file, struct wc_error *err);
// Bytes in DRAM of a training step when everything of it lives there, over strips.
int report_footprint(const struct report_options *options, FILE *file, struct wc_error *err);

// For each name in a comma-separated list; stops at the first that does not return 0.
int report_each(const char *list, int (*visit)(const char *name, void *context, struct wc_error *err), void *context, struct wc_error *err);
// The mini-batch that the comparison takes for a network.
int report_batch(const struct report_options *options, const char *net);

#endif
