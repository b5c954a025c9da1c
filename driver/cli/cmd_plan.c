// SPDX-License-Identifier: Apache-2.0
//
// wavecore plan NET: print a planner's schedule, or what it costs.
#include <string.h>
#include <unistd.h>

#include "driver/cli/cli.h"
#include "driver/cli/plan.h"
#include "driver/plan/check/check.h"

static struct {
	const char *schedule, *accounting, *image, *max_extra_macs, *objective;
	int json, explain;
	struct cli_device_words device;
} words;

static const struct poptOption table[] = {
	{"schedule", 0, POPT_ARG_STRING, &words.schedule, 0, "planner, or a schedule's file (default mbs); a file says accounting, batch, cores, array, buffer, bus and image, too", "NAME|FILE"},
	{"accounting", 0, POPT_ARG_STRING, &words.accounting, 0, "device: what the device moves, can be run; paper: as the MBS paper compares (default: device for "
	 "chains of conv and relu with a planner of that kind, else paper)", "NAME"},
	{"image", 0, POPT_ARG_STRING, &words.image, 0, "height and width of the input (default: the network's own)", "N"},
	{"max-extra-macs", 0, POPT_ARG_STRING, &words.max_extra_macs, 0, "hybrid: recomputation, percent of the training MACs (default 0)", "PERCENT"},
	{"objective", 0, POPT_ARG_STRING, &words.objective, 0, "hybrid: traffic, footprint or time (default traffic)", "NAME"},
	CLI_DEVICE_OPTIONS(words.device, "4; for paper accounting 32", "64KiB; for paper accounting 10MiB"),
	CLI_PHASES_OPTION(words.device),
	{"explain", 0, POPT_ARG_NONE, &words.explain, 0, "print why each group is as it is, instead of the schedule's text", NULL},
	{"json", 0, POPT_ARG_NONE, &words.json, 0, "print what it costs, as JSON, instead of the schedule's text", NULL},
	POPT_TABLEEND,
};

static int parse_accounting(const struct net *net, const char *schedule, enum sched_accounting *accounting, struct wc_error *err)
{
	bool device = false;

	for (int i = 0; plan_name(i); i++)
		device |= !strcmp(plan_name(i), schedule);
	*accounting = device && net_is_chain(net) ? SCHED_DEVICE : SCHED_PAPER;
	// What is only too large for the device is not planned for something else unasked.
	if (!words.accounting)
		return *accounting == SCHED_DEVICE ? net_require_chain(net, "device accounting (--accounting paper has no such limit)", err) : 0;
	if (strcmp(words.accounting, "device") && strcmp(words.accounting, "paper"))
		return wc_fail(err, WC_ERR_INPUT, "--accounting: '%s' is neither 'device' nor 'paper'", words.accounting);
	*accounting = *words.accounting == 'd' ? SCHED_DEVICE : SCHED_PAPER;
	return 0;
}

static int parse_objective(enum plan_objective *objective, struct wc_error *err)
{
	static const char *const names[] = {[PLAN_TRAFFIC] = "traffic", [PLAN_FOOTPRINT] = "footprint", [PLAN_TIME] = "time"};

	*objective = PLAN_TRAFFIC;
	for (size_t i = 0; words.objective && i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i], words.objective)) {
			*objective = (enum plan_objective)i;
			return 0;
		}
	return words.objective ? wc_fail(err, WC_ERR_INPUT, "--objective: '%s' is not one of: traffic, footprint, time", words.objective) : 0;
}

// Options that nothing would heed are an error.
static int refuse_words(const char *schedule, enum sched_accounting accounting, struct wc_error *err)
{
	const bool hybrid = !strcmp(schedule, "hybrid");
	const struct {
		const char *option;
		bool useless;
		const char *why;
	} useless[] = {
		{"max-extra-macs", words.max_extra_macs && !hybrid, "only the planner hybrid has a budget for recomputation"},
		{"objective", words.objective && !hybrid, "only the planner hybrid chooses by an objective"},
		{"array", words.device.array && accounting == SCHED_PAPER, "paper accounting knows no array"},
		{"bus", words.device.bus && accounting == SCHED_PAPER, "paper accounting does not round to the bus"},
	};

	for (size_t i = 0; i < sizeof(useless) / sizeof(*useless); i++)
		if (useless[i].useless)
			return wc_fail(err, WC_ERR_INPUT, "--%s has no meaning here: %s", useless[i].option, useless[i].why);
	return 0;
}

// The comparison that the paper makes has other sizes than a quick run on the device.
static void paper_defaults(void)
{
	if (!words.device.batch)
		words.device.batch = "32";
	if (!words.device.buffer)
		words.device.buffer = "10MiB";
}

