// SPDX-License-Identifier: Apache-2.0
//
// wavecore check FILE: prove a schedule, or say where it is wrong.
#include <jansson.h>
#include <stdlib.h>

#include "driver/cli/cli.h"
#include "driver/plan/check/check.h"
#include "traces/wct_json.h"

static void print_json(const struct check_result *result, const struct schedule *schedule, const struct net *net)
{
	const struct check_violation *violation = &result->violation;
	uint64_t read = 0, write = 0;
	json_t *by_class = json_object(), *all;

	for (enum wc_class class = 0; class < WC_CLASS_COUNT; class++) {
		read += result->read_bytes[class];
		write += result->write_bytes[class];
		json_object_set_new(by_class, wc_class_name(class), json_integer((json_int_t)(result->read_bytes[class] + result->write_bytes[class])));
	}
	all = json_pack("{s:s, s:i, s:i, s:s, s:b, s:I, s:I, s:I, s:I, s:o, s:I, s:I, s:f}", "net", net->name, "batch", schedule->batch,
			"cores", schedule->cores, "accounting", schedule->accounting == SCHED_PAPER ? "paper" : "device", "ok", result->ok,
			"peak_buffer_bytes", (json_int_t)result->peak_bytes, "peak_footprint_bytes", (json_int_t)result->footprint_bytes, "dram_read_bytes", (json_int_t)read,
			"dram_write_bytes", (json_int_t)write, "by_class", by_class, "commands", (json_int_t)result->commands, "macs",
			(json_int_t)result->macs, "extra_macs", cli_extra_percent(net, schedule->batch, result->extra_macs));
	if (!result->ok)
		json_object_set_new(all, "violation",
				    json_pack("{s:s, s:i, s:i, s:o, s:i, s:i, s:s, s:s}", "kind", check_kind_name(violation->kind), "group",
					      violation->place.group, "strip", violation->place.strip, "file", wct_json_text(schedule->file_name), "line",
					      violation->place.line, "sample",
					      violation->sample, "layer", violation->node < 0 ? "" : net->nodes[violation->node].name, "text",
					      violation->text));
	json_dumpf(all, stdout, JSON_INDENT(2));
	printf("\n");
	json_decref(all);
}

static int run(int argc, const char **argv)
{
	static int json;
	static char *net_option;
	static const struct poptOption table[] = {
		{"net", 0, POPT_ARG_STRING, &net_option, 0, "the network (default: the one that the schedule names)", "NAME|FILE"},
		{"json", 0, POPT_ARG_NONE, &json, 0, "print the verdict, which goes to stdout and sets status 1 if the schedule is wrong, as JSON", NULL},
		POPT_TABLEEND,
	};
	struct schedule schedule = {0};
	struct check_result check = {.ok = false};
	struct net net = {0};
	struct wc_error err;
	const char *path;
	char *net_used = NULL;
	int status = cli_parse(&cli_check, argc, argv, table, &path, 1, 1), result;

	if (status >= 0)
		return status;
	result = cli_schedule_file(path, net_option, 0, &net, &net_used, &schedule, &err);
	if (!result)
		result = schedule_check(&schedule, &net, &check, &err);
	// A disproved schedule is a verdict, which goes where results go, anything else an error.
	if (result == WC_ERR_INPUT && check.violation.kind != CHECK_NONE)
		result = WC_ERR_MISMATCH;
	if (result && result != WC_ERR_MISMATCH)
		cli_fail(&err, result);
	else if (json)
		print_json(&check, &schedule, &net);
	else
		schedule_check_print(&check, &schedule, &net, stdout);
	status = cli_exit_of(result);
	free(net_used);
	schedule_release(&schedule);
	net_release(&net);
	return status;
}

const struct cli_command cli_check = {"check", "FILE|-", "prove a schedule right, or say where it is wrong", run};
