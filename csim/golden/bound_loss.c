// SPDX-License-Identifier: Apache-2.0
#include "csim/golden/bound_loss.h"

#include <math.h>

void golden_bound_softmax_loss(const struct golden_loss *loss, const double *z, int label, struct golden_approx *result,
			       struct golden_approx *dz)
{
	struct golden_approx sum = {0, 0}, inverse, m = {z[0], 0};

	for (int k = 1; k < loss->classes; k++)
		m.value = fmax(m.value, z[k]);
	for (int k = 0; k < loss->classes; k++)
		sum = golden_approx_add(sum, golden_approx_exp(golden_approx_sub(golden_approx_exact(z[k]), m)));
	*result = golden_approx_sub(golden_approx_log(sum), golden_approx_sub(golden_approx_exact(z[label]), m));
	inverse = golden_approx_reciprocal(sum);
	for (int k = 0; k < loss->classes; k++) {
		struct golden_approx p =
		    golden_approx_mul(golden_approx_exp(golden_approx_sub(golden_approx_exact(z[k]), m)), inverse);

		if (k == label)
			p = golden_approx_sub(p, golden_approx_exact(1));
		dz[k] = golden_approx_mul(p, golden_approx_exact(loss->scale));
		dz[k].error = golden_bound_half(dz[k].value, dz[k].error);
	}
}
