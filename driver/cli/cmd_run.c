// SPDX-License-Identifier: Apache-2.0
//
// wavecore run: schedules on a device, every result compared with the golden model.
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "driver/cli/run.h"

static struct run_words words;
static const struct poptOption table[] = {
	{"net", 0, POPT_ARG_STRING, &words.net, 0, "network (default: that of --schedule, if this is a file; else fashion-conv)", "NAME|FILE"},
	{"schedule", 0, POPT_ARG_STRING, &words.schedule, 0, "planner or schedule file, or several (default mbs); a single file says batch, array, buffer and bus, too", "NAME|FILE,..."},
	CLI_DEVICE_OPTIONS(words.device),
	{"ports", 0, POPT_ARG_STRING, &words.device.ports, 0, "memory ports of --bus bytes, 1 or 2 (default 1)", "N"},
	{"mac-stages", 0, POPT_ARG_STRING, &words.device.mac_stages, 0, "cycles per PE, 1 or 2 (default 1)", "N"},
	{"backend", 0, POPT_ARG_STRING, &words.backend, 0, "rtl: the verilated design; model: functional, in C (default rtl)", "NAME"},
	{"arith", 0, POPT_ARG_STRING, &words.arith, 0, "PE array of the rtl backend: rtl or dpi (default: rtl to 16x16, dpi above)", "NAME"},
	{"seed", 0, POPT_ARG_STRING, &words.seed, 0, "of everything random (default 1)", "N"},
	{"input", 0, POPT_ARG_STRING, &words.input, 0, "images, NHWC float16, float32 or uint8 (default: Fashion-MNIST for 28x28x1, else random)", "X.npy"},
	{"weights", 0, POPT_ARG_STRING, &words.weights, 0, "directory of NODE.weight.npy or NODE.weight.krsc.npy, KRSC (default: random)", "DIR"},
	{"gradient", 0, POPT_ARG_STRING, &words.gradient, 0, "gradient of the output, NHWC (default: random)", "X.npy"},
	{"dump", 0, POPT_ARG_STRING, &words.dump, 0, "write every tensor as .npy", "DIR"},
	{"trace", 0, POPT_ARG_STRING, &words.trace, 0, "write the device's events", "FILE.wct"},
	{"golden-trace", 0, POPT_ARG_STRING, &words.golden_trace, 0, "write the golden model's events", "FILE.wct"},
	{"trace-level", 0, POPT_ARG_STRING, &words.trace_level, 0, "run, layer, tile, wave or cycle (default tile)", "LEVEL"},
	{"waves", 0, POPT_ARG_STRING, &words.waves, 0, "record a waveform (rtl backend)", "FILE.fst"},
	{"waves-window", 0, POPT_ARG_STRING, &words.waves_window, 0, "cycles to record (default: all)", "FROM:TO"},
	{"pe-window", 0, POPT_ARG_STRING, &words.pe_window, 0, "show 4 x 4 PEs of an array in C (--arith dpi) in the waveform", "ROW,COLUMN"},
	{"random-memory", 0, POPT_ARG_NONE, &words.random_memory, 0, "random latency and back-pressure of the memory", NULL},
	{"random-reset", 0, POPT_ARG_NONE, &words.random_reset, 0, "undefined state takes values from the seed", NULL},
	{"latency", 0, POPT_ARG_STRING, &words.latency, 0, "memory latency in cycles (default 100)", "N"},
	{"fault", 0, POPT_ARG_STRING, &words.fault, 0, "plant one: weight|accumulator:command=N,wave=N,row=N,column=N,bit=N or lane:command=N,row=N,column=N,bit=N or buffer|memory|command:command=N,address=N,bit=N", "SPEC"},
	{"jobs", 0, POPT_ARG_STRING, &words.jobs, 0, "schedules at a time (default 1)", "N"},
	{"json", 0, POPT_ARG_NONE, &words.json, 0, "print JSON", NULL},
	POPT_TABLEEND,
};

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
static int read_net(const char *const *names, int count, struct net *net, struct schedule *schedule, struct wc_error *err)
{
	int result;

	for (int i = 0; i < count; i++)
		if (!strcmp(names[i], "-"))
			return wc_fail(err, WC_ERR_INPUT, "--schedule: a run reads no schedule from stdin; give a file");
	if (count != 1 || !cli_is_schedule_file(names[0])) {
		if (!words.net)
			words.net = "fashion-conv";
		return cli_net(net, words.net, 0, err);
	}
	char *net_used;

	result = cli_schedule_file(names[0], words.net, 0, net, &net_used, schedule, err);
	// It lives as long as the words: to the end of the process.
	if (net_used)
		words.net = net_used;
	if (!result && schedule->accounting == SCHED_PAPER)
		result = wc_fail(err, WC_ERR_INPUT, "%s: made for paper accounting, which counts bytes that no device moves; a run needs a schedule for "
				 "device accounting, as 'wavecore plan --accounting device' makes it", names[0]);
	return result;
}

