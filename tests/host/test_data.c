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
#include "tests/net_text.h"
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

	tests_net(&net, net_yaml);
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
	tests_net(&net, net_yaml);
	cr_assert_eq(data_init(&data, &net, 2, &seeded, &err), 0, "%s", err.text);
	cr_assert_eq(collect_init(&collect, &net, 2, &err), 0);
	cr_assert_eq(collect_dump(&collect, &data, NULL, directory, &err), 0, "%s", err.text);
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

// Filters of a convolution with groups have its group's channels.
Test(data, files_of_groups_are_read_back_as_they_were_dumped)
{
	static const char yaml[] = "name: t\ninput: {height: 6, width: 5, channels: 4}\nnodes:\n"
				   "  - {name: c1, op: conv, channels: 6, kernel: [3, 2], groups: 2}\n"
				   "  - {name: c2, op: conv, channels: 12, kernel: 2, groups: 6}\n";
	const struct data_options seeded = {.seed = 9};
	struct data_options files = {.seed = 10};
	struct collect collect;
	struct data data, again;
	struct wc_error err;
	struct net net;
	char directory[256];

	scratch(directory, sizeof(directory));
	tests_net(&net, yaml);
	cr_assert_eq(data_init(&data, &net, 2, &seeded, &err), 0, "%s", err.text);
	cr_assert_eq(collect_init(&collect, &net, 2, &err), 0);
	cr_assert_eq(collect_dump(&collect, &data, NULL, directory, &err), 0, "%s", err.text);
	files.weights = directory;
	cr_assert_eq(data_init(&again, &net, 2, &files, &err), 0, "%s", err.text);
	for (int node = 1; node <= 2; node++)
		cr_expect_arr_eq(data.weights[node], again.weights[node], (size_t)net_conv_weights(&net.nodes[node]) * 2);
	data_release(&again);
	collect_release(&collect);
	data_release(&data);
	net_release(&net);
	discard(directory);
}

static void write_values(const char *path, enum npy_type type, const uint64_t shape[4], void *values)
{
	const struct npy_array array = {.type = type, .dims = 4, .shape = {shape[0], shape[1], shape[2], shape[3]}, .data = values};
	struct wc_error err;

	cr_assert_eq(npy_write(path, &array, &err), 0, "%s", err.text);
}

// An array without dimensions.
static void write_number(const char *path)
{
	uint16_t value = 0x3c00;
	const struct npy_array array = {.type = NPY_FLOAT16, .data = &value};
	struct wc_error err;

	cr_assert_eq(npy_write(path, &array, &err), 0, "%s", err.text);
}

Test(data, single_precision_and_pixels_are_rounded_once)
{
	static const uint64_t image[4] = {2, 6, 5, 3}, filters[4] = {4, 3, 3, 3}, gradient[4] = {2, 3, 2, 2};
	char directory[256], path[300], input[300], gradients[300];
	struct data_options options = {.seed = 1};
	float values[2 * 6 * 5 * 3];
	uint8_t pixels[2 * 6 * 5 * 3];
	struct data data;
	struct wc_error err;
	struct net net;

	scratch(directory, sizeof(directory));
	tests_net(&net, net_yaml);
	// Ties and values between halves, and one beyond their range.
	for (size_t i = 0; i < 180; i++) {
		values[i] = (float)i * 0.37f - 20 + (float)i / 8192;
		pixels[i] = (uint8_t)(i * 7);
	}
	values[5] = 1 + 1 / 2048.0f;
	values[6] = 1 + 3 / 2048.0f;
	values[7] = 70000;
	snprintf(input, sizeof(input), "%s/image.npy", directory);
	write_values(input, NPY_FLOAT32, image, values);
	snprintf(path, sizeof(path), "%s/c1.weight.npy", directory);
	write_values(path, NPY_FLOAT32, filters, values);
	snprintf(path, sizeof(path), "%s/c2.weight.npy", directory);
	write_values(path, NPY_FLOAT32, (const uint64_t[]){2, 2, 2, 4}, values);
	snprintf(gradients, sizeof(gradients), "%s/gradient.npy", directory);
	write_values(gradients, NPY_FLOAT32, gradient, values);
	options.input = input;
	options.weights = directory;
	options.gradient = gradients;
	cr_assert_eq(data_init(&data, &net, 2, &options, &err), 0, "%s", err.text);
	for (size_t i = 0; i < 180; i++) {
		const _Float16 half = (_Float16)values[i];
		uint16_t bits;

		memcpy(&bits, &half, 2);
		cr_assert_eq(data.images[i], bits, "%zu", i);
		if (i < 4 * 3 * 3 * 3)
			cr_assert_eq(data.weights[1][i], bits, "%zu", i);
		if (i < 2 * 3 * 2 * 2)
			cr_assert_eq(data.gradient[i], bits, "%zu", i);
	}
	cr_expect_eq(data.images[5], 0x3c00);
	cr_expect_eq(data.images[6], 0x3c02);
	cr_expect_eq(data.images[7], 0x7c00);
	data_release(&data);
	// Pixels as Fashion-MNIST's, for images alone.
	write_values(input, NPY_UINT8, image, pixels);
	cr_assert_eq(data_init(&data, &net, 2, &options, &err), 0, "%s", err.text);
	for (size_t i = 0; i < 180; i++) {
		const _Float16 half = (_Float16)((pixels[i] / 255.0 - 0.2860) / 0.3530);
		uint16_t bits;

		memcpy(&bits, &half, 2);
		cr_assert_eq(data.images[i], bits, "%zu", i);
	}
	data_release(&data);
	write_values(gradients, NPY_UINT8, gradient, pixels);
	cr_expect_eq(data_init(&data, &net, 2, &options, &err), WC_ERR_INPUT);
	cr_expect(strstr(err.text, "elements of type '|u1'; must be one of: float16 '<f2', float32 '<f4'"), "%s", err.text);
	cr_expect_not(strstr(err.text, "uint"), "only what is taken is offered: %s", err.text);
	// Weights have two names; with both it is not clear which are meant.
	write_values(gradients, NPY_FLOAT32, gradient, values);
	snprintf(path, sizeof(path), "%s/c2.weight.krsc.npy", directory);
	write_values(path, NPY_FLOAT32, (const uint64_t[]){2, 2, 2, 4}, values);
	cr_expect_eq(data_init(&data, &net, 2, &options, &err), WC_ERR_INPUT);
	cr_expect(strstr(err.text, "both") && strstr(err.text, "c2.weight.npy") && strstr(err.text, "c2.weight.krsc.npy"), "%s", err.text);
	remove(path);
	snprintf(path, sizeof(path), "%s/c2.weight.npy", directory);
	remove(path);
	cr_expect_eq(data_init(&data, &net, 2, &options, &err), WC_ERR_INPUT);
	cr_expect(strstr(err.text, "neither") && strstr(err.text, "c2.weight.npy") && strstr(err.text, "c2.weight.krsc.npy"), "%s", err.text);
	options.input = gradients;
	write_number(gradients);
	cr_expect_eq(data_init(&data, &net, 2, &options, &err), WC_ERR_INPUT);
	cr_expect(strstr(err.text, "shape () of a single number"), "%s", err.text);
	net_release(&net);
	discard(directory);
}

