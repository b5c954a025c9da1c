// SPDX-License-Identifier: Apache-2.0
//
// The slabs of a strip: driver/README.md, "Meaning" and "Several readers". The checker has its own.
#ifndef WC_PAPER_SLABS_H
#define WC_PAPER_SLABS_H

#include "driver/plan/paper/access.h"

// The hull of the rows that statements name, from the first of them to the last that names or reads some, or to a `free`.
struct paper_slab {
	enum sched_tensor tensor;
	int node;
	struct rows rows;
	int first, last; // statements
	int room;        // the slab whose room it has: itself, or, for a view of an add's gradient, that
	int next;        // the tensor's next slab; -1: none
};

struct paper_slabs {
	const struct paper_graph *graph;
	struct paper_slab *slabs;
	int count, capacity;
	int *first, *now; // [2 * node + tensor]: index in `slabs`, -1
	struct access_list accesses; // of the statement looked at last
};

// 0 or WC_ERR_SYSTEM, without a text; paper_slabs_release() in any case.
int paper_slabs_init(struct paper_slabs *slabs, const struct paper_graph *graph);
void paper_slabs_release(struct paper_slabs *slabs);

// Lay out a strip in place of the one before, and stand at its beginning. 0 or WC_ERR_SYSTEM.
int paper_slabs_lay_out(struct paper_slabs *slabs, const struct sched_strip *strip, enum sched_phase phase);
// Stand at statement `index`, its accesses in `accesses`; one statement after the other. 0 or WC_ERR_SYSTEM.
int paper_slabs_step(struct paper_slabs *slabs, const struct sched_strip *strip, int index, enum sched_phase phase);
// The slab of an access there; NULL: none.
const struct paper_slab *paper_slabs_at(const struct paper_slabs *slabs, const struct access *access);

#endif
