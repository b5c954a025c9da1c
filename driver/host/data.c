// SPDX-License-Identifier: Apache-2.0
//
// Images, weights and output gradient; see data.h.
#include "driver/host/data.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "csim/golden/half.h"
#include "driver/host/random.h"
#include "traces/alloc.h"
#include "traces/idx.h"
#include "traces/npy.h"

enum { STREAM_IMAGES, STREAM_GRADIENT, STREAM_WEIGHTS };

// Correctly rounded from double.
static uint16_t half_of(double value)
{
	const _Float16 half = (_Float16)value;
	uint16_t bits;

	memcpy(&bits, &half, sizeof(bits));
	return golden_half_canonical(bits);
}

static uint16_t half_of_pixel(uint8_t pixel)
{
	return half_of((pixel / 255.0 - 0.2860) / 0.3530);
}

uint64_t data_count(const struct net *net, int node, int batch)
{
	const struct net_shape *shape = &net->nodes[node].out;

	return (uint64_t)batch * (uint64_t)shape->height * (uint64_t)shape->width * (uint64_t)shape->channels;
}

static int allocate(uint16_t **halves, uint64_t count, struct wc_error *err)
{
	*halves = wc_alloc(count, sizeof(**halves));
	return *halves ? 0 : wc_fail(err, WC_ERR_SYSTEM, "out of memory for a tensor of %" PRIu64 " elements", count);
}

static int fill_normal(uint16_t **halves, uint64_t count, uint64_t seed, uint64_t stream, double deviation, struct wc_error *err)
{
	int result = allocate(halves, count, err);

	for (uint64_t i = 0; !result && i < count; i++)
		(*halves)[i] = half_of(random_normal(seed, stream, i) * deviation);
	return result;
}

