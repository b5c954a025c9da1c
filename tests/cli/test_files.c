// SPDX-License-Identifier: Apache-2.0
//
// Rule: a missing, malformed or unfit network, schedule, trace or tensor is refused with status 2 and a message that names the
// file and the fault.
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "command.h"

TestSuite(files, .fini = command_clean);

#define MODEL "run --backend model --array 8x8 --batch 2 --buffer 16KiB "

Test(files, networks)
{
	command_expect_error(MODEL "--net missing.yaml", 2, "missing.yaml");
	command_expect_error(MODEL "--net /", 2, "/");
	command_write("garbage.yaml", "name: [", 7);
	command_expect_error(MODEL "--net garbage.yaml", 2, "garbage.yaml");
	command_write("binary.yaml", "\0\1\2\3\377", 5);
	command_expect_error(MODEL "--net binary.yaml", 2, "binary.yaml");
	command_write("kernel.yaml", "name: n\ninput: {height: 8, width: 8, channels: 2}\nnodes:\n  - {name: c1, op: conv, channels: 2, kernel: 12}\n", 105);
	command_expect_error("nets kernel.yaml", 2, "kernel");
	command_expect_error("plan kernel.yaml", 2, "kernel");
}

Test(files, schedules)
{
	command_expect_error("check missing.schedule", 2, "missing.schedule");
	command_expect_error("check /", 2, "directory");
	command_write("empty.schedule", "", 0);
	command_expect_error("check empty.schedule", 2, "empty.schedule");
	command_write("garbage.schedule", "schedule 1\nfoo\n", 15);
	command_expect_error("check garbage.schedule", 2, "garbage.schedule");
	command_expect_error("check --net data/small.yaml garbage.schedule", 2, "garbage.schedule:2");
	command_write("binary.schedule", "\0\0\0\0", 4);
	command_expect_error("check binary.schedule", 2, "binary.schedule");
	// Made for another problem than the options describe.
	command_expect_error("run --backend model --array 8x8 --batch 3 --buffer 16KiB --net data/small.yaml --schedule data/small.schedule", 2,
			     "made for batch 2, wanted is 3 (--batch)");
	command_expect_error("run --backend model --array 4x8 --batch 2 --buffer 16KiB --net data/small.yaml --schedule data/small.schedule", 2, "made for array rows 8");
	// Options given must agree with the file, those left open are as it says.
	command_expect_error("run --backend model --net data/small.yaml --schedule data/small.schedule --bus 32", 2, "made for bus bytes 16, wanted is 32 (--bus)");
	command_expect_error("run --backend model --schedule data/small.schedule", 2, "data/small.schedule: made for network 'small', which is not built in; give its "
			     "file with --net");
	command_expect_error("plan data/small.yaml --schedule data/small.schedule --batch 3", 2, "made for batch 2, wanted is 3 (--batch)");
	// Disproved: a run refuses it as bad input.
	command_expect_error(MODEL "--net data/small.yaml --schedule data/wrong.schedule", 2, "data/wrong.schedule:16: group 0 (forward c1..c2)");
	command_expect_error("plan data/small.yaml --schedule data/wrong.schedule --json", 2, "error: data/wrong.schedule:16: group 0");
	command_expect_error("check data/small.schedule", 2, "data/small.schedule: made for network 'small', which is not built in; give its file with --net");
	command_expect_error("check - < data/small.schedule", 2, "<stdin>: made for network 'small'");
}

Test(files, a_disproved_schedule_is_a_verdict)
{
	struct command command;

	// As compilers say it; in the stream of results, as it is one, and nowhere else.
	command_run(&command, "check --net data/small.yaml data/wrong.schedule");
	cr_expect_eq(command.status, 1, "%s", command.err);
	cr_expect(!strncmp(command.out, "data/wrong.schedule:16: wrong (absent): group 0 (forward c1..c2), strip 0, statement 1: 'compute act:c1=0:8'", 108), "%s",
		  command.out);
	cr_expect_str_empty(command.err);
	command_release(&command);
	command_run(&command, "check --net data/small.yaml - < data/wrong.schedule");
	cr_expect_eq(command.status, 1, "%s", command.err);
	cr_expect(!strncmp(command.out, "<stdin>:16: wrong (absent)", 26), "%s", command.out);
	command_release(&command);
	command_run(&command, "check --net data/small.yaml --json data/wrong.schedule");
	cr_expect_eq(command.status, 1);
	cr_expect(strstr(command.out, "\"ok\": false"), "%s", command.out);
	cr_expect(strstr(command.out, "\"layer\": \"input\""), "%s", command.out);
	cr_expect(strstr(command.out, "\"file\": \"data/wrong.schedule\",\n    \"line\": 16"), "%s", command.out);
	cr_expect_str_empty(command.err);
	command_release(&command);
}

