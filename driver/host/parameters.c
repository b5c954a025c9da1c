// SPDX-License-Identifier: Apache-2.0
//
// Parameters from and to files; see parameters.h.
#include "driver/host/parameters.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "csim/golden/half.h"
#include "traces/npy.h"

enum { NAME_BYTES = 512, PATH_BYTES = 4096, ASIDE_BYTES = PATH_BYTES + 8 };

static const char *const array_names[ARRAY_COUNT] = {"weight", "bias", "gamma", "beta"};
static const char samples_name[] = "samples.npy";

// The three files of an array.
enum form { FORM_HALF, FORM_MASTER, FORM_MOMENTUM, FORM_COUNT };
static const char *const form_names[FORM_COUNT] = {"", ".master", ".momentum"};

static int path_of(char path[PATH_BYTES], const char *directory, const char *name, struct wc_error *err)
{
	if ((size_t)snprintf(path, PATH_BYTES, "%s/%s", directory, name) < PATH_BYTES)
		return 0;
	return wc_fail(err, WC_ERR_INPUT, "the path '%.100s...' is longer than %d bytes", path, PATH_BYTES - 1);
}

static void array_name(char name[NAME_BYTES], const struct net_node *node, enum parameter_array array, enum form form)
{
	snprintf(name, NAME_BYTES, "%s.%s%s.npy", node->name, array_names[array], form_names[form]);
}

static int array_path(char path[PATH_BYTES], const char *directory, const struct net_node *node, enum parameter_array array, enum form form,
		      struct wc_error *err)
{
	char name[NAME_BYTES];

	array_name(name, node, array, form);
	return path_of(path, directory, name, err);
}

// Type and shape; the data are the caller's.
static struct npy_array array_header(const struct net_node *node, enum parameter_array array, enum form form)
{
	struct npy_array header = {
		.type = form == FORM_HALF ? NPY_FLOAT16 : NPY_FLOAT32, .dims = 1, .shape = {(uint64_t)node->out.channels},
	};

	if (array == ARRAY_FILTERS) {
		header.dims = 4;
		header.shape[1] = (uint64_t)node->conv.kernel_h;
		header.shape[2] = (uint64_t)node->conv.kernel_w;
		header.shape[3] = (uint64_t)(node->in.channels / node->conv.groups);
	}
	return header;
}

static void *array_data(const struct optimizer *optimizer, int node, enum parameter_array array, enum form form)
{
	const struct optimizer_array *of = &optimizer->arrays[node][array];

	return form == FORM_HALF ? (void *)optimizer_parameters(optimizer->data, node, array) : form == FORM_MASTER ? of->master : of->momentum;
}

int parameters_prepare(const char *directory, struct wc_error *err)
{
	if (mkdir(directory, 0777) && errno != EEXIST)
		return wc_fail(err, WC_ERR_INPUT, "cannot make directory '%s': %s", directory, strerror(errno));
	return 0;
}

int parameters_names(const struct net *net, int (*each)(void *context, const char *name), void *context)
{
	char name[NAME_BYTES];
	int result = each(context, samples_name);

	for (int node = 0; node < net->node_count; node++)
		for (enum parameter_array array = 0; array < ARRAY_COUNT; array++)
			for (enum form form = 0; !result && program_array_count(&net->nodes[node], array) && form < FORM_COUNT; form++) {
				array_name(name, &net->nodes[node], array, form);
				result = each(context, name);
			}
	return result;
}

typedef int file_action(const char *path, const struct npy_array *array, struct wc_error *err);

// All files of a directory in turn, until an action fails.
static int each_file(const struct optimizer *optimizer, uint64_t samples, const char *directory, file_action *action, struct wc_error *err)
{
	const struct net *net = optimizer->data->net;
	const int64_t drawn = (int64_t)samples;
	const struct npy_array count = {.type = NPY_INT64, .data = (void *)&drawn};
	char path[PATH_BYTES];
	int result = path_of(path, directory, samples_name, err);

	if (!result)
		result = action(path, &count, err);
	for (int node = 0; node < net->node_count; node++)
		for (enum parameter_array array = 0; array < ARRAY_COUNT; array++)
			for (enum form form = 0; !result && optimizer->arrays[node][array].count && form < FORM_COUNT; form++) {
				struct npy_array header = array_header(&net->nodes[node], array, form);

				header.data = array_data(optimizer, node, array, form);
				result = array_path(path, directory, &net->nodes[node], array, form, err);
				if (!result)
					result = action(path, &header, err);
			}
	return result;
}

