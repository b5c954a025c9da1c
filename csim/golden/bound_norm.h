// SPDX-License-Identifier: Apache-2.0
//
// Bounds on the error of group normalization: each operation of norm.h carried out on approximations (bound.h). Operands are the
// fp16 values as float64.
//
// Sums are bounded for any order in which a term goes through at most `chain` additions: the terms' own errors, and gamma_chain
// of the sum of the largest that they may be. Variances: the computed one is clamped to +0, which the exact one never lies below,
// so that the clamp brings it nearer. What the square root then sees is at least eps.
#ifndef WC_GOLDEN_BOUND_NORM_H
#define WC_GOLDEN_BOUND_NORM_H

#include "csim/golden/bound.h"
#include "csim/golden/norm.h"

// The chain of the bits' sums: along a row, then over the rows.
double golden_bound_norm_chain(const struct golden_norm *norm);
double golden_bound_norm_parameter_chain(const struct golden_norm *norm);

// `mean` and `rstd` have [batch][groups]. The errors are those of binary32, as they are stored.
void golden_bound_norm_statistics(const struct golden_norm *norm, const double *x, struct golden_approx *mean,
				  struct golden_approx *rstd);
// y's error includes the rounding to fp16 unless `binary32`.
void golden_bound_norm_apply(const struct golden_norm *norm, const double *x, const struct golden_approx *mean,
			     const struct golden_approx *rstd, const double *gamma, const double *beta, bool binary32,
			     struct golden_approx *y);
// dx as y; the parameters' gradients, [channels], are binary32.
void golden_bound_norm_gradient(const struct golden_norm *norm, double chain, const double *x, const double *dy,
				const struct golden_approx *mean, const struct golden_approx *rstd, const double *gamma,
				bool binary32, struct golden_approx *dx);
void golden_bound_norm_parameters(const struct golden_norm *norm, double chain, const double *x, const double *dy,
				  const struct golden_approx *mean, const struct golden_approx *rstd,
				  struct golden_approx *dgamma, struct golden_approx *dbeta);

#endif
