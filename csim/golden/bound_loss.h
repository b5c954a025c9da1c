// SPDX-License-Identifier: Apache-2.0
//
// Bounds on the errors of softmax cross-entropy: the operations of loss.h, one by one, on approximations (bound.h).
#ifndef WC_GOLDEN_BOUND_LOSS_H
#define WC_GOLDEN_BOUND_LOSS_H

#include "csim/golden/bound.h"
#include "csim/golden/loss.h"

// One sample: z and dz have [classes]. dz's errors include the rounding to fp16.
void golden_bound_softmax_loss(const struct golden_loss *loss, const double *z, int label, struct golden_approx *result,
			       struct golden_approx *dz);

#endif
