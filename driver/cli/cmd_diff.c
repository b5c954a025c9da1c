// SPDX-License-Identifier: Apache-2.0
//
// wavecore diff GOT EXPECTED: the first place where two traces of one run part.
#include "driver/cli/cli.h"
#include "traces/wct_diff.h"

static int run(int argc, const char **argv)
{
	static int json, timing;
	static const struct poptOption table[] = {
		{"timing", 0, POPT_ARG_NONE, &timing, 0, "compare cycles and counters too", NULL},
		{"json", 0, POPT_ARG_NONE, &json, 0, "print JSON", NULL},
		POPT_TABLEEND,
	};
	struct wct_diff_report report = {0};
	struct wct_diff_options options;
	const char *paths[2];
	struct wc_error err, print_err;
	int status = cli_parse(&cli_diff, argc, argv, table, paths, 2, 2), result;

	if (status >= 0)
		return status;
	options.timing = timing;
	result = wct_diff(paths[0], paths[1], &options, &report, &err);
	if (!result || result == WC_ERR_MISMATCH) {
		int printed = json ? wct_diff_print_json(&report, stdout, &print_err) : wct_diff_print(&report, stdout, &print_err);

		if (printed)
			return cli_fail(&print_err, printed);
	}
	if (result == WC_ERR_MISMATCH)
		return CLI_MISMATCH;
	return result ? cli_fail(&err, result) : CLI_OK;
}

const struct cli_command cli_diff = {"diff", "GOT EXPECTED", "find the first place where two traces part", run};
