// SPDX-License-Identifier: Apache-2.0
//
// Where a run's files go. They are looked at before anything is built or run: a name that cannot be written to, or two
// that are one file, would lose an hour's work.
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver/cli/run.h"
#include "traces/alloc.h"
#include "traces/file.h"

// A schedule's name as a part of a file's: without the directories of a schedule's file.
static const char *base_of(const char *schedule)
{
	const char *slash = strrchr(schedule, '/');

	return slash ? slash + 1 : schedule;
}

// "stem.ext" with the schedule's name in it: "stem-name.ext". A dot at the start of the file's name begins no extension. The caller frees it.
static char *file_for(const char *path, const char *schedule)
{
	const char *slash = strrchr(path, '/');
	const char *file = slash ? slash + 1 : path;
	const char *dot = strrchr(file, '.');
	char *made = NULL;

	if (!dot || dot == file)
		dot = path + strlen(path);
	return asprintf(&made, "%.*s-%s%s", (int)(dot - path), path, base_of(schedule), dot) < 0 ? NULL : made;
}

static bool is_directory(int output)
{
	return output == RUN_DUMP || output == RUN_SAVE;
}

// The same of a directory: "name-schedule", whatever dots are in it; "./schedule" for one that has no name of its own.
static char *directory_for(const char *path, const char *schedule)
{
	size_t length = strlen(path);
	const char *slash, *last;
	char *made = NULL;

	while (length > 1 && path[length - 1] == '/')
		length--;
	slash = memrchr(path, '/', length);
	last = slash ? slash + 1 : path;
	length -= (size_t)(last - path);
	const bool nameless = !length || (length == 1 && *last == '.') || (length == 2 && last[0] == '.' && last[1] == '.');
	const int made_length = asprintf(&made, "%.*s%s%s", (int)(last - path + (ptrdiff_t)length), path, !length ? "" : nameless ? "/" : "-",
					 base_of(schedule));

	return made_length < 0 ? NULL : made;
}

static char *path_for(int output, const char *path, const char *schedule, bool several)
{
	if (!several)
		return strdup(path);
	return is_directory(output) ? directory_for(path, schedule) : file_for(path, schedule);
}

char *run_replaced_path(const char *path)
{
	struct stat status;
	char *target;

	// What is no link keeps the name it was given, for messages.
	if (lstat(path, &status) || !S_ISLNK(status.st_mode))
		return strdup(path);
	target = realpath(path, NULL);
	return target || errno == ENOMEM ? target : strdup(path);
}

int run_outputs_make(struct run_outputs *outputs, const struct run_words *words, const char *schedule, bool several, struct wc_error *err)
{
	const char *const given[RUN_OUTPUTS] = {words->trace, words->golden_trace, words->dump, words->waves, words->save, words->curve, words->resume};

	*outputs = (struct run_outputs){{NULL}};
	for (int i = 0; i < RUN_OUTPUTS; i++) {
		if (!given[i])
			continue;
		outputs->paths[i] = path_for(i, given[i], schedule, several);
		if (!outputs->paths[i]) {
			run_outputs_release(outputs);
			return wc_fail(err, WC_ERR_SYSTEM, "out of memory for the name of an output file");
		}
	}
	return 0;
}

void run_outputs_release(struct run_outputs *outputs)
{
	for (int i = 0; i < RUN_OUTPUTS; i++)
		free(outputs->paths[i]);
}

static const char *const option_names[RUN_OUTPUTS] = {"trace", "golden-trace", "dump", "waves", "save", "curve", "resume"};

const char *run_output_option(int output)
{
	return option_names[output];
}

// The file's name with its directory resolved, so that a.wct and ./a.wct are one; caller frees.
static int resolve(const char *option, const char *path, char **resolved, struct wc_error *err)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	char *directory = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
	char *real = directory ? realpath(directory, NULL) : NULL;
	const int why = errno;
	int result = 0;

	*resolved = NULL;
	if (!directory)
		result = wc_fail(err, WC_ERR_SYSTEM, "out of memory for a path");
	else if (!real)
		result = wc_fail(err, WC_ERR_INPUT, "--%s: cannot create '%s': %s", option, path, strerror(why));
	else if (asprintf(resolved, "%s/%s", real, base) < 0)
		result = wc_fail(err, WC_ERR_SYSTEM, "out of memory for a path");
	free(real);
	free(directory);
	return result;
}

const char *run_output_aside(int output)
{
	return output == RUN_WAVES ? ".hier" : output == RUN_RESUME ? ".new" : NULL;
}

