// SPDX-License-Identifier: Apache-2.0
//
// Rule: `train` trains: the same bits whatever the schedule until sums of gradients enter, the same bits when it goes on from saved
// parameters, a wrong value found in any step, and nothing of what is done lost when it is stopped.
#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "command.h"
#include "traces/npy.h"

// The tests themselves may run where some are ignored.
static void take_signals(void)
{
	signal(SIGINT, SIG_DFL);
}

TestSuite(train, .init = take_signals, .fini = command_clean, .timeout = 240);

#define SMALL "train --backend model --batch 4 "

Test(train, every_schedule_begins_with_the_same_parameters)
{
	json_t *all = command_results(SMALL "--schedule baseline,mbs2,hybrid --steps 2 --test 150 --json", NULL), *run, *first;
	size_t i;

	cr_expect(json_is_true(json_object_get(all, "bit_identical")));
	cr_assert_eq(json_array_size(json_object_get(all, "runs")), 3);
	first = json_object_get(json_array_get(json_object_get(all, "runs"), 0), "losses");
	json_array_foreach(json_object_get(all, "runs"), i, run) {
		const json_t *losses = json_object_get(run, "losses"), *accuracy = json_object_get(run, "test_accuracy");

		cr_assert_eq(json_array_size(losses), 2);
		cr_expect(json_equal(json_array_get(losses, 0), json_array_get(first, 0)));
		cr_expect_neq(json_real_value(json_array_get(losses, 0)), json_real_value(json_array_get(losses, 1)));
		cr_expect(json_equal(json_array_get(losses, 1), json_object_get(run, "final_loss")));
		cr_expect(json_is_real(accuracy) && json_real_value(accuracy) > 0 && json_real_value(accuracy) < 1);
		cr_expect_eq(command_integer(run, "test_images"), 150);
		cr_expect(command_integer(run, "steps") == 2 && command_integer(run, "steps_done") == 2 && command_integer(run, "samples_before") == 0);
		cr_expect_eq(json_real_value(json_object_get(run, "lr")), 0.05);
		cr_expect_gt(json_real_value(json_object_get(run, "update_wall_s")), 0);
		cr_expect(json_is_null(json_object_get(run, "update_cycles")));
		cr_expect_str_eq(json_string_value(json_object_get(run, "data")), "fashion-mnist");
		cr_expect(json_equal(json_object_get(run, "by_class"), json_object_get(run, "predicted_by_class")));
		cr_expect_gt(json_integer_value(json_object_get(json_object_get(run, "by_class"), "optimizer")), 0);
		cr_expect_eq(command_integer(run, "mismatched"), 0);
	}
	json_decref(all);
}

Test(train, losses_have_the_same_bits_on_the_rtl)
{
	json_t *model = command_results("train --backend model --batch 1 --steps 2 --schedule mbs2 --test 0 --json", NULL);
	json_t *rtl = command_results("train --backend rtl --arith dpi --batch 1 --steps 2 --schedule mbs2 --json", NULL);

	cr_expect(json_equal(json_object_get(model, "losses"), json_object_get(rtl, "losses")));
	cr_expect(json_equal(json_object_get(model, "digests"), json_object_get(rtl, "digests")));
	cr_expect(json_equal(json_object_get(model, "by_class"), json_object_get(rtl, "by_class")));
	cr_expect_gt(command_integer(rtl, "update_cycles"), 0);
	cr_expect_lt(command_integer(rtl, "update_cycles"), command_integer(rtl, "cycles"));
	cr_expect(json_is_null(json_object_get(rtl, "test_accuracy")));
	json_decref(model);
	json_decref(rtl);
}

