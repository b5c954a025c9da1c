// SPDX-License-Identifier: Apache-2.0
//
// Bounds on the errors of SGD: the operations of sgd.h, one by one, on approximations (bound.h).
#ifndef WC_GOLDEN_BOUND_SGD_H
#define WC_GOLDEN_BOUND_SGD_H

#include "csim/golden/bound.h"
#include "csim/golden/sgd.h"

struct golden_bound_sgd {
	struct golden_approx w, v, w16;
};

// One parameter, exact before the step.
struct golden_bound_sgd golden_bound_sgd(const struct golden_sgd *sgd, float gradient, float w, float v);

#endif