static void print_shape(char *text, size_t size, const uint64_t *shape, int dims)
{
	size_t used = 0;

	text[0] = '\0';
	for (int i = 0; i < dims && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%" PRIu64, i ? "x" : "", shape[i]);
}

// A file of 4 dimensions; the first may be larger than wanted where `prefix` says so.
static int fill_file(uint16_t **halves, const char *path, const uint64_t shape[4], bool prefix, bool pixels, struct wc_error *err)
{
	const uint64_t count = shape[0] * shape[1] * shape[2] * shape[3];
	char got[128], wanted[128];
	struct npy_array array;
	int result = npy_read(path, &array, err);

	if (result)
		return result;
	bool fits = array.dims == 4 && (array.shape[0] == shape[0] || (prefix && array.shape[0] > shape[0]));
	for (int i = 1; fits && i < 4; i++)
		fits = array.shape[i] == shape[i];
	print_shape(got, sizeof(got), array.shape, array.dims);
	print_shape(wanted, sizeof(wanted), shape, 4);
	if (!fits)
		result = wc_fail(err, WC_ERR_INPUT, "%s: shape %s, but the run needs %s%s", path, got, wanted, prefix ? " (or more samples)" : "");
	else if (array.type != NPY_FLOAT16 && array.type != NPY_FLOAT32 && !(pixels && array.type == NPY_UINT8))
		result = wc_fail(err, WC_ERR_INPUT, "%s: elements are %s, must be float16%s or float32", path, npy_type_name(array.type),
				 pixels ? ", uint8" : "");
	else
		result = allocate(halves, count, err);
	for (uint64_t i = 0; !result && i < count; i++)
		switch (array.type) {
		case NPY_FLOAT16:
			(*halves)[i] = golden_half_canonical(((const uint16_t *)array.data)[i]);
			break;
		case NPY_FLOAT32:
			(*halves)[i] = golden_half_from_float(((const float *)array.data)[i]);
			break;
		default:
			(*halves)[i] = half_of_pixel(((const uint8_t *)array.data)[i]);
			break;
		}
	npy_release(&array);
	return result;
}

static int fill_fashion(uint16_t **halves, uint64_t count, int batch, struct wc_error *err)
{
	struct idx_data images;
	int result = idx_read_images(DATA_FASHION_MNIST, (uint32_t)batch, &images, err);

	if (result)
		return result;
	if (images.height != 28 || images.width != 28)
		result = wc_fail(err, WC_ERR_INPUT, "%s: images of %" PRIu32 "x%" PRIu32 ", expected 28x28", DATA_FASHION_MNIST, images.height,
				 images.width);
	else
		result = allocate(halves, count, err);
	for (uint64_t i = 0; !result && i < count; i++)
		(*halves)[i] = half_of_pixel(images.bytes[i]);
	idx_release(&images);
	return result;
}

static int fill_images(struct data *data, const struct data_options *options, struct wc_error *err)
{
	const struct net_shape *shape = &data->net->nodes[0].out;
	const uint64_t dims[4] = {(uint64_t)data->batch, (uint64_t)shape->height, (uint64_t)shape->width, (uint64_t)shape->channels};
	const uint64_t count = data_count(data->net, 0, data->batch);

	if (options->input) {
		data->images_from = "file";
		return fill_file(&data->images, options->input, dims, true, true, err);
	}
	if (shape->height == 28 && shape->width == 28 && shape->channels == 1) {
		data->images_from = "fashion-mnist";
		return fill_fashion(&data->images, count, data->batch, err);
	}
	data->images_from = "random";
	return fill_normal(&data->images, count, options->seed, STREAM_IMAGES, 1, err);
}

static int fill_weights(struct data *data, int node, const struct data_options *options, struct wc_error *err)
{
	const struct net_node *conv = &data->net->nodes[node];
	const uint64_t count = (uint64_t)net_conv_weights(conv);
	const uint64_t dims[4] = {(uint64_t)conv->out.channels, (uint64_t)conv->conv.kernel_h, (uint64_t)conv->conv.kernel_w,
				  (uint64_t)conv->in.channels};
	char path[4096];

	if (!options->weights)
		return fill_normal(&data->weights[node], count, options->seed, STREAM_WEIGHTS + (uint64_t)node,
				   sqrt(2.0 * conv->out.channels / (double)count), err);
	// The longer of the two names.
	if ((size_t)snprintf(path, sizeof(path), "%s/%s.weight.krsc.npy", options->weights, conv->name) >= sizeof(path))
		return wc_fail(err, WC_ERR_INPUT, "the weights of '%s': the path '%.100s...' is longer than %zu bytes", conv->name, path, sizeof(path) - 1);
	if (access(path, F_OK))
		snprintf(path, sizeof(path), "%s/%s.weight.npy", options->weights, conv->name);
	return fill_file(&data->weights[node], path, dims, false, false, err);
}

static int fill_gradient(struct data *data, const struct data_options *options, struct wc_error *err)
{
	const int last = data->net->node_count - 1;
	const struct net_shape *shape = &data->net->nodes[last].out;
	const uint64_t dims[4] = {(uint64_t)data->batch, (uint64_t)shape->height, (uint64_t)shape->width, (uint64_t)shape->channels};

	if (options->gradient)
		return fill_file(&data->gradient, options->gradient, dims, true, false, err);
	return fill_normal(&data->gradient, data_count(data->net, last, data->batch), options->seed, STREAM_GRADIENT, 1, err);
}

int data_init(struct data *data, const struct net *net, int batch, const struct data_options *options, struct wc_error *err)
{
	int result;

	*data = (struct data){.net = net, .batch = batch};
	data->weights = wc_alloc((size_t)net->node_count, sizeof(*data->weights));
	if (!data->weights)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for %d nodes", net->node_count);
	result = fill_images(data, options, err);
	for (int node = 0; !result && node < net->node_count; node++)
		if (net->nodes[node].op == NET_CONV)
			result = fill_weights(data, node, options, err);
	if (!result)
		result = fill_gradient(data, options, err);
	if (result)
		data_release(data);
	return result;
}

void data_release(struct data *data)
{
	if (data->weights)
		for (int node = 0; node < data->net->node_count; node++)
			wc_free(data->weights[node]);
	wc_free(data->weights);
	wc_free(data->images);
	wc_free(data->gradient);
	*data = (struct data){0};
}