// Open the network and, where the schedule comes from a file, read it: what it says stands for options that are not given.
static int open_net(const char *net_name, const char *name, struct net *net, struct schedule *schedule, enum sched_accounting *accounting,
		    struct wc_error *err)
{
	uint64_t image = 0;
	char *net_used;
	int result = words.image ? cli_number("image", words.image, 1, NET_IMAGE_MAX, &image, err) : 0;

	if (result)
		return result;
	if (!cli_is_schedule_file(name)) {
		result = cli_net(net, net_name, (int)image, err);
		return result ? result : parse_accounting(net, name, accounting, err);
	}
	result = cli_schedule_file(name, net_name, (int)image, net, &net_used, schedule, err);
	if (!result)
		result = parse_accounting(net, name, accounting, err);
	if (!result && !words.accounting)
		*accounting = schedule->accounting;
	return result;
}

static int parse(const char *net_name, const char *name, struct net *net, struct schedule *schedule, struct cli_problem *problem, struct wc_error *err)
{
	uint64_t extra = 0;
	enum sched_accounting accounting;
	int result = 0;

	if (words.max_extra_macs)
		result = cli_number("max-extra-macs", words.max_extra_macs, 0, 1000, &extra, err);
	if (!result)
		result = cli_check_plan_words(&words.device, &name, 1, err);
	if (!result)
		result = open_net(net_name, name, net, schedule, &accounting, err);
	if (!result)
		result = refuse_words(name, accounting, err);
	if (result)
		return result;
	const bool read = schedule->group_count > 0;

	if (accounting == SCHED_PAPER && !read)
		paper_defaults();
	result = cli_problem(&words.device, read ? schedule : NULL, problem, err);
	problem->plan.accounting = accounting;
	problem->plan.max_extra_percent = (int)extra;
	if (!result)
		result = parse_objective(&problem->plan.objective, err);
	return result || !read ? result : cli_same_problem(name, schedule, &problem->plan, err);
}

static int print(const char *name, const struct schedule *schedule, const struct net *net, const struct plan_options *options,
		 const struct check_result *check, struct wc_error *err)
{
	struct plan_costs costs;
	int result;

	if (!words.json && !words.explain)
		return schedule_write(schedule, net, stdout, err);
	result = plan_costs(&costs, schedule, net, options, check, err);
	if (result)
		return result;
	if (words.json)
		plan_print_json(name, schedule, net, &costs);
	else
		plan_explain(schedule, net, &costs, stdout);
	plan_costs_release(&costs);
	return 0;
}

// On a terminal, what is being tried: a long chain takes a while.
static void show_trying(void *context, const char *what, int done, int count)
{
	bool *shown = context;

	*shown = true;
	fprintf(stderr, "\rplanning: %s (%d of %d)%20s", what, done + 1, count, "");
	fflush(stderr);
}

static int make_schedule(const char *name, const struct net *net, const struct plan_options *options, struct schedule *schedule, struct wc_error *err)
{
	struct plan_options told = *options;
	bool shown = false;
	int result;

	if (isatty(STDERR_FILENO)) {
		told.trying = show_trying;
		told.trying_context = &shown;
	}
	result = cli_schedule(name, net, &told, schedule, err);
	if (shown)
		fprintf(stderr, "\r%60s\r", "");
	return result;
}

static int run(int argc, const char **argv)
{
	struct schedule schedule = {0};
	struct cli_problem problem;
	struct check_result check;
	struct net net = {0};
	struct wc_error err;
	const char *net_name, *name;
	int status = cli_parse(&cli_plan, argc, argv, table, &net_name, 1, 1), result;

	if (status >= 0)
		return status;
	if (words.json && words.explain)
		return cli_misuse(&cli_plan, "--json and --explain exclude each other");
	name = words.schedule ? words.schedule : "mbs";
	result = parse(net_name, name, &net, &schedule, &problem, &err);
	if (!result && !schedule.group_count)
		result = make_schedule(name, &net, &problem.plan, &schedule, &err);
	if (!result && words.image)
		schedule.image = net.nodes[0].out.height;
	if (!result)
		result = cli_prove(&schedule, &net, &check, &err);
	if (!result)
		result = print(name, &schedule, &net, &problem.plan, &check, &err);
	status = result ? cli_fail(&err, result) : CLI_OK;
	schedule_release(&schedule);
	net_release(&net);
	return status;
}

const struct cli_command cli_plan = {"plan", "NET|FILE", "plan a schedule and print it", run};
