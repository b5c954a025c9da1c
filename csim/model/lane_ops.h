// SPDX-License-Identifier: Apache-2.0
//
// Operations of the vector unit (rtl/programs.def) on all lanes at once, as loops that the compiler vectorizes: for the C model, and for the
// C macro that stands for the lanes in big simulations (csim/lanes).
//
// One operation is one rounding, so this must be compiled without contraction of a * b + c and without -ffast-math.
#ifndef WC_MODEL_LANE_OPS_H
#define WC_MODEL_LANE_OPS_H

#include <stdint.h>

#include "wc_programs.h"

enum { LANE_OPS_MAX = 256 }; // lanes

// Masks are all ones or all zeros per lane.
struct lane_operands {
	const uint32_t *a, *b; // may be the same
	const uint32_t *first; // mask: the lane begins a group; used by `fill` and `acc2`
	uint32_t active;       // lanes with a channel; used by `active` alone
};

// to = op(a, b) on `count` lanes; `to` overlaps no operand. Comparisons write the mask `predicate` in its place, and `to` is a. Not for `acc`,
// which is a shift and an addition. Of `acc2` `to` is what it adds: a in lanes that begin a group, else b of the lane before.
void lane_ops_apply(enum wc_simd_op op, const struct lane_operands *operands, uint32_t *predicate, uint32_t *to, uint32_t count);

#endif
