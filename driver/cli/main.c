// SPDX-License-Identifier: Apache-2.0
//
// wavecore: plan, check and run training schedules on the device, and look at traces.
#include <string.h>

#include "driver/cli/cli.h"

static const struct cli_command *const commands[] = {
	&cli_nets, &cli_plan, &cli_check, &cli_run, &cli_trace, &cli_diff, &cli_report, &cli_version,
};

static void usage(FILE *file)
{
	fprintf(file, "usage: wavecore COMMAND [OPTIONS] ...\n\n");
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		fprintf(file, "  %-8s  %s\n", commands[i]->name, commands[i]->summary);
	fprintf(file, "\n'wavecore COMMAND --help' lists a command's options.\n"
		      "Exit status: 0 all right, 1 mismatch, 2 bad usage or input, 3 simulator or system failure, 130 interrupted.\n");
}

static int misused(void)
{
	usage(stderr);
	return CLI_USAGE;
}

int main(int argc, const char **argv)
{
	int status = CLI_USAGE;

	if (argc < 2)
		return misused();
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		usage(stdout);
		return CLI_OK;
	}
	if (!strcmp(argv[1], "--version"))
		return cli_version.run(1, argv + 1);
	size_t i = 0;

	while (i < sizeof(commands) / sizeof(*commands) && strcmp(argv[1], commands[i]->name))
		i++;
	if (i == sizeof(commands) / sizeof(*commands)) {
		fprintf(stderr, "error: unknown command '%s'\n", argv[1]);
		return misused();
	}
	status = commands[i]->run(argc - 1, argv + 1);
	if (fflush(stdout)) {
		fprintf(stderr, "error: cannot write to stdout\n");
		return CLI_SYSTEM;
	}
	return status;
}
