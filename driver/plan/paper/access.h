// SPDX-License-Identifier: Apache-2.0
//
// What a statement reads and fills, tensor by tensor: driver/README.md, "Meaning". The checker has its own.
#ifndef WC_PAPER_ACCESS_H
#define WC_PAPER_ACCESS_H

#include "driver/plan/paper/graph.h"
#include "driver/plan/rows.h"

enum access_role {
	ACCESS_OPERAND,  // read: an input, or what backward needs of forward
	ACCESS_GRADIENT, // read: of an operator's output
	ACCESS_SUM,      // read: a gradient's sum so far
	ACCESS_NAMED,    // keep, store: rows of the slab, by name
	ACCESS_RESULT,   // filled
};

// Rows of an activation or a gradient, which is no concatenation; masks are left out.
struct access {
	enum access_role role;
	enum sched_tensor tensor;
	int node, named; // the tensor's, and the node by which the operator reads it: itself, or a concatenation
	struct rows rows;
	struct rows stream; // what passes between DRAM and the operator; it may exceed `rows`
	bool passing;       // read on the way from the statement before to DRAM
};

struct access_list {
	struct access *items;
	int count, capacity;
};

// The accesses of statement `index` of a strip, in place of those in the list, whose memory is used again; free() its items in the end. A
// split with `view` has the add's gradient and the parts of its inputs. 0 or WC_ERR_SYSTEM, without a text.
int access_derive(struct access_list *list, const struct paper_graph *graph, const struct sched_strip *strip, int index, enum sched_phase phase);

// Whether some of its rows are in a slab.
bool access_in_slab(const struct access *access);

#endif
