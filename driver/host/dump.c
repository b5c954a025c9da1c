// SPDX-License-Identifier: Apache-2.0
//
// --dump: every tensor of a run as a .npy file.
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "driver/host/collect.h"
#include "traces/alloc.h"
#include "traces/npy.h"

enum { NAME_BYTES = 256 };

// Not a node's: no node has a file without a dot before its .npy.
static const char sgd_name[] = "sgd.npy";

// What there is of each array of parameters.
enum form { FORM_VALUES, FORM_GRADIENT, FORM_MASTER_BEFORE, FORM_MOMENTUM_BEFORE, FORM_MASTER, FORM_MOMENTUM, FORM_UPDATED, FORM_COUNT };

static const struct {
	const char *suffix;
	enum npy_type type;
} forms[FORM_COUNT] = {
	[FORM_VALUES] = {"", NPY_FLOAT16},
	[FORM_GRADIENT] = {"_gradient", NPY_FLOAT32},
	[FORM_MASTER_BEFORE] = {"_master_before", NPY_FLOAT32},
	[FORM_MOMENTUM_BEFORE] = {"_momentum_before", NPY_FLOAT32},
	[FORM_MASTER] = {"_master", NPY_FLOAT32},
	[FORM_MOMENTUM] = {"_momentum", NPY_FLOAT32},
	[FORM_UPDATED] = {"_updated", NPY_FLOAT16},
};

static void array_name(const struct net_node *of, enum parameter_array array, enum form form, char name[NAME_BYTES])
{
	static const char *const arrays[ARRAY_COUNT] = {"weight", "bias", "gamma", "beta"};

	snprintf(name, NAME_BYTES, "%s.%s%s%s.npy", of->name, arrays[array], forms[form].suffix, array == ARRAY_FILTERS ? ".krsc" : "");
}

// What a node has beside parameters, by the name of its file.
static const struct {
	const char *what;
	enum collect_kind kind;
	enum npy_type type;
} tensors[] = {
	{"act.nhwc", COLLECT_ACT, NPY_FLOAT16},
	{"grad.nhwc", COLLECT_GRAD, NPY_FLOAT16},
	{"mask.bits", COLLECT_MASK, NPY_UINT8},
	{"statistics", COLLECT_STATISTICS, NPY_FLOAT32},
	{"losses", COLLECT_LOSSES, NPY_FLOAT32},
};
enum { TENSORS = sizeof(tensors) / sizeof(*tensors) };

static const char labels_what[] = "labels";

static void tensor_name(const struct net_node *of, const char *what, char name[NAME_BYTES])
{
	snprintf(name, NAME_BYTES, "%s.%s.npy", of->name, what);
}

// DIRECTORY/NAME; `values` is only read.
static int dump(const char *directory, const char *name, const struct npy_array *form, const void *values, struct wc_error *err)
{
	struct npy_array array = *form;
	char path[4096];

	array.data = (void *)values;
	if ((size_t)snprintf(path, sizeof(path), "%s/%s", directory, name) >= sizeof(path))
		return wc_fail(err, WC_ERR_INPUT, "path '%s/%s' is longer than %zu bytes", directory, name, sizeof(path) - 1);
	return npy_write(path, &array, err);
}

static struct npy_array tensor_form(const struct collect *collect, int node, size_t which)
{
	const struct net_shape *out = &collect->net->nodes[node].out;
	const uint64_t batch = (uint64_t)collect->batch, height = (uint64_t)out->height, width = (uint64_t)out->width, channels = (uint64_t)out->channels;
	const enum npy_type type = tensors[which].type;

	switch (tensors[which].kind) {
	case COLLECT_MASK:
		return (struct npy_array){.type = type, .dims = 4, .shape = {batch, height, 1, collect_row_bytes(collect, COLLECT_MASK, node)}};
	case COLLECT_STATISTICS:
		return (struct npy_array){.type = type, .dims = 3, .shape = {batch, 2, channels}};
	case COLLECT_LOSSES:
		return (struct npy_array){.type = type, .dims = 1, .shape = {batch}};
	default:
		return (struct npy_array){.type = type, .dims = 4, .shape = {batch, height, width, channels}};
	}
}

static const void *tensor_values(const struct collect *collect, const struct data *data, int node, size_t which)
{
	if (node == 0)
		return tensors[which].kind == COLLECT_ACT ? data->images : NULL;
	if (node == collect->net->node_count - 1 && tensors[which].kind == COLLECT_GRAD)
		return data->gradient;
	return collect_whole(collect, tensors[which].kind, node);
}

static int dump_tensors(const struct collect *collect, const struct data *data, int node, const char *directory, struct wc_error *err)
{
	char name[NAME_BYTES];
	int result = 0;

	for (size_t which = 0; !result && which < TENSORS; which++) {
		const void *values = tensor_values(collect, data, node, which);
		const struct npy_array form = tensor_form(collect, node, which);

		tensor_name(&collect->net->nodes[node], tensors[which].what, name);
		if (values)
			result = dump(directory, name, &form, values, err);
	}
	return result;
}

