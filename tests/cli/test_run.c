// SPDX-License-Identifier: Apache-2.0
//
// Rule: `run` reports what it checked, compares schedules with each other, fails with status 1 and a complete report on a
// mismatch, and its dumps and traces serve the other commands.
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"

TestSuite(run, .fini = command_clean);

#define SMALL "run --net data/small.yaml --backend model --array 8x8 --batch 2 --buffer 16KiB "

static bool exists(const char *name)
{
	struct stat status;
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", command_scratch(), name);
	return !stat(path, &status) && status.st_size > 0;
}

Test(run, several_schedules_agree_side_by_side)
{
	struct command command;
	json_t *all, *run;
	size_t i;

	command_run(&command, SMALL "--schedule baseline,mbs,overl,2ps,data/small.schedule --jobs 2 --json");
	cr_assert_eq(command.status, 0, "%s", command.err);
	all = json_loads(command.out, 0, NULL);
	cr_assert(all, "%s", command.out);
	cr_expect(json_is_true(json_object_get(all, "bit_identical")));
	cr_assert_eq(json_array_size(json_object_get(all, "runs")), 5);
	json_array_foreach(json_object_get(all, "runs"), i, run) {
		static const char *const fields[] = {"net", "schedule", "backend", "array", "arith", "cycles", "macs", "array_utilization",
						     "dram_read_bytes", "dram_write_bytes", "predicted_dram_bytes", "by_class", "predicted_by_class",
						     "payload_bytes", "checked", "mismatched", "wall_s", "macs_per_s"};

		for (size_t k = 0; k < sizeof(fields) / sizeof(*fields); k++)
			cr_expect(json_object_get(run, fields[k]), "%s", fields[k]);
		cr_expect(json_equal(json_object_get(run, "by_class"), json_object_get(run, "predicted_by_class")));
		cr_expect_gt(json_integer_value(json_object_get(run, "checked")), 1000);
		cr_expect_eq(json_integer_value(json_object_get(run, "mismatched")), 0);
		cr_expect_eq(json_integer_value(json_object_get(run, "dram_read_bytes")) + json_integer_value(json_object_get(run, "dram_write_bytes")),
			     json_integer_value(json_object_get(run, "predicted_dram_bytes")));
	}
	json_decref(all);
	command_release(&command);
}

// Depthwise convolutions at full size: a whole training step.
Test(run, mobilenet)
{
	struct command command;

	command_run(&command, "run --net mobilenet-v1 --backend model --schedule mbs2 --batch 1 --array 32x32 --buffer 1MiB");
	cr_expect_eq(command.status, 0, "%s", command.err);
	cr_expect(strstr(command.out, "all equal to the golden model; DRAM bytes equal to the prediction"), "%s", command.out);
	command_release(&command);
}

Test(run, a_mismatch_is_reported_and_its_rerun_line_repeats_it)
{
	struct command first, again;
	char *rerun, *end;

	// The first weight, in the buffer when command 4, the first tile, begins.
	command_run(&first, SMALL "--schedule data/small.schedule --fault buffer:command=4,address=0x401,bit=7");
	cr_assert_eq(first.status, 1, "%s%s", first.out, first.err);
	cr_expect(strstr(first.err, "mismatch: layer 'c1' forward, act:c1 sample 0"), "%s", first.err);
	cr_expect(strstr(first.err, "got") && strstr(first.err, "expected") && strstr(first.err, "ULP"), "%s", first.err);
	cr_expect(strstr(first.err, "operand in the global buffer: address 0x400"), "%s", first.err);
	rerun = command_rerun(&first);
	end = strchr(rerun, '\n');
	cr_assert(end);
	*end = '\0';
	command_run(&again, rerun);
	*end = '\n';
	cr_expect_eq(again.status, 1);
	cr_expect_str_eq(again.err, first.err);
	command_release(&first);
	command_release(&again);
}

Test(run, a_fault_that_changes_nothing_is_not_passed_over)
{
	struct command command;

	command_run(&command, SMALL "--schedule data/small.schedule --fault weight:command=99999,wave=0,row=0,column=0,bit=0");
	cr_expect_eq(command.status, 0);
	cr_expect(strstr(command.err, "note: the planted fault changed no result"), "%s", command.err);
	command_release(&command);
}

