// SPDX-License-Identifier: Apache-2.0
//
// The bits of stochastic gradient descent with momentum and weight decay on fp32 masters. Each operation is binary32 and rounded
// once, NaNs are canonical:
//
//     g = gradient * inv_scale;  g = g + decay * w;  v = mu * v + g;  w = w - lr * v;  w16 = fp16(w)
#ifndef WC_GOLDEN_SGD_H
#define WC_GOLDEN_SGD_H

#include <stddef.h>
#include <stdint.h>

struct golden_sgd {
	float inv_scale; // 1 over the loss scale
	float decay;
	float mu;        // momentum
	float lr;        // learning rate
};

// `count` parameters: their gradients, masters and momenta (updated in place), and the fp16 weights that the next step computes
// with.
void golden_sgd(const struct golden_sgd *sgd, const float *gradient, size_t count, float *w, float *v, uint16_t *w16);

#endif
