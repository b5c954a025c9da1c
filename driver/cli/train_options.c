// SPDX-License-Identifier: Apache-2.0
//
// The words of `wavecore train`, and what they open.
#include <string.h>

#include "driver/cli/train.h"
#include "driver/host/parameters.h"

// A run's commands are counted in 32 bits.
enum { STEPS_MAX = 100000, TESTS_MAX = 10000 };

static bool is_fashion(const struct run_words *words)
{
	return !words->dataset || !strcmp(words->dataset, DATASET_FASHION_MNIST);
}

static int parse_test(struct train *train, const struct run_words *words, const struct run_job *job, struct wc_error *err)
{
	uint64_t test = is_fashion(words) && job->device.kind == DEVICE_MODEL ? TESTS_MAX : 0;
	const int result = words->test ? cli_number("test", words->test, 0, TESTS_MAX, &test, err) : 0;

	if (!result && test && !is_fashion(words))
		return wc_fail(err, WC_ERR_INPUT, "--test: there are images for tests with --data %s alone", DATASET_FASHION_MNIST);
	train->test = (int)test;
	return result;
}

int train_parse(struct train *train, const struct run_words *words, const struct run_job *job, const struct net *net, struct wc_error *err)
{
	uint64_t steps = 100;
	int result;

	*train = (struct train){.lr = 0.05, .momentum = 0.9, .decay = 0.0005};
	if (net->nodes[net->node_count - 1].op != NET_LOSS)
		return wc_fail(err, WC_ERR_INPUT, "cannot train '%s': it does not end with a loss; 'wavecore nets NETWORK' lists a network's nodes", net->name);
	if (words->labels && is_fashion(words))
		return wc_fail(err, WC_ERR_INPUT, "--labels has no meaning for --data %s, which has its own", DATASET_FASHION_MNIST);
	if ((words->steps && (result = cli_number("steps", words->steps, 1, STEPS_MAX, &steps, err))) ||
	    (words->lr && (result = cli_real("lr", words->lr, 0, 1000, &train->lr, err))) ||
	    (words->momentum && (result = cli_real("momentum", words->momentum, 0, 1, &train->momentum, err))) ||
	    (words->decay && (result = cli_real("decay", words->decay, 0, 1, &train->decay, err))) || (result = parse_test(train, words, job, err)))
		return result;
	train->steps = (int)steps;
	return 0;
}

int train_open(struct train *train, const struct run_words *words, uint64_t seed, struct data *data, struct wc_error *err)
{
	const struct golden_sgd sgd = {.decay = (float)train->decay, .mu = (float)train->momentum, .lr = (float)train->lr};
	const char *name = is_fashion(words) ? DATASET_FASHION_MNIST : words->dataset;
	int result;

	train->data = data;
	if ((result = dataset_open(&train->dataset, name, words->labels, false, data->net, err)) ||
	    (train->test && (result = dataset_open(&train->tests, name, NULL, true, data->net, err))) ||
	    (result = optimizer_init(&train->optimizer, data, &sgd, err)) ||
	    (words->weights && (result = parameters_load(&train->optimizer, &train->drawn, words->weights, err))))
		return result;
	return dataset_draw(&train->dataset, seed, train->drawn, data, err);
}

void train_release(struct train *train)
{
	optimizer_release(&train->optimizer);
	dataset_release(&train->tests);
	dataset_release(&train->dataset);
}
