// SPDX-License-Identifier: Apache-2.0
//
// The trade between bytes moved and room needed: choices of bridged gaps of a template, from all bridged to none.
#ifndef WC_HYBRID_CURVE_H
#define WC_HYBRID_CURVE_H

#include "driver/plan/paper/hybrid/template.h"

struct hybrid_state {
	int64_t moves; // bytes of one sample
	int64_t need;  // most live bytes of one sample
	bool *bridged; // owned; gap i of slab s is at hybrid_gap(template, s) + i
};

struct hybrid_curve {
	struct hybrid_state *states; // moves rise, need falls
	int count;
};

// Where a slab's gaps begin; it has one fewer than events.
int hybrid_gap(const struct hybrid_template *template, int slab);

// 0 or WC_ERR_SYSTEM; hybrid_curve_release() in any case.
int hybrid_curve_init(struct hybrid_curve *curve, const struct hybrid_template *template);
void hybrid_curve_release(struct hybrid_curve *curve);

// The state that moves least with need x samples <= room; -1: none fits.
int hybrid_curve_query(const struct hybrid_curve *curve, int samples, int64_t room);

#endif
