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
	uint64_t image = 0;
	int result = words->image ? cli_number("image", words->image, 1, NET_IMAGE_MAX, &image, err) : 0;

	if (result)
		return result;
	for (int i = 0; i < count; i++)
		if (!strcmp(names[i], "-"))
			return wc_fail(err, WC_ERR_INPUT, "--schedule: a run reads no schedule from stdin; give a file");
	if (count != 1 || !cli_is_schedule_file(names[0])) {
		if (!words->net)
			words->net = words->training ? "lenet" : "fashion-conv";
		if (words->training && !words->device.batch)
			words->device.batch = "128";
		return cli_net(net, words->net, (int)image, err);
	}
	char *net_used;

	result = cli_schedule_file(names[0], words->net, (int)image, net, &net_used, schedule, err);
	// It lives as long as the words: to the end of the process.
	if (net_used)
		words->net = net_used;
	if (!result && schedule->accounting == SCHED_PAPER)
		result = wc_fail(err, WC_ERR_INPUT, "%s: made for paper accounting, which counts bytes that no device moves; a run needs a schedule for "
				 "device accounting, as 'wavecore plan --accounting device' makes it", names[0]);
	if (!result && schedule->cores > WC_CORES_MAX)
		result = wc_fail(err, WC_ERR_INPUT, "%s: made for %d cores, the device has at most %d", names[0], schedule->cores, WC_CORES_MAX);
	return result;
}

// What the device has not is refused; a network that ends with a loss reads no gradient.
static int open_net(struct run_words *words, const char *const *names, int count, struct net *net, struct schedule *schedule, struct wc_error *err)
{
	int result = read_net(words, names, count, net, schedule, err);

	if (!result)
		result = net_require_device(net, words->training ? "train" : "run", err);
	if (!result && words->gradient && net->nodes[net->node_count - 1].op == NET_LOSS)
		result = wc_fail(err, WC_ERR_INPUT, "--gradient has no meaning for '%s', whose gradient is its loss's", net->name);
	return result;
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

// All that a command opens.
struct session {
	struct run_words *words;
	char *list; // the schedules' names, cut apart
	const char *names[RUN_SCHEDULES_MAX];
	struct schedule schedules[RUN_SCHEDULES_MAX];
	int count, jobs;
	struct cli_problem problem;
	struct run_job job;
	struct train train;
	struct net net;
	struct data data;
	char library[PATH_MAX + 256];
};

// Look at every word, and at every name of a file, before anything takes time.
static int check_words(struct session *session, struct wc_error *err)
{
	struct run_words *words = session->words;
	const char *const *names = session->names;
	int result;

	session->list = strdup(words->schedule ? words->schedule : "mbs");
	if (!session->list)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory");
	if ((result = split(session->list, session->names, &session->count, err)) ||
	    (result = cli_check_plan_words(&words->device, names, session->count, err)) ||
	    (result = open_net(words, names, session->count, &session->net, &session->schedules[0], err)) ||
	    (result = run_options_parse(&session->job, words, session->schedules[0].group_count ? &session->schedules[0] : NULL, &session->problem,
					&session->jobs, err)) ||
	    (words->training && (result = train_parse(&session->train, words, &session->job, &session->net, err))) ||
	    (result = run_outputs_check(words, names, session->count, err)) ||
	    (result = run_inputs_check(words, names, session->count, &session->net, err)))
		return result;
	return run_memory_check(&session->net, &session->problem, session->words->training, session->jobs < session->count ? session->jobs : session->count, err);
}

// The memory of each schedule's run is known once that is planned.
static int check_fault(const struct session *session, struct wc_error *err)
{
	int result = 0;

	for (int i = 0; !result && i < session->count; i++)
		result = run_memory_check_fault(&session->job.fault, &session->schedules[i], &session->net, session->words->training, err);
	return result;
}

// Schedules, data, the device.
static int open_session(struct session *session, struct wc_error *err)
{
	const struct run_words *words = session->words;
	struct run_job *job = &session->job;
	const struct data_options options = {
		.seed = job->seed, .input = words->input, .weights = words->weights, .gradient = words->gradient, .plain = words->training,
		.blank = words->training, .note = print_note,
	};
	int result;

	if ((result = make_schedules(session->names, session->count, &session->net, &session->problem.plan, session->schedules, err)) ||
	    (words->training && (result = require_backward(session->names, session->count, session->schedules, err))) ||
	    (result = check_fault(session, err)) || (result = data_init(&session->data, &session->net, session->problem.plan.batch, &options, err)) ||
	    (words->training && (result = train_open(&session->train, words, job->seed, &session->data, err))))
		return result;
	// What came before is ended by a signal at once.
	job->stop = run_signals_stop();
	job->net = &session->net;
	job->data = &session->data;
	job->train = words->training ? &session->train : NULL;
	job->names = session->names;
	job->schedules = session->schedules;
	job->schedule_count = session->count;
	if (job->device.kind != DEVICE_RTL)
		return 0;
	job->device.rtl.library = session->library;
	return run_library(&session->problem, !strcmp(job->arith, "dpi"), words->waves != NULL, words->random_reset, job->stop, session->library,
			   sizeof(session->library), err);
}

static void close_session(struct session *session)
{
	for (int i = 0; i < RUN_SCHEDULES_MAX; i++)
		schedule_release(&session->schedules[i]);
	train_release(&session->train);
	data_release(&session->data);
	net_release(&session->net);
	free(session->list);
}

int run_command(struct run_words *words)
{
	static struct session session; // large
	json_t *results[RUN_SCHEDULES_MAX] = {NULL};
	const volatile sig_atomic_t *stop;
	struct wc_error err;
	int status = CLI_OK, done = 0, result;

	session.words = words;
	session.jobs = 1;
	result = check_words(&session, &err);
	if (!result)
		result = open_session(&session, &err);
	stop = run_signals_stop();
	if (!result)
		result = run_jobs(&session.job, session.jobs, results, &err);
	// Those that have ended, side by side; what keeps the others from it does not hide them.
	for (int i = 0; i < session.count; i++) {
		json_t *ended = results[i];

		results[i] = NULL;
		if (ended)
			results[done++] = ended;
	}
	if (done)
		status = run_print(results, done, session.count, words, stdout);
	status = conclude(status, result, &err, done, session.count, *stop);
	for (int i = 0; i < done; i++)
		json_decref(results[i]);
	close_session(&session);
	return status;
}