Test(train, the_rate_changes_from_step_to_step_on_the_rtl_too)
{
#define FALLING "train --batch 1 --steps 3 --schedule baseline,mbs2,hybrid --jobs 2 --lr 0.08 --warmup 1 --json "
	json_t *model = command_results(FALLING "--backend model --test 0", NULL), *rtl = command_results(FALLING "--backend rtl --arith dpi", NULL);
	json_t *runs = json_object_get(model, "runs"), *run;
	size_t i;

	cr_assert_eq(json_array_size(runs), 3);
	json_array_foreach(runs, i, run) {
		const json_t *other = json_array_get(json_object_get(rtl, "runs"), i), *rates = json_object_get(run, "rates");

		cr_expect(json_equal(json_object_get(run, "losses"), json_object_get(other, "losses")));
		cr_expect(json_equal(rates, json_object_get(other, "rates")));
		cr_assert_eq(json_array_size(rates), 3);
		for (size_t k = 0; k < 3; k++)
			cr_expect_float_eq(json_real_value(json_array_get(rates, k)), k == 1 ? 0.08 : 0.04, 1e-8);
		cr_expect_eq(command_integer(run, "mismatched") + command_integer(other, "mismatched"), 0);
	}
	json_decref(model);
	json_decref(rtl);
}

Test(train, a_network_with_normalizations_takes_larger_steps)
{
	json_t *run = command_results("train --net resnet8 --backend model --batch 1 --steps 2 --schedule mbs2 --buffer 128KiB --test 0 --json", "");
	const json_t *rates = json_object_get(run, "rates");

	cr_expect_eq(json_real_value(json_object_get(run, "lr")), 0.5);
	cr_expect_str_eq(json_string_value(json_object_get(run, "lr_decay")), "linear");
	cr_expect(command_integer(run, "warmup") == 0 && command_integer(run, "lr_steps") == 2);
	cr_expect(json_real_value(json_array_get(rates, 0)) == 0.5 && json_real_value(json_array_get(rates, 1)) == 0.25);
	json_decref(run);
}

Test(train, a_step_is_exact_on_the_rtl_under_every_schedule)
{
	json_t *all = command_results("train --batch 3 --steps 1 --strips 3 --jobs 2 --json --schedule baseline,il,mbs-fs,mbs1,mbs2,overl,2ps,overl-h,2ps-h,hybrid", NULL), *run;
	size_t i;

	cr_expect(json_is_true(json_object_get(all, "bit_identical")));
	cr_expect_eq(json_array_size(json_object_get(all, "runs")), 10);
	json_array_foreach(json_object_get(all, "runs"), i, run) {
		cr_expect_eq(command_integer(run, "mismatched"), 0);
		cr_expect(json_equal(json_object_get(run, "read_by_class"), json_object_get(run, "predicted_read_by_class")));
		cr_expect(json_equal(json_object_get(run, "write_by_class"), json_object_get(run, "predicted_write_by_class")));
	}
	json_decref(all);
}

Test(train, it_prints_every_step_and_the_table)
{
	struct command command;

	command_run(&command, SMALL "--schedule mbs2 --steps 2 --test 10");
	cr_assert_eq(command.status, 0, "%s", command.err);
	cr_expect(!strncmp(command.out, "mbs2: step 1 of 2, loss ", 24), "%s", command.out);
	cr_expect(strstr(command.out, "\nmbs2: step 2 of 2, loss ") && strstr(command.out, " images/s\nschedule "), "%s", command.out);
	cr_expect(strstr(command.out, "all equal to the golden model; DRAM bytes equal to the prediction"), "%s", command.out);
	cr_expect(strstr(command.out, "of 10 test images right, forward by the golden model"), "%s", command.out);
	cr_expect_str_empty(command.err);
	command_release(&command);
}

