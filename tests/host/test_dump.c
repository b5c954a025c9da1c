// SPDX-License-Identifier: Apache-2.0
//
// Rule: a dump of a training step has everything the step read and made, under the names that are announced, and behind an update the
// parameters that the next step begins with.
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rig.h"
#include "traces/npy.h"
#include "whole_net.h"

static char directory[256];

static void scratch(void)
{
	const char *build = getenv("WC_BUILD");

	snprintf(directory, sizeof(directory), "%s/tests/host/scratch-%d", build ? build : "build", (int)getpid());
	mkdir(directory, 0777);
}

static void discard(void)
{
	char command[300];

	snprintf(command, sizeof(command), "rm -rf '%s'", directory);
	cr_expect_eq(system(command), 0);
}

static void read_dumped(struct npy_array *array, const char *name)
{
	struct wc_error err;
	char path[600];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	cr_assert_eq(npy_read(path, array, &err), 0, "%s", err.text);
}

static void expect_dumped(const char *name, enum npy_type type, uint64_t count, const void *values)
{
	struct npy_array array;
	uint64_t elements = 1;

	read_dumped(&array, name);
	for (int i = 0; i < array.dims; i++)
		elements *= array.shape[i];
	cr_expect_eq(array.type, type, "%s", name);
	cr_assert_eq(elements, count, "%s", name);
	cr_expect(!memcmp(array.data, values, count * npy_element_bytes(type)), "%s", name);
	npy_release(&array);
}

static int is_name(void *context, const char *name)
{
	return !strcmp(context, name);
}

// Of the files that are there, none that collect_dump_names() does not name.
static int expect_announced(const struct net *net)
{
	DIR *files = opendir(directory);
	struct dirent *file;
	int count = 0;

	cr_assert(files);
	while ((file = readdir(files)))
		if (file->d_name[0] != '.') {
			cr_expect(collect_dump_names(net, is_name, file->d_name), "%s", file->d_name);
			count++;
		}
	closedir(files);
	return count;
}

// An array before and behind the last step: the masters and momenta that the optimizer has behind it are compared bits of the device's.
static void expect_array(const struct rig *rig, int node, enum parameter_array array, const char *name, const uint16_t *before)
{
	static const char *const suffixes[] = {"", "_gradient", "_master_before", "_momentum_before", "_master", "_momentum", "_updated"};
	const struct optimizer_array *of = &rig->optimizer.arrays[node][array];
	const char *end = array == ARRAY_FILTERS ? ".krsc" : "";
	struct npy_array dumped;
	char file[300];

	snprintf(file, sizeof(file), "%s%s.npy", name, end);
	expect_dumped(file, NPY_FLOAT16, of->count, before);
	snprintf(file, sizeof(file), "%s_master%s.npy", name, end);
	expect_dumped(file, NPY_FLOAT32, of->count, of->master);
	snprintf(file, sizeof(file), "%s_momentum%s.npy", name, end);
	expect_dumped(file, NPY_FLOAT32, of->count, of->momentum);
	snprintf(file, sizeof(file), "%s_updated%s.npy", name, end);
	expect_dumped(file, NPY_FLOAT16, of->count, optimizer_parameters(&rig->data, node, array));
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		snprintf(file, sizeof(file), "%s%s%s.npy", name, suffixes[i], end);
		read_dumped(&dumped, file);
		npy_release(&dumped);
	}
}

// NULL: the node has no such array.
static uint16_t *copy(const uint16_t *values, uint64_t count)
{
	uint16_t *copied;

	if (!count)
		return NULL;
	copied = malloc(count * sizeof(*copied));
	cr_assert(copied);
	memcpy(copied, values, count * sizeof(*copied));
	return copied;
}

static int same_batch(void *context, int step, struct wc_error *err)
{
	(void)context, (void)step, (void)err;
	return 0;
}

Test(dump, has_all_of_a_training_step)
{
	static const char *const arrays[ARRAY_COUNT] = {"weight", "bias", "gamma", "beta"};
	const struct run_training training = {.steps = 1, .next_batch = same_batch};
	struct npy_array losses;
	struct rig rig;
	uint16_t *before[32][ARRAY_COUNT];
	double sum = 0;
	char name[280];
	int last;

	scratch();
	rig_start(&rig, whole_net, "mbs2", 8, 4, 3, 16384, 16, 7);
	cr_assert(rig.planned, "%s", rig.err.text);
	rig_train(&rig);
	rig.options.training = &training;
	rig.options.dump = directory;
	last = rig.net.node_count - 1;
	cr_assert_lt(last, 32);
	for (int node = 0; node <= last; node++)
		for (int array = 0; array < ARRAY_COUNT; array++)
			before[node][array] = copy(optimizer_parameters(&rig.data, node, (enum parameter_array)array), rig.optimizer.arrays[node][array].count);
	rig_expect_right(&rig, rig_run(&rig));
	cr_expect_gt(expect_announced(&rig.net), 100);
	for (int node = 0; node <= last; node++)
		for (int array = 0; array < ARRAY_COUNT; array++) {
			snprintf(name, sizeof(name), "%s.%s", rig.net.nodes[node].name, arrays[array]);
			if (rig.optimizer.arrays[node][array].count)
				expect_array(&rig, node, (enum parameter_array)array, name, before[node][array]);
			free(before[node][array]);
		}
	expect_dumped("sgd.npy", NPY_FLOAT32, 4, (const float[]){1 / rig.data.loss_scale, 0.01f, 0.9f, 0.05f});
	expect_dumped("input.act.nhwc.npy", NPY_FLOAT16, data_count(&rig.net, 0, 3), rig.data.images);
	expect_dumped("loss.labels.npy", NPY_UINT16, 3, (const uint16_t[]){(uint16_t)rig.data.labels[0], (uint16_t)rig.data.labels[1], (uint16_t)rig.data.labels[2]});
	read_dumped(&losses, "loss.losses.npy");
	for (int sample = 0; sample < 3; sample++)
		sum += (double)((const float *)losses.data)[sample];
	cr_expect_eq(sum / 3, rig.result.loss);
	npy_release(&losses);
	rig_stop(&rig);
	discard();
}

Test(dump, a_step_without_an_update_has_no_masters)
{
	struct npy_array array;
	struct rig rig;
	char path[300];

	scratch();
	rig_start(&rig, whole_net, "mbs2", 8, 4, 3, 16384, 16, 7);
	cr_assert(rig.planned, "%s", rig.err.text);
	rig.options.dump = directory;
	rig_expect_right(&rig, rig_run(&rig));
	expect_announced(&rig.net);
	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", directory, i ? "sgd.npy" : "c1.weight_master.krsc.npy");
		cr_expect(access(path, F_OK), "%s", path);
	}
	read_dumped(&array, "n1.statistics.npy");
	cr_expect(array.dims == 3 && array.shape[0] == 3 && array.shape[1] == 2 && array.shape[2] == 12);
	npy_release(&array);
	// Taps of 3x3 windows take 4 bits each; 6 x 12 of them stand in a row.
	read_dumped(&array, "p1.mask.bits.npy");
	cr_expect(array.dims == 4 && array.shape[0] == 3 && array.shape[1] == 7 && array.shape[3] == 6 * 12 * 4 / 8);
	npy_release(&array);
	rig_stop(&rig);
	discard();
}
