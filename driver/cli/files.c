// SPDX-License-Identifier: Apache-2.0
//
// Files of the command line: networks, schedules, and where the project lies.
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/cli/cli.h"
#include "driver/net/builtin.h"
#include "driver/plan/paper/paper.h"
#include "traces/alloc.h"
#include "traces/file.h"

enum { SCHEDULE_BYTES_MAX = 64 << 20 };

int cli_slurp(const char *path, char **text, size_t *bytes, struct wc_error *err)
{
	const bool standard = !strcmp(path, "-");
	const char *why;
	const int fd = standard ? STDIN_FILENO : wc_file_open(path, WC_FILE_STREAM, &why);
	size_t capacity = 4096, used = 0;
	char *buffer = wc_alloc(capacity, 1);
	int result = 0;

	*text = NULL;
	if (fd < 0)
		result = wc_fail(err, WC_ERR_INPUT, "cannot open '%s': %s", path, why);
	while (!result && buffer) {
		const ssize_t got = read(fd, buffer + used, capacity - used - 1);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			result = wc_fail(err, WC_ERR_INPUT, "cannot read '%s': %s", path, strerror(errno));
		if (got <= 0)
			break;
		used += (size_t)got;
		if (used > SCHEDULE_BYTES_MAX)
			result = wc_fail(err, WC_ERR_INPUT, "'%s' is longer than %d bytes", path, SCHEDULE_BYTES_MAX);
		if (used + 1 == capacity) {
			char *larger = wc_realloc(buffer, capacity *= 2, 1);

			if (!larger)
				wc_free(buffer);
			buffer = larger;
		}
	}
	if (!buffer && !result)
		result = wc_fail(err, WC_ERR_SYSTEM, "out of memory for '%s'", path);
	if (fd >= 0 && !standard)
		close(fd);
	if (result) {
		wc_free(buffer);
		return result;
	}
	buffer[used] = '\0';
	*text = buffer;
	*bytes = used;
	return 0;
}

int cli_net(struct net *net, const char *name, int image, struct wc_error *err)
{
	const char *why = wc_file_refused(name);

	*net = (struct net){0};
	return why ? wc_fail(err, WC_ERR_INPUT, "cannot open network file '%s': %s", name, why) : net_open(net, name, image, err);
}

bool cli_is_planner(const char *name)
{
	for (int i = 0; plan_name(i); i++)
		if (!strcmp(plan_name(i), name))
			return true;
	for (int i = 0; paper_plan_name(i); i++)
		if (!strcmp(paper_plan_name(i), name))
			return true;
	return false;
}

bool cli_is_schedule_file(const char *name)
{
	return !cli_is_planner(name) && (!strcmp(name, "-") || !access(name, F_OK));
}

int cli_same_problem(const char *path, const struct schedule *schedule, const struct plan_options *options, struct wc_error *err)
{
	enum { PAPER_FACTS = 3 }; // a schedule for `paper` accounting says no more
	const bool device = options->accounting == SCHED_DEVICE;
	const struct {
		const char *what, *option;
		int64_t file, wanted;
	} facts[] = {
		{"batch", "batch", schedule->batch, options->batch},
		{"cores", "cores", schedule->cores, options->cores},
		{"buffer bytes", "buffer", schedule->buffer_bytes, options->buffer_bytes},
		{"array rows", "array", schedule->rows, options->rows},
		{"array columns", "array", schedule->cols, options->cols},
		{"bus bytes", "bus", schedule->bus_bytes, options->bus_bytes},
	};

	if (schedule->accounting != options->accounting)
		return wc_fail(err, WC_ERR_INPUT, "%s: made for %s accounting, wanted is %s; see --accounting", path, device ? "paper" : "device",
			       device ? "device" : "paper");
	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++)
		if (facts[i].file != facts[i].wanted && (device || i < PAPER_FACTS))
			return wc_fail(err, WC_ERR_INPUT, "%s: made for %s %" PRId64 ", wanted is %" PRId64 " (--%s)", path, facts[i].what, facts[i].file,
				       facts[i].wanted, facts[i].option);
	return 0;
}

// As messages name it.
static const char *name_of(const char *path)
{
	return strcmp(path, "-") ? path : "<stdin>";
}

