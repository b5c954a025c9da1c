// SPDX-License-Identifier: Apache-2.0
//
// The `wavecore` command: what its subcommands share. Results go to stdout, diagnostics to stderr.
//
// Exit status: 0 all right, 1 a mismatch (or a schedule that `check` disproves, or traces that differ), 2 bad usage or
// input, 3 the simulator or the system failed, 128 + N stopped by signal N: 130 by SIGINT, 143 by SIGTERM, 129 by SIGHUP.
#ifndef WC_CLI_H
#define WC_CLI_H

#include <popt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "csim/backend.h"
#include "driver/plan/check/check.h"
#include "driver/plan/plan.h"
#include "traces/error.h"

#define WAVECORE_VERSION "0.1.0"

enum cli_exit { CLI_OK = 0, CLI_MISMATCH = 1, CLI_USAGE = 2, CLI_SYSTEM = 3, CLI_INTERRUPTED = 130 };

struct cli_command {
	const char *name;
	const char *arguments; // for the usage line, behind the options
	const char *summary;
	int (*run)(int argc, const char **argv); // argv[0] is the command's name; returns the exit status
};

extern const struct cli_command cli_nets, cli_plan, cli_check, cli_run, cli_train, cli_trace, cli_diff, cli_report, cli_version;

// Parse a command's options from its table and up to `max` arguments into `arguments`, at least `min`. Returns -1 to go on, else the exit
// status: misuse is reported, --help prints the table. Strings live until the process ends.
int cli_parse(const struct cli_command *command, int argc, const char **argv, const struct poptOption *table, const char **arguments, int min, int max);

// The exit status of 0 or an error code of traces/error.h.
enum cli_exit cli_exit_of(int result);
// Print "error: TEXT" and give the exit status of the code.
int cli_fail(const struct wc_error *err, int result);
// The same for a text of the command line's own.
int cli_misuse(const struct cli_command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Words of options. WC_ERR_INPUT quotes option, value and limits.
int cli_size(const char *option, const char *text, uint64_t min, uint64_t max, uint64_t *bytes, struct wc_error *err); // 65536, 64KiB, 10MiB, 1GiB
int cli_number(const char *option, const char *text, uint64_t min, uint64_t max, uint64_t *number, struct wc_error *err);
int cli_real(const char *option, const char *text, double min, double max, double *number, struct wc_error *err); // 0.05, 5e-2

// The options that describe device and problem, for `plan`, `run` and `train`; NULL: the default.
struct cli_device_words {
	const char *batch, *cores, *array, *buffer, *bus, *strips, *phases, *mac_stages, *ports;
};
#define CLI_DEVICE_OPTIONS(words, batch_default, buffer_default)                                                                  \
	{"batch", 0, POPT_ARG_STRING, &(words).batch, 0, "samples of the mini-batch (default " batch_default ")", "N"},            \
	{"cores", 0, POPT_ARG_STRING, &(words).cores, 0, "cores that the mini-batch is split among, 1 or 2 (default 1)", "N"},    \
	{"array", 0, POPT_ARG_STRING, &(words).array, 0, "rows x columns of the array, each 4 to 128 (default 16x16)", "RxC"},    \
	{"buffer", 0, POPT_ARG_STRING, &(words).buffer, 0, "global buffer of a core, a multiple of 4 KiB (default " buffer_default ")", "SIZE"}, \
	{"bus", 0, POPT_ARG_STRING, &(words).bus, 0, "bytes of a memory beat: 16, 32, 64 or 128 (default 16)", "N"},              \
	{"strips", 0, POPT_ARG_STRING, &(words).strips, 0, "strips per segment of overl and 2ps (default auto: chosen)", "N|auto"}
#define CLI_PHASES_OPTION(words) {"phases", 0, POPT_ARG_STRING, &(words).phases, 0, "all or forward (default all)", "PHASES"}

struct cli_problem {
	struct plan_options plan;
	struct wc_device_params device;
};
// What the options say; what they leave open is as in the schedule `file` (NULL: none), or the default.
int cli_problem(const struct cli_device_words *words, const struct schedule *file, struct cli_problem *problem, struct wc_error *err);

// A schedule by a planner's name or from a file ("-": stdin), checked against the problem it was made for. `net` is open.
int cli_schedule(const char *name, const struct net *net, const struct plan_options *options, struct schedule *schedule, struct wc_error *err);
// schedule_check(). What is wrong with a planner's schedule is no fault of the input: WC_ERR_SYSTEM.
int cli_prove(const struct schedule *schedule, const struct net *net, struct check_result *check, struct wc_error *err);
// Network and schedule of a schedule's file. `net_name` (NULL) and `image` (0): as the schedule says; *net_used is the network's name then,
// which the caller frees, and NULL otherwise. Nothing is checked against options: cli_same_problem() does.
int cli_schedule_file(const char *path, const char *net_name, int image, struct net *net, char **net_used, struct schedule *schedule, struct wc_error *err);
// What a schedule from a file says and what the options say must be one problem.
int cli_same_problem(const char *path, const struct schedule *schedule, const struct plan_options *options, struct wc_error *err);
// Whether the name is that of a planner; it goes before a file of that name.
bool cli_is_planner(const char *name);
// Whether it is not, and there is such a file ("-": stdin).
bool cli_is_schedule_file(const char *name);
// Whether it is a planner that cuts segments into strips.
bool cli_uses_strips(const char *name);
// Whether the options that only planners read say something to one of these schedules; else WC_ERR_INPUT names the option.
int cli_check_plan_words(const struct cli_device_words *words, const char *const *schedules, int count, struct wc_error *err);
// A network by name or from a file; as net_open(), but it never waits for the writer of a named pipe.
int cli_net(struct net *net, const char *name, int image, struct wc_error *err);
// All of a file in memory, NUL behind it; caller frees it with wc_free(). "-" is stdin.
int cli_slurp(const char *path, char **text, size_t *bytes, struct wc_error *err);

// As this program was called: a path, or a name that the shell found.
const char *cli_program(void);
// The directory of the Makefile that built this binary.
int cli_root(char *path, size_t size, struct wc_error *err);

// "batch 8", or "batch 8 on 2 cores".
static inline void cli_print_batch(int batch, int cores, FILE *file)
{
	fprintf(file, "batch %d", batch);
	if (cores > 1)
		fprintf(file, " on %d cores", cores);
}

// Extra MACs of a schedule for `batch` samples, in percent of the training MACs.
static inline double cli_extra_percent(const struct net *net, int batch, uint64_t extra_macs)
{
	const double training = (double)net_training_macs(net) * batch;

	return training > 0 ? 100 * (double)extra_macs / training : 0;
}

#endif
