// SPDX-License-Identifier: Apache-2.0
//
// The words of `wavecore train`, and what they open.
#include <inttypes.h>
#include <string.h>

#include "driver/cli/train.h"
#include "driver/host/parameters.h"

// A run's commands are counted in 32 bits.
enum { STEPS_MAX = 100000, LENGTH_MAX = 1000000000, TESTS_MAX = 10000 };
// The default warm-up is a tenth of the training.
enum { WARMUP_PART = 10 };

static bool is_fashion(const struct run_words *words)
{
	return !words->dataset || !strcmp(words->dataset, DATASET_FASHION_MNIST);
}

// A layer behind which there is a normalization takes larger steps: its output's scale does not grow with its weights.
static const double lr_normalized = 0.5, lr_plain = 0.05;

static bool has_norm(const struct net *net)
{
	int node = 0;

	while (node < net->node_count && net->nodes[node].op != NET_GN)
		node++;
	return node < net->node_count;
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

static int parse_rate(struct train *train, const struct run_words *words, struct wc_error *err)
{
	enum rate_decay decay = RATE_LINEAR;
	int result = words->lr ? cli_real("lr", words->lr, 0, 1000, &train->rate.peak, err) : 0;

	if (!result && words->lr_steps)
		result = cli_number("lr-steps", words->lr_steps, 1, LENGTH_MAX, &train->rate.length, err);
	if (!result && words->warmup)
		result = cli_number("warmup", words->warmup, 0, LENGTH_MAX, &train->rate.warmup, err);
	if (!result && words->lr_decay) {
		decay = 0;
		while (decay < RATE_DECAYS && strcmp(words->lr_decay, rate_decay_name(decay)))
			decay++;
		if (decay == RATE_DECAYS)
			result = wc_fail(err, WC_ERR_INPUT, "--lr-decay: '%s' is not one of: none, linear", words->lr_decay);
	}
	train->rate.decay = decay;
	return result;
}

// Where in the training the first step is.
static int place_rate(struct train *train, const struct run_words *words, int batch, struct wc_error *err)
{
	uint64_t end;

	train->before = train->drawn / (uint64_t)batch;
	end = train->before + (uint64_t)train->steps;
	if (!words->lr_steps)
		train->rate.length = end;
	else if (train->rate.length < end)
		return wc_fail(err, WC_ERR_INPUT, "--lr-steps: %s, but this training goes to step %" PRIu64 " (%" PRIu64 " before it, and %d)", words->lr_steps,
			       end, train->before, train->steps);
	if (!words->warmup)
		train->rate.warmup = train->rate.length / WARMUP_PART;
	return 0;
}

int train_parse(struct train *train, const struct run_words *words, const struct run_job *job, const struct net *net, struct wc_error *err)
{
	uint64_t steps = 100;
	int result;

	*train = (struct train){.rate.peak = has_norm(net) ? lr_normalized : lr_plain, .momentum = 0.9, .decay = 0.0005};
	if (net->nodes[net->node_count - 1].op != NET_LOSS)
		return wc_fail(err, WC_ERR_INPUT, "cannot train '%s': it does not end with a loss; 'wavecore nets NETWORK' lists a network's nodes", net->name);
	if (words->labels && is_fashion(words))
		return wc_fail(err, WC_ERR_INPUT, "--labels has no meaning for --data %s, which has its own", DATASET_FASHION_MNIST);
	if ((words->steps && (result = cli_number("steps", words->steps, 1, STEPS_MAX, &steps, err))) ||
	    (result = parse_rate(train, words, err)) ||
	    (words->momentum && (result = cli_real("momentum", words->momentum, 0, 1, &train->momentum, err))) ||
	    (words->decay && (result = cli_real("decay", words->decay, 0, 1, &train->decay, err))) || (result = parse_test(train, words, job, err)))
		return result;
	train->steps = (int)steps;
	return 0;
}

int train_open(struct train *train, const struct run_words *words, uint64_t seed, struct data *data, struct wc_error *err)
{
	const struct golden_sgd sgd = {.decay = (float)train->decay, .mu = (float)train->momentum};
	const char *name = is_fashion(words) ? DATASET_FASHION_MNIST : words->dataset;
	int result;

	train->data = data;
	if ((result = dataset_open(&train->dataset, name, words->labels, false, data->net, err)) ||
	    (train->test && (result = dataset_open(&train->tests, name, NULL, true, data->net, err))) ||
	    (result = optimizer_init(&train->optimizer, data, &sgd, err)) ||
	    (words->weights && (result = parameters_load(&train->optimizer, &train->drawn, words->weights, err))) ||
	    (result = place_rate(train, words, data->batch, err)))
		return result;
	train->optimizer.sgd.lr = rate_at(&train->rate, train->before);
	return dataset_draw(&train->dataset, seed, train->drawn, data, err);
}

void train_release(struct train *train)
{
	optimizer_release(&train->optimizer);
	dataset_release(&train->tests);
	dataset_release(&train->dataset);
}
