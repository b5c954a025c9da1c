// SPDX-License-Identifier: Apache-2.0
//
// Inside `wavecore run` and `wavecore train`: their options, one schedule's run as a JSON object, several runs side by side, the table.
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
	char *net, *image, *schedule, *arith, *backend, *seed, *input, *weights, *gradient, *dump, *trace, *trace_level, *golden_trace, *waves, *waves_window, *pe_window,
		*latency, *fault, *jobs, *resume;
	int json, random_memory, random_reset, profile, by_class;
	// Of `train`; the words behind it are `train`'s alone.
	bool training;
	char *steps, *dataset, *labels, *lr, *lr_decay, *lr_steps, *warmup, *momentum, *decay, *test, *save, *curve;
};

// The options that both have.
#define RUN_OPTIONS(words, batch_default)                                                                                                                  \
	{"image", 0, POPT_ARG_STRING, &(words).image, 0, "height and width of the input (default: the network's own)", "N"},                                   \
	{"schedule", 0, POPT_ARG_STRING, &(words).schedule, 0, "planner or schedule file, or several (default mbs); a single file says image, batch, cores, array, buffer and bus, too", "NAME|FILE,..."}, \
	CLI_DEVICE_OPTIONS((words).device, batch_default, "64KiB"),                                                                                         \
	{"ports", 0, POPT_ARG_STRING, &(words).device.ports, 0, "memory ports of --bus bytes, 1 or 2 (default 1)", "N"},                                      \
	{"mac-stages", 0, POPT_ARG_STRING, &(words).device.mac_stages, 0, "cycles per PE, 1 or 2 (default 1)", "N"},                                          \
	{"backend", 0, POPT_ARG_STRING, &(words).backend, 0, "rtl: the verilated design; model: functional, in C (default rtl)", "NAME"},                      \
	{"arith", 0, POPT_ARG_STRING, &(words).arith, 0, "PE array of the rtl backend: rtl or dpi (default: rtl to 16x16, dpi above)", "NAME"},                \
	{"seed", 0, POPT_ARG_STRING, &(words).seed, 0, "of everything random (default 1)", "N"},                                                              \
	{"dump", 0, POPT_ARG_STRING, &(words).dump, 0, "write every tensor as .npy; of several steps the last one's", "DIR"},                                 \
	{"trace", 0, POPT_ARG_STRING, &(words).trace, 0, "write the device's events", "FILE.wct"},                                                            \
	{"golden-trace", 0, POPT_ARG_STRING, &(words).golden_trace, 0, "write the golden model's events", "FILE.wct"},                                        \
	{"trace-level", 0, POPT_ARG_STRING, &(words).trace_level, 0, "run, layer, tile, wave or cycle (default tile)", "LEVEL"},                              \
	{"waves", 0, POPT_ARG_STRING, &(words).waves, 0, "record a waveform (rtl backend)", "FILE.fst"},                                                      \
	{"waves-window", 0, POPT_ARG_STRING, &(words).waves_window, 0, "cycles to record (default: all)", "FROM:TO"},                                         \
	{"pe-window", 0, POPT_ARG_STRING, &(words).pe_window, 0, "show 4 x 4 PEs of an array in C (--arith dpi) in the waveform", "ROW,COLUMN"},              \
	{"random-memory", 0, POPT_ARG_NONE, &(words).random_memory, 0, "random latency and back-pressure of the memory", NULL},                               \
	{"random-reset", 0, POPT_ARG_NONE, &(words).random_reset, 0, "undefined state takes values from the seed", NULL},                                     \
	{"latency", 0, POPT_ARG_STRING, &(words).latency, 0, "memory latency in cycles, to 100000 (default 100)", "N"},                                                  \
	{"fault", 0, POPT_ARG_STRING, &(words).fault, 0, "plant one: weight|accumulator:command=N,wave=N,row=N,column=N,bit=N or lane:command=N,row=N,column=N,bit=N or buffer|memory|command:command=N,address=N,bit=N (of a command, address is its byte, 0 to 255); core=N too", "SPEC"}, \
	{"resume", 0, POPT_ARG_STRING, &(words).resume, 0, "keep in FILE what is finished after every group, and go on from there if it is there: on the C model up to it, on the rtl backend from it on", "FILE"}, \
	{"by-class", 0, POPT_ARG_NONE, &(words).by_class, 0, "print the DRAM bytes by class", NULL},                                                          \
	{"profile", 0, POPT_ARG_NONE, &(words).profile, 0, "print cycles and utilization by layer and phase (rtl backend)", NULL},                            \
	{"jobs", 0, POPT_ARG_STRING, &(words).jobs, 0, "schedules at a time (default 1)", "N"},                                                               \
	{"json", 0, POPT_ARG_NONE, &(words).json, 0, "print JSON", NULL}

// Either command: from the parsed words to the exit status.
int run_command(struct run_words *words);

