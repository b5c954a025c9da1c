// SPDX-License-Identifier: Apache-2.0
//
// Labelled images; see dataset.h.
#include "driver/host/dataset.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "csim/golden/half.h"
#include "driver/host/random.h"
#include "traces/alloc.h"
#include "traces/idx.h"

static const uint64_t stream_order = (uint64_t)1 << 32;

static uint64_t image_elements(const struct net_shape *shape)
{
	return (uint64_t)shape->height * (uint64_t)shape->width * (uint64_t)shape->channels;
}

static int32_t classes_of(const struct net *net)
{
	return net->nodes[net->node_count - 1].in.channels;
}

static int open_fashion(struct dataset *dataset, bool test, struct wc_error *err)
{
	const struct net_shape *input = &dataset->net->nodes[0].out;
	const char *const images_path = test ? DATA_FASHION_MNIST_TEST : DATA_FASHION_MNIST;
	const char *const labels_path = test ? DATA_FASHION_MNIST_TEST_LABELS : DATA_FASHION_MNIST_LABELS;
	struct idx_data images, labels;
	int result;

	if (classes_of(dataset->net) < 10)
		return wc_fail(err, WC_ERR_INPUT, "Fashion-MNIST has 10 classes, but network '%s' has only %d outputs", dataset->net->name,
			       classes_of(dataset->net));
	if (input->height < 28 || input->width < 28)
		return wc_fail(err, WC_ERR_INPUT, "Fashion-MNIST's images have 28x28 pixels, but the input of network '%s' has only %dx%d", dataset->net->name,
			       input->height, input->width);
	result = idx_read_images(images_path, 0, &images, err);
	if (result)
		return result;
	result = idx_read_labels(labels_path, 0, &labels, err);
	if (result) {
		idx_release(&images);
		return result;
	}
	dataset->from = "fashion-mnist";
	dataset->type = NPY_UINT8;
	dataset->count = images.count;
	dataset->shape = (struct net_shape){(int)images.height, (int)images.width, 1};
	dataset->images = images.bytes;
	images.bytes = NULL;
	if (dataset->shape.height != 28 || dataset->shape.width != 28)
		result = wc_fail(err, WC_ERR_INPUT, "%s: images of %dx%d, expected 28x28", images_path, dataset->shape.height, dataset->shape.width);
	else if (labels.count != dataset->count)
		result = wc_fail(err, WC_ERR_INPUT, "%s: %" PRIu32 " labels for %" PRIu32 " images", labels_path, labels.count, dataset->count);
	else if (!(dataset->labels = wc_alloc(labels.count, sizeof(*dataset->labels))))
		result = wc_fail(err, WC_ERR_SYSTEM, "out of memory for %" PRIu32 " labels", labels.count);
	for (uint32_t i = 0; !result && i < labels.count; i++) {
		dataset->labels[i] = labels.bytes[i];
		if (labels.bytes[i] >= 10)
			result = wc_fail(err, WC_ERR_INPUT, "%s: label %" PRIu32 " is %d, the largest is 9", labels_path, i, labels.bytes[i]);
	}
	idx_release(&labels);
	return result;
}

// A value that is not finite would be in every loss from then on.
static int check_finite(const struct dataset *dataset, const char *path, struct wc_error *err)
{
	const uint64_t count = dataset->count * image_elements(&dataset->shape);

	for (uint64_t i = 0; dataset->type != NPY_UINT8 && i < count; i++) {
		const uint16_t half = dataset->type == NPY_FLOAT16 ? ((const uint16_t *)dataset->images)[i]
								   : golden_half_from_float(((const float *)dataset->images)[i]);

		if ((half & 0x7c00) == 0x7c00)
			return wc_fail(err, WC_ERR_INPUT, "%s: element %" PRIu64 " is not finite in fp16, whose largest number is 65504", path, i);
	}
	return 0;
}

static int open_images(struct dataset *dataset, const char *path, struct wc_error *err)
{
	const struct net_shape *input = &dataset->net->nodes[0].out;
	struct npy_array array;
	int result = npy_read_types(path, 1u << NPY_FLOAT16 | 1u << NPY_FLOAT32 | 1u << NPY_UINT8, &array, err);

	if (result)
		return result;
	if (array.dims != 4 || array.shape[1] != (uint64_t)input->height || array.shape[2] != (uint64_t)input->width ||
	    array.shape[3] != (uint64_t)input->channels)
		result = wc_fail(err, WC_ERR_INPUT, "%s: network '%s' takes images N x %d x %d x %d, the file has %d dimensions%s", path, dataset->net->name,
				 input->height, input->width, input->channels, array.dims, array.dims == 4 ? " of other sizes" : "");
	else if (!array.shape[0] || array.shape[0] > INT32_MAX)
		result = wc_fail(err, WC_ERR_INPUT, "%s: %" PRIu64 " samples; there must be 1 to %d", path, array.shape[0], INT32_MAX);
	if (result) {
		npy_release(&array);
		return result;
	}
	dataset->from = "file";
	dataset->type = array.type;
	dataset->count = (uint32_t)array.shape[0];
	dataset->shape = *input;
	dataset->images = array.data;
	return check_finite(dataset, path, err);
}

static int64_t label_at(const struct npy_array *array, uint64_t index)
{
	switch (array->type) {
	case NPY_UINT8:
		return ((const uint8_t *)array->data)[index];
	case NPY_INT32:
		return ((const int32_t *)array->data)[index];
	default:
		return ((const int64_t *)array->data)[index];
	}
}

