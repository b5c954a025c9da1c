// SPDX-License-Identifier: Apache-2.0
//
// Rule: `--cores 2` runs and trains with the bits of one core; reports, traces and --fault name the core.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

#define RUN "run --net lenet --schedule mbs2 --batch 4 --buffer 64KiB --backend model"

TestSuite(cores, .fini = command_clean);

static const char *digest(json_t *object, const char *name)
{
	return json_string_value(json_object_get(json_object_get(object, "digests"), name));
}

Test(cores, have_the_tensors_of_one)
{
	json_t *one = command_results(RUN " --json", ""), *two = command_results(RUN " --cores 2 --json", "");
	json_t *object;
	const char *name;

	cr_expect_eq(command_integer(one, "cores"), 1);
	cr_expect_eq(command_integer(two, "cores"), 2);
	cr_expect_eq(json_object_size(json_object_get(one, "digests")), 22);
	json_object_foreach(json_object_get(one, "digests"), name, object)
		cr_expect_str_eq(json_string_value(object), digest(two, name), "%s", name);
	cr_expect_eq(command_integer(two, "dram_read_bytes") + command_integer(two, "dram_write_bytes"), command_integer(two, "predicted_dram_bytes"));
	json_decref(one);
	json_decref(two);
}

Test(cores, a_fault_of_core_1_is_reported_and_repeated)
{
	struct command first, again;
	char *rerun, *end;

	command_run(&first, RUN " --cores 2 --fault accumulator:core=1,command=89,wave=0,row=1,column=2,bit=28");
	cr_assert_eq(first.status, 1, "%s", first.err);
	cr_expect(strstr(first.err, "(command 89 of core 1, "), "%s", first.err);
	rerun = command_rerun(&first);
	cr_expect(strstr(rerun, "--cores 2") && strstr(rerun, "core=1"), "%s", rerun);
	end = strchr(rerun, '\n');
	*end = '\0';
	command_run(&again, rerun);
	*end = '\n';
	cr_expect_eq(again.status, 1);
	cr_expect_str_eq(again.err, first.err);
	command_release(&first);
	command_release(&again);
	command_expect_error(RUN " --fault lane:core=1,command=1,row=0,column=0,bit=0", 2, "core=1, the device has cores 0 to 0");
}

Test(cores, traces_agree_with_the_golden_model)
{
	struct command command;

	command_run(&command, RUN " --cores 2 --trace a.wct --golden-trace b.wct --trace-level wave");
	cr_assert_eq(command.status, 0, "%s", command.err);
	command_release(&command);
	command_run(&command, "diff a.wct b.wct");
	cr_expect_eq(command.status, 0, "%s", command.out);
	cr_expect(strstr(command.out, "660 tile"), "%s", command.out);
	command_release(&command);
	command_run(&command, "trace dump a.wct");
	cr_expect(strstr(command.out, "core=0") && strstr(command.out, "core=1"));
	command_release(&command);
	// One core's: neither the other's nor what is of none.
	command_run(&command, "trace dump a.wct --core 1 --command 3");
	cr_expect(strstr(command.out, "core=1") && !strstr(command.out, "core=0") && !strstr(command.out, "header "), "%s", command.out);
	command_release(&command);
	// A device of one core does not say which.
	command_run(&command, RUN " --trace a.wct");
	cr_assert_eq(command.status, 0, "%s", command.err);
	command_release(&command);
	command_run(&command, "trace dump a.wct --core 1");
	cr_expect(!command.status && !*command.out, "%s", command.out);
	command_release(&command);
	command_run(&command, "trace dump a.wct --core 0");
	cr_expect(strstr(command.out, "command_begin ") && !strstr(command.out, "counter "), "%s", command.out);
	command_release(&command);
}

static double loss(json_t *object, size_t step)
{
	return json_real_value(json_array_get(json_object_get(object, "losses"), step));
}

// Both directions: what one core has saved two go on from.
Test(cores, train_and_save)
{
	static const char train[] = "train --net lenet --schedule mbs2 --batch 4 --buffer 64KiB --backend model --test 0 --lr-decay none --warmup 0 --json --steps";
	char arguments[256];
	json_t *one, *two, *rest;

	snprintf(arguments, sizeof(arguments), "%s 1", train);
	one = command_results(arguments, "");
	snprintf(arguments, sizeof(arguments), "%s 3 --cores 2", train);
	two = command_results(arguments, "");
	cr_expect_eq(loss(one, 0), loss(two, 0));
	snprintf(arguments, sizeof(arguments), "%s 2 --cores 2 --save kept", train);
	json_decref(command_results(arguments, ""));
	snprintf(arguments, sizeof(arguments), "%s 1 --cores 2 --weights kept", train);
	rest = command_results(arguments, NULL);
	cr_expect_eq(loss(rest, 0), loss(two, 2));
	json_decref(one);
	json_decref(two);
	json_decref(rest);
}