// Where one schedule's files go; NULL: not asked for. With several schedules the schedule's name is in them.
enum { RUN_TRACE, RUN_GOLDEN_TRACE, RUN_DUMP, RUN_WAVES, RUN_SAVE, RUN_CURVE, RUN_RESUME, RUN_OUTPUTS };
struct run_outputs {
	char *paths[RUN_OUTPUTS];
};
int run_outputs_make(struct run_outputs *outputs, const struct run_words *words, const char *schedule, bool several, struct wc_error *err);
void run_outputs_release(struct run_outputs *outputs);
// Where a waveform, or what --resume keeps, of that name is written: the writer replaces the file of the name, and so a link, not the file that
// it stands for. The caller frees it; NULL: out of memory.
char *run_replaced_path(const char *path);
// What that writer adds to the name of the file for the one beside it that it makes and removes, or renames. NULL: this output is not replaced.
const char *run_output_aside(int output);
// The option's name, without dashes.
const char *run_output_option(int output);
// Whether all of them, for these schedules, can be created and are different files; WC_ERR_INPUT names option and file.
int run_outputs_check(const struct run_words *words, const char *const *schedules, int count, struct wc_error *err);

// Whether no output of these schedules would go into a file that the run reads, or that another output goes to, whatever name or link it is
// given by; WC_ERR_INPUT names option and file.
int run_inputs_check(const struct run_words *words, const char *const *schedules, int count, const struct net *net, struct wc_error *err);

struct train;
struct run_job {
	const struct run_words *words;
	const struct cli_problem *problem;
	const struct net *net;
	const struct data *data;
	const char *const *names;         // of the schedules, as given
	const struct schedule *schedules; // [schedule_count]
	int schedule_count;
	struct device device;
	struct train *train; // NULL: a run
	const char *arith;   // "rtl", "dpi", or "model"
	struct fault fault;
	uint64_t seed;
	enum wct_level trace_level;
	const volatile sig_atomic_t *stop;
};

// Fill device, options and seed of a job from the words; a schedule's `file` (NULL: none) says what they leave open. WC_ERR_INPUT quotes the word.
int run_options_parse(struct run_job *job, const struct run_words *words, const struct schedule *file, struct cli_problem *problem, int *jobs,
		      struct wc_error *err);

// Whether tensors of that network and batch fit this machine's memory, with `jobs` schedules at a time; WC_ERR_INPUT states both sizes.
int run_memory_check(const struct net *net, const struct cli_problem *problem, bool training, int jobs, struct wc_error *err);

// Whether a fault in DRAM is planted in the memory that the run of this schedule has; WC_ERR_INPUT names its addresses.
int run_memory_check_fault(const struct fault *fault, const struct schedule *schedule, const struct net *net, bool training, struct wc_error *err);

// --resume of one schedule.
struct run_state {
	const char *path, *schedule; // borrowed
	char *replaced;              // the file itself, owned
	char key[9];                 // of all that the run depends on
	bool kept;                   // something is finished, and in the file
	struct run_position from;
	struct run_resume resume;    // for run_options; its `from` is NULL if nothing is finished
};
// WC_ERR_INPUT: the file is no such file, or of another run. It must stay where it is until its release, which is always due.
int run_state_open(struct run_state *state, const struct run_job *job, int index, const char *path, struct wc_error *err);
void run_state_release(struct run_state *state);

// "phases" and "layers" of a result, and the table of both.
void run_profile_describe(json_t *object, const struct run_job *job, const struct profile *profile);
void run_profile_print(const json_t *result, FILE *file);

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

// Run the schedules, up to `jobs` at a time in processes of their own; training always has one, so that every schedule begins with the same
// parameters. results[i] is the object of schedule i; NULL: it has not ended.
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
// The same of the first step's losses.
int run_compare_losses(json_t *const *results, int count, struct wc_error *err);

// Print the results of the `count` schedules of `all` that have ended: to `file` table or JSON, to stderr their errors and reports. Schedules
// that differ from each other are an error too. Returns the exit status.
int run_print(json_t *const *results, int count, int all, const struct run_words *words, FILE *file);
// Whether a result belongs into tables: a run that did not begin, or in which something else than the device failed, has nothing to show.
bool run_has_row(const json_t *result);
// Columns for the names of all schedules; 0: none has a row.
int run_names_width(json_t *const *results, int count);
// What each moved, by class and direction, and in how many classes that is not what was predicted; nothing if none ran.
void run_print_classes(json_t *const *results, int count, FILE *file);
// The table of those that ran; nothing if none did.
void run_print_table(json_t *const *results, int count, FILE *file);

// The mismatch in words: layer, tile, element, values, stage at fault. Lines end with a newline.
void run_write_report(const struct run_result *result, const struct net *net, const struct wc_device_params *params, FILE *file);
// "rerun: PROGRAM run|train ..." with every option that matters, and a waveform window round the mismatch.
void run_write_rerun(const struct run_job *job, const char *schedule, const struct run_result *result, FILE *file);

#endif
