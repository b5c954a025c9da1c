// SPDX-License-Identifier: Apache-2.0
#include "csim/golden/loss.h"

#include "csim/golden/half.h"
#include "csim/golden/scalar.h"

static int check(const struct golden_loss *loss, struct wc_error *err)
{
	if (loss->batch < 1 || loss->classes < 1)
		return wc_fail(err, WC_ERR_INPUT, "loss of %d samples, %d classes: at least 1 of each is needed", loss->batch,
			       loss->classes);
	return 0;
}

static int check_labels(const struct golden_loss *loss, const int32_t *labels, struct wc_error *err)
{
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

static struct golden_softmax softmax_of(const uint16_t *z, int classes)
{
	const float m = largest(z, classes);
	float sum = 0;

	for (int k = 0; k < classes; k++)
		sum += golden_exp(golden_half_to_float(z[k]) - m);
	return (struct golden_softmax){m, golden_reciprocal(sum), golden_log(sum)};
}

static void sample(const struct golden_loss *loss, const uint16_t *z, int label, float *result, uint16_t *dz)
{
	const struct golden_softmax softmax = softmax_of(z, loss->classes);
	const float at_label = golden_half_to_float(z[label]) - softmax.largest;

	if (result)
		*result = golden_float_of(golden_float_bits(softmax.logarithm - at_label));
	for (int k = 0; dz && k < loss->classes; k++) {
		float p = golden_exp(golden_half_to_float(z[k]) - softmax.largest) * softmax.reciprocal;

		p = k == label ? p - 1 : p;
		dz[k] = golden_half_from_float(p * loss->scale);
	}
}

int golden_softmax(const struct golden_loss *loss, const uint16_t *z, struct golden_softmax *softmax, struct wc_error *err)
{
	int result = check(loss, err);

	for (int n = 0; !result && n < loss->batch; n++)
		softmax[n] = softmax_of(z + (size_t)n * loss->classes, loss->classes);
	return result;
}

int golden_softmax_loss(const struct golden_loss *loss, const uint16_t *z, const int32_t *labels, float *losses, uint16_t *dz,
			struct wc_error *err)
{
	int result = check(loss, err);

	if (!result)
		result = check_labels(loss, labels, err);
	for (int n = 0; !result && n < loss->batch; n++) {
		size_t first = (size_t)n * loss->classes;

		sample(loss, z + first, labels[n], losses ? losses + n : NULL, dz ? dz + first : NULL);
	}
	return result;
}
