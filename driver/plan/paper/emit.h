// SPDX-License-Identifier: Apache-2.0
//
// From decisions to statements: the groups of a schedule for `paper` accounting in which whole feature maps go through the buffer.
#ifndef WC_PAPER_EMIT_H
#define WC_PAPER_EMIT_H

#include "driver/plan/paper/graph.h"
#include "driver/plan/schedule.h"

enum paper_reuse {
	PAPER_STREAMED, // nothing stays on the chip; ReLUs go without masks
	PAPER_ADJACENT, // MBS1: a tensor stays from its producer to a reader that runs directly after it
	PAPER_ALL,      // MBS2: what the group makes, and its input once read, stays to its last use
};

// Modules first..last as one group.
struct paper_group {
	enum sched_phase phase;
	enum paper_reuse reuse;
	int first_module, last_module;
	int sub_batch;
	// [node], PAPER_ADJACENT: layers that the buffer can hold for the whole mini-batch; others stream and nothing stays next to
	// them. NULL: all.
	const bool *fits;
	bool blocked; // weights pass in blocks, each layer over the whole mini-batch
};

// Append the group to the schedule; PAPER_STREAMED becomes a group per layer. 0, WC_ERR_SYSTEM, or WC_ERR_INPUT if a
// statement would list more than SCHED_LIST_MAX tensors.
int paper_emit(struct schedule *schedule, const struct paper_graph *graph, const struct paper_group *group, struct wc_error *err);
// Append one layer by itself over the whole mini-batch, everything through DRAM, as the baseline has it. 0, WC_ERR_SYSTEM, or WC_ERR_INPUT if a
// statement would list more than SCHED_LIST_MAX tensors.
int paper_emit_layer(struct schedule *schedule, const struct paper_graph *graph, enum sched_phase phase, int node, struct wc_error *err);
// Append a pass over the operands of a normalization by itself: forward its statistics, backward its sums and parameters' gradients. 0,
// WC_ERR_SYSTEM, or WC_ERR_INPUT as above.
int paper_emit_statistics(struct schedule *schedule, const struct paper_graph *graph, enum sched_phase phase, int norm, struct wc_error *err);

#endif
