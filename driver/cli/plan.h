// SPDX-License-Identifier: Apache-2.0
//
// Inside `wavecore plan`: a schedule's costs as JSON.
#ifndef WC_CLI_PLAN_H
#define WC_CLI_PLAN_H

#include "driver/plan/account.h"
#include "driver/plan/plan.h"

// What is known of a schedule beside its text.
struct plan_costs {
	struct account account;
	uint64_t baseline_bytes;       // DRAM bytes of the layer-by-layer schedule of the same problem; 0: there is none
	uint64_t footprint_bytes;      // `paper`: DRAM bytes at once; `device`: most live bytes of the buffer
	uint64_t *group_buffer_bytes;  // [group]: the buffer's high water; owned
	uint64_t *group_pinned_bytes;  // [group]: resident weights and sums; owned
};

// 0, or an error and nothing to release.
int plan_costs(struct plan_costs *costs, const struct schedule *schedule, const struct net *net, const struct plan_options *options,
	       struct wc_error *err);
void plan_costs_release(struct plan_costs *costs);

// Print it all to stdout. `name` is the schedule's as given.
void plan_print_json(const char *name, const struct schedule *schedule, const struct net *net, const struct plan_costs *costs);
// For each group why it ends where it ends, and what it holds.
void plan_explain(const struct schedule *schedule, const struct net *net, const struct plan_costs *costs, FILE *file);

#endif
