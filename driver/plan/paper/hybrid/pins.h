// SPDX-License-Identifier: Apache-2.0
#ifndef WC_HYBRID_PINS_H
#define WC_HYBRID_PINS_H

#include "driver/plan/paper/hybrid/search.h"

// Keep weights and sums in what the group's slabs leave of the buffer; what saves most goes first: weights read twice in an iteration,
// sums, which are written and read, weights. The last one may be kept in part. Sets policies and reason. 0 or WC_ERR_SYSTEM.
int hybrid_pin(struct hybrid_search *search, const struct hybrid_group *group, struct sched_group *made);

#endif