// The device has no adaptive pools and no groups of a convolution.
static int open_net(const char *const *names, int count, struct net *net, struct schedule *schedule, struct wc_error *err)
{
	const int result = read_net(names, count, net, schedule, err);

	return result ? result : net_require_device(net, "run", err);
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

static int run(int argc, const char **argv)
{
	const char *names[RUN_SCHEDULES_MAX];
	struct schedule schedules[RUN_SCHEDULES_MAX] = {0};
	json_t *results[RUN_SCHEDULES_MAX] = {NULL};
	static char library[PATH_MAX + 256];
	struct cli_problem problem;
	struct run_job job = {0};
	struct net net = {0};
	struct data data = {0};
	struct wc_error err;
	char *list = NULL;
	int status = cli_parse(&cli_run, argc, argv, table, NULL, 0, 0), count = 0, jobs = 1, done = 0, result;

	if (status >= 0)
		return status;
	list = strdup(words.schedule ? words.schedule : "mbs");
	result = list ? split(list, names, &count, &err) : wc_fail(&err, WC_ERR_SYSTEM, "out of memory");
	if (!result)
		result = cli_check_plan_words(&words.device, names, count, &err);
	if (!result)
		result = open_net(names, count, &net, &schedules[0], &err);
	if (!result)
		result = run_options_parse(&job, &words, schedules[0].group_count ? &schedules[0] : NULL, &problem, &jobs, &err);
	if (!result)
		result = run_outputs_check(&words, names, count, &err);
	if (!result)
		result = run_inputs_check(&words, names, count, &net, &err);
	if (!result)
		result = run_memory_check(&net, &problem, jobs < count ? jobs : count, &err);
	if (!result)
		result = make_schedules(names, count, &net, &problem.plan, schedules, &err);
	if (!result) {
		const struct data_options options = {
			.seed = job.seed, .input = words.input, .weights = words.weights, .gradient = words.gradient, .note = print_note,
		};

		result = data_init(&data, &net, problem.plan.batch, &options, &err);
	}
	job.stop = run_signals_stop();
	if (!result && job.device.kind == DEVICE_RTL) {
		result = run_library(&problem, !strcmp(job.arith, "dpi"), words.waves != NULL, words.random_reset, job.stop, library, sizeof(library), &err);
		job.device.rtl.library = library;
	}
	if (!result) {
		job.net = &net;
		job.data = &data;
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
	status = done ? run_print(results, done, count, words.json, words.fault, stdout) : CLI_OK;
	status = conclude(status, result, &err, done, count, *job.stop);
	for (int i = 0; i < RUN_SCHEDULES_MAX; i++) {
		json_decref(results[i]);
		schedule_release(&schedules[i]);
	}
	data_release(&data);
	net_release(&net);
	free(list);
	return status;
}

const struct cli_command cli_run = {"run", "", "run schedules on a device and compare every result with the golden model", run};