static int dump_labels(const struct data *data, const char *directory, struct wc_error *err)
{
	const struct npy_array form = {.type = NPY_UINT16, .dims = 1, .shape = {(uint64_t)data->batch}};
	uint16_t *labels = wc_alloc((size_t)data->batch, sizeof(*labels));
	char name[NAME_BYTES];
	int result;

	if (!labels)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for %d labels", data->batch);
	// Classes are channels, of which there are at most 32768.
	for (int n = 0; n < data->batch; n++)
		labels[n] = (uint16_t)data->labels[n];
	tensor_name(&data->net->nodes[data->net->node_count - 1], labels_what, name);
	result = dump(directory, name, &form, labels, err);
	wc_free(labels);
	return result;
}

static struct npy_array array_form(const struct net_node *of, enum parameter_array array, enum form form)
{
	const uint64_t channels = (uint64_t)of->out.channels;

	if (array != ARRAY_FILTERS)
		return (struct npy_array){.type = forms[form].type, .dims = 1, .shape = {channels}};
	return (struct npy_array){
		.type = forms[form].type, .dims = 4, .shape = {channels, (uint64_t)of->conv.kernel_h, (uint64_t)of->conv.kernel_w,
							   (uint64_t)(of->in.channels / of->conv.groups)},
	};
}

// Two arrays in one tensor, each `count` elements.
static const void *second(const float *both, uint64_t count)
{
	return both ? both + count : NULL;
}

static const void *gradient_values(const struct collect *collect, int node, enum parameter_array array)
{
	switch (array) {
	case ARRAY_FILTERS:
		return collect_whole(collect, COLLECT_WGRAD, node);
	case ARRAY_BIAS:
		return collect_whole(collect, COLLECT_BIAS_WGRAD, node);
	case ARRAY_GAMMA:
		return collect_whole(collect, COLLECT_PARAMETERS_WGRAD, node);
	default:
		return second(collect_whole(collect, COLLECT_PARAMETERS_WGRAD, node), (uint64_t)collect->net->nodes[node].out.channels);
	}
}

static const void *array_values(const struct collect *collect, const struct data *data, const struct optimizer *optimizer, int node,
				enum parameter_array array, enum form form)
{
	const void *state = collect_whole(collect, (enum collect_kind)(COLLECT_STATE + (int)array), node);

	switch (form) {
	case FORM_VALUES:
		return optimizer_parameters(data, node, array);
	case FORM_GRADIENT:
		return gradient_values(collect, node, array);
	case FORM_MASTER_BEFORE:
		return optimizer ? optimizer->arrays[node][array].master : NULL;
	case FORM_MOMENTUM_BEFORE:
		return optimizer ? optimizer->arrays[node][array].momentum : NULL;
	case FORM_MASTER:
		return state;
	case FORM_MOMENTUM:
		return second(state, program_array_count(&collect->net->nodes[node], array));
	default:
		assert(form == FORM_UPDATED);
		return collect_whole(collect, (enum collect_kind)(COLLECT_UPDATED + (int)array), node);
	}
}

static int dump_arrays(const struct collect *collect, const struct data *data, const struct optimizer *optimizer, int node, const char *directory,
		       struct wc_error *err)
{
	const struct net_node *of = &collect->net->nodes[node];
	char name[NAME_BYTES];
	int result = 0;

	for (enum parameter_array array = 0; array < ARRAY_COUNT; array++)
		for (enum form form = 0; !result && form < FORM_COUNT && program_array_count(of, array); form++) {
			const struct npy_array shape = array_form(of, array, form);
			const void *values = array_values(collect, data, optimizer, node, array, form);

			array_name(of, array, form, name);
			if (values)
				result = dump(directory, name, &shape, values, err);
		}
	return result;
}

static int dump_sgd(const struct golden_sgd *sgd, const char *directory, struct wc_error *err)
{
	const struct npy_array form = {.type = NPY_FLOAT32, .dims = 1, .shape = {4}};

	return dump(directory, sgd_name, &form, (const float[]){sgd->inv_scale, sgd->decay, sgd->mu, sgd->lr}, err);
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

static int node_names(const struct net_node *of, int (*each)(void *context, const char *name), void *context)
{
	char name[NAME_BYTES];
	int result = 0;

	for (size_t which = 0; !result && which < TENSORS; which++) {
		tensor_name(of, tensors[which].what, name);
		result = each(context, name);
	}
	for (enum parameter_array array = 0; array < ARRAY_COUNT; array++)
		for (enum form form = 0; !result && form < FORM_COUNT && program_array_count(of, array); form++) {
			array_name(of, array, form, name);
			result = each(context, name);
		}
	if (!result && of->op == NET_LOSS) {
		tensor_name(of, labels_what, name);
		result = each(context, name);
	}
	return result;
}

int collect_dump_names(const struct net *net, int (*each)(void *context, const char *name), void *context)
{
	int result = each(context, sgd_name);

	for (int node = 0; !result && node < net->node_count; node++)
		result = node_names(&net->nodes[node], each, context);
	return result;
}

int collect_dump(const struct collect *collect, const struct data *data, const struct optimizer *optimizer, const char *directory, struct wc_error *err)
{
	int result = 0;

	for (int node = 0; !result && node < collect->net->node_count; node++) {
		result = dump_tensors(collect, data, node, directory, err);
		if (!result)
			result = dump_arrays(collect, data, optimizer, node, directory, err);
	}
	if (!result && data->labels)
		result = dump_labels(data, directory, err);
	return result || !optimizer ? result : dump_sgd(&optimizer->sgd, directory, err);
}