Test(run, dumps_feed_the_next_run)
{
	struct command first, second;
	json_t *a, *b;

	command_run(&first, SMALL "--schedule mbs --seed 7 --dump d --json");
	cr_assert_eq(first.status, 0, "%s", first.err);
	cr_expect(exists("d/input.act.nhwc.npy") && exists("d/c1.weight.krsc.npy") && exists("d/c1.act.nhwc.npy") && exists("d/r1.act.nhwc.npy") &&
		  exists("d/r1.mask.bits.npy") && exists("d/c1.grad.nhwc.npy") && exists("d/c2.grad.nhwc.npy") && exists("d/c2.weight_gradient.krsc.npy"));
	command_run(&second, SMALL "--schedule overl --seed 8 --input d/input.act.nhwc.npy --weights d --gradient d/c2.grad.nhwc.npy --json");
	cr_assert_eq(second.status, 0, "%s", second.err);
	a = json_loads(first.out, 0, NULL);
	b = json_loads(second.out, 0, NULL);
	cr_expect_str_eq(json_string_value(json_object_get(json_object_get(a, "digests"), "act:c2")),
			 json_string_value(json_object_get(json_object_get(b, "digests"), "act:c2")));
	cr_expect_str_eq(json_string_value(json_object_get(json_object_get(a, "digests"), "grad:c1")),
			 json_string_value(json_object_get(json_object_get(b, "digests"), "grad:c1")));
	json_decref(a);
	json_decref(b);
	command_release(&first);
	command_release(&second);
}

Test(run, traces_of_both_sides_compare_equal_and_a_fault_shows)
{
	struct command command;

	command_run(&command, SMALL "--schedule data/small.schedule --trace t.wct --golden-trace g.wct --trace-level wave");
	cr_assert_eq(command.status, 0, "%s", command.err);
	command_release(&command);
	command_run(&command, "diff t.wct g.wct");
	cr_expect_eq(command.status, 0, "%s", command.out);
	command_release(&command);
	command_run(&command, "trace dump t.wct --command 4");
	cr_expect_eq(command.status, 0);
	cr_expect(strstr(command.out, "layer_name=c1"), "%s", command.out);
	command_release(&command);
	command_run(&command, SMALL "--schedule data/small.schedule --trace f.wct --trace-level wave --fault buffer:command=4,address=0x401,bit=7");
	cr_expect_eq(command.status, 1);
	command_release(&command);
	command_run(&command, "diff f.wct g.wct");
	cr_expect_eq(command.status, 1, "%s", command.out);
	cr_expect(strstr(command.out, "command 4") && strstr(command.out, "'c1'"), "%s", command.out);
	command_release(&command);
}

Test(run, forward_alone)
{
	struct command command;

	command_run(&command, SMALL "--schedule baseline,mbs --phases forward");
	cr_expect_eq(command.status, 0, "%s", command.err);
	command_release(&command);
}

Test(run, outputs_of_several_schedules_have_their_names)
{
	static const char *const made[] = {"t-mbs.wct", "t-overl.wct", ".g-mbs", ".g-overl", "mbs/c1.act.nhwc.npy", "overl/c1.act.nhwc.npy"};
	struct command command;

	command_run(&command, SMALL "--schedule mbs,overl --strips 2 --trace t.wct --golden-trace .g --dump .");
	cr_expect_eq(command.status, 0, "%s", command.err);
	for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++)
		cr_expect(exists(made[i]), "%s", made[i]);
	command_release(&command);
	// A dot in a directory's name is no extension's.
	command_run(&command, SMALL "--schedule mbs,overl --dump d.1/ --trace ./.x/../t.2.wct");
	cr_expect_eq(command.status, 2, "there is no .x: %s", command.err);
	command_release(&command);
	command_run(&command, SMALL "--schedule mbs,overl --dump d.1/ --trace ./t.2.wct");
	cr_expect_eq(command.status, 0, "%s", command.err);
	cr_expect(exists("d.1-mbs/c1.act.nhwc.npy") && exists("d.1-overl/c1.act.nhwc.npy") && exists("t.2-mbs.wct") && exists("t.2-overl.wct"));
	command_release(&command);
}

