// SPDX-License-Identifier: Apache-2.0
#include "csim/golden/add.h"

#include "csim/golden/half.h"

int golden_add(const uint16_t *const *inputs, int input_count, size_t count, uint16_t *y, struct wc_error *err)
{
	if (input_count < 2)
		return wc_fail(err, WC_ERR_INPUT, "addition of %d tensors: at least 2 are needed", input_count);
	// Element by element, as y may be an input.
	for (size_t i = 0; i < count; i++) {
		uint16_t sum = inputs[0][i];

		for (int j = 1; j < input_count; j++)
			sum = golden_half_from_float(golden_half_to_float(sum) + golden_half_to_float(inputs[j][i]));
		y[i] = sum;
	}
	return 0;
}
