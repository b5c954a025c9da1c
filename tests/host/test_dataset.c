// SPDX-License-Identifier: Apache-2.0
//
// Rule: every sample is drawn once an epoch, in an order that the seed decides; an image stands in the middle of the input, and a file that does
// not fit its labels or the network is refused.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver/host/dataset.h"
#include "tests/net_text.h"

static const char net_yaml[] = "name: t\ninput: {height: 3, width: 2, channels: 2}\nnodes:\n"
			       "  - {name: f, op: fc, units: 4, bias: true}\n  - {name: loss, op: loss}\n";
enum { ELEMENTS = 3 * 2 * 2 };

static char directory[256], images[300], labels[300];

static void scratch(void)
{
	const char *build = getenv("WC_BUILD");

	snprintf(directory, sizeof(directory), "%s/tests/host/scratch-%d", build ? build : "build", (int)getpid());
	mkdir(directory, 0777);
	snprintf(images, sizeof(images), "%s/x.npy", directory);
	snprintf(labels, sizeof(labels), "%s/x.labels.npy", directory);
}

static void discard(void)
{
	char command[300];

	snprintf(command, sizeof(command), "rm -rf '%s'", directory);
	cr_expect_eq(system(command), 0);
}

TestSuite(dataset, .init = scratch, .fini = discard);

static void write_file(const char *path, struct npy_array array)
{
	struct wc_error err;

	cr_assert_eq(npy_write(path, &array, &err), 0, "%s", err.text);
}

// `count` images, all elements of image i the pixel i.
static void write_images(uint64_t count)
{
	uint8_t pixels[16 * ELEMENTS];

	for (uint64_t i = 0; i < count * ELEMENTS; i++)
		pixels[i] = (uint8_t)(i / ELEMENTS);
	write_file(images, (struct npy_array){.type = NPY_UINT8, .dims = 4, .shape = {count, 3, 2, 2}, .data = pixels});
}

static void write_labels(enum npy_type type, uint64_t count, void *data)
{
	write_file(labels, (struct npy_array){.type = type, .dims = 1, .shape = {count}, .data = data});
}

static void open_data(struct data *data, const struct net *net, int batch)
{
	const struct data_options options = {.seed = 1, .plain = true, .blank = true};
	struct wc_error err;

	cr_assert_eq(data_init(data, net, batch, &options, &err), 0, "%s", err.text);
}

Test(dataset, every_sample_is_drawn_once_an_epoch)
{
	int32_t values[5] = {0, 1, 2, 3, 0};
	int same = 0, seen[3][5] = {0};
	uint16_t first[30][ELEMENTS];
	struct dataset dataset;
	struct wc_error err;
	struct data data;
	struct net net;

	tests_net(&net, net_yaml);
	write_images(5);
	write_labels(NPY_INT32, 5, values);
	cr_assert_eq(dataset_open(&dataset, images, NULL, false, &net, &err), 0, "%s", err.text);
	open_data(&data, &net, 3);
	// Batches of three reach over the ends of epochs of five.
	for (uint64_t draw = 0; draw < 15; draw += 3) {
		cr_assert_eq(dataset_draw(&dataset, 7, draw, &data, &err), 0, "%s", err.text);
		for (uint64_t i = 0; i < 3; i++) {
			int sample = 0;

			memcpy(first[draw + i], data.images + i * ELEMENTS, sizeof(first[0]));
			while (data_pixel((uint8_t)sample) != first[draw + i][0])
				sample++;
			cr_assert_lt(sample, 5);
			cr_expect_eq(data.labels[i], values[sample]);
			seen[(draw + i) / 5][sample]++;
		}
	}
	for (int epoch = 0; epoch < 3; epoch++)
		for (int sample = 0; sample < 5; sample++)
			cr_expect_eq(seen[epoch][sample], 1, "epoch %d sample %d", epoch, sample);
	// By position: an earlier draw can be asked for again, in other batches.
	data_release(&data);
	open_data(&data, &net, 1);
	for (uint64_t draw = 15; draw-- > 0;) {
		cr_assert_eq(dataset_draw(&dataset, 7, draw, &data, &err), 0);
		cr_expect_arr_eq(data.images, first[draw], sizeof(first[0]));
		cr_assert_eq(dataset_draw(&dataset, 8, draw, &data, &err), 0);
		same += !memcmp(data.images, first[draw], sizeof(first[0]));
	}
	cr_expect_lt(same, 15, "another seed, another order");
	data_release(&data);
	dataset_release(&dataset);
	net_release(&net);
}