Test(run, names_that_are_no_text_do_not_hide_the_error)
{
	struct command command;
	json_t *object;

	// A byte that UTF-8 does not have.
	command_run(&command, "version > /dev/null; cp data/small.schedule s$(printf '\\377').schedule");
	command_release(&command);
	command_run(&command, SMALL "--schedule s$(printf '\\377').schedule --json");
	cr_expect_eq(command.status, 0, "%s", command.err);
	object = json_loads(command.out, 0, NULL);
	cr_assert(object, "%s", command.out);
	cr_expect_str_eq(json_string_value(json_object_get(object, "schedule")), "s?.schedule");
	json_decref(object);
	command_release(&command);
	command_run(&command, "plan data/small.yaml --array 8x8 --batch 2 --buffer 16KiB --schedule s$(printf '\\377').schedule --json");
	cr_expect(strstr(command.out, "\"schedule\": \"s?.schedule\""), "%s", command.out);
	command_release(&command);
	command_run(&command, SMALL "--schedule s$(printf '\\377').schedule --fault buffer:command=4,address=0x401,bit=7");
	cr_expect_eq(command.status, 1);
	cr_expect(strstr(command.err, "the device and the golden model differ") && strstr(command.err, "mismatch: layer 'c1'"), "%s", command.err);
	command_release(&command);
	command_run(&command, SMALL "--schedule data/small.schedule --trace /dev/full --weights $(printf '\\377')");
	cr_expect_eq(command.status, 2);
	cr_expect(strstr(command.err, "/c1.weight.npy") && strstr(command.err, "c1.weight.krsc.npy"), "%s", command.err);
	command_release(&command);
	command_run(&command, "version > /dev/null; ln -s /dev/full $(printf '\\377').wct; ../../../wavecore " SMALL
			      "--schedule data/small.schedule --trace $(printf '\\377').wct");
	cr_expect_eq(command.status, 3);
	cr_expect(strstr(command.err, "error: schedule 'data/small.schedule': cannot write trace '?.wct'"), "%s", command.err);
	command_release(&command);
}

Test(run, a_rerun_line_is_quoted_for_the_shell)
{
	struct command command, again;
	char *rerun;

	command_run(&command, SMALL "--schedule data/small.schedule --dump d");
	cr_assert_eq(command.status, 0, "%s", command.err);
	command_release(&command);
	command_run(&command, "version > /dev/null; mv d \"it's here\"");
	command_release(&command);
	command_run(&command, SMALL "--schedule data/small.schedule --weights \"it's here\" --fault buffer:command=4,address=0x401,bit=7");
	cr_assert_eq(command.status, 1, "%s", command.err);
	rerun = command_rerun(&command);
	cr_expect(strstr(rerun, "--weights 'it'\\''s here'"), "%s", rerun);
	*strchr(rerun, '\n') = '\0';
	command_run(&again, rerun);
	cr_expect_eq(again.status, 1);
	cr_expect(strstr(again.err, rerun), "%s", again.err);
	command_release(&again);
	command_release(&command);
}

Test(run, a_rerun_line_repeats_the_waveform_and_the_planners_options)
{
	struct command command;

	command_run(&command, "run --batch 2 --schedule mbs,overl --strips 2 --phases forward --latency 50 --random-memory "
			      "--fault weight:command=10,wave=0,row=3,column=5,bit=13");
	cr_expect_eq(command.status, 1, "%s", command.err);
	cr_expect(strstr(command.err, "--latency 50 --random-memory --fault"), "%s", command.err);
	// mbs has no use for strips, and would refuse them.
	cr_expect(strstr(command.err, "--schedule mbs --batch 2 --array 16x16 --buffer 65536 --bus 16 --phases forward --backend"), "%s", command.err);
	cr_expect(strstr(command.err, "--schedule overl --batch 2 --array 16x16 --buffer 65536 --bus 16 --strips 2 --phases forward"), "%s", command.err);
	cr_expect(strstr(command.err, "--waves mismatch.fst --waves-window "), "%s", command.err);
	command_release(&command);
}

Test(run, what_cannot_fit_is_refused_before_it_is_begun)
{
	static const char net[] = "name: huge\ninput: {height: 224, width: 224, channels: 64}\nnodes:\n"
				  "  - {name: c1, op: conv, channels: 64, kernel: 3, pad: 1}\n";

	command_write("huge.yaml", net, strlen(net));
	// 65535 samples: 420 GB a tensor.
	command_expect_error("run --net huge.yaml --batch 65535 --backend model --buffer 1MiB", 2, "need at least");
	command_expect_error("run --net huge.yaml --batch 65535 --backend model --buffer 1MiB", 2, "this machine has");
}

