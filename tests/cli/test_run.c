// SPDX-License-Identifier: Apache-2.0
//
// Rule: `run` reports what it checked, compares schedules with each other, fails with status 1 and a complete report on a
// mismatch, and its dumps and traces serve the other commands.
#include <criterion/criterion.h>
#include <jansson.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

Test(run, a_mismatch_is_reported_and_its_rerun_line_repeats_it)
{
	static const char prefix[] = "rerun: wavecore ";
	struct command first, again;
	char *rerun, *end;

	// The first weight, in the buffer when command 4, the first tile, begins.
	command_run(&first, SMALL "--schedule data/small.schedule --fault buffer:command=4,address=0x401,bit=7");
	cr_assert_eq(first.status, 1, "%s%s", first.out, first.err);
	cr_expect(strstr(first.err, "mismatch: layer 'c1' forward, act:c1 sample 0"), "%s", first.err);
	cr_expect(strstr(first.err, "got") && strstr(first.err, "expected") && strstr(first.err, "ULP"), "%s", first.err);
	cr_expect(strstr(first.err, "operand in the global buffer: address 0x400"), "%s", first.err);
	rerun = strstr(first.err, prefix);
	cr_assert(rerun, "%s", first.err);
	end = strchr(rerun, '\n');
	cr_assert(end);
	*end = '\0';
	command_run(&again, rerun + strlen(prefix));
	*end = '\n';
	cr_expect_eq(again.status, 1);
	cr_expect_str_eq(again.err, first.err);
	command_release(&first);
	command_release(&again);
}

Test(run, a_fault_that_changes_nothing_is_not_passed_over)
{
	struct command command;

	command_run(&command, SMALL "--schedule data/small.schedule --fault weight:command=99999");
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

Test(run, an_interrupt_stops_cleanly)
{
	struct command command;
	int status, seconds_left = 30;
	const pid_t child = command_start(&command, "run --backend model --schedule baseline --batch 3000 --trace long.wct");

	// It runs for many seconds; the trace shows that it has begun.
	while (!exists("long.wct") && seconds_left--)
		sleep(1);
	cr_assert(exists("long.wct"));
	cr_assert_eq(kill(child, SIGINT), 0);
	cr_assert_eq(waitpid(child, &status, 0), child);
	command_read(&command);
	cr_assert(WIFEXITED(status));
	cr_expect_eq(WEXITSTATUS(status), 130, "%s", command.err);
	cr_expect(strstr(command.err, "interrupted after") && strstr(command.err, "long.wct"), "%s", command.err);
	command_release(&command);
	command_run(&command, "trace stat long.wct");
	cr_expect(strstr(command.out, "cut off"), "%s", command.out);
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
