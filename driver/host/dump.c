// SPDX-License-Identifier: Apache-2.0
//
// --dump: every tensor of a run as a .npy file.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "driver/host/collect.h"
#include "traces/npy.h"

// DIRECTORY/NODE.WHAT.npy; `values` is only read.
static int dump(const char *directory, const char *node, const char *what, enum npy_type type, const uint64_t shape[4], const void *values,
		struct wc_error *err)
{
	struct npy_array array = {.type = type, .dims = 4, .data = (void *)values};
	char path[4096];

	memcpy(array.shape, shape, 4 * sizeof(*shape));
	if ((size_t)snprintf(path, sizeof(path), "%s/%s.%s.npy", directory, node, what) >= sizeof(path))
		return wc_fail(err, WC_ERR_INPUT, "path '%s/%s.%s.npy' is longer than %zu bytes", directory, node, what, sizeof(path) - 1);
	return npy_write(path, &array, err);
}

static int dump_map(const struct collect *collect, enum collect_kind kind, int node, const char *what, const char *directory, struct wc_error *err)
{
	const struct net_node *of = &collect->net->nodes[node];
	const uint64_t shape[4] = {(uint64_t)collect->batch, (uint64_t)of->out.height, (uint64_t)of->out.width, (uint64_t)of->out.channels};
	const uint64_t mask_shape[4] = {shape[0], shape[1], 1, collect_row_bytes(collect, COLLECT_MASK, node)};
	const void *values = collect_whole(collect, kind, node);

	if (!values)
		return 0;
	return dump(directory, of->name, what, kind == COLLECT_MASK ? NPY_UINT8 : NPY_FLOAT16, kind == COLLECT_MASK ? mask_shape : shape, values, err);
}

static int dump_weights(const struct collect *collect, const struct data *data, int node, const char *directory, struct wc_error *err)
{
	const struct net_node *conv = &collect->net->nodes[node];
	const uint64_t shape[4] = {(uint64_t)conv->out.channels, (uint64_t)conv->conv.kernel_h, (uint64_t)conv->conv.kernel_w,
				   (uint64_t)conv->in.channels};
	const void *sums = collect_whole(collect, COLLECT_WGRAD, node);
	int result = dump(directory, conv->name, "weight.krsc", NPY_FLOAT16, shape, data->weights[node], err);

	if (!result && sums)
		result = dump(directory, conv->name, "weight_gradient.krsc", NPY_FLOAT32, shape, sums, err);
	return result;
}

int collect_dump_prepare(const char *directory, struct wc_error *err)
{
	struct stat status;

	if (mkdir(directory, 0777) && errno != EEXIST)
		return wc_fail(err, WC_ERR_INPUT, "cannot make directory '%s': %s", directory, strerror(errno));
	if (stat(directory, &status) || !S_ISDIR(status.st_mode))
		return wc_fail(err, WC_ERR_INPUT, "cannot dump into '%s': it is not a directory", directory);
	return 0;
}

int collect_dump_names(const struct net *net, int (*each)(void *context, const char *name), void *context)
{
	static const char *const whats[] = {"act.nhwc", "grad.nhwc", "mask.bits", "weight.krsc", "weight_gradient.krsc"};
	char name[256];
	int result = 0;

	for (int node = 0; !result && node < net->node_count; node++)
		for (size_t i = 0; !result && i < sizeof(whats) / sizeof(*whats); i++) {
			snprintf(name, sizeof(name), "%s.%s.npy", net->nodes[node].name, whats[i]);
			result = each(context, name);
		}
	return result;
}

int collect_dump(const struct collect *collect, const struct data *data, const char *directory, struct wc_error *err)
{
	const struct net *net = collect->net;
	const int last = net->node_count - 1;
	const uint64_t image[4] = {(uint64_t)data->batch, (uint64_t)net->nodes[0].out.height, (uint64_t)net->nodes[0].out.width,
				   (uint64_t)net->nodes[0].out.channels};
	const uint64_t output[4] = {(uint64_t)data->batch, (uint64_t)net->nodes[last].out.height, (uint64_t)net->nodes[last].out.width,
				    (uint64_t)net->nodes[last].out.channels};
	int result;

	result = dump(directory, net->nodes[0].name, "act.nhwc", NPY_FLOAT16, image, data->images, err);
	if (!result && data->gradient)
		result = dump(directory, net->nodes[last].name, "grad.nhwc", NPY_FLOAT16, output, data->gradient, err);
	for (int node = 1; !result && node < net->node_count; node++) {
		result = dump_map(collect, COLLECT_ACT, node, "act.nhwc", directory, err);
		if (!result && node < last)
			result = dump_map(collect, COLLECT_GRAD, node, "grad.nhwc", directory, err);
		if (!result && (net->nodes[node].op == NET_RELU || net->nodes[node].op == NET_MAX_POOL))
			result = dump_map(collect, COLLECT_MASK, node, "mask.bits", directory, err);
		if (!result && (net->nodes[node].op == NET_CONV || net->nodes[node].op == NET_FC))
			result = dump_weights(collect, data, node, directory, err);
	}
	return result;
}
