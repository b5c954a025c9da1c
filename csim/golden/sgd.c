// SPDX-License-Identifier: Apache-2.0
#include "csim/golden/sgd.h"

#include "csim/golden/half.h"

void golden_sgd(const struct golden_sgd *sgd, const float *gradient, size_t count, float *w, float *v, uint16_t *w16)
{
	for (size_t i = 0; i < count; i++) {
		float g, part;

		g = gradient[i] * sgd->inv_scale;
		part = sgd->decay * w[i];
		g = g + part;
		part = sgd->mu * v[i];
		v[i] = golden_float_of(golden_float_bits(part + g));
		part = sgd->lr * v[i];
		w[i] = golden_float_of(golden_float_bits(w[i] - part));
		w16[i] = golden_half_from_float(w[i]);
	}
}