static void aside_of(char aside[ASIDE_BYTES], const char *path)
{
	snprintf(aside, ASIDE_BYTES, "%s.new", path);
}

static int write_aside(const char *path, const struct npy_array *array, struct wc_error *err)
{
	char aside[ASIDE_BYTES];

	aside_of(aside, path);
	return npy_write(aside, array, err);
}

static int put_in_place(const char *path, const struct npy_array *array, struct wc_error *err)
{
	char aside[ASIDE_BYTES];

	(void)array;
	aside_of(aside, path);
	return rename(aside, path) ? wc_fail(err, WC_ERR_SYSTEM, "cannot write '%s': %s", path, strerror(errno)) : 0;
}

static int remove_aside(const char *path, const struct npy_array *array, struct wc_error *err)
{
	char aside[ASIDE_BYTES];

	(void)array;
	(void)err;
	aside_of(aside, path);
	unlink(aside);
	return 0;
}

int parameters_save(const struct optimizer *optimizer, uint64_t samples, const char *directory, struct wc_error *err)
{
	int result = each_file(optimizer, samples, directory, write_aside, err);

	// What was there before stays until all of it is written: the disk may be full.
	if (result)
		each_file(optimizer, samples, directory, remove_aside, NULL);
	return result ? result : each_file(optimizer, samples, directory, put_in_place, err);
}

static int load_array(const struct optimizer *optimizer, int node, enum parameter_array array, enum form form, const char *directory, struct wc_error *err)
{
	const uint64_t count = optimizer->arrays[node][array].count;
	const uint16_t *halves = optimizer_parameters(optimizer->data, node, array);
	const struct net_node *of = &optimizer->data->net->nodes[node];
	const struct npy_array wanted = array_header(of, array, form);
	struct npy_array got;
	char path[PATH_BYTES];
	int result = array_path(path, directory, of, array, form, err);

	if (result || access(path, F_OK))
		return result;
	result = npy_read_types(path, 1u << wanted.type, &got, err);
	if (result)
		return result;
	if (got.dims != wanted.dims || memcmp(got.shape, wanted.shape, (size_t)wanted.dims * sizeof(*wanted.shape)))
		result = wc_fail(err, WC_ERR_INPUT, "%s: not of the shape of the %s of '%s'", path, array_names[array], of->name);
	for (uint64_t i = 0; !result && i < count; i++)
		if (!isfinite(((const float *)got.data)[i]))
			result = wc_fail(err, WC_ERR_INPUT, "%s: element %" PRIu64 " is %g, which is not finite", path, i, (double)((const float *)got.data)[i]);
	for (uint64_t i = 0; !result && form == FORM_MASTER && i < count; i++)
		if (golden_half_from_float(((const float *)got.data)[i]) != halves[i])
			result = wc_fail(err, WC_ERR_INPUT, "%s: element %" PRIu64 " is %.9g, which does not round to the parameter in %s.%s.npy; "
					 "remove the masters and momenta, or take both from one run", path, i, (double)((const float *)got.data)[i], of->name,
					 array_names[array]);
	if (!result)
		memcpy(array_data(optimizer, node, array, form), got.data, count * sizeof(float));
	npy_release(&got);
	return result;
}

static int load_samples(uint64_t *samples, const char *directory, struct wc_error *err)
{
	struct npy_array got;
	char path[PATH_BYTES];
	int result = path_of(path, directory, samples_name, err);

	if (result || access(path, F_OK))
		return result;
	result = npy_read_types(path, 1u << NPY_INT64, &got, err);
	if (result)
		return result;
	// Room for what is drawn from here on.
	if (got.dims || *(const int64_t *)got.data < 0 || *(const int64_t *)got.data > INT64_MAX / 2)
		result = wc_fail(err, WC_ERR_INPUT, "%s: not a single number of samples, 0 to %" PRId64, path, INT64_MAX / 2);
	else
		*samples = (uint64_t) * (const int64_t *)got.data;
	npy_release(&got);
	return result;
}

int parameters_load(struct optimizer *optimizer, uint64_t *samples, const char *directory, struct wc_error *err)
{
	int result = load_samples(samples, directory, err);

	for (int node = 0; node < optimizer->data->net->node_count; node++)
		for (enum parameter_array array = 0; array < ARRAY_COUNT; array++)
			for (enum form form = FORM_MASTER; !result && optimizer->arrays[node][array].count && form < FORM_COUNT; form++)
				result = load_array(optimizer, node, array, form, directory, err);
	return result;
}
