// SPDX-License-Identifier: Apache-2.0
//
// The words of `wavecore run` as a job.
#include <string.h>

#include "driver/cli/run.h"

enum { DPI_FROM = 16 * 16 };
// A device that makes no progress is given up after 1000000 cycles, in which several beats must come.
enum { LATENCY_MAX = 100000 };

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

// ROW,COLUMN of --pe-window.
static int parse_pe_window(const char *text, const struct wc_device_params *params, struct wc_rtl_options *rtl, struct wc_error *err)
{
	char first[32];
	const size_t length = strcspn(text, ",");
	uint64_t row, column;
	int result;

	if (text[length] != ',' || !length || length >= sizeof(first))
		return wc_fail(err, WC_ERR_INPUT, "--pe-window: '%s' is not ROW,COLUMN", text);
	memcpy(first, text, length);
	first[length] = '\0';
	if ((result = cli_number("pe-window", first, 0, (uint64_t)params->rows - 1, &row, err)) ||
	    (result = cli_number("pe-window", text + length + 1, 0, (uint64_t)params->cols - 1, &column, err)))
		return result;
	rtl->pe_window = true;
	rtl->pe_row = (int)row;
	rtl->pe_column = (int)column;
	return 0;
}

// Options that the model has no use for are an error, not silently dropped.
static int refuse_for_model(const struct run_words *words, struct wc_error *err)
{
	const struct {
		const char *option;
		bool given;
	} given[] = {
		{"waves", words->waves},
		{"waves-window", words->waves_window},
		{"pe-window", words->pe_window},
		{"arith", words->arith},
		{"latency", words->latency},
		{"ports", words->device.ports},
		{"random-memory", words->random_memory},
		{"random-reset", words->random_reset},
		{"mac-stages", words->device.mac_stages},
		{"resume", words->resume},
		{"profile", words->profile},
	};

	for (size_t i = 0; i < sizeof(given) / sizeof(*given); i++)
		if (given[i].given)
			return wc_fail(err, WC_ERR_INPUT, "--%s has no meaning for --backend model, which has no cycles", given[i].option);
	return 0;
}

static int parse_device(struct run_job *job, const struct cli_problem *problem, struct wc_error *err)
{
	const struct run_words *words = job->words;
	uint64_t latency = 100;
	int result = 0;

	job->device.params = problem->device;
	job->device.kind = DEVICE_RTL;
	if (words->backend && !strcmp(words->backend, "model"))
		job->device.kind = DEVICE_MODEL;
	else if (words->backend && strcmp(words->backend, "rtl"))
		return wc_fail(err, WC_ERR_INPUT, "--backend: '%s' is not one of: rtl, model", words->backend);
	if (words->arith && strcmp(words->arith, "rtl") && strcmp(words->arith, "dpi"))
		return wc_fail(err, WC_ERR_INPUT, "--arith: '%s' is not one of: rtl, dpi", words->arith);
	if (job->device.kind == DEVICE_MODEL) {
		job->arith = "model";
		return refuse_for_model(words, err);
	}
	job->arith = words->arith ? words->arith : problem->device.rows * problem->device.cols <= DPI_FROM ? "rtl" : "dpi";
	if (words->waves_window && !words->waves)
		return wc_fail(err, WC_ERR_INPUT, "--waves-window needs --waves FILE");
	if (words->pe_window && !words->waves)
		return wc_fail(err, WC_ERR_INPUT, "--pe-window needs --waves FILE");
	if (words->pe_window && strcmp(job->arith, "dpi"))
		return wc_fail(err, WC_ERR_INPUT, "--pe-window needs --arith dpi, the array as a C macro");
	if (words->latency)
		result = cli_number("latency", words->latency, 1, LATENCY_MAX, &latency, err);
	if (!result && words->waves_window)
		result = parse_window(words->waves_window, &job->device.rtl.wave_from, &job->device.rtl.wave_to, err);
	if (!result && words->pe_window)
		result = parse_pe_window(words->pe_window, &problem->device, &job->device.rtl, err);
	job->device.rtl.latency_cycles = (uint32_t)latency;
	job->device.rtl.random_memory = words->random_memory;
	return result;
}

// A run that is taken up again has events and commands of its last part alone.
static int refuse_for_resume(const struct run_words *words, struct wc_error *err)
{
	const struct {
		const char *option;
		bool given;
	} given[] = {{"trace", words->trace}, {"golden-trace", words->golden_trace}, {"waves", words->waves}, {"fault", words->fault}};

	for (size_t i = 0; words->resume && i < sizeof(given) / sizeof(*given); i++)
		if (given[i].given)
			return wc_fail(err, WC_ERR_INPUT, "--%s has no meaning with --resume, which may begin in the middle of a run", given[i].option);
	return 0;
}

int run_options_parse(struct run_job *job, const struct run_words *words, const struct schedule *file, struct cli_problem *problem, int *jobs,
		      struct wc_error *err)
{
	uint64_t seed = 1, job_count = 1;
	int result;

	*job = (struct run_job){.words = words, .problem = problem, .trace_level = WCT_LEVEL_TILE};
	if ((result = cli_problem(&words->device, file, problem, err)) || (result = parse_device(job, problem, err)) ||
	    (words->seed && (result = cli_number("seed", words->seed, 0, INT64_MAX, &seed, err))) ||
	    (words->jobs && (result = cli_number("jobs", words->jobs, 1, RUN_SCHEDULES_MAX, &job_count, err))) ||
	    (words->fault && (result = fault_parse(&job->fault, words->fault, err))) ||
	    (result = fault_check(&job->fault, &problem->device, err)) || (result = refuse_for_resume(words, err)))
		return result;
	if (words->trace_level && !wct_level_parse(words->trace_level, &job->trace_level))
		return wc_fail(err, WC_ERR_INPUT, "--trace-level: '%s' is none of run, layer, tile, wave, cycle", words->trace_level);
	if (words->trace_level && !words->trace && !words->golden_trace)
		return wc_fail(err, WC_ERR_INPUT, "--trace-level needs --trace or --golden-trace");
	job->seed = seed;
	*jobs = (int)job_count;
	return 0;
}