Test(train, it_goes_on_where_it_stopped)
{
	json_t *whole = command_results(SMALL "--schedule mbs2 --steps 3 --warmup 1 --test 0 --save whole --json", NULL), *first, *rest;
	char line[1024];

	first = command_results(SMALL "--schedule mbs2 --steps 1 --lr-steps 3 --warmup 1 --test 0 --save part --json", NULL);
	rest = command_results(SMALL "--schedule mbs2 --steps 2 --warmup 1 --test 0 --weights part --save rest --json", NULL);
	cr_expect_eq(command_integer(rest, "samples_before"), 4);
	cr_expect(json_equal(json_array_get(json_object_get(whole, "rates"), 2), json_array_get(json_object_get(rest, "rates"), 1)));
	for (size_t i = 0; i < 3; i++)
		cr_expect(json_equal(json_array_get(json_object_get(whole, "losses"), i),
				     i ? json_array_get(json_object_get(rest, "losses"), i - 1) : json_array_get(json_object_get(first, "losses"), 0)), "step %zu", i + 1);
	snprintf(line, sizeof(line), "cd '%s' && test -f whole/conv1.bias.momentum.npy && diff -r whole rest", command_scratch());
	cr_expect_eq(system(line), 0, "parameters, masters, momenta and draws are the same bytes");
	json_decref(whole);
	json_decref(first);
	json_decref(rest);
	command_expect_error(SMALL "--weights part --save part", 2, "--save: 'part/samples.npy' is the file of --weights too");
	snprintf(line, sizeof(line), "cd '%s' && cp whole/conv1.bias.npy part/", command_scratch());
	cr_assert_eq(system(line), 0);
	command_expect_error(SMALL "--weights part", 2, "part/conv1.bias.master.npy: element ");
}

Test(train, what_cannot_be_saved_is_refused_before_the_training)
{
	char line[1024];

	json_decref(command_results(SMALL "--schedule mbs2 --steps 1 --test 0 --save kept-baseline --json", NULL));
	// A directory where a file would be written aside; of several schedules, too.
	snprintf(line, sizeof(line), "cd '%s' && mkdir bad bad/fc3.bias.npy && cp -r kept-baseline copy && mkdir kept-baseline/fc5.bias.npy.new", command_scratch());
	cr_assert_eq(system(line), 0);
	command_expect_error(SMALL "--schedule mbs2 --steps 2 --save bad", 2, "--save: 'bad/fc3.bias.npy' is a directory; only a regular file can be replaced");
	command_expect_error(SMALL "--schedule mbs2,baseline --steps 2 --save kept", 2, "--save: 'kept-baseline/fc5.bias.npy.new' is a directory");
	snprintf(line, sizeof(line), "cd '%s' && rmdir kept-baseline/fc5.bias.npy.new && diff -r kept-baseline copy && ! test -e kept-mbs2 && rmdir bad/*", command_scratch());
	cr_expect_eq(system(line), 0);
}

// Element 1 of a saved float32 array, [channels], becomes `value`.
static void spoil(const char *name, float value)
{
	char path[512];
	struct npy_array array;
	struct wc_error err;

	snprintf(path, sizeof(path), "%s/%s", command_scratch(), name);
	cr_assert_eq(npy_read(path, &array, &err), 0, "%s", err.text);
	((float *)array.data)[1] = value;
	cr_assert_eq(npy_write(path, &array, &err), 0, "%s", err.text);
	npy_release(&array);
}

Test(train, what_is_not_finite_is_no_place_to_go_on_from)
{
	json_decref(command_results(SMALL "--schedule mbs2 --steps 1 --test 0 --save s --json", NULL));
	spoil("s/fc5.bias.momentum.npy", -INFINITY);
	command_expect_error(SMALL "--weights s", 2, "s/fc5.bias.momentum.npy: element 1 is -inf, which is not finite");
	spoil("s/conv1.bias.master.npy", NAN);
	command_expect_error(SMALL "--weights s", 2, "s/conv1.bias.master.npy: element 1 is nan, which is not finite");
}

Test(train, what_is_incomplete_is_no_place_to_go_on_from)
{
	char line[512];

	json_decref(command_results(SMALL "--schedule mbs2 --steps 1 --test 0 --save s --json", NULL));
	snprintf(line, sizeof(line), "cd '%s' && cp -r s t && rm s/fc4.weight.momentum.npy t/conv1.bias.npy", command_scratch());
	cr_assert_eq(system(line), 0);
	command_expect_error(SMALL "--weights s", 2, "--weights: 's/fc4.weight.momentum.npy' is missing, but other masters or momenta are there");
	command_expect_error(SMALL "--weights t", 2, "--weights: 't/conv1.bias.npy' is missing, but its master, conv1.bias.master.npy, is there");
	command_expect_error("run --net lenet --backend model --weights t", 2, "--weights: 't/conv1.bias.npy' is missing");
}