// Undefined state from the seed: the same results, other registers before they are written.
Test(run, random_reset_and_a_waveform)
{
	struct command command;

	if (!getenv("WC_LONG"))
		cr_skip_test("builds two configurations; WC_LONG=1 runs it");
	command_run(&command, "run --phases forward --batch 1 --schedule baseline --random-reset --seed 3");
	cr_expect_eq(command.status, 0, "%s", command.err);
	cr_expect(strstr(command.out, "all equal"), "%s", command.out);
	command_release(&command);
	command_run(&command, "run --phases forward --batch 2 --schedule mbs --waves w.fst --waves-window 100:900 "
			      "--fault weight:command=10,wave=0,row=3,column=5,bit=13");
	cr_expect_eq(command.status, 1, "%s", command.err);
	cr_expect(exists("w.fst"));
	cr_expect(strstr(command.err, "--waves w.fst --waves-window 100:900"), "%s", command.err);
	command_release(&command);
	// Through a link, which stays one; and a window that the run does not reach.
	command_run(&command, "version > /dev/null; (ln -s w.fst link.fst; ../../../wavecore run --phases forward --batch 1 --schedule baseline "
			      "--waves link.fst --waves-window 99999999: && test -L link.fst)");
	cr_expect_eq(command.status, 0, "%s", command.err);
	cr_expect(strstr(command.err, "note: schedule 'baseline': --waves-window begins at cycle 99999999, but the run ended at cycle"), "%s", command.err);
	command_release(&command);
	// As a full disk ends it.
	command_run(&command, "version > /dev/null; (../../../wavecore run --batch 4 --schedule baseline --waves w.fst & pid=$!; "
			      "while [ ! -e w.fst.hier ]; do sleep 0.05; done; sleep 0.5; kill -BUS $pid; wait $pid)");
	cr_expect_eq(command.status, 3, "%s", command.err);
	cr_expect(strstr(command.err, "w.fst': SIGBUS"), "%s", command.err);
	command_release(&command);
}

Test(output, of_small_commands)
{
	command_expect_output("nets", "nets.txt");
	command_expect_output("nets data/small.yaml", "nets-small.txt");
	command_expect_output("nets data/small.yaml --image 5 --json", "nets-small.json");
	command_expect_output("nets resnet8", "nets-resnet8.txt");
	command_expect_output("nets fashion-conv", "nets-fashion-conv.txt");
	command_expect_output("check --net data/small.yaml data/small.schedule", "check-small.txt");
	command_expect_output("plan --json data/small.yaml --schedule data/small.schedule --array 8x8 --batch 2 --buffer 16KiB", "plan-small.json");
	command_clean();
}

Test(run, a_network_at_another_size)
{
	static const char run[] = "run --net resnet8 --image 20 --batch 2 --buffer 64KiB --backend model";
	char arguments[256];
	struct command command;
	char *rerun;

	snprintf(arguments, sizeof(arguments), "%s --schedule mbs2 --json", run);
	json_decref(command_results(arguments, ""));
	snprintf(arguments, sizeof(arguments), "%s --fault buffer:command=9,address=1,bit=6", run);
	command_run(&command, arguments);
	cr_assert_eq(command.status, 1, "%s", command.err);
	rerun = command_rerun(&command);
	cr_expect(strstr(rerun, "--net resnet8 --image 20 "), "%s", rerun);
	command_release(&command);
	command_run(&command, "plan resnet8 --image 20 --accounting device --array 16x16 --batch 2 --buffer 64KiB");
	command_write("small.schedule", command.out, strlen(command.out));
	command_release(&command);
	command_expect_error("run --schedule small.schedule --image 24 --backend model", 2, "small.schedule:3: the schedule is for an image of 20, the network has 24x24");
	command_expect_error("run --net resnet8 --image 0 --backend model", 2, "--image: 0 is out of range");
	command_expect_error("run --net vgg-small --image 3 --backend model", 2, "node 'pool2': output is 0x0");
}
