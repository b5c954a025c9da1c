// SPDX-License-Identifier: Apache-2.0
//
// Comparing two aligned events, and describing what a single one is about.
#ifndef WC_WCT_COMPARE_H
#define WC_WCT_COMPARE_H

#include "traces/wct_diff.h"

// Whether the events, of one kind, say the same. If not, fill `divergence`. *elements gets the number of tile elements compared.
bool wct_compare(const struct wct_event *got, const struct wct_event *expected, bool with_cycles, struct wct_divergence *divergence,
		 uint64_t *elements);

// Fill `divergence` for an event that only one trace has.
void wct_describe_one_sided(const struct wct_event *event, enum wct_difference difference, struct wct_divergence *divergence);

#endif
