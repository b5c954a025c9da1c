// SPDX-License-Identifier: Apache-2.0
//
// wavecore run: schedules on a device, every result compared with the golden model.
#include "driver/cli/run.h"

static struct run_words words;
static const struct poptOption table[] = {
	{"net", 0, POPT_ARG_STRING, &words.net, 0, "network (default: that of --schedule, if this is a file; else fashion-conv)", "NAME|FILE"},
	RUN_OPTIONS(words, "4"),
	CLI_PHASES_OPTION(words.device),
	{"input", 0, POPT_ARG_STRING, &words.input, 0, "images, NHWC float16, float32 or uint8 (default: Fashion-MNIST for 28x28x1, else random)", "X.npy"},
	{"weights", 0, POPT_ARG_STRING, &words.weights, 0, "directory of NODE.weight.npy or NODE.weight.krsc.npy, KRSC; NODE.bias.npy, NODE.gamma.npy, NODE.beta.npy if there (default: random)", "DIR"},
	{"gradient", 0, POPT_ARG_STRING, &words.gradient, 0, "gradient of the output, NHWC (default: random), of a network without a loss", "X.npy"},
	POPT_TABLEEND,
};

static int run(int argc, const char **argv)
{
	const int status = cli_parse(&cli_run, argc, argv, table, NULL, 0, 0);

	return status >= 0 ? status : run_command(&words);
}

const struct cli_command cli_run = {"run", "", "run schedules on a device and compare every result with the golden model", run};