Test(files, schedules_on_graphs_are_proven_or_disproved)
{
	struct command command;

	command_expect_output("check --net data/block.yaml data/block.schedule", "check-block.txt");
	command_run(&command, "check --net data/block.yaml --json data/block.schedule");
	cr_expect_eq(command.status, 0, "%s", command.err);
	cr_expect(strstr(command.out, "\"accounting\": \"paper\""), "%s", command.out);
	cr_expect(strstr(command.out, "\"peak_buffer_bytes\": 7456"), "%s", command.out);
	cr_expect(strstr(command.out, "\"peak_footprint_bytes\": 8292"), "%s", command.out);
	command_release(&command);
}

Test(files, outputs_that_cannot_be_created)
{
	command_write("file", "", 0);
	command_expect_error(MODEL "--trace missing/a.wct", 2, "missing/a.wct");
	command_expect_error(MODEL "--golden-trace /", 2, "'/'");
	command_expect_error(MODEL "--dump missing/directory", 2, "missing/directory");
	command_expect_error(MODEL "--dump file", 2, "'file' is not a directory");
	// Said before the device is built.
	command_expect_error("run --waves missing/w.fst", 2, "missing/w.fst");
	command_expect_error(MODEL "--trace a.wct --golden-trace ./a.wct", 2, "would be written twice");
}

Test(files, schedules_come_from_stdin_too)
{
	struct command command;

	command_run(&command, "check --net data/small.yaml - < data/small.schedule");
	cr_expect_eq(command.status, 0, "%s", command.err);
	command_release(&command);
}

Test(files, what_plan_prints_check_proves_and_run_runs)
{
	static const char *const planners[] = {"baseline", "mbs", "overl", "2ps"};
	char arguments[512];

	for (size_t i = 0; i < 4; i++) {
		struct command command;

		snprintf(arguments, sizeof(arguments), "plan data/small.yaml --schedule %s --array 8x8 --batch 2 --buffer 16KiB", planners[i]);
		command_run(&command, arguments);
		cr_assert_eq(command.status, 0, "%s", command.err);
		command_write("planned.schedule", command.out, strlen(command.out));
		command_release(&command);
		command_run(&command, "check --net data/small.yaml planned.schedule");
		cr_expect_eq(command.status, 0, "%s", command.err);
		command_release(&command);
		command_run(&command, MODEL "--net data/small.yaml --schedule planned.schedule");
		cr_expect_eq(command.status, 0, "%s", command.err);
		command_release(&command);
	}
}

Test(files, a_single_schedule_says_what_options_leave_open)
{
	struct command command;

	command_run(&command, "run --backend model --net data/small.yaml --schedule data/small.schedule --json");
	cr_expect_eq(command.status, 0, "%s", command.err);
	cr_expect(strstr(command.out, "\"array\": \"8x8\"") && strstr(command.out, "\"batch\": 2") && strstr(command.out, "\"buffer_bytes\": 16384"), "%s",
		  command.out);
	command_release(&command);
	command_run(&command, "plan data/small.yaml --schedule data/small.schedule --json");
	cr_expect_eq(command.status, 0, "%s", command.err);
	command_release(&command);
	// As the README has it: the network's name is in the file too.
	command_run(&command, "plan fashion-conv --schedule 2ps --batch 3 --array 8x4 --buffer 32KiB --bus 32");
	cr_assert_eq(command.status, 0, "%s", command.err);
	command_write("my.schedule", command.out, strlen(command.out));
	command_release(&command);
	command_run(&command, "run --backend model --schedule my.schedule --json");
	cr_expect_eq(command.status, 0, "%s", command.err);
	cr_expect(strstr(command.out, "fashion-conv") && strstr(command.out, "\"array\": \"8x4\"") && strstr(command.out, "\"batch\": 3"), "%s", command.out);
	command_release(&command);
}

Test(files, a_schedule_for_paper_accounting_is_planned_with_and_not_run)
{
	struct command command, again;

	command_run(&command, "plan resnet8 --schedule mbs --batch 2 --image 16");
	cr_assert_eq(command.status, 0, "%s", command.err);
	command_write("p.schedule", command.out, strlen(command.out));
	command_release(&command);
	command_expect_error("run --backend model --schedule p.schedule", 2, "p.schedule: made for paper accounting");
	command_run(&command, "plan resnet8 --schedule p.schedule --json");
	cr_expect_eq(command.status, 0, "%s", command.err);
	command_run(&again, "plan resnet8 --schedule mbs --batch 2 --image 16 --json");
	cr_expect_eq(again.status, 0, "%s", again.err);
	cr_expect_str_eq(strstr(command.out, "\"batch\""), strstr(again.out, "\"batch\""));
	command_release(&again);
	command_release(&command);
}

