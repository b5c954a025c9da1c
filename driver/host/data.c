// SPDX-License-Identifier: Apache-2.0
//
// Images, weights and output gradient; see data.h.
#include "driver/host/data.h"

#include <errno.h>
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

static const float loss_scale = 1024;

// Correctly rounded from double.
static uint16_t half_of(double value)
{
	const _Float16 half = (_Float16)value;
	uint16_t bits;

	memcpy(&bits, &half, sizeof(bits));
	return golden_half_canonical(bits);
}

uint16_t data_pixel(uint8_t pixel)
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

	snprintf(text, size, "() of a single number");
	for (int i = 0; i < dims && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%" PRIu64, i ? "x" : "", shape[i]);
}

// Tell of values that are no numbers, or have become infinite in fp16: the golden model and the device take them, a user may not mean them.
static void note_not_finite(const uint16_t *halves, const struct npy_array *array, uint64_t count, const char *path, const struct data_options *options)
{
	uint64_t found = 0, first = 0, overflowed = 0;
	char text[4096 + 200];

	for (uint64_t i = 0; i < count; i++) {
		if ((halves[i] & 0x7c00) != 0x7c00)
			continue;
		first = found++ ? first : i;
		overflowed += array->type == NPY_FLOAT32 && isfinite(((const float *)array->data)[i]);
	}
	if (!found || !options->note)
		return;
	snprintf(text, sizeof(text), "%s: %" PRIu64 " of %" PRIu64 " values are not finite in fp16 (%" PRIu64 " of them beyond its largest, 65504); "
		 "the first is element %" PRIu64, path, found, count, overflowed, first);
	options->note(options->note_context, text);
}

// A file of 4 dimensions, or 1; the first may be larger than wanted where `prefix` says so.
static int fill_file(uint16_t **halves, const char *path, const uint64_t *shape, int dims, bool prefix, bool pixels, const struct data_options *options,
		     struct wc_error *err)
{
	const unsigned types = 1u << NPY_FLOAT16 | 1u << NPY_FLOAT32 | (pixels ? 1u << NPY_UINT8 : 0);
	uint64_t count = 1;
	char got[128], wanted[128];
	struct npy_array array;
	int result = npy_read_types(path, types, &array, err);

	if (result)
		return result;
	for (int i = 0; i < dims; i++)
		count *= shape[i];
	bool fits = array.dims == dims && (array.shape[0] == shape[0] || (prefix && array.shape[0] > shape[0]));
	for (int i = 1; fits && i < dims; i++)
		fits = array.shape[i] == shape[i];
	print_shape(got, sizeof(got), array.shape, array.dims);
	print_shape(wanted, sizeof(wanted), shape, dims);
	if (!fits)
		result = wc_fail(err, WC_ERR_INPUT, "%s: shape %s, but the run needs %s%s", path, got, wanted, prefix ? " (or more samples)" : "");
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
			(*halves)[i] = data_pixel(((const uint8_t *)array.data)[i]);
			break;
		}
	if (!result)
		note_not_finite(*halves, &array, count, path, options);
	npy_release(&array);
	return result;
}

// Why that many images could not be read: there may be fewer.
static int too_few_images(int batch, int result, struct wc_error *err)
{
	struct idx_data one;

	if (idx_read_images(DATA_FASHION_MNIST, 1, &one, NULL))
		return result;
	if (one.file_count < (uint32_t)batch)
		wc_fail(err, result, "--batch: %d samples, but Fashion-MNIST has %" PRIu32 "; take a smaller batch, or give images with --input", batch,
			one.file_count);
	idx_release(&one);
	return result;
}

static int fill_fashion(uint16_t **halves, uint64_t count, int batch, struct wc_error *err)
{
	struct idx_data images;
	int result = idx_read_images(DATA_FASHION_MNIST, (uint32_t)batch, &images, err);

	if (result == WC_ERR_INPUT)
		return too_few_images(batch, result, err);
	if (result)
		return result;
	if (images.height != 28 || images.width != 28)
		result = wc_fail(err, WC_ERR_INPUT, "%s: images of %" PRIu32 "x%" PRIu32 ", expected 28x28", DATA_FASHION_MNIST, images.height,
				 images.width);
	else
		result = allocate(halves, count, err);
	for (uint64_t i = 0; !result && i < count; i++)
		(*halves)[i] = data_pixel(images.bytes[i]);
	idx_release(&images);
	return result;
}