static void write_file(const char *name, struct npy_array array)
{
	char path[512];
	struct wc_error err;

	snprintf(path, sizeof(path), "%s/%s", command_scratch(), name);
	cr_assert_eq(npy_write(path, &array, &err), 0, "%s", err.text);
}

Test(train, files_of_images_and_labels)
{
	static uint8_t pixels[6 * 28 * 28], bytes[6] = {1, 2, 3, 4, 9, 0};
	int64_t labels[6] = {1, 2, 3, 4, 9, 10};
	json_t *run;

	for (size_t i = 0; i < sizeof(pixels); i++)
		pixels[i] = (uint8_t)(i * i >> 3);
	write_file("x.npy", (struct npy_array){.type = NPY_UINT8, .dims = 4, .shape = {6, 28, 28, 1}, .data = pixels});
	command_expect_error(SMALL "--data x.npy", 2, "x.labels.npy");
	write_file("x.labels.npy", (struct npy_array){.type = NPY_INT64, .dims = 1, .shape = {6}, .data = labels});
	command_expect_error(SMALL "--data x.npy", 2, "x.labels.npy: label 5 is 10, but network 'lenet' has classes 0 to 9");
	write_file("y.npy", (struct npy_array){.type = NPY_UINT8, .dims = 1, .shape = {6}, .data = bytes});
	run = command_results(SMALL "--data x.npy --labels y.npy --steps 3 --json", NULL);
	cr_expect_str_eq(json_string_value(json_object_get(run, "data")), "file");
	cr_expect_str_eq(json_string_value(json_object_get(run, "images")), "file");
	cr_expect(json_is_null(json_object_get(run, "test_accuracy")));
	json_decref(run);
	command_expect_error(SMALL "--data x.npy --labels y.npy --curve y.npy", 2, "--curve: 'y.npy' is the file of --labels too");
	command_expect_error(SMALL "--data x.npy --labels y.npy --test 10", 2, "--test: ");
}

Test(train, what_it_cannot_do_is_refused_by_name)
{
	static const struct {
		const char *arguments, *message;
	} cases[] = {
		{"--steps 0", "--steps: 0 is out of range, the limits are 1 to 100000"},
		{"--steps -1", "--steps: '-1' is not a number"},
		{"--steps 99999999999999999999", "--steps: 99999999999999999999 is out of range"},
		{"--lr nan", "--lr: 'nan' is not a number"},
		{"--lr 0x1", "--lr: '0x1' is not a number"},
		{"--lr 1e9", "--lr: 1e9 is out of range, the limits are 0 to 1000"},
		{"--momentum 1.5", "--momentum: 1.5 is out of range, the limits are 0 to 1"},
		{"--decay -1", "--decay: -1 is out of range, the limits are 0 to 1"},
		{"--test 10001", "--test: 10001 is out of range"},
		{"--data no.npy", "no.npy"},
		{"--labels no.npy", "--labels has no meaning for --data fashion-mnist"},
		{"--net fashion-conv", "cannot train 'fashion-conv': it does not end with a loss"},
		{"--net data/adaptive.yaml", "train: node 'pool1' is an adaptive pool, which the device has not"},
		{"--weights no-such-directory", "no-such-directory"},
		{"--save /dev/null", "--save: '/dev/null' is not a directory"},
		{"--curve no-such-directory/c.tsv", "--curve: cannot create 'no-such-directory/c.tsv'"},
		{"--curve a --trace a", "'a' would be written twice"},
		{"--lr-decay cosine", "--lr-decay: 'cosine' is not one of: none, linear"},
		{"--lr-steps 9 --steps 10", "--lr-steps: 9, but this training goes to step 10 (0 before it, and 10)"},
		{"--warmup -1", "--warmup: '-1' is not a number"},
		{"--phases forward", "--phases: unknown option"},
		{"--input x.npy", "--input: unknown option"},
	};
	// What is written beside the file, for a while.
	static const struct {
		const char *arguments, *message;
	} aside[] = {
		{"--arith dpi --resume r --curve r.new", "--resume: 'r' would be written twice"},
		{"--arith dpi --curve w.fst.hier --waves w.fst", "--curve: 'w.fst.hier' would be written twice"},
	};
	struct command command;
	char arguments[512];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(arguments, sizeof(arguments), SMALL "%s", cases[i].arguments);
		command_expect_error(arguments, 2, cases[i].message);
	}
	for (size_t i = 0; i < sizeof(aside) / sizeof(*aside); i++) {
		snprintf(arguments, sizeof(arguments), "train --batch 1 --steps 1 %s", aside[i].arguments);
		command_expect_error(arguments, 2, aside[i].message);
	}
	// Of a schedule's file, too.
	command_run(&command, "plan lenet --accounting device --schedule mbs2 --batch 2 --phases forward");
	cr_assert_eq(command.status, 0, "%s", command.err);
	command_write("forward.schedule", command.out, strlen(command.out));
	command_release(&command);
	command_expect_error("train --backend model --schedule forward.schedule,baseline", 2, "forward.schedule: made for batch 2, wanted is 128 (--batch)");
	command_expect_error("train --backend model --schedule forward.schedule", 2, "'forward.schedule' has no backward groups");
}

