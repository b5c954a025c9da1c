// SPDX-License-Identifier: Apache-2.0
//
// The mathematics: each operator in float64 as plain loops over its equation, in no particular order of summation.
// Shapes and layouts as in conv.h. Results are overwritten, and must not overlap the operands.
#ifndef WC_GOLDEN_REFERENCE_H
#define WC_GOLDEN_REFERENCE_H

#include <stddef.h>

#include "csim/golden/conv.h"
#include "csim/golden/sgd.h"

// y = x * w
void golden_reference_forward(const struct golden_conv *conv, const double *x, const double *w, double *y);
// The same plus bias[k]
void golden_reference_forward_bias(const struct golden_conv *conv, const double *x, const double *w, const double *bias, double *y);
// db[k] = sum over n, oy, ox of dy[n][oy][ox][k]
void golden_reference_bias_gradient(const struct golden_conv *conv, const double *dy, double *db);
// dx[n][iy][ix][c] = sum over k, r, s of dy[n][oy][ox][k] w[k][r][s][c], where iy = oy stride - pad + r dilation, ix likewise
void golden_reference_data_gradient(const struct golden_conv *conv, const double *dy, const double *w, double *dx);
// dw[k][r][s][c] = sum over n, oy, ox of dy[n][oy][ox][k] x[n][oy stride - pad + r dilation][ox stride - pad + s dilation][c]
void golden_reference_weight_gradient(const struct golden_conv *conv, const double *x, const double *dy, double *dw);

// y = x if x > 0 or NaN, else 0
void golden_reference_relu(const double *x, size_t count, double *y);
// dx = dy if x > 0 or NaN, else 0; `x` may be the input or the output of the ReLU
void golden_reference_relu_gradient(const double *x, const double *dy, size_t count, double *dx);

// y = sum of the inputs
void golden_reference_add(const double *const *inputs, int input_count, size_t count, double *y);

// One step of SGD in float64: g = gradient inv_scale + decay w; v = mu v + g; w = w - lr v.
void golden_reference_sgd(const struct golden_sgd *sgd, const double *gradient, size_t count, double *w, double *v);

#endif
