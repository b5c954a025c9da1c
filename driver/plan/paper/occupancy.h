// SPDX-License-Identifier: Apache-2.0
//
// What a group of a schedule for `paper` accounting holds in the buffer: driver/README.md, "Meaning" and "What must be so".
#ifndef WC_PAPER_OCCUPANCY_H
#define WC_PAPER_OCCUPANCY_H

#include "driver/plan/paper/graph.h"
#include "driver/plan/schedule.h"

struct paper_occupancy {
	int64_t sample_bytes;   // slabs and kept rows of one sample, at most
	int node;               // whose statement that is
	int64_t resident_bytes; // weights and sums kept over the group
};

// 0 or WC_ERR_SYSTEM.
int paper_occupancy(const struct paper_graph *graph, const struct sched_group *group, struct paper_occupancy *occupancy, struct wc_error *err);

#endif
