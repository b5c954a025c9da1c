// SPDX-License-Identifier: Apache-2.0
//
// wavecore run: schedules on a device, every result compared with the golden model.
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "driver/cli/run.h"

enum { SCHEDULES_MAX = 64, DPI_FROM = 16 * 16 };

static volatile sig_atomic_t stop;

static void on_interrupt(int signal)
{
	stop = signal;
}

static struct run_words words;
static const struct poptOption table[] = {
	{"net", 0, POPT_ARG_STRING, &words.net, 0, "network (default fashion-conv)", "NAME|FILE"},
	{"schedule", 0, POPT_ARG_STRING, &words.schedule, 0, "planner or schedule file, or several (default mbs)", "NAME|FILE,..."},
	CLI_DEVICE_OPTIONS(words.device),
	{"ports", 0, POPT_ARG_STRING, &words.device.ports, 0, "memory ports of --bus bytes, 1 or 2 (default 1)", "N"},
	{"mac-stages", 0, POPT_ARG_STRING, &words.device.mac_stages, 0, "cycles per PE, 1 or 2 (default 1)", "N"},
	{"backend", 0, POPT_ARG_STRING, &words.backend, 0, "rtl: the verilated design; model: functional, in C (default rtl)", "NAME"},
	{"arith", 0, POPT_ARG_STRING, &words.arith, 0, "PE array of the rtl backend: rtl or dpi (default: rtl to 16x16, dpi above)", "NAME"},
	{"seed", 0, POPT_ARG_STRING, &words.seed, 0, "of everything random (default 1)", "N"},
	{"input", 0, POPT_ARG_STRING, &words.input, 0, "images, NHWC float16, float32 or uint8 (default: Fashion-MNIST for 28x28x1, else random)", "X.npy"},
	{"weights", 0, POPT_ARG_STRING, &words.weights, 0, "directory of NODE.weight.npy, KRSC (default: random)", "DIR"},
	{"gradient", 0, POPT_ARG_STRING, &words.gradient, 0, "gradient of the output, NHWC (default: random)", "X.npy"},
	{"dump", 0, POPT_ARG_STRING, &words.dump, 0, "write every tensor as .npy", "DIR"},
	{"trace", 0, POPT_ARG_STRING, &words.trace, 0, "write the device's events", "FILE.wct"},
	{"golden-trace", 0, POPT_ARG_STRING, &words.golden_trace, 0, "write the golden model's events", "FILE.wct"},
	{"trace-level", 0, POPT_ARG_STRING, &words.trace_level, 0, "run, layer, tile, wave or cycle (default tile)", "LEVEL"},
	{"waves", 0, POPT_ARG_STRING, &words.waves, 0, "record a waveform (rtl backend)", "FILE.fst"},
	{"waves-window", 0, POPT_ARG_STRING, &words.waves_window, 0, "cycles to record (default: all)", "FROM:TO"},
	{"random-memory", 0, POPT_ARG_NONE, &words.random_memory, 0, "random latency and back-pressure of the memory", NULL},
	{"random-reset", 0, POPT_ARG_NONE, &words.random_reset, 0, "undefined state takes values from the seed", NULL},
	{"latency", 0, POPT_ARG_STRING, &words.latency, 0, "memory latency in cycles (default 100)", "N"},
	{"fault", 0, POPT_ARG_STRING, &words.fault, 0, "plant one: KIND:command=N,... with KIND buffer, weight, accumulator, memory or command", "SPEC"},
	{"jobs", 0, POPT_ARG_STRING, &words.jobs, 0, "schedules at a time (default 1)", "N"},
	{"json", 0, POPT_ARG_NONE, &words.json, 0, "print JSON", NULL},
	POPT_TABLEEND,
};

// A:B or A: of --waves-window.
static int parse_window(const char *text, uint64_t *from, uint64_t *to, struct wc_error *err)
{
	char first[32];
	const size_t length = strcspn(text, ":");
	int result;

	if (text[length] != ':' || !length || length >= sizeof(first))
		return wc_fail(err, WC_ERR_INPUT, "--waves-window: '%s' is not FROM:TO", text);
	memcpy(first, text, length);
	first[length] = '\0';
	result = cli_number("waves-window", first, 0, INT64_MAX, from, err);
	if (!result && text[length + 1])
		result = cli_number("waves-window", text + length + 1, *from + 1, INT64_MAX, to, err);
	return result;
}

// Options that the model has no use for are an error, not silently dropped.
static int refuse_for_model(struct wc_error *err)
{
	const struct {
		const char *option;
		bool given;
	} given[] = {
		{"waves", words.waves},
		{"waves-window", words.waves_window},
		{"arith", words.arith},
		{"latency", words.latency},
		{"ports", words.device.ports},
		{"random-memory", words.random_memory},
		{"random-reset", words.random_reset},
		{"mac-stages", words.device.mac_stages},
	};

	for (size_t i = 0; i < sizeof(given) / sizeof(*given); i++)
		if (given[i].given)
			return wc_fail(err, WC_ERR_INPUT, "--%s has no meaning for --backend model, which has no cycles", given[i].option);
	return 0;
}

