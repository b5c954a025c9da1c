// SPDX-License-Identifier: Apache-2.0
//
// Options and their words; see cli.h.
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "driver/cli/cli.h"

enum cli_exit cli_exit_of(int result)
{
	switch (result) {
	case 0:
		return CLI_OK;
	case WC_ERR_MISMATCH:
		return CLI_MISMATCH;
	case WC_ERR_INPUT:
		return CLI_USAGE;
	case WC_ERR_STOPPED:
		return CLI_INTERRUPTED;
	default:
		return CLI_SYSTEM;
	}
}

int cli_fail(const struct wc_error *err, int result)
{
	fprintf(stderr, "error: %s\n", err->text);
	return cli_exit_of(result);
}

int cli_misuse(const struct cli_command *command, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "error: ");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\nsee 'wavecore %s --help'\n", command->name);
	return CLI_USAGE;
}

// The first option whose value is no text at all; NULL: none. No value can be empty, and of a file's name it makes the directory.
static const char *given_empty(const struct poptOption *table)
{
	for (; table->longName; table++)
		if (table->argInfo == POPT_ARG_STRING && *(char *const *)table->arg && !**(char *const *)table->arg)
			return table->longName;
	return NULL;
}

// The first option that stands twice, without its dashes and value; NULL: none. The second would silently replace the first.
static const char *given_twice(int argc, const char **argv, const struct poptOption *table)
{
	bool seen[64] = {false};

	for (int i = 1; i < argc; i++) {
		if (strncmp(argv[i], "--", 2))
			continue;
		const char *name = argv[i] + 2;
		const size_t length = strcspn(name, "=");

		for (size_t k = 0; table[k].longName && k < sizeof(seen) / sizeof(*seen); k++) {
			if (strlen(table[k].longName) != length || strncmp(table[k].longName, name, length))
				continue;
			if (seen[k])
				return table[k].longName;
			seen[k] = true;
			// Its value may look like an option.
			i += table[k].argInfo != POPT_ARG_NONE && !name[length];
			break;
		}
	}
	return NULL;
}

int cli_parse(const struct cli_command *command, int argc, const char **argv, const struct poptOption *table, const char **arguments, int min, int max)
{
	// Not popt's own, which ends the process: whether the help could be written is main's to see.
	enum { HELP = 1, USAGE };
	static struct poptOption help[] = {
		{"help", '?', POPT_ARG_NONE, NULL, HELP, "Show this help message", NULL},
		{"usage", 0, POPT_ARG_NONE, NULL, USAGE, "Display brief usage message", NULL},
		POPT_TABLEEND,
	};
	static char name[64], line[128];
	static struct poptOption all[] = {
		{NULL, 0, POPT_ARG_INCLUDE_TABLE, NULL, 0, "Options:", NULL},
		{NULL, 0, POPT_ARG_INCLUDE_TABLE, help, 0, "Help options:", NULL},
		POPT_TABLEEND,
	};
	static poptContext context; // owns the strings in `arguments`
	const char *argument = given_twice(argc, argv, table);
	int status = -1, code, count = 0;

	if (argument)
		return cli_misuse(command, "--%s: given twice", argument);

	all[0].arg = (void *)table;
	// popt prints the usage line with the name in argv[0].
	snprintf(name, sizeof(name), "wavecore %s", command->name);
	argv[0] = name;
	context = poptGetContext(NULL, argc, argv, all, 0);
	// popt names the options itself in the usage message, but not in the help's first line.
	snprintf(line, sizeof(line), "[OPTIONS]%s%s", *command->arguments ? " " : "", command->arguments);
	code = poptGetNextOpt(context);
	poptSetOtherOptionHelp(context, code == HELP ? line : command->arguments);
	if (code == HELP || code == USAGE) {
		code == HELP ? poptPrintHelp(context, stdout, 0) : poptPrintUsage(context, stdout, 0);
		return CLI_OK;
	}
	if (code < -1)
		status = cli_misuse(command, "%s: %s", poptBadOption(context, POPT_BADOPTION_NOALIAS), poptStrerror(code));
	else if ((argument = given_empty(table)))
		status = cli_misuse(command, "--%s: the value is empty", argument);
	for (int i = 0; i < max; i++)
		arguments[i] = NULL;
	while (status < 0 && (argument = poptGetArg(context))) {
		if (count == max)
			status = cli_misuse(command, "unexpected argument '%s'", argument);
		else
			arguments[count++] = argument;
	}
	if (status < 0 && count < min)
		status = cli_misuse(command, "an argument is missing: wavecore %s %s", command->name, command->arguments);
	return status;
}

// Digits, then what follows them. Too large a number becomes the largest.
static int digits(const char *option, const char *text, uint64_t *number, const char **rest, struct wc_error *err)
{
	char *end;

	*number = strtoull(text, &end, 10);
	*rest = end;
	if (!isdigit((unsigned char)text[0]))
		return wc_fail(err, WC_ERR_INPUT, "--%s: '%s' is not a number", option, text);
	return 0;
}

static int in_range(const char *option, const char *text, uint64_t value, uint64_t min, uint64_t max, struct wc_error *err)
{
	// The largest number stands for all that are larger, too.
	if (value >= min && value <= max && value < UINT64_MAX)
		return 0;
	return wc_fail(err, WC_ERR_INPUT, "--%s: %s is out of range, the limits are %" PRIu64 " to %" PRIu64, option, text, min, max);
}

int cli_number(const char *option, const char *text, uint64_t min, uint64_t max, uint64_t *number, struct wc_error *err)
{
	const char *rest;
	int result = digits(option, text, number, &rest, err);

	if (!result && *rest)
		result = wc_fail(err, WC_ERR_INPUT, "--%s: '%s' is not a number", option, text);
	return result ? result : in_range(option, text, *number, min, max, err);
}

