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

static void aside_of(char aside[ASIDE_BYTES], const char *path)
{
	snprintf(aside, ASIDE_BYTES, "%s.new", path);
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

// A file that is there, under that name, and no regular one: it is not to be replaced. A link is, not what it leads to.
static int check_name(const char *path, bool link, struct wc_error *err)
{
	struct stat status;

	if (lstat(path, &status) || S_ISREG(status.st_mode) || (link && S_ISLNK(status.st_mode)))
		return 0;
	return wc_fail(err, WC_ERR_INPUT, "--save: '%s' is %s; only a regular file can be replaced", path,
		       S_ISDIR(status.st_mode) ? "a directory" : "not a regular file");
}

struct directory {
	const char *path;
	struct wc_error *err;
};

static int check_file(void *context, const char *name)
{
	const struct directory *directory = context;
	char path[PATH_BYTES], aside[ASIDE_BYTES];
	int result = path_of(path, directory->path, name, directory->err);

	if (result || (result = check_name(path, true, directory->err)))
		return result;
	aside_of(aside, path);
	// It is written through a link.
	return check_name(aside, false, directory->err);
}

int parameters_check(const struct net *net, const char *directory, struct wc_error *err)
{
	struct directory to = {.path = directory, .err = err};

	return parameters_names(net, check_file, &to);
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

// Of what is saved, and how far that came.
struct saving {
	const char *directory;
	int files, in_place;
	struct wc_error *err;
};

typedef int file_action(struct saving *saving, const char *path, const struct npy_array *array);

// All files of a directory in turn, until an action fails. The count of samples is last: it says what the others belong to.
static int each_file(const struct optimizer *optimizer, uint64_t samples, struct saving *saving, file_action *action)
{
	const struct net *net = optimizer->data->net;
	const int64_t drawn = (int64_t)samples;
	const struct npy_array count = {.type = NPY_INT64, .data = (void *)&drawn};
	char path[PATH_BYTES];
	int result = 0;

	for (int node = 0; node < net->node_count; node++)
		for (enum parameter_array array = 0; array < ARRAY_COUNT; array++)
			for (enum form form = 0; !result && optimizer->arrays[node][array].count && form < FORM_COUNT; form++) {
				struct npy_array header = array_header(&net->nodes[node], array, form);

				header.data = array_data(optimizer, node, array, form);
				result = array_path(path, saving->directory, &net->nodes[node], array, form, saving->err);
				if (!result)
					result = action(saving, path, &header);
			}
	if (!result)
		result = path_of(path, saving->directory, samples_name, saving->err);
	return result ? result : action(saving, path, &count);
}

static int write_aside(struct saving *saving, const char *path, const struct npy_array *array)
{
	char aside[ASIDE_BYTES];

	saving->files++;
	aside_of(aside, path);
	return npy_write(aside, array, saving->err);
}

static int put_in_place(struct saving *saving, const char *path, const struct npy_array *array)
{
	char aside[ASIDE_BYTES];

	(void)array;
	aside_of(aside, path);
	if (rename(aside, path))
		return wc_fail(saving->err, WC_ERR_SYSTEM, "cannot write '%s': %s", path, strerror(errno));
	saving->in_place++;
	return 0;
}

static int remove_aside(struct saving *saving, const char *path, const struct npy_array *array)
{
	char aside[ASIDE_BYTES];

	(void)saving;
	(void)array;
	aside_of(aside, path);
	unlink(aside);
	return 0;
}

// What the directory holds, behind what failed.
static void say_what_stands(const struct saving *saving)
{
	struct wc_error said;

	if (!saving->err)
		return;
	said = *saving->err;
	if (saving->in_place)
		wc_fail(saving->err, 0, "%s; in '%s' %d of %d files are new, the others, %s among them, are not: training cannot go on from there", said.text,
			saving->directory, saving->in_place, saving->files, samples_name);
	else
		wc_fail(saving->err, 0, "%s; what was in '%s' before is still there", said.text, saving->directory);
}

int parameters_save(const struct optimizer *optimizer, uint64_t samples, const char *directory, struct wc_error *err)
{
	struct saving saving = {.directory = directory, .err = err};
	// What was there before stays until all of it is written: the disk may be full.
	int result = each_file(optimizer, samples, &saving, write_aside);

	if (!result)
		result = each_file(optimizer, samples, &saving, put_in_place);
	if (!result)
		return 0;
	say_what_stands(&saving);
	saving.err = NULL;
	each_file(optimizer, samples, &saving, remove_aside);
	return result;
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

	if (result)
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

// Masters and momenta, of which there are all or none.
static int find_states(const struct optimizer *optimizer, const char *directory, bool *some, struct wc_error *err)
{
	char path[PATH_BYTES], missing[PATH_BYTES] = "";
	int result = 0;

	*some = false;
	for (int node = 0; node < optimizer->data->net->node_count; node++)
		for (enum parameter_array array = 0; array < ARRAY_COUNT; array++)
			for (enum form form = FORM_MASTER; !result && optimizer->arrays[node][array].count && form < FORM_COUNT; form++) {
				result = array_path(path, directory, &optimizer->data->net->nodes[node], array, form, err);
				if (!result && !access(path, F_OK))
					*some = true;
				else if (!result && !*missing)
					memcpy(missing, path, sizeof(path));
			}
	if (!result && *some && *missing)
		result = wc_fail(err, WC_ERR_INPUT, "--weights: '%s' is missing, but other masters or momenta are there; remove them all, or take all from one run",
				 missing);
	return result;
}

int parameters_load(struct optimizer *optimizer, uint64_t *samples, const char *directory, struct wc_error *err)
{
	bool some;
	int result = load_samples(samples, directory, err);

	if (!result)
		result = find_states(optimizer, directory, &some, err);
	for (int node = 0; !result && some && node < optimizer->data->net->node_count; node++)
		for (enum parameter_array array = 0; array < ARRAY_COUNT; array++)
			for (enum form form = FORM_MASTER; !result && optimizer->arrays[node][array].count && form < FORM_COUNT; form++)
				result = load_array(optimizer, node, array, form, directory, err);
	return result;
}
