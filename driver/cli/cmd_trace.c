// SPDX-License-Identifier: Apache-2.0
//
// wavecore trace dump|stat FILE: print a trace, or count what it holds.
#include <inttypes.h>
#include <string.h>

#include "driver/cli/cli.h"
#include "traces/wct_dump.h"
#include "traces/wct_stat.h"

static int dump(const char *path, const struct wct_dump_options *options, struct wc_error *err)
{
	uint64_t printed;

	return wct_dump(path, options, stdout, &printed, err);
}

static int stat(const char *path, bool json, struct wc_error *err)
{
	struct wct_stat stat;
	struct wc_error print_err;
	int result = wct_stat(path, &stat, err), printed;

	if (result && !stat.chunks)
		return result;
	printed = json ? wct_stat_print_json(&stat, stdout, &print_err) : wct_stat_print(&stat, stdout, &print_err);
	if (printed)
		*err = print_err;
	return printed ? printed : result;
}

// A:B, cycles [A, B); B may be left out.
static int window(const char *text, struct wct_dump_options *options, struct wc_error *err)
{
	char from[32];
	const size_t length = strcspn(text, ":");
	int result;

	if (text[length] != ':' || length >= sizeof(from))
		return wc_fail(err, WC_ERR_INPUT, "--window: '%s' is not FROM:TO", text);
	memcpy(from, text, length);
	from[length] = '\0';
	options->has_window = true;
	options->cycle_to = UINT64_MAX;
	result = cli_number("window", from, 0, UINT64_MAX, &options->cycle_from, err);
	return result || !text[length + 1] ? result : cli_number("window", text + length + 1, options->cycle_from + 1, UINT64_MAX, &options->cycle_to, err);
}

// Options that choose events are an error where all are counted, not silently dropped.
static int refuse_for_stat(bool data, const char *level, const char *command, const char *core, const char *cycles, struct wc_error *err)
{
	const struct {
		const char *option;
		bool given;
	} given[] = {{"data", data}, {"level", level}, {"command", command}, {"core", core}, {"window", cycles}};

	for (size_t i = 0; i < sizeof(given) / sizeof(*given); i++)
		if (given[i].given)
			return wc_fail(err, WC_ERR_INPUT, "--%s has no meaning for 'trace stat', which counts all events; 'trace dump' prints chosen ones",
				       given[i].option);
	return 0;
}

static int run(int argc, const char **argv)
{
	static int json, data;
	static char *level, *command, *core, *cycles;
	static const struct poptOption table[] = {
		{"json", 0, POPT_ARG_NONE, &json, 0, "JSON, one object a line", NULL},
		{"data", 0, POPT_ARG_NONE, &data, 0, "dump: the values of tiles too", NULL},
		{"level", 0, POPT_ARG_STRING, &level, 0, "dump: up to run, layer, tile, wave or cycle (default: all)", "LEVEL"},
		{"command", 0, POPT_ARG_STRING, &command, 0, "dump: this command's events alone", "N"},
		{"core", 0, POPT_ARG_STRING, &core, 0, "dump: the events of this core's commands alone", "N"},
		{"window", 0, POPT_ARG_STRING, &cycles, 0, "dump: events of cycles FROM to TO - 1 alone", "FROM:TO"},
		POPT_TABLEEND,
	};
	struct wct_dump_options options;
	const char *arguments[2];
	struct wc_error err;
	uint64_t number;
	int status = cli_parse(&cli_trace, argc, argv, table, arguments, 2, 2), result = 0;

	if (status >= 0)
		return status;
	wct_dump_options_init(&options);
	options.json_lines = json;
	options.data = data;
	if (level && !wct_level_parse(level, &options.level))
		return cli_misuse(&cli_trace, "--level: '%s' is none of run, layer, tile, wave, cycle", level);
	if (command) {
		result = cli_number("command", command, 0, UINT32_MAX - 1, &number, &err);
		options.has_command = true;
		options.command = (uint32_t)number;
	}
	if (!result && core) {
		result = cli_number("core", core, 0, WC_CORES_MAX - 1, &number, &err);
		options.has_core = true;
		options.core = (int)number;
	}
	if (!result && cycles)
		result = window(cycles, &options, &err);
	if (!result && !strcmp(arguments[0], "stat"))
		result = refuse_for_stat(data, level, command, core, cycles, &err);
	if (result)
		return cli_fail(&err, result);
	if (!strcmp(arguments[0], "dump"))
		result = dump(arguments[1], &options, &err);
	else if (!strcmp(arguments[0], "stat"))
		result = stat(arguments[1], json, &err);
	else
		return cli_misuse(&cli_trace, "'%s' is neither 'dump' nor 'stat'", arguments[0]);
	return result ? cli_fail(&err, result) : CLI_OK;
}

const struct cli_command cli_trace = {"trace", "dump|stat FILE", "print a trace's events, or count them", run};
