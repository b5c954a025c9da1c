// SPDX-License-Identifier: Apache-2.0
//
// A run's outputs against its inputs, and against each other: none may go into a file that is read, or written, under another name too.
// Files are known by device and inode, so that no link or path hides one.
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "driver/cli/run.h"
#include "driver/host/collect.h"
#include "driver/host/dataset.h"
#include "driver/host/parameters.h"
#include "traces/alloc.h"

struct taken {
	dev_t device;
	ino_t inode;
	const char *option; // that it belongs to
};

struct files {
	struct taken *taken;
	size_t count, capacity;
	// What is being looked at.
	const char *option, *directory;
	struct wc_error *err;
};

static int take(struct files *files, const char *option, const struct stat *status)
{
	if (files->count == files->capacity) {
		const size_t capacity = files->capacity ? 2 * files->capacity : 64;
		struct taken *taken = wc_realloc(files->taken, capacity, sizeof(*taken));

		if (!taken)
			return wc_fail(files->err, WC_ERR_SYSTEM, "out of memory for the names of files");
		files->taken = taken;
		files->capacity = capacity;
	}
	files->taken[files->count++] = (struct taken){status->st_dev, status->st_ino, option};
	return 0;
}

static int take_input(struct files *files, const char *option, const char *path)
{
	struct stat status;

	// What is not there is told by who reads it. Devices and pipes have no contents to lose.
	return path && !stat(path, &status) && S_ISREG(status.st_mode) ? take(files, option, &status) : 0;
}

static int take_parameters(void *context, const char *name)
{
	struct files *files = context;
	char *path = NULL;
	int result;

	if (asprintf(&path, "%s/%s", files->directory, name) < 0)
		return wc_fail(files->err, WC_ERR_SYSTEM, "out of memory for the names of files");
	result = take_input(files, "weights", path);
	free(path);
	return result;
}

static int take_weights(struct files *files, const char *directory, const struct net *net)
{
	int result;

	if (!directory)
		return 0;
	files->directory = directory;
	result = parameters_names(net, take_parameters, files);
	for (int i = 0; !result && i < net->node_count; i++) {
		char name[512];

		// As a dump names them.
		snprintf(name, sizeof(name), "%s.weight.krsc.npy", net->nodes[i].name);
		result = take_parameters(files, name);
	}
	return result;
}

// A file of images, and its labels.
static int take_dataset(struct files *files, const struct run_words *words)
{
	char beside[4096];
	int result;

	if (!words->dataset || !strcmp(words->dataset, DATASET_FASHION_MNIST))
		return 0;
	result = take_input(files, "data", words->dataset);
	if (!result && !words->labels)
		result = dataset_labels_beside(words->dataset, beside, sizeof(beside), files->err);
	return result ? result : take_input(files, "labels", words->labels ? words->labels : beside);
}

static int check_output(struct files *files, const char *path, bool *there, struct stat *status)
{
	*there = !stat(path, status) && S_ISREG(status->st_mode);
	for (size_t i = 0; *there && i < files->count; i++)
		if (files->taken[i].device == status->st_dev && files->taken[i].inode == status->st_ino)
			return wc_fail(files->err, WC_ERR_INPUT, "--%s: '%s' is the file of --%s too, and would be overwritten", files->option, path,
				       files->taken[i].option);
	return 0;
}

static int check_in_directory(void *context, const char *name)
{
	struct files *files = context;
	struct stat status;
	char *path = NULL;
	bool there;
	int result;

	if (asprintf(&path, "%s/%s", files->directory, name) < 0)
		return wc_fail(files->err, WC_ERR_SYSTEM, "out of memory for the names of files");
	result = check_output(files, path, &there, &status);
	free(path);
	return result;
}

static int check_file(struct files *files, const char *option, const char *path)
{
	struct stat status;
	bool there;
	int result;

	files->option = option;
	result = check_output(files, path, &there, &status);
	return result || !there ? result : take(files, option, &status);
}

// The file beside one that is replaced.
static int check_aside(struct files *files, int output, const char *path)
{
	char *replaced = run_replaced_path(path), *aside = NULL;
	int result;

	if (!replaced || asprintf(&aside, "%s%s", replaced, run_output_aside(output)) < 0)
		result = wc_fail(files->err, WC_ERR_SYSTEM, "out of memory for the names of files");
	else
		result = check_file(files, run_output_option(output), aside);
	free(aside);
	free(replaced);
	return result;
}

static int check_schedule(struct files *files, const struct run_outputs *outputs, const struct net *net)
{
	int result = 0;

	for (int i = 0; !result && i < RUN_OUTPUTS; i++)
		if (outputs->paths[i] && i != RUN_DUMP && i != RUN_SAVE)
			result = check_file(files, run_output_option(i), outputs->paths[i]);
	for (int i = 0; !result && i < RUN_OUTPUTS; i++)
		if (outputs->paths[i] && run_output_aside(i))
			result = check_aside(files, i, outputs->paths[i]);
	if (!result && outputs->paths[RUN_DUMP]) {
		files->option = run_output_option(RUN_DUMP);
		files->directory = outputs->paths[RUN_DUMP];
		result = collect_dump_names(net, check_in_directory, files);
	}
	if (!result && outputs->paths[RUN_SAVE]) {
		files->option = run_output_option(RUN_SAVE);
		files->directory = outputs->paths[RUN_SAVE];
		result = parameters_check(net, files->directory, files->err);
		if (!result)
			result = parameters_names(net, check_in_directory, files);
	}
	return result;
}

int run_inputs_check(const struct run_words *words, const char *const *schedules, int count, const struct net *net, struct wc_error *err)
{
	struct files files = {.err = err};
	int result;

	if (!(result = take_input(&files, "net", words->net)) && !(result = take_input(&files, "input", words->input)) &&
	    !(result = take_input(&files, "gradient", words->gradient)) && !(result = take_dataset(&files, words)))
		result = take_weights(&files, words->weights, net);
	for (int i = 0; !result && i < count; i++)
		if (cli_is_schedule_file(schedules[i]))
			result = take_input(&files, "schedule", schedules[i]);
	for (int i = 0; !result && i < count; i++) {
		struct run_outputs outputs;

		result = run_outputs_make(&outputs, words, schedules[i], count > 1, err);
		if (result)
			break;
		result = check_schedule(&files, &outputs, net);
		run_outputs_release(&outputs);
	}
	wc_free(files.taken);
	return result;
}