static int fill_images(struct data *data, const struct data_options *options, struct wc_error *err)
{
	const struct net_shape *shape = &data->net->nodes[0].out;
	const uint64_t dims[4] = {(uint64_t)data->batch, (uint64_t)shape->height, (uint64_t)shape->width, (uint64_t)shape->channels};
	const uint64_t count = data_count(data->net, 0, data->batch);

	if (options->blank) {
		data->images_from = "blank";
		return allocate(&data->images, count, err);
	}
	if (options->input) {
		data->images_from = "file";
		return fill_file(&data->images, options->input, dims, 4, true, true, options, err);
	}
	if (shape->height == 28 && shape->width == 28 && shape->channels == 1) {
		data->images_from = "fashion-mnist";
		return fill_fashion(&data->images, count, data->batch, err);
	}
	data->images_from = "random";
	return fill_normal(&data->images, count, options->seed, STREAM_IMAGES, 1, err);
}

// He et al.; but where training begins with them, the layer that makes the logits has a tenth of it: what it makes of random features would only
// have to be unlearnt.
static double weight_deviation(const struct data *data, int node, const struct data_options *options)
{
	const struct net_node *of = &data->net->nodes[node], *last = &data->net->nodes[data->net->node_count - 1];
	const double deviation = sqrt(2.0 * of->out.channels / (double)net_weights(of));

	return options->plain && last->op == NET_LOSS && last->inputs[0] == node ? deviation / 10 : deviation;
}

static int fill_weights(struct data *data, int node, const struct data_options *options, struct wc_error *err)
{
	const struct net_node *conv = &data->net->nodes[node];
	const uint64_t count = (uint64_t)net_conv_weights(conv);
	const uint64_t dims[4] = {(uint64_t)conv->out.channels, (uint64_t)conv->conv.kernel_h, (uint64_t)conv->conv.kernel_w,
				  (uint64_t)(conv->in.channels / conv->conv.groups)};
	char paths[2][4096];

	if (!options->weights)
		return fill_normal(&data->weights[node], count, options->seed, STREAM_WEIGHTS + (uint64_t)node,
				   weight_deviation(data, node, options), err);
	// Both names; one of them must be a file's.
	for (int i = 0; i < 2; i++)
		if ((size_t)snprintf(paths[i], sizeof(paths[i]), "%s/%s.weight%s.npy", options->weights, conv->name, i ? ".krsc" : "") >= sizeof(paths[i]))
			return wc_fail(err, WC_ERR_INPUT, "the weights of '%s': the path '%.100s...' is longer than %zu bytes", conv->name, paths[i],
				       sizeof(paths[i]) - 1);
	const bool plain = !access(paths[0], F_OK), krsc = !access(paths[1], F_OK);

	if (plain && krsc)
		return wc_fail(err, WC_ERR_INPUT, "--weights: there are both '%.200s' and %s.weight.krsc.npy; remove one", paths[0], conv->name);
	if (!plain && !krsc)
		return wc_fail(err, WC_ERR_INPUT, "--weights: there is neither '%.200s' nor %s.weight.krsc.npy: %s", paths[0], conv->name, strerror(errno));
	return fill_file(&data->weights[node], paths[krsc], dims, 4, false, false, options, err);
}

// Whether training has saved such parameters: then they are not to be made up.
static bool has_master(const char *directory, const struct net_node *of, const char *what)
{
	char path[4096];

	return (size_t)snprintf(path, sizeof(path), "%s/%s.%s.master.npy", directory, of->name, what) < sizeof(path) && !access(path, F_OK);
}

// Parameters beside the weights: of a file, if there is one, else numbers about `center` or that alone.
static int fill_beside(struct data *data, int node, uint16_t **halves, const char *what, const struct data_options *options, uint64_t stream, double center,
		       struct wc_error *err)
{
	const struct net_node *of = &data->net->nodes[node];
	const uint64_t channels = (uint64_t)of->out.channels;
	char path[4096];
	int result;