Test(dataset, every_type_of_labels_is_read_and_checked)
{
	static const enum npy_type types[] = {NPY_UINT8, NPY_INT32, NPY_INT64};
	int32_t wide[3] = {3, 0, -1};
	uint8_t bytes[3] = {3, 0, 4};
	int64_t wider[3] = {3, 0, (int64_t)1 << 32};
	void *const values[] = {bytes, wide, wider};
	static const char *const messages[] = {"x.labels.npy: label 2 is 4, ", "x.labels.npy: label 2 is -1, ", "x.labels.npy: label 2 is 4294967296, "};
	struct dataset dataset;
	struct wc_error err;
	struct net net;

	tests_net(&net, net_yaml);
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		write_images(2);
		write_labels(types[i], 2, values[i]);
		cr_assert_eq(dataset_open(&dataset, images, NULL, false, &net, &err), 0, "%s", err.text);
		cr_expect(dataset.count == 2 && dataset.labels[0] == 3 && dataset.labels[1] == 0);
		dataset_release(&dataset);
		write_images(3);
		write_labels(types[i], 3, values[i]);
		cr_assert_eq(dataset_open(&dataset, images, NULL, false, &net, &err), WC_ERR_INPUT);
		cr_expect(strstr(err.text, messages[i]) && strstr(err.text, "classes 0 to 3"), "%s", err.text);
	}
	write_labels(NPY_UINT8, 2, bytes);
	cr_expect_eq(dataset_open(&dataset, images, labels, false, &net, &err), WC_ERR_INPUT);
	cr_expect(strstr(err.text, "2 labels for 3 images"), "%s", err.text);
	net_release(&net);
}

Test(dataset, images_that_do_not_fit_are_refused)
{
	float values[2 * ELEMENTS] = {0};
	struct dataset dataset;
	struct wc_error err;
	struct net net;

	tests_net(&net, net_yaml);
	values[17] = 70000;
	write_file(images, (struct npy_array){.type = NPY_FLOAT32, .dims = 4, .shape = {2, 3, 2, 2}, .data = values});
	cr_expect_eq(dataset_open(&dataset, images, NULL, false, &net, &err), WC_ERR_INPUT);
	cr_expect(strstr(err.text, "element 17 is not finite in fp16"), "%s", err.text);
	write_file(images, (struct npy_array){.type = NPY_FLOAT32, .dims = 4, .shape = {2, 2, 3, 2}, .data = values});
	cr_expect_eq(dataset_open(&dataset, images, NULL, false, &net, &err), WC_ERR_INPUT);
	cr_expect(strstr(err.text, "takes images N x 3 x 2 x 2"), "%s", err.text);
	cr_expect_eq(dataset_open(&dataset, DATASET_FASHION_MNIST, NULL, false, &net, &err), WC_ERR_INPUT);
	cr_expect(strstr(err.text, "10 classes") && strstr(err.text, "only 4 outputs"), "%s", err.text);
	net_release(&net);
}

Test(dataset, fashion_mnist_stands_in_the_middle_of_a_larger_input)
{
	static uint16_t plain[28 * 28], padded[32 * 30 * 3];
	struct dataset dataset;
	struct wc_error err;
	struct net net, larger;

	cr_assert_eq(net_builtin(&net, "lenet", &err), 0, "%s", err.text);
	tests_net(&larger, "name: t\ninput: {height: 32, width: 30, channels: 3}\nnodes:\n"
			   "  - {name: f, op: fc, units: 10}\n  - {name: loss, op: loss}\n");
	cr_assert_eq(dataset_open(&dataset, DATASET_FASHION_MNIST, NULL, true, &net, &err), 0, "%s", err.text);
	cr_assert_eq(dataset.count, 10000);
	dataset_image(&dataset, 9, plain);
	dataset_release(&dataset);
	cr_assert_eq(dataset_open(&dataset, DATASET_FASHION_MNIST, NULL, true, &larger, &err), 0, "%s", err.text);
	dataset_image(&dataset, 9, padded);
	for (int y = 0; y < 32; y++)
		for (int x = 0; x < 30; x++)
			for (int channel = 0; channel < 3; channel++) {
				const bool inside = y >= 2 && y < 30 && x >= 1 && x < 29;

				cr_assert_eq(padded[(y * 30 + x) * 3 + channel], inside ? plain[(y - 2) * 28 + x - 1] : data_pixel(0), "%d %d", y, x);
			}
	dataset_release(&dataset);
	net_release(&larger);
	net_release(&net);
}
