// SPDX-License-Identifier: Apache-2.0
//
// The ways to do a module's work.
#ifndef WC_HYBRID_OPTIONS_H
#define WC_HYBRID_OPTIONS_H

#include "driver/plan/paper/hybrid/search.h"

// Backward: nothing made again, then pools, then, with search->recompute, convolution after convolution, those first that cost fewest MACs
// per byte. 0 or WC_ERR_SYSTEM; hybrid_options_release() in any case.
int hybrid_options_backward(struct hybrid_options *options, const struct hybrid_search *search, int module, struct hybrid_edges edges);
// Forward: the one way there is.
int hybrid_options_forward(struct hybrid_options *options, const struct hybrid_search *search, int module, struct hybrid_edges edges, const bool *stored);
void hybrid_options_release(struct hybrid_options *options);

static inline int hybrid_edges_index(struct hybrid_edges edges)
{
	return 2 * edges.in_border + edges.out_border;
}

#endif