Test(train, a_fault_in_a_later_step_is_found_and_its_rerun_line_repeats_it)
{
	json_t *one = command_results(SMALL "--schedule baseline --steps 1 --test 0 --json", NULL);
	const long commands = (long)command_integer(one, "commands");
	struct command first = {0}, again;
	char arguments[512], *rerun, *end;

	json_decref(one);
	// Somewhere in the buffer is what a command of the second step's first layers reads.
	for (int address = 1; address < 65536 && first.status != 1; address += 3000) {
		command_release(&first);
		snprintf(arguments, sizeof(arguments), SMALL "--schedule baseline --steps 3 --test 0 --save s --fault buffer:command=%ld,address=%d,bit=6",
			 commands + 12, address);
		command_run(&first, arguments);
	}
	cr_assert_eq(first.status, 1, "%s%s", first.out, first.err);
	cr_expect(strstr(first.err, "schedule 'baseline': in step 2, the device and the golden model differ"), "%s", first.err);
	cr_expect(strstr(first.err, "mismatch: layer 'conv1"), "%s", first.err);
	cr_expect(strstr(first.out, "step 1 of 3, loss ") && !strstr(first.out, "step 2 of 3, loss "), "%s", first.out);
	rerun = strstr(first.err, "wavecore train ");
	cr_assert(rerun && (end = strchr(rerun, '\n')), "%s", first.err);
	snprintf(arguments, sizeof(arguments), "%.*s", (int)(end - rerun - 9), rerun + 9);
	command_run(&again, arguments);
	cr_expect_eq(again.status, 1);
	cr_expect_str_eq(again.err, first.err);
	command_release(&again);
	command_release(&first);
	// What the first step has made is kept.
	command_run(&again, SMALL "--schedule baseline --steps 1 --test 0 --weights s");
	cr_expect_eq(again.status, 0, "%s", again.err);
	command_release(&again);
}

Test(train, a_loss_that_is_no_number_is_noted)
{
	struct command command;
	json_t *run;

	command_run(&command, SMALL "--schedule mbs2 --steps 3 --lr 1000 --test 0 --json");
	cr_assert_eq(command.status, 0, "%s", command.err);
	run = json_loads(command.out, 0, NULL);
	cr_assert(run);
	cr_expect(json_is_null(json_array_get(json_object_get(run, "losses"), 1)) && json_is_null(json_object_get(run, "final_loss")));
	cr_expect(strstr(command.err, "note: schedule 'mbs2': the loss is no number from step 2 on"), "%s", command.err);
	json_decref(run);
	command_release(&command);
}

// The lines of the curve that are whole steps.
static int steps_in(const char *name)
{
	char path[512], line[256];
	int steps = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", command_scratch(), name);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		steps += line[0] != '#';
	if (file)
		fclose(file);
	return steps;
}

