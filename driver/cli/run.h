// SPDX-License-Identifier: Apache-2.0
//
// Inside `wavecore run`: its options, one schedule's run as a JSON object, several runs side by side, the table.
#ifndef WC_CLI_RUN_H
#define WC_CLI_RUN_H

#include <jansson.h>
#include <signal.h>
#include <sys/types.h>

#include "driver/cli/cli.h"
#include "driver/host/run.h"
#include "driver/plan/account.h"

enum { RUN_SCHEDULES_MAX = 64 };

// Words of the command line; NULL: not given.
struct run_words {
	struct cli_device_words device;
	char *net, *schedule, *arith, *backend, *seed, *input, *weights, *gradient, *dump, *trace, *trace_level, *golden_trace, *waves, *waves_window, *pe_window,
		*latency, *fault, *jobs;
	int json, random_memory, random_reset;
};

// Where one schedule's files go; NULL: not asked for. With several schedules the schedule's name is in them.
enum { RUN_TRACE, RUN_GOLDEN_TRACE, RUN_DUMP, RUN_WAVES, RUN_OUTPUTS };
struct run_outputs {
	char *paths[RUN_OUTPUTS];
};
int run_outputs_make(struct run_outputs *outputs, const struct run_words *words, const char *schedule, bool several, struct wc_error *err);
void run_outputs_release(struct run_outputs *outputs);
// Where a waveform of that name is written: its writer removes the file of the name first, and so a link, not the file that it stands for.
// The caller frees it; NULL: out of memory.
char *run_waveform_path(const char *path);
// The option's name, without dashes.
const char *run_output_option(int output);
// Whether all of them, for these schedules, can be created and are different files; WC_ERR_INPUT names option and file.
int run_outputs_check(const struct run_words *words, const char *const *schedules, int count, struct wc_error *err);

// Whether no output of these schedules would go into a file that the run reads, or that another output goes to, whatever name or link it is
// given by; WC_ERR_INPUT names option and file.
int run_inputs_check(const struct run_words *words, const char *const *schedules, int count, const struct net *net, struct wc_error *err);

struct run_job {
	const struct run_words *words;
	const struct cli_problem *problem;
	const struct net *net;
	const struct data *data;
	const char *const *names;         // of the schedules, as given
	const struct schedule *schedules; // [schedule_count]
	int schedule_count;
	struct device device;
	const char *arith; // "rtl", "dpi", or "model"
	struct fault fault;
	uint64_t seed;
	enum wct_level trace_level;
	const volatile sig_atomic_t *stop;
};

// Fill device, options and seed of a job from the words; a schedule's `file` (NULL: none) says what they leave open. WC_ERR_INPUT quotes the word.
int run_options_parse(struct run_job *job, const struct run_words *words, const struct schedule *file, struct cli_problem *problem, int *jobs,
		      struct wc_error *err);

// Whether tensors of that network and batch fit this machine's memory, with `jobs` schedules at a time; WC_ERR_INPUT states both sizes.
int run_memory_check(const struct net *net, const struct cli_problem *problem, int jobs, struct wc_error *err);

// Called with the fraction done.
typedef void run_progress(void *context, double fraction);

// Run schedule `index`. The object has the fields of `--json`, "exit" (enum cli_exit), and, unless all is right, "error" (one
// line) and "report" (the mismatch, lines with newlines); "notes" (lines) where something is right and yet surprising. Tensors' digests are
// in "digests". NULL: out of memory.
json_t *run_one(const struct run_job *job, int index, struct expect *expect, run_progress *progress, void *context);

// A line on stderr, if that is a terminal: percentage and remaining time, at most ten times a second.
struct progress {
	bool on;
	double start_s, last_s;
	bool shown;
};
void progress_start(struct progress *progress);
void progress_show(struct progress *progress, double fraction);
void progress_end(struct progress *progress);

// Run the schedules, up to `jobs` at a time in processes of their own. results[i] is the object of schedule i; NULL: it has not ended.
// After an error (a process that died, no memory) the results that there are remain.
int run_jobs(const struct run_job *job, int jobs, json_t **results, struct wc_error *err);

// The library of the RTL configuration that the options describe; built by make if it is not there or the design has changed. `path` has
// room for `size` bytes. When *stop is not 0, make is ended: WC_ERR_STOPPED.
int run_library(const struct cli_problem *problem, bool dpi, bool waves, bool random_reset, const volatile sig_atomic_t *stop, char *path, size_t size,
		struct wc_error *err);

// From now on SIGINT, SIGTERM and SIGHUP are taken for a wish to stop: the signal's number, once one has come.
const volatile sig_atomic_t *run_signals_stop(void);
// In a child: stop when the parent, whose id is given, has died.
void run_signals_end_with(pid_t parent);
// A waveform is recorded from here on, until NULL: its writer maps files into memory, and dies of SIGBUS when the disk is full. Then this
// process ends with a message and CLI_SYSTEM.
void run_signals_recording(const char *waveform);

// Measured DRAM bytes must be the predicted ones, class by class and direction by direction; WC_ERR_MISMATCH names the first that are not.
int run_compare_bytes(const struct run_result *result, const struct account *account, struct wc_error *err);
// Compare the digests of every tensor among all runs that made it; on the first difference one line in `err` and WC_ERR_MISMATCH.
// *tensors: how many tensors two or more runs have.
int run_compare_digests(json_t *const *results, int count, int *tensors, struct wc_error *err);

// Print the results of the `count` schedules of `all` that have ended: to `file` table or JSON, to stderr their errors and reports. Schedules
// that differ from each other are an error too. `fault`: one was planted. Returns the exit status.
int run_print(json_t *const *results, int count, int all, bool json, bool fault, FILE *file);
// The table of those that ran; nothing if none did.
void run_print_table(json_t *const *results, int count, FILE *file);

// The mismatch in words: layer, tile, element, values, stage at fault. Lines end with a newline.
void run_write_report(const struct run_result *result, const struct net *net, const struct wc_device_params *params, FILE *file);
// "rerun: PROGRAM run ..." with every option that matters, and a waveform window round the mismatch.
void run_write_rerun(const struct run_job *job, const char *schedule, const struct run_result *result, FILE *file);

#endif
