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

// "stem.ext" with the schedule's name in it when several schedules write the same kind of file; caller frees.
static char *path_for(const char *path, const char *schedule, bool several)
{
	const char *slash = strrchr(path, '/');
	const char *dot = strrchr(slash ? slash : path, '.');
	const char *base = strrchr(schedule, '/');
	char *made = NULL;

	if (!several)
		return strdup(path);
	if (!dot)
		dot = path + strlen(path);
	if (asprintf(&made, "%.*s-%s%s", (int)(dot - path), path, base ? base + 1 : schedule, dot) < 0)
		return NULL;
	return made;
}

int run_outputs_make(struct run_outputs *outputs, const struct run_words *words, const char *schedule, bool several, struct wc_error *err)
{
	const char *const given[RUN_OUTPUTS] = {words->trace, words->golden_trace, words->dump, words->waves};

	*outputs = (struct run_outputs){{NULL}};
	for (int i = 0; i < RUN_OUTPUTS; i++) {
		if (!given[i])
			continue;
		outputs->paths[i] = path_for(given[i], schedule, several);
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

static const char *const option_names[RUN_OUTPUTS] = {"trace", "golden-trace", "dump", "waves"};

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

static int check_writable(int output, const char *path, const char *resolved, struct wc_error *err)
{
	struct stat status;
	char *slash;
	int result = 0;

	if (!stat(resolved, &status)) {
		// --dump wants a directory, the others a file.
		if (output == RUN_DUMP && !S_ISDIR(status.st_mode))
			return wc_fail(err, WC_ERR_INPUT, "--dump: '%s' is not a directory", path);
		if (output != RUN_DUMP && S_ISDIR(status.st_mode))
			return wc_fail(err, WC_ERR_INPUT, "--%s: '%s' is a directory", option_names[output], path);
		if (access(resolved, W_OK))
			return wc_fail(err, WC_ERR_INPUT, "--%s: cannot write '%s': %s", option_names[output], path, strerror(errno));
		return 0;
	}
	slash = strrchr(resolved, '/');
	*slash = '\0';
	if (access(slash == resolved ? "/" : resolved, W_OK))
		result = wc_fail(err, WC_ERR_INPUT, "--%s: cannot create '%s': %s", option_names[output], path, strerror(errno));
	*slash = '/';
	return result;
}

int run_outputs_check(const struct run_words *words, const char *const *schedules, int count, struct wc_error *err)
{
	char **seen = calloc((size_t)count * RUN_OUTPUTS, sizeof(*seen));
	int used = 0, result = 0;

	if (!seen)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for the names of output files");
	for (int i = 0; !result && i < count; i++) {
		struct run_outputs outputs;

		result = run_outputs_make(&outputs, words, schedules[i], count > 1, err);
		if (result)
			break;
		for (int k = 0; !result && k < RUN_OUTPUTS; k++) {
			if (!outputs.paths[k])
				continue;
			result = resolve(option_names[k], outputs.paths[k], &seen[used], err);
			if (result)
				break;
			for (int j = 0; !result && j < used; j++)
				if (!strcmp(seen[used], seen[j]))
					result = wc_fail(err, WC_ERR_INPUT, "--%s: '%s' would be written twice in this run; give every output a name of its own, "
							 "and run schedules of one name one by one", option_names[k], outputs.paths[k]);
			if (!result)
				result = check_writable(k, outputs.paths[k], seen[used], err);
			used++;
		}
		run_outputs_release(&outputs);
	}
	for (int i = 0; i < count * RUN_OUTPUTS; i++)
		free(seen[i]);
	free(seen);
	return result;
}