static void keep_note(void *context, const char *text)
{
	snprintf(context, 1000, "%s", text);
}

Test(data, values_that_are_not_finite_are_noted)
{
	static const uint64_t image[4] = {2, 6, 5, 3};
	char directory[256], input[300], note[1000] = "";
	struct data_options options = {.seed = 1, .note = keep_note, .note_context = note};
	float values[2 * 6 * 5 * 3] = {0};
	struct data data;
	struct wc_error err;
	struct net net;

	scratch(directory, sizeof(directory));
	tests_net(&net, net_yaml);
	snprintf(input, sizeof(input), "%s/image.npy", directory);
	options.input = input;
	values[4] = 65504;
	write_values(input, NPY_FLOAT32, image, values);
	cr_assert_eq(data_init(&data, &net, 2, &options, &err), 0, "%s", err.text);
	cr_expect_str_empty(note);
	data_release(&data);
	values[17] = NAN;
	values[20] = -INFINITY;
	values[100] = 70000;
	write_values(input, NPY_FLOAT32, image, values);
	cr_assert_eq(data_init(&data, &net, 2, &options, &err), 0, "%s", err.text);
	cr_expect(strstr(note, "image.npy: 3 of 180 values are not finite in fp16 (1 of them beyond its largest, 65504); the first is element 17"), "%s", note);
	data_release(&data);
	// Only the samples of the batch are read.
	note[0] = '\0';
	cr_assert_eq(data_init(&data, &net, 1, &options, &err), 0, "%s", err.text);
	cr_expect(strstr(note, "2 of 90 values"), "%s", note);
	data_release(&data);
	net_release(&net);
	discard(directory);
}

Test(data, a_batch_beyond_the_data_set_is_told_by_its_option)
{
	const struct data_options options = {.seed = 1};
	struct data data;
	struct wc_error err;
	struct net net;

	tests_net(&net, "name: t\ninput: {height: 28, width: 28, channels: 1}\nnodes:\n  - {name: c1, op: conv, channels: 1, kernel: 3}\n");
	cr_assert_eq(data_init(&data, &net, 60001, &options, &err), WC_ERR_INPUT);
	cr_expect(strstr(err.text, "--batch: 60001") && strstr(err.text, "60000") && strstr(err.text, "--input"), "%s", err.text);
	net_release(&net);
}

Test(data, a_path_that_is_too_long_is_refused)
{
	struct data_options options = {.seed = 1};
	char directory[5000];
	struct data data;
	struct wc_error err;
	struct net net;

	memset(directory, 'd', sizeof(directory) - 1);
	directory[sizeof(directory) - 1] = '\0';
	options.weights = directory;
	tests_net(&net, net_yaml);
	cr_assert_eq(data_init(&data, &net, 2, &options, &err), WC_ERR_INPUT);
	cr_expect(strstr(err.text, "longer than 4095 bytes"), "%s", err.text);
	net_release(&net);
}