static int parse_device(struct run_job *job, const struct cli_problem *problem, struct wc_error *err)
{
	uint64_t latency = 100;
	int result = 0;

	job->device.params = problem->device;
	job->device.kind = DEVICE_RTL;
	if (words.backend && !strcmp(words.backend, "model"))
		job->device.kind = DEVICE_MODEL;
	else if (words.backend && strcmp(words.backend, "rtl"))
		return wc_fail(err, WC_ERR_INPUT, "--backend: '%s' is not one of: rtl, model", words.backend);
	if (words.arith && strcmp(words.arith, "rtl") && strcmp(words.arith, "dpi"))
		return wc_fail(err, WC_ERR_INPUT, "--arith: '%s' is not one of: rtl, dpi", words.arith);
	if (job->device.kind == DEVICE_MODEL) {
		job->arith = "model";
		return refuse_for_model(err);
	}
	job->arith = words.arith ? words.arith : problem->device.rows * problem->device.cols <= DPI_FROM ? "rtl" : "dpi";
	if (words.waves_window && !words.waves)
		return wc_fail(err, WC_ERR_INPUT, "--waves-window needs --waves FILE");
	if (words.latency)
		result = cli_number("latency", words.latency, 1, 1000000, &latency, err);
	if (!result && words.waves_window)
		result = parse_window(words.waves_window, &job->device.rtl.wave_from, &job->device.rtl.wave_to, err);
	job->device.rtl.latency_cycles = (uint32_t)latency;
	job->device.rtl.random_memory = words.random_memory;
	return result;
}

static int parse(struct run_job *job, struct cli_problem *problem, int *jobs, struct wc_error *err)
{
	uint64_t seed = 1, job_count = 1;
	int result;

	*job = (struct run_job){.words = &words, .problem = problem, .stop = &stop, .trace_level = WCT_LEVEL_TILE};
	if ((result = cli_problem(&words.device, problem, err)) || (result = parse_device(job, problem, err)) ||
	    (words.seed && (result = cli_number("seed", words.seed, 0, INT64_MAX, &seed, err))) ||
	    (words.jobs && (result = cli_number("jobs", words.jobs, 1, SCHEDULES_MAX, &job_count, err))) ||
	    (words.fault && (result = fault_parse(&job->fault, words.fault, err))))
		return result;
	if (words.trace_level && !wct_level_parse(words.trace_level, &job->trace_level))
		return wc_fail(err, WC_ERR_INPUT, "--trace-level: '%s' is none of run, layer, tile, wave, cycle", words.trace_level);
	if (words.trace_level && !words.trace && !words.golden_trace)
		return wc_fail(err, WC_ERR_INPUT, "--trace-level needs --trace or --golden-trace");
	job->seed = seed;
	*jobs = (int)job_count;
	return 0;
}

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
		if (*count == SCHEDULES_MAX)
			return wc_fail(err, WC_ERR_INPUT, "--schedule: more than %d schedules", SCHEDULES_MAX);
		names[(*count)++] = name;
		name = comma ? comma + 1 : NULL;
	}
	return 0;
}

// Plan or read all schedules before anything is built or run.
static int make_schedules(const char *const *names, int count, const struct net *net, const struct plan_options *options, struct schedule *schedules,
			  struct wc_error *err)
{
	for (int i = 0; i < count; i++) {
		int result;

		if (!strcmp(names[i], "-"))
			return wc_fail(err, WC_ERR_INPUT, "--schedule: a run reads no schedule from stdin; give a file");
		result = cli_schedule(names[i], net, options, &schedules[i], err);
		if (result)
			return result;
	}
	return 0;
}

static int run(int argc, const char **argv)
{
	const struct sigaction action = {.sa_handler = on_interrupt};
	const char *names[SCHEDULES_MAX];
	struct schedule schedules[SCHEDULES_MAX] = {0};
	json_t *results[SCHEDULES_MAX] = {NULL};
	char library[PATH_MAX + 256];
	struct cli_problem problem;
	struct run_job job;
	struct net net = {0};
	struct data data = {0};
	struct wc_error err;
	char *list = NULL;
	int status = cli_parse(&cli_run, argc, argv, table, NULL, 0, 0), count = 0, jobs = 1, done = 0, result;
	bool began = false;

	if (status >= 0)
		return status;
	result = parse(&job, &problem, &jobs, &err);
	list = strdup(words.schedule ? words.schedule : "mbs");
	if (!result)
		result = list ? split(list, names, &count, &err) : wc_fail(&err, WC_ERR_SYSTEM, "out of memory");
	if (!result)
		result = cli_check_plan_words(&words.device, names, count, &err);
	if (!result)
		result = run_outputs_check(&words, names, count, &err);
	if (!result)
		result = cli_net(&net, words.net ? words.net : "fashion-conv", 0, &err);
	if (!result)
		result = run_memory_check(&net, &problem, jobs < count ? jobs : count, &err);
	if (!result)
		result = make_schedules(names, count, &net, &problem.plan, schedules, &err);
	if (!result) {
		const struct data_options options = {.seed = job.seed, .input = words.input, .weights = words.weights, .gradient = words.gradient};

		result = data_init(&data, &net, problem.plan.batch, &options, &err);
	}
	if (!result && job.device.kind == DEVICE_RTL) {
		result = run_library(&problem, !strcmp(job.arith, "dpi"), words.waves != NULL, words.random_reset, library, sizeof(library), &err);
		job.device.rtl.library = library;
	}
	if (!result) {
		job.net = &net;
		job.data = &data;
		job.names = names;
		job.schedules = schedules;
		job.schedule_count = count;
		sigaction(SIGINT, &action, NULL);
		began = true;
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
	if (result)
		status = cli_fail(&err, result);
	else if (stop || (began && !done))
		status = CLI_INTERRUPTED;
	for (int i = 0; i < SCHEDULES_MAX; i++) {
		json_decref(results[i]);
		schedule_release(&schedules[i]);
	}
	data_release(&data);
	net_release(&net);
	free(list);
	return status;
}

const struct cli_command cli_run = {"run", "", "run schedules on a device and compare every result with the golden model", run};
