// SPDX-License-Identifier: Apache-2.0
//
// The mathematics of group normalization in float64. Shapes as in norm.h, float64 in place of bits; `mean` and `rstd` have
// [batch][groups]. Results are overwritten, and must not overlap the operands.
#ifndef WC_GOLDEN_REFERENCE_NORM_H
#define WC_GOLDEN_REFERENCE_NORM_H

#include "csim/golden/norm.h"

// mean of the group's elements; rstd = 1 / sqrt(mean of (x - mean)^2 + eps); y = (x - mean) rstd gamma + beta
void golden_reference_norm(const struct golden_norm *norm, const double *x, const double *gamma, const double *beta, double *mean,
			   double *rstd, double *y);
// With xhat = (x - mean) rstd and g = dy gamma: dx = rstd (g - mean of g - xhat (mean of g xhat)), means over the group;
// dgamma = sum over n, y, x of dy xhat; dbeta = sum of dy
void golden_reference_norm_gradient(const struct golden_norm *norm, const double *x, const double *dy, const double *gamma,
				    const double *mean, const double *rstd, double *dx, double *dgamma, double *dbeta);

#endif