// The file goes, whatever it is: a device too.
static int check_replaceable(int output, const char *path, const char *real, struct wc_error *err)
{
	const char *option = option_names[output], *suffix = run_output_aside(output);
	struct stat status;
	char aside[PATH_MAX + 64];

	if (!lstat(real, &status) && !S_ISREG(status.st_mode))
		return wc_fail(err, WC_ERR_INPUT, "--%s: '%s' is %s; only a regular file can be replaced", option, path,
			       S_ISLNK(status.st_mode) ? "a symbolic link to a file that is not there" : "not a regular file");
	snprintf(aside, sizeof(aside), "%s%s", real, suffix);
	if (!lstat(aside, &status) && !S_ISREG(status.st_mode))
		return wc_fail(err, WC_ERR_INPUT, "--%s: '%s%s', which is written while it runs, is not a regular file", option, path, suffix);
	return 0;
}

// What is replaced goes where a link leads.
static int follow(char **resolved, struct wc_error *err)
{
	char *real = run_replaced_path(*resolved);

	free(*resolved);
	*resolved = real;
	return real ? 0 : wc_fail(err, WC_ERR_SYSTEM, "out of memory for a path");
}

static int check_writable(int output, const char *path, char *resolved, struct wc_error *err)
{
	struct stat status;
	char *slash;
	int result = 0;

	if (!stat(resolved, &status)) {
		if (is_directory(output) && !S_ISDIR(status.st_mode))
			return wc_fail(err, WC_ERR_INPUT, "--%s: '%s' is not a directory", option_names[output], path);
		if (!is_directory(output) && S_ISDIR(status.st_mode))
			return wc_fail(err, WC_ERR_INPUT, "--%s: '%s' is a directory", option_names[output], path);
		const char *refused = wc_file_refused(resolved);

		if (refused)
			return wc_fail(err, WC_ERR_INPUT, "--%s: cannot write '%s': %s", option_names[output], path, refused);
		if (access(resolved, W_OK))
			return wc_fail(err, WC_ERR_INPUT, "--%s: cannot write '%s': %s", option_names[output], path, strerror(errno));
		if (!run_output_aside(output))
			return 0;
	}
	if (run_output_aside(output) && (result = check_replaceable(output, path, resolved, err)))
		return result;
	slash = strrchr(resolved, '/');
	*slash = '\0';
	if (access(slash == resolved ? "/" : resolved, W_OK))
		result = wc_fail(err, WC_ERR_INPUT, "--%s: cannot create '%s': %s", option_names[output], path, strerror(errno));
	*slash = '/';
	return result;
}

// The names that outputs go to, resolved.
struct names {
	char **names; // owned
	int count;
};

// Take up a name, and give it away; `path`: as it was given.
static int take_name(struct names *names, int output, const char *path, char *name, struct wc_error *err)
{
	names->names[names->count++] = name;
	for (int i = 0; i < names->count - 1; i++)
		if (!strcmp(name, names->names[i]))
			return wc_fail(err, WC_ERR_INPUT, "--%s: '%s' would be written twice in this run; give every output a name of its own, and run schedules of "
				       "one name one by one", option_names[output], path);
	return 0;
}

// The file of an output, and the one beside it that is there while it is written.
static int take_output(struct names *names, int output, const char *path, struct wc_error *err)
{
	const char *suffix = run_output_aside(output);
	char *name, *aside = NULL;
	int result = resolve(option_names[output], path, &name, err);

	if (!result && suffix)
		result = follow(&name, err);
	if (result) {
		free(name);
		return result;
	}
	if (suffix && asprintf(&aside, "%s%s", name, suffix) < 0) {
		free(name);
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for a path");
	}
	result = take_name(names, output, path, name, err);
	if (suffix && result)
		free(aside);
	else if (suffix)
		result = take_name(names, output, path, aside, err);
	return result ? result : check_writable(output, path, name, err);
}

int run_outputs_check(const struct run_words *words, const char *const *schedules, int count, struct wc_error *err)
{
	// Two for an output.
	struct names names = {.names = wc_alloc(2 * (size_t)count * RUN_OUTPUTS, sizeof(*names.names))};
	int result = 0;

	if (!names.names)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for the names of output files");
	for (int i = 0; !result && i < count; i++) {
		struct run_outputs outputs;

		result = run_outputs_make(&outputs, words, schedules[i], count > 1, err);
		if (result)
			break;
		for (int k = 0; !result && k < RUN_OUTPUTS; k++)
			if (outputs.paths[k])
				result = take_output(&names, k, outputs.paths[k], err);
		run_outputs_release(&outputs);
	}
	for (int i = 0; i < names.count; i++)
		free(names.names[i]);
	wc_free(names.names);
	return result;
}
