// SPDX-License-Identifier: Apache-2.0
//
// The mathematics of softmax cross-entropy in float64. Shapes as in loss.h; labels are valid.
#ifndef WC_GOLDEN_REFERENCE_LOSS_H
#define WC_GOLDEN_REFERENCE_LOSS_H

#include "csim/golden/loss.h"

// loss = log(sum of e^z_k) - z_label; dz_k = (e^z_k / sum - [k = label]) scale
void golden_reference_softmax_loss(const struct golden_loss *loss, const double *z, const int32_t *labels, double *losses,
				   double *dz);

#endif
