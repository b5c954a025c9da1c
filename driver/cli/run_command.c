// SPDX-License-Identifier: Apache-2.0
//
// `run` and `train`: from the words of the command line to the exit status.
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "driver/cli/train.h"

// Cut "a,b,c" in place.
static int split(char *list, const char **names, int *count, struct wc_error *err)
{
	*count = 0;
	for (char *name = list; name;) {
		char *comma = strchr(name, ',');

		if (comma)
			*comma = '\0';
		if (!*name)
			return wc_fail(err, WC_ERR_INPUT, "--schedule: an empty name in the list");
		if (*count == RUN_SCHEDULES_MAX)
			return wc_fail(err, WC_ERR_INPUT, "--schedule: more than %d schedules", RUN_SCHEDULES_MAX);
		names[(*count)++] = name;
		name = comma ? comma + 1 : NULL;
	}
	return 0;
}

// The network, and the schedule too if it is a single file: what that says stands for options that are not given.
static int read_net(struct run_words *words, const char *const *names, int count, struct net *net, struct schedule *schedule, struct wc_error *err)
{
	int result;

	for (int i = 0; i < count; i++)
		if (!strcmp(names[i], "-"))
			return wc_fail(err, WC_ERR_INPUT, "--schedule: a run reads no schedule from stdin; give a file");
	if (count != 1 || !cli_is_schedule_file(names[0])) {
		if (!words->net)
			words->net = words->training ? "lenet" : "fashion-conv";
		if (words->training && !words->device.batch)
			words->device.batch = "32";
		return cli_net(net, words->net, 0, err);
	}
	char *net_used;

	result = cli_schedule_file(names[0], words->net, 0, net, &net_used, schedule, err);
	// It lives as long as the words: to the end of the process.
	if (net_used)
		words->net = net_used;
	if (!result && schedule->accounting == SCHED_PAPER)
		result = wc_fail(err, WC_ERR_INPUT, "%s: made for paper accounting, which counts bytes that no device moves; a run needs a schedule for "
				 "device accounting, as 'wavecore plan --accounting device' makes it", names[0]);
	return result;
}

// The device has no adaptive pools and no groups of a convolution.
static int open_net(struct run_words *words, const char *const *names, int count, struct net *net, struct schedule *schedule, struct wc_error *err)
{
	const int result = read_net(words, names, count, net, schedule, err);

	return result ? result : net_require_device(net, words->training ? "train" : "run", err);
}

// Training needs both phases; a schedule from a file may have one.
static int require_backward(const char *const *names, int count, const struct schedule *schedules, struct wc_error *err)
{
	for (int i = 0; i < count; i++) {
		bool backward = false;

		for (int k = 0; k < schedules[i].group_count; k++)
			backward |= schedules[i].groups[k].phase == SCHED_BACKWARD;
		if (!backward)
			return wc_fail(err, WC_ERR_INPUT, "--schedule: '%s' has no backward groups, which training needs", names[i]);
	}
	return 0;
}

// Plan or read all schedules before anything is built or run. The first may be there already.
static int make_schedules(const char *const *names, int count, const struct net *net, const struct plan_options *options, struct schedule *schedules,
			  struct wc_error *err)
{
	int result = 0;

	if (schedules[0].group_count)
		return cli_same_problem(names[0], &schedules[0], options, err);
	for (int i = 0; !result && i < count; i++)
		result = cli_schedule(names[i], net, options, &schedules[i], err);
	return result;
}

static void print_note(void *context, const char *text)
{
	(void)context;
	fprintf(stderr, "note: %s\n", text);
}

// Say what keeps the run from its end, or that it was stopped; the exit status.
static int conclude(int status, int result, const struct wc_error *err, int done, int count, int signal)
{
	if (result && result != WC_ERR_STOPPED)
		return cli_fail(err, result);
	if (result)
		cli_fail(err, result);
	else if (signal && done < count)
		fprintf(stderr, "error: stopped by a signal; %d of %d schedules have not begun\n", count - done, count);
	// It may have come when all was done.
	return signal && (result || done < count || status == CLI_INTERRUPTED) ? 128 + signal : status;
}

int run_command(struct run_words *words)
{
	const char *names[RUN_SCHEDULES_MAX];
	struct schedule schedules[RUN_SCHEDULES_MAX] = {0};
	json_t *results[RUN_SCHEDULES_MAX] = {NULL};
	static char library[PATH_MAX + 256];
	struct cli_problem problem;
	struct run_job job = {0};
	struct train train = {0};
	struct net net = {0};
	struct data data = {0};
	struct wc_error err;
	char *list = strdup(words->schedule ? words->schedule : "mbs");
	int status, count = 0, jobs = 1, done = 0, result;

	result = list ? split(list, names, &count, &err) : wc_fail(&err, WC_ERR_SYSTEM, "out of memory");
	if (!result)
		result = cli_check_plan_words(&words->device, names, count, &err);
	if (!result)
		result = open_net(words, names, count, &net, &schedules[0], &err);
	if (!result)
		result = run_options_parse(&job, words, schedules[0].group_count ? &schedules[0] : NULL, &problem, &jobs, &err);
	if (!result && words->training)
		result = train_parse(&train, words, &job, &net, &err);
	if (!result)
		result = run_outputs_check(words, names, count, &err);
	if (!result)
		result = run_inputs_check(words, names, count, &net, &err);
	if (!result)
		result = run_memory_check(&net, &problem, jobs < count ? jobs : count, &err);
	if (!result)
		result = make_schedules(names, count, &net, &problem.plan, schedules, &err);
	if (!result && words->training)
		result = require_backward(names, count, schedules, &err);
	if (!result) {
		const struct data_options options = {
			.seed = job.seed, .input = words->input, .weights = words->weights, .gradient = words->gradient, .plain = words->training,
			.blank = words->training, .note = print_note,
		};

		result = data_init(&data, &net, problem.plan.batch, &options, &err);
	}
	if (!result && words->training)
		result = train_open(&train, words, job.seed, &data, &err);
	job.stop = run_signals_stop();
	if (!result && job.device.kind == DEVICE_RTL) {
		result = run_library(&problem, !strcmp(job.arith, "dpi"), words->waves != NULL, words->random_reset, job.stop, library, sizeof(library), &err);
		job.device.rtl.library = library;
	}
	if (!result) {
		job.net = &net;
		job.data = &data;
		job.train = words->training ? &train : NULL;
		job.names = names;
		job.schedules = schedules;
		job.schedule_count = count;
		result = run_jobs(&job, jobs, results, &err);
	}
	// Those that have ended, side by side; what keeps the others from it does not hide them.
	for (int i = 0; i < count; i++) {
		json_t *ended = results[i];

		results[i] = NULL;
		if (ended)
			results[done++] = ended;
	}
	status = done ? run_print(results, done, count, words, stdout) : CLI_OK;
	status = conclude(status, result, &err, done, count, *job.stop);
	for (int i = 0; i < RUN_SCHEDULES_MAX; i++) {
		json_decref(results[i]);
		schedule_release(&schedules[i]);
	}
	train_release(&train);
	data_release(&data);
	net_release(&net);
	free(list);
	return status;
}