static int open_labels(struct dataset *dataset, const char *path, struct wc_error *err)
{
	const int32_t classes = classes_of(dataset->net);
	struct npy_array array;
	int result = npy_read_types(path, 1u << NPY_INT32 | 1u << NPY_INT64 | 1u << NPY_UINT8, &array, err);

	if (result)
		return result;
	if (array.dims != 1)
		result = wc_fail(err, WC_ERR_INPUT, "%s: labels of %d dimensions; they have one", path, array.dims);
	else if (array.shape[0] != dataset->count)
		result = wc_fail(err, WC_ERR_INPUT, "%s: %" PRIu64 " labels for %" PRIu32 " images", path, array.shape[0], dataset->count);
	else if (!(dataset->labels = wc_alloc(dataset->count, sizeof(*dataset->labels))))
		result = wc_fail(err, WC_ERR_SYSTEM, "out of memory for %" PRIu32 " labels", dataset->count);
	for (uint32_t i = 0; !result && i < dataset->count; i++) {
		const int64_t label = label_at(&array, i);

		if (label < 0 || label >= classes)
			result = wc_fail(err, WC_ERR_INPUT, "%s: label %" PRIu32 " is %" PRId64 ", but network '%s' has classes 0 to %d", path, i, label,
					 dataset->net->name, classes - 1);
		else
			dataset->labels[i] = (int32_t)label;
	}
	npy_release(&array);
	return result;
}

int dataset_labels_beside(const char *images, char *path, size_t size, struct wc_error *err)
{
	const char *const dot = strrchr(images, '.');
	const size_t stem = dot && !strcmp(dot, ".npy") ? (size_t)(dot - images) : strlen(images);

	if ((size_t)snprintf(path, size, "%.*s.labels.npy", (int)stem, images) < size)
		return 0;
	return wc_fail(err, WC_ERR_INPUT, "the path '%.100s...' is longer than %zu bytes", images, size - 1);
}

static int open_files(struct dataset *dataset, const char *path, const char *labels, struct wc_error *err)
{
	char beside[4096];
	int result = open_images(dataset, path, err);

	if (!result && !labels)
		result = dataset_labels_beside(path, beside, sizeof(beside), err);
	return result ? result : open_labels(dataset, labels ? labels : beside, err);
}

int dataset_open(struct dataset *dataset, const char *name, const char *labels, bool test, const struct net *net, struct wc_error *err)
{
	int result;

	assert(net->nodes[net->node_count - 1].op == NET_LOSS);
	*dataset = (struct dataset){.net = net};
	result = strcmp(name, DATASET_FASHION_MNIST) ? open_files(dataset, name, labels, err) : open_fashion(dataset, test, err);
	if (result)
		dataset_release(dataset);
	return result;
}

void dataset_release(struct dataset *dataset)
{
	wc_free(dataset->images);
	wc_free(dataset->labels);
	wc_free(dataset->order);
	*dataset = (struct dataset){0};
}

static uint16_t element(const struct dataset *dataset, uint64_t at)
{
	switch (dataset->type) {
	case NPY_FLOAT16:
		return golden_half_canonical(((const uint16_t *)dataset->images)[at]);
	case NPY_FLOAT32:
		return golden_half_from_float(((const float *)dataset->images)[at]);
	default:
		return data_pixel(((const uint8_t *)dataset->images)[at]);
	}
}

void dataset_image(const struct dataset *dataset, uint32_t index, uint16_t *image)
{
	const struct net_shape *input = &dataset->net->nodes[0].out, *shape = &dataset->shape;
	const int top = (input->height - shape->height) / 2, left = (input->width - shape->width) / 2;
	const uint64_t first = index * image_elements(shape);

	for (int y = 0; y < input->height; y++)
		for (int x = 0; x < input->width; x++)
			for (int channel = 0; channel < input->channels; channel++) {
				const int from_y = y - top, from_x = x - left;
				const bool inside = from_y >= 0 && from_y < shape->height && from_x >= 0 && from_x < shape->width;
				const uint64_t at = ((uint64_t)from_y * (uint64_t)shape->width + (uint64_t)from_x) * (uint64_t)shape->channels +
						    (uint64_t)(channel % shape->channels);

				*image++ = inside ? element(dataset, first + at) : data_pixel(0);
			}
}

static int shuffle(struct dataset *dataset, uint64_t seed, uint64_t epoch, struct wc_error *err)
{
	if (dataset->order && dataset->seed == seed && dataset->epoch == epoch)
		return 0;
	if (!dataset->order && !(dataset->order = wc_alloc(dataset->count, sizeof(*dataset->order))))
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for the order of %" PRIu32 " samples", dataset->count);
	dataset->seed = seed;
	dataset->epoch = epoch;
	for (uint32_t i = 0; i < dataset->count; i++)
		dataset->order[i] = i;
	for (uint32_t i = dataset->count - 1; i > 0; i--) {
		const uint32_t other = (uint32_t)(random_bits(seed, stream_order + epoch, i) % (i + 1)), sample = dataset->order[i];

		dataset->order[i] = dataset->order[other];
		dataset->order[other] = sample;
	}
	return 0;
}

int dataset_draw(struct dataset *dataset, uint64_t seed, uint64_t first, struct data *data, struct wc_error *err)
{
	const uint64_t elements = data_count(data->net, 0, 1);
	int result = 0;

	data->images_from = dataset->from;
	for (int i = 0; !result && i < data->batch; i++) {
		const uint64_t draw = first + (uint64_t)i;

		result = shuffle(dataset, seed, draw / dataset->count, err);
		if (result)
			break;
		const uint32_t sample = dataset->order[draw % dataset->count];

		dataset_image(dataset, sample, data->images + (uint64_t)i * elements);
		data->labels[i] = dataset->labels[sample];
	}
	return result;
}