static FILE *open_text(char *text, size_t bytes, const char *path, struct wc_error *err)
{
	FILE *file = bytes ? fmemopen(text, bytes, "r") : fopen("/dev/null", "r");

	if (!file)
		wc_fail(err, WC_ERR_SYSTEM, "cannot read '%s' from memory: %s", path, strerror(errno));
	return file;
}

// The network that the text names, of the size that it says.
static int open_net(FILE *file, const char *path, const char *net_name, int image, struct net *net, char **net_used, struct wc_error *err)
{
	char *name = NULL;
	int image_said = 0, result = schedule_net_name(file, name_of(path), &name, &image_said, err);

	// The parser says with a line what is wrong.
	if (net_name && result == WC_ERR_INPUT)
		result = 0;
	if (!result)
		result = cli_net(net, net_name ? net_name : name, image ? image : image_said, err);
	if (result == WC_ERR_INPUT && !net_name && name && access(name, F_OK) && !net_builtin_find(name))
		wc_fail(err, result, "%s: made for network '%.64s', which is not built in; give its file with --net", name_of(path), name);
	if (result || net_name) {
		free(name);
		name = NULL;
	}
	*net_used = name;
	return result;
}

int cli_schedule_file(const char *path, const char *net_name, int image, struct net *net, char **net_used, struct schedule *schedule, struct wc_error *err)
{
	char *text;
	size_t bytes;
	FILE *file;
	int result = cli_slurp(path, &text, &bytes, err);

	*net_used = NULL;
	if (result)
		return result;
	file = open_text(text, bytes, path, err);
	result = file ? open_net(file, path, net_name, image, net, net_used, err) : WC_ERR_SYSTEM;
	if (!result)
		result = schedule_read(schedule, net, file, name_of(path), err);
	if (file)
		fclose(file);
	wc_free(text);
	return result;
}

int cli_schedule(const char *name, const struct net *net, const struct plan_options *options, struct schedule *schedule, struct wc_error *err)
{
	char *text;
	size_t bytes;
	FILE *file;
	int result;

	// Neither a planner nor a file: the planners' error lists the names there are.
	if (!cli_is_schedule_file(name))
		return plan_by_name(schedule, name, net, options, err);
	result = cli_slurp(name, &text, &bytes, err);
	if (result)
		return result;
	file = open_text(text, bytes, name, err);
	result = file ? schedule_read(schedule, net, file, name_of(name), err) : WC_ERR_SYSTEM;
	if (file)
		fclose(file);
	wc_free(text);
	if (result)
		return result;
	if (options)
		result = cli_same_problem(name, schedule, options, err);
	if (result)
		schedule_release(schedule);
	return result;
}

bool cli_uses_strips(const char *schedule)
{
	static const char *const names[] = {"overl", "2ps", "overl-h", "2ps-h"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i], schedule))
			return true;
	return false;
}

int cli_check_plan_words(const struct cli_device_words *words, const char *const *schedules, int count, struct wc_error *err)
{
	bool planner = false, strips = false;

	for (int i = 0; i < count; i++) {
		planner |= cli_is_planner(schedules[i]);
		strips |= cli_uses_strips(schedules[i]);
	}
	if (words->strips && strcmp(words->strips, "auto") && !strips)
		return wc_fail(err, WC_ERR_INPUT, "--strips has no meaning for '%s': the row-centric planners (overl, 2ps, and their -h forms) cut segments into strips", schedules[0]);
	if (words->phases && !planner)
		return wc_fail(err, WC_ERR_INPUT, "--phases has no meaning for '%s': a schedule from a file has the phases that it has", schedules[0]);
	return 0;
}

int cli_root(char *path, size_t size, struct wc_error *err)
{
	char probe[PATH_MAX + 32];
	ssize_t length = readlink("/proc/self/exe", path, size - 1);

	if (length < 0)
		return wc_fail(err, WC_ERR_SYSTEM, "cannot find this program's directory: %s", strerror(errno));
	path[length] = '\0';
	for (char *slash; (slash = strrchr(path, '/')); ) {
		*slash = '\0';
		snprintf(probe, sizeof(probe), "%s/rtl/commands.def", path);
		if (!access(probe, F_OK))
			return 0;
	}
	return wc_fail(err, WC_ERR_SYSTEM, "this program is not below its project's directory, where the RTL configurations are built");
}
