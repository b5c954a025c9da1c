// SPDX-License-Identifier: Apache-2.0
//
// oneDNN's float operators on this project's layouts: the independent reference of the golden model's tests.
#ifndef TESTS_GOLDEN_ONEDNN_H
#define TESTS_GOLDEN_ONEDNN_H

#include "csim/golden/norm.h"
#include "csim/golden/pool.h"
#include "tests/golden/rig.h"

// The operator on the rig's operands, made float. The caller frees the result.
float *onednn_run(const struct rig *rig, enum rig_operator operator);

// All results of a convolution with bias and groups (weights [out_c][R][S][in_c / groups]); the caller frees them.
struct onednn_conv {
	float *y, *dx, *dw, *db;
};

void onednn_conv(const struct golden_conv *conv, int groups, const float *x, const float *w, const float *bias, const float *dy, struct onednn_conv *result);
void onednn_conv_free(struct onednn_conv *result);

// y[n][k] = sum of x[n][i] w[k][i] + bias[k]
void onednn_inner_product(int batch, int inputs, int outputs, const float *x, const float *w, const float *bias, float *y);

enum onednn_function { ONEDNN_EXP, ONEDNN_LOG };

// y[i] = function(x[i])
void onednn_eltwise(enum onednn_function function, const float *x, size_t count, float *y);
// y[i] = a[i] + b[i]
void onednn_add(const float *a, const float *b, size_t count, float *y);

// Over the last of [batch][classes], and logarithms of the same.
void onednn_softmax(int batch, int classes, const float *z, float *p);
void onednn_log_softmax(int batch, int classes, const float *z, float *log_p);

enum onednn_pool { ONEDNN_MAX_POOL, ONEDNN_AVERAGE_POOL };

// y of x.
void onednn_pool(enum onednn_pool kind, const struct golden_pool *pool, const float *x, float *y);
// dx of dy; `x` is what the windows' maxima are found in.
void onednn_pool_gradient(enum onednn_pool kind, const struct golden_pool *pool, const float *x, const float *dy, float *dx);

// Forward and backward of a group normalization; the parameters' gradients, [channels], are summed over the pixels in double.
void onednn_norm(const struct golden_norm *norm, const float *x, const float *dy, const float *gamma, const float *beta, float *y, float *dx, double *dgamma,
                 double *dbeta);

#endif
