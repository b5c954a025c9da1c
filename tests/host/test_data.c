// SPDX-License-Identifier: Apache-2.0
//
// Rule: what a run starts from depends on the seed and the files alone, and a file that does not fit is refused with both shapes.
#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "csim/golden/half.h"
#include "driver/host/random.h"
#include "rig.h"
#include "traces/npy.h"

static const char net_yaml[] = "name: t\ninput: {height: 6, width: 5, channels: 3}\nnodes:\n"
			       "  - {name: c1, op: conv, channels: 4, kernel: 3}\n  - {name: r1, op: relu}\n"
			       "  - {name: c2, op: conv, channels: 2, kernel: 2}\n";

// A scratch directory of this process, under the build tree.
static void scratch(char *path, size_t size)
{
	const char *build = getenv("WC_BUILD");

	snprintf(path, size, "%s/tests/host/scratch-%d", build ? build : "build", (int)getpid());
	mkdir(path, 0777);
}

static void discard(const char *path)
{
	char command[4200];

	snprintf(command, sizeof(command), "rm -rf '%s'", path);
	cr_expect_eq(system(command), 0);
}

Test(data, the_random_numbers_are_the_documented_ones)
{
	double sum = 0, squares = 0;

	// From a transcription of random.h into Python, whose mix(G) is splitmix64's first output for state 0, e220a8397b1dcdaf.
	cr_assert_eq(random_bits(0, 0, 0), 0x33fe8bd4f9c57863u);
	cr_assert_eq(random_bits(1, 2, 3), 0x76e36d629cae6121u);
	cr_assert_neq(random_bits(5, 6, 7), random_bits(5, 7, 6));
	for (uint64_t i = 0; i < 100000; i++) {
		const double value = random_normal(1, 2, i);

		cr_assert(value > -6 && value < 6);
		cr_assert_eq(value * 65536, rint(value * 65536), "exact in 1/65536");
		sum += value;
		squares += value * value;
	}
	cr_expect_lt(fabs(sum / 100000), 0.02);
	cr_expect_lt(fabs(squares / 100000 - 1), 0.03);
}

Test(data, the_seed_decides_and_batch_does_not)
{
	struct data small, large, other;
	struct data_options options = {.seed = 3};
	struct wc_error err;
	struct net net;

	rig_net(&net, net_yaml);
	cr_assert_eq(data_init(&small, &net, 2, &options, &err), 0, "%s", err.text);
	cr_assert_eq(data_init(&large, &net, 5, &options, &err), 0, "%s", err.text);
	options.seed = 4;
	cr_assert_eq(data_init(&other, &net, 2, &options, &err), 0, "%s", err.text);
	cr_assert_str_eq(small.images_from, "random");
	cr_assert_arr_eq(small.images, large.images, data_count(&net, 0, 2) * 2);
	cr_assert_arr_eq(small.weights[1], large.weights[1], (size_t)net_conv_weights(&net.nodes[1]) * 2);
	cr_assert_arr_neq(small.images, other.images, data_count(&net, 0, 2) * 2);
	data_release(&small);
	data_release(&large);
	data_release(&other);
	net_release(&net);
}

Test(data, fashion_mnist_is_normalized_and_rounded_once)
{
	const struct data_options options = {.seed = 1};
	struct data data;
	struct wc_error err;
	struct net net;
	int different = 0;

	cr_assert_eq(net_builtin(&net, "fashion-conv", &err), 0);
	cr_assert_eq(data_init(&data, &net, 3, &options, &err), 0, "%s", err.text);
	cr_assert_str_eq(data.images_from, "fashion-mnist");
	for (uint64_t i = 0; i < data_count(&net, 0, 3); i++) {
		const double value = golden_half_to_float(data.images[i]);
		const double pixel = rint((value * 0.3530 + 0.2860) * 255);

		cr_assert(pixel >= 0 && pixel <= 255);
		cr_assert_lt(fabs(value - (pixel / 255 - 0.2860) / 0.3530), 0.0011);
		different += pixel != 0;
	}
	cr_assert_gt(different, 500, "images are not blank");
	data_release(&data);
	net_release(&net);
}

Test(data, files_are_read_back_as_they_were_dumped)
{
	const struct data_options seeded = {.seed = 9};
	struct data_options files = {.seed = 10};
	char directory[256], input[300], gradient[300];
	struct collect collect;
	struct data data, again;
	struct wc_error err;
	struct net net;

	scratch(directory, sizeof(directory));
	rig_net(&net, net_yaml);
	cr_assert_eq(data_init(&data, &net, 2, &seeded, &err), 0, "%s", err.text);
	cr_assert_eq(collect_init(&collect, &net, 2, &err), 0);
	cr_assert_eq(collect_dump(&collect, &data, directory, &err), 0, "%s", err.text);
	snprintf(input, sizeof(input), "%s/input.act.nhwc.npy", directory);
	snprintf(gradient, sizeof(gradient), "%s/c2.grad.nhwc.npy", directory);
	files.input = input;
	files.gradient = gradient;
	files.weights = directory;
	cr_assert_eq(data_init(&again, &net, 2, &files, &err), 0, "%s", err.text);
	cr_expect_arr_eq(data.images, again.images, data_count(&net, 0, 2) * 2);
	cr_expect_arr_eq(data.gradient, again.gradient, data_count(&net, 3, 2) * 2);
	cr_expect_arr_eq(data.weights[3], again.weights[3], (size_t)net_conv_weights(&net.nodes[3]) * 2);
	data_release(&again);

	cr_expect_eq(data_init(&again, &net, 3, &files, &err), WC_ERR_INPUT, "two samples are too few for a batch of three");
	cr_expect(strstr(err.text, "2x6x5x3") && strstr(err.text, "3x6x5x3"), "%s", err.text);
	files.input = gradient;
	cr_expect_eq(data_init(&again, &net, 2, &files, &err), WC_ERR_INPUT);
	cr_expect(strstr(err.text, "c2.grad.nhwc.npy"), "%s", err.text);
	files.input = NULL;
	files.weights = "no-such-directory";
	cr_expect_eq(data_init(&again, &net, 2, &files, &err), WC_ERR_INPUT);
	cr_expect(strstr(err.text, "no-such-directory"), "%s", err.text);
	collect_release(&collect);
	data_release(&data);
	net_release(&net);
	discard(directory);
}