static void expect_samples(const char *directory, int samples)
{
	char path[512];
	struct npy_array array;
	struct wc_error err;

	snprintf(path, sizeof(path), "%s/%s/samples.npy", command_scratch(), directory);
	cr_assert_eq(npy_read_types(path, 1u << NPY_INT64, &array, &err), 0, "%s", err.text);
	cr_expect_eq(*(const int64_t *)array.data, samples);
	npy_release(&array);
}

Test(train, parameters_outlast_what_cannot_be_written)
{
	struct command command;
	char line[1024];

	command_run(&command, SMALL "--schedule mbs2 --steps 2 --test 0 --save s --curve /dev/full");
	cr_expect(command.status == 3 && strstr(command.err, "cannot write '/dev/full': No space left on device"), "%d %s", command.status, command.err);
	command_release(&command);
	expect_samples("s", 8);
	command_run(&command, "version > /dev/null; (../../../wavecore " SMALL "--schedule mbs2 --steps 1 --test 0 > /dev/full)");
	cr_expect(command.status == 3 && strstr(command.err, "cannot write to stdout: No space left on device"), "%d %s", command.status, command.err);
	command_release(&command);
	// A directory where a file of the dump would be.
	snprintf(line, sizeof(line), "cd '%s' && mkdir -p d/sgd.npy", command_scratch());
	cr_assert_eq(system(line), 0);
	command_run(&command, SMALL "--schedule mbs2 --steps 3 --test 0 --save t --dump d");
	cr_expect(command.status && strstr(command.err, "d/sgd.npy") && strstr(command.err, "; the parameters after 3 of 3 steps are in t\n"), "%d %s", command.status, command.err);
	command_release(&command);
	expect_samples("t", 12);
}

Test(train, a_pipe_that_nobody_reads_ends_it_and_loses_nothing)
{
	struct command command;
	struct stat status;
	char path[512];

	command_run(&command, "version > /dev/null; { { ../../../wavecore " SMALL "--schedule mbs2 --steps 100000 --save s; echo status $? >&2; } | head -n 1; }");
	cr_expect(strstr(command.out, "mbs2: step 1 of 100000, loss "), "%s", command.out);
	cr_expect(strstr(command.err, "cannot write to stdout: Broken pipe; the parameters after ") && strstr(command.err, " of 100000 steps are in s\n") &&
		  strstr(command.err, "status 3\n"), "%s", command.err);
	command_release(&command);
	snprintf(path, sizeof(path), "%s/s/samples.npy", command_scratch());
	cr_expect(!stat(path, &status) && status.st_size > 0);
}

Test(train, a_stop_keeps_what_is_done)
{
	const struct timespec pause = {.tv_nsec = 10000000};
	struct command command;
	json_t *run;
	int status;
	const pid_t child = command_start(&command, SMALL "--schedule mbs2,baseline --steps 100000 --save s --curve c.tsv");

	for (int i = 0; i < 6000 && steps_in("c-mbs2.tsv") < 2; i++)
		nanosleep(&pause, NULL);
	cr_assert_eq(kill(child, SIGINT), 0);
	cr_assert_eq(waitpid(child, &status, 0), child);
	command_read(&command);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 130, "%x %s", status, command.err);
	cr_expect(strstr(command.out, "mbs2: step 2 of 100000, loss ") && strstr(command.out, "\nmbs2 "), "%s", command.out);
	cr_expect(strstr(command.err, "schedule 'mbs2': interrupted after ") && strstr(command.err, " of 100000 steps") &&
		  strstr(command.err, "the parameters are in s-mbs2") && strstr(command.err, "1 of 2 schedules have not begun"), "%s", command.err);
	command_release(&command);
	run = command_results(SMALL "--schedule mbs2 --steps 1 --weights s-mbs2 --test 0 --json", NULL);
	cr_expect_eq(command_integer(run, "samples_before"), 4 * steps_in("c-mbs2.tsv"));
	json_decref(run);
}
