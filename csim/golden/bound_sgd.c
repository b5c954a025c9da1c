// SPDX-License-Identifier: Apache-2.0
#include "csim/golden/bound_sgd.h"

struct golden_bound_sgd golden_bound_sgd(const struct golden_sgd *sgd, float gradient, float w, float v)
{
	struct golden_approx g = golden_approx_mul(golden_approx_exact(gradient), golden_approx_exact(sgd->inv_scale));
	struct golden_bound_sgd bound;

	g = golden_approx_add(g, golden_approx_mul(golden_approx_exact(sgd->decay), golden_approx_exact(w)));
	bound.v = golden_approx_add(golden_approx_mul(golden_approx_exact(sgd->mu), golden_approx_exact(v)), g);
	bound.w = golden_approx_sub(golden_approx_exact(w), golden_approx_mul(golden_approx_exact(sgd->lr), bound.v));
	bound.w16 = bound.w;
	bound.w16.error = golden_bound_half(bound.w.value, bound.w.error);
	return bound;
}
