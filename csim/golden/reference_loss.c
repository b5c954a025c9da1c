// SPDX-License-Identifier: Apache-2.0
#include "csim/golden/reference_loss.h"

#include <math.h>

void golden_reference_softmax_loss(const struct golden_loss *loss, const double *z, const int32_t *labels, double *losses,
				   double *dz)
{
	for (int n = 0; n < loss->batch; n++, z += loss->classes, dz += loss->classes) {
		double m = z[0], sum = 0;

		for (int k = 1; k < loss->classes; k++)
			m = fmax(m, z[k]);
		for (int k = 0; k < loss->classes; k++)
			sum += exp(z[k] - m);
		losses[n] = log(sum) + m - z[labels[n]];
		for (int k = 0; k < loss->classes; k++)
			dz[k] = (exp(z[k] - m) / sum - (k == labels[n])) * loss->scale;
	}
}
