// SPDX-License-Identifier: Apache-2.0
//
// wavecore: plan, check and run training schedules on the device, and look at traces.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/cli/cli.h"

static const struct cli_command *const commands[] = {
	&cli_nets, &cli_plan, &cli_check, &cli_run, &cli_train, &cli_trace, &cli_diff, &cli_report, &cli_version,
};

static void usage(FILE *file)
{
	fprintf(file, "usage: wavecore COMMAND [OPTIONS] ...\n\n");
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		fprintf(file, "  %-8s  %s\n", commands[i]->name, commands[i]->summary);
	fprintf(file, "\n'wavecore COMMAND --help' lists a command's options.\n"
		      "Exit status: 0 all right, 1 mismatch, 2 bad usage or input, 3 simulator or system failure, 128 + N stopped by signal N.\n");
}

static int misused(void)
{
	usage(stderr);
	return CLI_USAGE;
}

static int dispatch(int argc, const char **argv)
{
	size_t i = 0;

	if (argc < 2)
		return misused();
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		usage(stdout);
		return CLI_OK;
	}
	if (!strcmp(argv[1], "--version"))
		return cli_version.run(1, argv + 1);
	while (i < sizeof(commands) / sizeof(*commands) && strcmp(argv[1], commands[i]->name))
		i++;
	if (i == sizeof(commands) / sizeof(*commands)) {
		fprintf(stderr, "error: unknown command '%s'\n", argv[1]);
		return misused();
	}
	return commands[i]->run(argc - 1, argv + 1);
}

// A standard stream that is closed would be the next file that is opened, and its output go there. Instead it cannot be used.
static void fill_streams(void)
{
	static const int modes[] = {[STDIN_FILENO] = O_WRONLY, [STDOUT_FILENO] = O_RDONLY, [STDERR_FILENO] = O_RDONLY};

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		// The lowest free number is fd.
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) != fd)
			exit(CLI_SYSTEM);
}

static const char *program = "wavecore";

const char *cli_program(void)
{
	return program;
}

int main(int argc, const char **argv)
{
	int status;

	if (argc)
		program = argv[0];
	fill_streams();
	// A file that grows beyond its limit is an error of the write, which is told, not the end of the process.
	signal(SIGXFSZ, SIG_IGN);
	status = dispatch(argc, argv);
	// Nothing before has looked at every write. What could not be written then is tried again here, and so says why.
	errno = 0;
	if (fflush(stdout) || ferror(stdout)) {
		if (status != CLI_SYSTEM)
			fprintf(stderr, "error: cannot write to stdout%s%s\n", errno ? ": " : "", errno ? strerror(errno) : "");
		return CLI_SYSTEM;
	}
	return status;
}
