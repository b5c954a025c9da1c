// SPDX-License-Identifier: Apache-2.0
//
// wavecore train: training steps of a network on a device, every result compared with the golden model.
#include <signal.h>

#include "driver/cli/run.h"

static struct run_words words = {.training = true};
static const struct poptOption table[] = {
	{"net", 0, POPT_ARG_STRING, &words.net, 0, "network that ends with a loss (default: that of --schedule, if this is a file; else lenet)", "NAME|FILE"},
	RUN_OPTIONS(words, "128"),
	{"steps", 0, POPT_ARG_STRING, &words.steps, 0, "mini-batches to train with (default 100)", "N"},
	{"data", 0, POPT_ARG_STRING, &words.dataset, 0, "fashion-mnist, padded with black and repeated in every channel for a larger input (default), or images, NHWC float16, float32 or uint8", "fashion-mnist|X.npy"},
	{"labels", 0, POPT_ARG_STRING, &words.labels, 0, "of the images of a file: [N] int32, int64 or uint8 (default: X.labels.npy)", "Y.npy"},
	{"weights", 0, POPT_ARG_STRING, &words.weights, 0, "directory that --save has written, or of NODE.weight.npy or NODE.weight.krsc.npy, KRSC (default: He normal, a tenth before the loss, biases and betas 0, gammas 1)", "DIR"},
	{"lr", 0, POPT_ARG_STRING, &words.lr, 0, "largest learning rate (default: 0.5 of a network with normalizations, else 0.05)", "X"},
	{"lr-decay", 0, POPT_ARG_STRING, &words.lr_decay, 0, "how it falls behind the warm-up: none, or linear, towards 0 behind the last step (default linear)", "NAME"},
	{"warmup", 0, POPT_ARG_STRING, &words.warmup, 0, "first steps, in which it climbs to --lr (default: a tenth of --lr-steps)", "N"},
	{"lr-steps", 0, POPT_ARG_STRING, &words.lr_steps, 0, "steps of the whole training, for --lr-decay; with --weights those before count (default: to the end of --steps)", "N"},
	{"momentum", 0, POPT_ARG_STRING, &words.momentum, 0, "what is kept of the last step's change (default 0.9)", "X"},
	{"decay", 0, POPT_ARG_STRING, &words.decay, 0, "of every parameter, added to its gradient (default 0.0005)", "X"},
	{"test", 0, POPT_ARG_STRING, &words.test, 0, "Fashion-MNIST's test images to classify in the end, forward by the golden model with the trained parameters (default: all 10000; with the rtl backend 0)", "N"},
	{"save", 0, POPT_ARG_STRING, &words.save, 0, "write the parameters as they are in the end, also when stopped", "DIR"},
	{"curve", 0, POPT_ARG_STRING, &words.curve, 0, "write step, loss and images/s of every step, for scripts/plot-loss", "FILE.tsv"},
	POPT_TABLEEND,
};

static int train(int argc, const char **argv)
{
	const int status = cli_parse(&cli_train, argc, argv, table, NULL, 0, 0);

	// Who closes a pipe must not end what is to be saved.
	signal(SIGPIPE, SIG_IGN);
	return status >= 0 ? status : run_command(&words);
}

const struct cli_command cli_train = {"train", "", "train a network on a device and compare every result with the golden model", train};