// The file says the cores, for both accountings; what is printed is of both, buffer and iterations of one.
Test(files, a_schedule_for_two_cores_is_planned_checked_and_explained)
{
	static const char *const accountings[] = {"device", "paper"};

	for (size_t i = 0; i < 2; i++) {
		json_t *planned, *again, *checked, *group;
		struct command command;
		char arguments[256];

		snprintf(arguments, sizeof(arguments), "plan lenet --schedule mbs2 --accounting %s --batch 6 --cores 2 --buffer 64KiB", accountings[i]);
		command_run(&command, arguments);
		cr_assert_eq(command.status, 0, "%s", command.err);
		cr_expect(strstr(command.out, "\nbatch 6\ncores 2\n"), "%s", command.out);
		command_write("two.schedule", command.out, strlen(command.out));
		command_release(&command);
		snprintf(arguments + strlen(arguments), sizeof(arguments) - strlen(arguments), " --json");
		planned = command_results(arguments, "");
		again = command_results("plan lenet --schedule two.schedule --json", "");
		checked = command_results("check --json two.schedule", "");
		cr_expect_eq(command_integer(planned, "cores"), 2);
		cr_expect_eq(command_integer(checked, "cores"), 2);
		cr_expect(json_equal(json_object_get(planned, "groups"), json_object_get(again, "groups")));
		cr_expect_eq(command_integer(checked, "dram_read_bytes") + command_integer(checked, "dram_write_bytes"), command_integer(planned, "dram_bytes"));
		cr_expect_eq(command_integer(checked, "macs"), command_integer(planned, "macs"));
		cr_expect_eq(command_integer(checked, "peak_footprint_bytes"), command_integer(planned, "peak_footprint_bytes"));
		group = json_array_get(json_object_get(planned, "groups"), 0);
		// Of three samples.
		cr_expect_eq(command_integer(group, "iterations"), (3 + command_integer(group, "sub_batch") - 1) / command_integer(group, "sub_batch"));
		json_decref(planned);
		json_decref(again);
		json_decref(checked);
		command_run(&command, "check two.schedule");
		cr_expect(strstr(command.out, "the output of 6 samples on 2 cores"), "%s", command.out);
		command_release(&command);
		command_run(&command, "plan lenet --schedule two.schedule --explain");
		cr_expect(strstr(command.out, "lenet, batch 6 on 2 cores, buffer 65536 bytes"), "%s", command.out);
		command_release(&command);
		command_expect_error("plan lenet --schedule two.schedule --cores 1", 2, "two.schedule: made for cores 2, wanted is 1 (--cores)");
	}
}

// It can be planned with and proven, but no device has so many.
Test(files, a_schedule_for_three_cores_is_not_run)
{
	static const char text[] = "schedule 1\nnet small\nbatch 3\ncores 3\narray 8x8\nbuffer 16KiB\nbus 16\n"
				   "group forward c1 c1\nsub_batch 1\nstrip 0\nload act:input=0:8\ncompute act:c1=0:8\nstore act:c1=0:8\n";

	command_write("three.schedule", text, sizeof(text) - 1);
	command_expect_error("run --backend model --net data/small.yaml --schedule three.schedule", 2, "three.schedule: made for 3 cores, the device has at most 2");
	command_expect_error("train --backend model --net data/small.yaml --schedule three.schedule", 2, "three.schedule: made for 3 cores, the device has at most 2");
}

Test(files, traces)
{
	command_expect_error("trace dump missing.wct", 2, "missing.wct");
	command_expect_error("trace stat missing.wct", 2, "missing.wct");
	command_write("garbage.wct", "this is not a trace at all, really not", 38);
	command_expect_error("trace dump garbage.wct", 2, "garbage.wct");
	command_expect_error("trace stat garbage.wct", 2, "garbage.wct");
	command_expect_error("diff garbage.wct garbage.wct", 2, "garbage.wct");
	command_expect_error(MODEL "--net data/small.yaml --trace no/such/directory.wct", 2, "no/such/directory.wct");
}

Test(files, tensors)
{
	command_expect_error(MODEL "--net data/small.yaml --input missing.npy", 2, "missing.npy");
	command_write("garbage.npy", "NUMPY?", 6);
	command_expect_error(MODEL "--net data/small.yaml --input garbage.npy", 2, "garbage.npy");
	command_expect_error(MODEL "--net data/small.yaml --gradient garbage.npy", 2, "garbage.npy");
	command_expect_error(MODEL "--net data/small.yaml --weights nowhere", 2, "nowhere/c1.weight.npy");
	command_write("file", "x", 1);
	command_expect_error(MODEL "--net data/small.yaml --dump file", 2, "not a directory");
}