int cli_real(const char *option, const char *text, double min, double max, double *number, struct wc_error *err)
{
	char *end;

	*number = strtod(text, &end);
	// Neither hexadecimal nor words.
	if (!*text || *end || text[strspn(text, "0123456789.eE+-")])
		return wc_fail(err, WC_ERR_INPUT, "--%s: '%s' is not a number", option, text);
	if (!(*number >= min && *number <= max))
		return wc_fail(err, WC_ERR_INPUT, "--%s: %s is out of range, the limits are %g to %g", option, text, min, max);
	return 0;
}

int cli_size(const char *option, const char *text, uint64_t min, uint64_t max, uint64_t *bytes, struct wc_error *err)
{
	static const struct {
		const char *unit;
		int shift;
	} units[] = {{"", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}};
	const char *rest;
	int result = digits(option, text, bytes, &rest, err);
	size_t i = 0;

	if (result)
		return result;
	while (i < sizeof(units) / sizeof(*units) && strcmp(units[i].unit, rest))
		i++;
	if (i == sizeof(units) / sizeof(*units))
		return wc_fail(err, WC_ERR_INPUT, "--%s: '%s' is not a size; write bytes, or a number with KiB, MiB or GiB", option, text);
	if (*bytes > UINT64_MAX >> units[i].shift)
		*bytes = UINT64_MAX;
	else
		*bytes <<= units[i].shift;
	return in_range(option, text, *bytes, min, max, err);
}

static bool is_side(uint64_t value)
{
	return value >= 4 && value <= 128 && !(value & (value - 1));
}

// 16x16.
static int parse_array(const char *text, int *rows, int *cols, struct wc_error *err)
{
	uint64_t r, c;
	const char *rest;
	int result = digits("array", text, &r, &rest, err);

	if (!result && *rest == 'x')
		result = digits("array", rest + 1, &c, &rest, err);
	else if (!result)
		result = WC_ERR_INPUT;
	if (result || *rest)
		return wc_fail(err, WC_ERR_INPUT, "--array: '%s' is not ROWSxCOLUMNS", text);
	if (!is_side(r) || !is_side(c))
		return wc_fail(err, WC_ERR_INPUT, "--array: %s; rows and columns can be 4, 8, 16, 32, 64 or 128", text);
	*rows = (int)r;
	*cols = (int)c;
	return 0;
}

int cli_problem(const struct cli_device_words *words, const struct schedule *file, struct cli_problem *problem, struct wc_error *err)
{
	uint64_t batch = 4, cores = 1, buffer = 65536, bus = 16, strips = 0, stages = 1, ports = 1;
	int rows = 16, cols = 16, result;

	if (file) {
		batch = (uint64_t)file->batch;
		cores = (uint64_t)file->cores;
		buffer = file->buffer_bytes;
	}
	if (file && file->accounting == SCHED_DEVICE) {
		rows = file->rows;
		cols = file->cols;
		bus = file->bus_bytes;
	}
	if ((words->batch && (result = cli_number("batch", words->batch, 1, 65535, &batch, err))) ||
	    (words->cores && (result = cli_number("cores", words->cores, 1, WC_CORES_MAX, &cores, err))) ||
	    (words->array && (result = parse_array(words->array, &rows, &cols, err))) ||
	    (words->buffer && (result = cli_size("buffer", words->buffer, 4096, 1u << 30, &buffer, err))) ||
	    (words->bus && (result = cli_number("bus", words->bus, 16, 128, &bus, err))) ||
	    (words->strips && strcmp(words->strips, "auto") && (result = cli_number("strips", words->strips, 1, 65535, &strips, err))) ||
	    (words->mac_stages && (result = cli_number("mac-stages", words->mac_stages, 1, 2, &stages, err))) ||
	    (words->ports && (result = cli_number("ports", words->ports, 1, 2, &ports, err))))
		return result;
	if (!file && batch % cores)
		return wc_fail(err, WC_ERR_INPUT, "--batch: %" PRIu64 " is not a multiple of %" PRIu64 " cores (--cores)", batch, cores);
	if (buffer % 4096)
		return wc_fail(err, WC_ERR_INPUT, "--buffer: %s is not a multiple of 4 KiB", words->buffer);
	if (bus & (bus - 1))
		return wc_fail(err, WC_ERR_INPUT, "--bus: %s; a beat can have 16, 32, 64 or 128 bytes", words->bus);
	if (words->phases && strcmp(words->phases, "all") && strcmp(words->phases, "forward"))
		return wc_fail(err, WC_ERR_INPUT, "--phases: '%s' is neither 'all' nor 'forward'", words->phases);
	problem->device = (struct wc_device_params){
		.rows = rows,
		.cols = cols,
		.acc_rows = 256,
		.mac_stages = (int)stages,
		.buffer_bytes = (uint32_t)buffer,
		.bus_bytes = (uint32_t)bus,
		.mem_ports = (uint32_t)ports,
		.cores = (int)cores,
	};
	problem->plan = (struct plan_options){
		.batch = (int)batch,
		.cores = (int)cores,
		.rows = rows,
		.cols = cols,
		.acc_rows = problem->device.acc_rows,
		.buffer_bytes = (uint32_t)buffer,
		.bus_bytes = (uint32_t)bus,
		.strips = (int)strips,
		.phases = words->phases && !strcmp(words->phases, "forward") ? PLAN_FORWARD : PLAN_ALL,
	};
	return 0;
}
