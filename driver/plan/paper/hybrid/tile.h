// SPDX-License-Identifier: Apache-2.0
//
// Modules in row strips (2PS): a chain of convolutions and pools without normalizations, of which one sample does not fit, or more
// would. A strip pushes as many rows through every operator as the rows before it allow and keeps the lines that the next strip
// needs again. Backward runs top-down as well: gradients are gathered, so the order of strips is free, and nothing is computed twice.
#ifndef WC_HYBRID_TILE_H
#define WC_HYBRID_TILE_H

#include "driver/plan/paper/hybrid/view.h"
#include "driver/plan/schedule.h"

enum { HYBRID_CHAIN_MAX = 64 };

// Operators of modules first..last, bottom up; operator i makes values[i + 1] from values[i].
struct hybrid_chain {
	int ops[HYBRID_CHAIN_MAX], values[HYBRID_CHAIN_MAX + 1];
	int count;
};

// False if the modules are no such chain.
bool hybrid_chain_find(struct hybrid_chain *chain, const struct hybrid_view *view, int first, int last);
// Rows of what is cut into strips: the input forward, the output backward.
int hybrid_chain_rows(const struct hybrid_chain *chain, const struct hybrid_view *view, enum sched_phase phase);

// Statements of a group in `strips` strips. stored[value]: written for backward (forward only). 0; HYBRID_UNFIT if a strip would have no
// rows for some operator; WC_ERR_SYSTEM.
int hybrid_tile(struct sched_group *group, const struct hybrid_chain *chain, const struct hybrid_view *view, int strips, const bool *stored,
		struct wc_error *err);

#endif
