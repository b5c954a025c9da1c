// SPDX-License-Identifier: Apache-2.0
//
// Inside `wavecore plan`: a schedule's costs as JSON.
#ifndef WC_CLI_PLAN_H
#define WC_CLI_PLAN_H

#include "driver/plan/account.h"
#include "driver/plan/check/check.h"
#include "driver/plan/plan.h"

// What is known of a schedule beside its text: of all cores, but for the buffer, of which each has one.
struct plan_costs {
	struct account account;
	uint64_t baseline_bytes;       // DRAM bytes of the layer-by-layer schedule of the same problem; 0: there is none
	uint64_t footprint_bytes;      // DRAM bytes at once
	uint64_t peak_buffer_bytes;    // most live bytes of the buffer at a statement, as the checker proves it
	// `device`: of the steps that the schedule expands to, with loads moved ahead: most live bytes at one, and the highest end of a slab.
	uint64_t high_water_bytes, placed_bytes;
	uint64_t *group_buffer_bytes;  // [group]: `paper`: most live bytes, the reserve included; `device`: the highest end of a slab; owned
	uint64_t *group_pinned_bytes;  // [group]: resident weights and sums; owned
};

// Of a schedule that has been checked. 0, or an error and nothing to release.
int plan_costs(struct plan_costs *costs, const struct schedule *schedule, const struct net *net, const struct plan_options *options,
	       const struct check_result *check, struct wc_error *err);
void plan_costs_release(struct plan_costs *costs);

// Print it all to stdout. `name` is the schedule's as given.
void plan_print_json(const char *name, const struct schedule *schedule, const struct net *net, const struct plan_costs *costs);
// For each group why it ends where it ends, and what it holds.
void plan_explain(const struct schedule *schedule, const struct net *net, const struct plan_costs *costs, FILE *file);

#endif
