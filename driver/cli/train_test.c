// SPDX-License-Identifier: Apache-2.0
//
// The accuracy of trained parameters: forward by the golden model, whose bits are the device's.
#include <inttypes.h>

#include "csim/golden/half.h"
#include "driver/cli/train.h"
#include "traces/alloc.h"

enum { BATCH = 100 };

// The class with the largest logit, the first of several; a NaN is never larger.
static int32_t class_of(const uint16_t *logits, int classes)
{
	int best = 0;

	for (int i = 1; i < classes; i++)
		if (golden_half_to_float(logits[i]) > golden_half_to_float(logits[best]))
			best = i;
	return best;
}

// Of the test images first .. first + data->batch - 1.
static int count_right(const struct train *train, int rows, int first, const struct data *data, int *right, struct wc_error *err)
{
	const int classes = data->net->nodes[data->net->node_count - 1].in.channels, output = data->net->nodes[data->net->node_count - 1].inputs[0];
	const uint64_t elements = data_count(data->net, 0, 1);
	const uint16_t *logits;
	struct expect expect;
	int result;

	for (int i = 0; i < data->batch; i++)
		dataset_image(&train->tests, (uint32_t)(first + i), data->images + (uint64_t)i * elements);
	result = expect_init(&expect, data, rows, err);
	if (result)
		return result;
	logits = expect_act(&expect, output, err);
	for (int i = 0; logits && i < data->batch; i++)
		*right += class_of(logits + (size_t)i * (size_t)classes, classes) == train->tests.labels[first + i];
	expect_release(&expect);
	return logits ? 0 : WC_ERR_SYSTEM;
}

int train_test(const struct train *train, int rows, const volatile sig_atomic_t *stop, int *right, struct wc_error *err)
{
	// The parameters are those that were trained.
	struct data data = *train->data;
	int result = 0;

	*right = 0;
	data.images = wc_alloc(data_count(data.net, 0, BATCH), sizeof(*data.images));
	if (!data.images)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for %d test images", BATCH);
	for (int first = 0; !result && first < train->test; first += BATCH) {
		data.batch = train->test - first < BATCH ? train->test - first : BATCH;
		result = *stop ? wc_fail(err, WC_ERR_STOPPED, "interrupted after %d of %d test images", first, train->test)
			       : count_right(train, rows, first, &data, right, err);
	}
	wc_free(data.images);
	return result;
}
