// SPDX-License-Identifier: Apache-2.0
//
// wavecore check FILE: prove a schedule, or say where it is wrong.
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "driver/cli/cli.h"
#include "driver/plan/check/check.h"

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
	all = json_pack("{s:s, s:i, s:s, s:b, s:I, s:I, s:I, s:I, s:o, s:I, s:I, s:I}", "net", net->name, "batch", schedule->batch, "accounting",
			schedule->accounting == SCHED_PAPER ? "paper" : "device", "ok", result->ok, "peak_buffer_bytes", (json_int_t)result->peak_bytes, "peak_footprint_bytes",
			(json_int_t)result->footprint_bytes, "dram_read_bytes", (json_int_t)read,
			"dram_write_bytes", (json_int_t)write, "by_class", by_class, "commands", (json_int_t)result->commands, "macs",
			(json_int_t)result->macs, "extra_macs", (json_int_t)result->extra_macs);
	if (!result->ok)
		json_object_set_new(all, "violation",
				    json_pack("{s:s, s:i, s:i, s:i, s:i, s:s, s:s}", "kind", check_kind_name(violation->kind), "group",
					      violation->place.group, "strip", violation->place.strip, "line", violation->place.line, "sample",
					      violation->sample, "layer", violation->node < 0 ? "" : net->nodes[violation->node].name, "text",
					      violation->text));
	json_dumpf(all, stdout, JSON_INDENT(2));
	printf("\n");
	json_decref(all);
}

// The network: --net, or what the schedule says it was made for.
static int open_net(const char *path, const char *net_option, struct net *net, char **text, size_t *bytes, struct wc_error *err)
{
	char *name = NULL;
	int image;
	FILE *file;
	int result = cli_slurp(path, text, bytes, err);

	if (result)
		return result;
	file = fmemopen(*text, *bytes ? *bytes : 1, "r");
	if (!file)
		return wc_fail(err, WC_ERR_SYSTEM, "cannot read '%s' from memory", path);
	result = schedule_net_name(file, path, &name, &image, err);
	fclose(file);
	if (net_option && result == WC_ERR_INPUT)
		result = 0; // the parser says it with a line
	if (!result)
		result = cli_net(net, net_option ? net_option : name, image, err);
	free(name);
	return result;
}

static int run(int argc, const char **argv)
{
	static int json;
	static char *net_option;
	static const struct poptOption table[] = {
		{"net", 0, POPT_ARG_STRING, &net_option, 0, "the network (default: the one that the schedule names)", "NAME|FILE"},
		{"json", 0, POPT_ARG_NONE, &json, 0, "print JSON", NULL},
		POPT_TABLEEND,
	};
	struct schedule schedule = {0};
	struct check_result check;
	struct net net = {0};
	struct wc_error err;
	const char *path;
	char *text = NULL;
	size_t bytes;
	FILE *file;
	int status = cli_parse(&cli_check, argc, argv, table, &path, 1, 1), result;

	if (status >= 0)
		return status;
	result = open_net(path, net_option, &net, &text, &bytes, &err);
	if (!result) {
		file = fmemopen(text, bytes ? bytes : 1, "r");
		result = file ? schedule_read(&schedule, &net, file, path, &err)
			      : wc_fail(&err, WC_ERR_SYSTEM, "cannot read '%s' from memory", path);
		if (file)
			fclose(file);
	}
	free(text);
	if (!result) {
		result = schedule_check(&schedule, &net, &check, &err);
		// A disproved schedule is a verdict, anything else an error.
		if (result == WC_ERR_INPUT && check.violation.kind != CHECK_NONE)
			result = WC_ERR_MISMATCH;
		if (!result || result == WC_ERR_MISMATCH) {
			if (json)
				print_json(&check, &schedule, &net);
			else
				schedule_check_print(&check, &schedule, &net, stdout);
		}
	}
	status = result ? cli_fail(&err, result) : CLI_OK;
	schedule_release(&schedule);
	net_release(&net);
	return status;
}

const struct cli_command cli_check = {"check", "FILE|-", "prove a schedule right, or say where it is wrong", run};
