// SPDX-License-Identifier: Apache-2.0
//
// Number of strips, sub-batch and resident parameters of a tiled segment, so that it moves the fewest bytes.
#ifndef WC_PAPER_ROW_SEARCH_H
#define WC_PAPER_ROW_SEARCH_H

#include "driver/plan/account_paper.h"
#include "driver/plan/paper/planner.h"
#include "driver/plan/paper/row_build.h"

// What is decided about one phase of a segment.
struct row_phase {
	int strips; // 0: nothing is to be done in this phase
	bool hold;
	int sub_batch;
	int64_t sample_bytes; // occupancy of one sample
	int node;             // where that is
	uint64_t bytes;       // moved
};

struct row_segment {
	int first, last, next_norm;  // as in struct row_build
	struct row_phase phases[2];  // [enum sched_phase]
};

struct row_search {
	struct paper_planner *paper;
	enum sched_tiling tiling;
	struct schedule scratch; // the schedule's header and a few groups
	int *reads, *sums;       // [node]: statements of an iteration that read the parameters, and that sum their gradients
	int64_t room;            // bytes of the buffer less the reserve
};

// 0 or WC_ERR_SYSTEM; row_search_release() in any case.
int row_search_init(struct row_search *search, struct paper_planner *paper, enum sched_tiling tiling);
void row_search_release(struct row_search *search);

// Decide on a segment whose nodes are set; not fewer strips than `least` are tried. 0, ROW_NO_FIT or WC_ERR_SYSTEM.
int row_decide(struct row_search *search, struct row_segment *segment, int least);
// The group of a phase that has been decided on; to release.
int row_make_group(struct row_search *search, const struct row_segment *segment, enum sched_phase phase, struct sched_group *group);

static inline uint64_t row_segment_bytes(const struct row_segment *segment)
{
	return segment->phases[SCHED_FORWARD].bytes + segment->phases[SCHED_BACKWARD].bytes;
}

#endif
