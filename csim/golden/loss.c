// SPDX-License-Identifier: Apache-2.0
#include "csim/golden/loss.h"

#include "csim/golden/half.h"
#include "csim/golden/scalar.h"

static int check(const struct golden_loss *loss, const int32_t *labels, struct wc_error *err)
{
	if (loss->batch < 1 || loss->classes < 1)
		return wc_fail(err, WC_ERR_INPUT, "loss of %d samples, %d classes: at least 1 of each is needed", loss->batch,
			       loss->classes);
	for (int n = 0; n < loss->batch; n++)
		if (labels[n] < 0 || labels[n] >= loss->classes)
			return wc_fail(err, WC_ERR_INPUT, "sample %d: label %d, the classes are 0 to %d", n, (int)labels[n],
				       loss->classes - 1);
	return 0;
}

static float largest(const uint16_t *z, int classes)
{
	float m = golden_half_to_float(z[0]);

	for (int k = 1; k < classes && m == m; k++) {
		float value = golden_half_to_float(z[k]);

		if (value > m || value != value)
			m = value;
	}
	return m;
}

static void sample(const struct golden_loss *loss, const uint16_t *z, int label, float *result, uint16_t *dz)
{
	float m = largest(z, loss->classes), sum = 0, inverse, at_label;

	for (int k = 0; k < loss->classes; k++)
		sum += golden_exp(golden_half_to_float(z[k]) - m);
	at_label = golden_half_to_float(z[label]) - m;
	if (result)
		*result = golden_float_of(golden_float_bits(golden_log(sum) - at_label));
	if (!dz)
		return;
	inverse = golden_reciprocal(sum);
	for (int k = 0; k < loss->classes; k++) {
		float p = golden_exp(golden_half_to_float(z[k]) - m) * inverse;

		p = k == label ? p - 1 : p;
		dz[k] = golden_half_from_float(p * loss->scale);
	}
}

int golden_softmax_loss(const struct golden_loss *loss, const uint16_t *z, const int32_t *labels, float *losses, uint16_t *dz,
			struct wc_error *err)
{
	int result = check(loss, labels, err);

	if (result)
		return result;
	for (int n = 0; n < loss->batch; n++) {
		size_t first = (size_t)n * loss->classes;

		sample(loss, z + first, labels[n], losses ? losses + n : NULL, dz ? dz + first : NULL);
	}
	return 0;
}
