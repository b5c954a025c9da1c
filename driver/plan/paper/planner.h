// SPDX-License-Identifier: Apache-2.0
//
// What the planners for `paper` accounting share.
#ifndef WC_PAPER_PLANNER_H
#define WC_PAPER_PLANNER_H

#include "driver/plan/paper/emit.h"
#include "driver/plan/paper/paper.h"

struct paper_planner {
	struct paper_graph graph;
	const struct plan_options *options;
	struct schedule *schedule;
	struct wc_error *err;
};

// Bytes of the buffer set apart for what streams: 128 KiB, or an eighth of a small buffer in whole pages.
static inline uint32_t paper_reserve_bytes(uint32_t buffer_bytes)
{
	const uint32_t eighth = buffer_bytes / 8 / 4096 * 4096;

	return eighth < 128u << 10 ? eighth : 128u << 10;
}

int paper_baseline(struct paper_planner *planner);
int paper_il(struct paper_planner *planner);
int paper_mbs_fs(struct paper_planner *planner);
int paper_mbs1(struct paper_planner *planner);
int paper_mbs2(struct paper_planner *planner);
int paper_overl(struct paper_planner *planner);
int paper_2ps(struct paper_planner *planner);
int paper_overl_h(struct paper_planner *planner);
int paper_2ps_h(struct paper_planner *planner);
int paper_hybrid(struct paper_planner *planner); // hybrid/

// Append a group, with its reason as a printf-style text; NULL: none.
int paper_append(struct paper_planner *planner, const struct paper_group *group, const char *format, ...) __attribute__((format(printf, 3, 4)));

// What a module needs of the buffer per sample, in bytes, and in which of its nodes: PAPER_ADJACENT the largest layer, PAPER_ALL the largest
// set of tensors alive.
int64_t paper_module_need(const struct paper_graph *graph, enum paper_reuse reuse, int module, int *node);

// Iterations of a sub-batch.
static inline int paper_iterations(const struct paper_planner *planner, int sub_batch)
{
	return (planner->options->batch + sub_batch - 1) / sub_batch;
}

#endif