	if (options->weights) {
		if ((size_t)snprintf(path, sizeof(path), "%s/%s.%s.npy", options->weights, of->name, what) >= sizeof(path))
			return wc_fail(err, WC_ERR_INPUT, "the %s of '%s': the path '%.100s...' is longer than %zu bytes", what, of->name, path,
				       sizeof(path) - 1);
		if (!access(path, F_OK))
			return fill_file(halves, path, &channels, 1, false, false, options, err);
		if (has_master(options->weights, of, what))
			return wc_fail(err, WC_ERR_INPUT, "--weights: '%.200s' is missing, but its master, %s.%s.master.npy, is there", path, of->name, what);
	}
	result = allocate(halves, channels, err);
	for (uint64_t i = 0; !result && i < channels; i++)
		(*halves)[i] = half_of(options->plain ? center : center + random_normal(options->seed, stream, i) / 10);
	return result;
}

static int fill_parameters(struct data *data, int node, const struct data_options *options, struct wc_error *err)
{
	const struct net_node *of = &data->net->nodes[node];
	const uint64_t stream = STREAM_WEIGHTS + (uint64_t)data->net->node_count + 2 * (uint64_t)node;
	int result = 0;

	if (of->op == NET_CONV || of->op == NET_FC)
		result = fill_weights(data, node, options, err);
	if (!result && of->bias)
		result = fill_beside(data, node, &data->bias[node], "bias", options, stream, 0, err);
	if (!result && of->op == NET_GN)
		result = fill_beside(data, node, &data->gamma[node], "gamma", options, stream, 1, err);
	if (!result && of->op == NET_GN)
		result = fill_beside(data, node, &data->beta[node], "beta", options, stream + 1, 0, err);
	return result;
}

static int fill_labels(struct data *data, const struct data_options *options, struct wc_error *err)
{
	const uint64_t classes = (uint64_t)data->net->nodes[data->net->node_count - 1].in.channels;

	data->labels = wc_alloc((size_t)data->batch, sizeof(*data->labels));
	if (!data->labels)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for %d labels", data->batch);
	for (int i = 0; !options->blank && i < data->batch; i++)
		data->labels[i] = (int32_t)(random_bits(options->seed, STREAM_GRADIENT, (uint64_t)i) % classes);
	return 0;
}

static int fill_gradient(struct data *data, const struct data_options *options, struct wc_error *err)
{
	const int last = data->net->node_count - 1;
	const struct net_shape *shape = &data->net->nodes[last].out;
	const uint64_t dims[4] = {(uint64_t)data->batch, (uint64_t)shape->height, (uint64_t)shape->width, (uint64_t)shape->channels};

	if (options->gradient)
		return fill_file(&data->gradient, options->gradient, dims, 4, true, false, options, err);
	return fill_normal(&data->gradient, data_count(data->net, last, data->batch), options->seed, STREAM_GRADIENT, 1, err);
}

int data_init(struct data *data, const struct net *net, int batch, const struct data_options *options, struct wc_error *err)
{
	int result;

	*data = (struct data){.net = net, .batch = batch, .loss_scale = loss_scale};
	data->weights = wc_alloc((size_t)net->node_count, sizeof(*data->weights));
	data->bias = wc_alloc((size_t)net->node_count, sizeof(*data->bias));
	data->gamma = wc_alloc((size_t)net->node_count, sizeof(*data->gamma));
	data->beta = wc_alloc((size_t)net->node_count, sizeof(*data->beta));
	if (!data->weights || !data->bias || !data->gamma || !data->beta)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for %d nodes", net->node_count);
	result = fill_images(data, options, err);
	for (int node = 0; !result && node < net->node_count; node++)
		result = fill_parameters(data, node, options, err);
	if (!result)
		result = net->nodes[net->node_count - 1].op == NET_LOSS ? fill_labels(data, options, err) : fill_gradient(data, options, err);
	if (result)
		data_release(data);
	return result;
}

void data_release(struct data *data)
{
	uint16_t **const tables[] = {data->weights, data->bias, data->gamma, data->beta};

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		for (int node = 0; tables[i] && node < data->net->node_count; node++)
			wc_free(tables[i][node]);
		wc_free(tables[i]);
	}
	wc_free(data->labels);
	wc_free(data->images);
	wc_free(data->gradient);
	*data = (struct data){0};
}
