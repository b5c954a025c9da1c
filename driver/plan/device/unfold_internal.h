// SPDX-License-Identifier: Apache-2.0
//
// The inside of the unfolding: unfold.c has the frame, what is there and what is fetched; unfold_forward.c, unfold_gradient.c and
// unfold_sums.c the statements.
#ifndef WC_PLAN_UNFOLD_INTERNAL_H
#define WC_PLAN_UNFOLD_INTERNAL_H

#include "driver/plan/device/unfold.h"
#include "driver/plan/device/use.h"
#include "driver/plan/operands.h"
#include "driver/plan/paper/slabs.h"

struct unfold_temporary {
	enum sched_tensor tensor;
	int node;
};

struct unfold {
	const struct unfolding *of;
	const struct net *net;
	const struct sched_group *group;     // being unfolded
	struct paper_slabs slabs;            // of its strip
	const struct sched_strip *source;    // the strip, and
	int at;                              // the statement at hand in it
	const struct sched_statement *statement;
	struct sched_strip *strip;           // being filled
	bool *named;                         // [3 * node + tensor]: the new strip has a slab of it that no `free` has ended
	int *masked;                         // [node]: rows of its mask that the group's strips have stored, from the first on
	struct unfold_temporary *temporaries; // slabs of the present block
	int count, capacity;
	struct wc_error *err;
	int rc;
};

void unfold_add(struct unfold *u, const struct sched_statement *statement);
void unfold_say(struct unfold *u, enum sched_op op, enum sched_tensor tensor, int node, struct rows rows);
// A tensor is about to get a slab for the present block, ended by unfold_release(); nothing if it has one that lasts.
void unfold_temporary(struct unfold *u, enum sched_tensor tensor, int node);
void unfold_release(struct unfold *u);

// Whether the statement at hand has the tensor, or the concatenation of which it is a piece, in its list; a concatenation: any of its pieces.
bool unfold_comes(const struct unfold *u, enum sched_tensor tensor, int node);
bool unfold_goes(const struct unfold *u, enum sched_tensor tensor, int node);
// Whether the strip that is unfolded has a slab of the tensor now.
bool unfold_stays(const struct unfold *u, enum sched_tensor tensor, int node);

// Rows of an activation as an operand, of a gradient, of a mask: loaded, put together or made again if need be.
void unfold_fetch_act(struct unfold *u, int node, struct rows rows);
void unfold_fetch_gradient(struct unfold *u, int node, struct rows rows);
void unfold_fetch_mask(struct unfold *u, int node, struct rows rows);
// A gradient of which the statement at hand has made the part by `reader`: apart from what follows (the pieces of a concatenation, if it was
// the last part), to DRAM or to stay.
void unfold_finish_gradient(struct unfold *u, int node, int reader, struct rows rows);
// Its sum so far, if there is one and it comes from DRAM; else just its slab.
void unfold_begin_gradient(struct unfold *u, int node, int reader, struct rows rows);

// Block `i` of those that `rows` are cut into; empty behind the last.
struct rows unfold_block(const struct unfold *u, struct rows rows, bool streams, int i);
// Whether sums of a normalization are made by `statistics` in the present phase.
bool unfold_sums_known(const struct unfold *u, int norm);

void unfold_forward(struct unfold *u);
void unfold_gradient(struct unfold *u);
void unfold_accumulate(struct unfold *u);
void unfold_statistics(struct unfold *u);
void unfold_split(struct unfold *u);

#endif
