// SPDX-License-Identifier: Apache-2.0
//
// wavecore version
#include "driver/cli/cli.h"
#include "wc_commands.h"

static int run(int argc, const char **argv)
{
	static const struct poptOption table[] = {POPT_TABLEEND};
	int status = cli_parse(&cli_version, argc, argv, table, NULL, 0, 0);

	if (status >= 0)
		return status;
	printf("wavecore %s, commands version %d\n", WAVECORE_VERSION, WC_COMMAND_VERSION);
	return CLI_OK;
}

const struct cli_command cli_version = {"version", "", "print the version", run};
