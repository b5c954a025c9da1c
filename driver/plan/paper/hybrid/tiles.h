// SPDX-License-Identifier: Apache-2.0
//
// What tiled groups cost, for the search.
#ifndef WC_HYBRID_TILES_H
#define WC_HYBRID_TILES_H

#include "driver/plan/paper/hybrid/search.h"

struct hybrid_tiling {
	int strips;
	int64_t need;  // bytes of one sample
	int64_t moves; // of the whole batch, as templates count: what is stored for backward, and masks twice, with backward
};

enum { HYBRID_TILINGS_MAX = 24 };
struct hybrid_tilings {
	struct hybrid_tiling list[HYBRID_TILINGS_MAX];
	int count; // 0: the modules are no chain, or nothing fits
};

// Numbers of strips of modules first..last, from the smallest of which one sample fits. 0 or WC_ERR_SYSTEM.
int hybrid_tilings_find(struct hybrid_tilings *tilings, const struct hybrid_search *search, enum sched_phase phase, int first, int last, int64_t room);

#endif
