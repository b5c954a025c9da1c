// SPDX-License-Identifier: Apache-2.0
//
// Bytes in DRAM of what normalizations leave there under `device` accounting: driver/README.md, "Graphs on the device".
#ifndef WC_PLAN_FOOTPRINT_NORM_H
#define WC_PLAN_FOOTPRINT_NORM_H

#include <stdint.h>

#include "driver/plan/schedule.h"

// Groups between which some of it is there; first > last: never.
struct footprint_span {
	int first, last;
};

enum footprint_vector { FOOTPRINT_STATISTICS, FOOTPRINT_SUMS, FOOTPRINT_ROW_STATISTICS, FOOTPRINT_ROW_SUMS, FOOTPRINT_VECTORS };

struct footprint_norms {
	const struct schedule *schedule;
	const struct net *net;
	struct footprint_span (*spans)[FOOTPRINT_VECTORS]; // [node]; owned
};

// 0 or WC_ERR_SYSTEM; footprint_norms_release() in any case.
int footprint_norms_init(struct footprint_norms *norms, const struct schedule *schedule, const struct net *net);
void footprint_norms_release(struct footprint_norms *norms);
// Of the whole batch, while a group runs.
uint64_t footprint_norms_bytes(const struct footprint_norms *norms, int group);

#endif
