// SPDX-License-Identifier: Apache-2.0
//
// Rule: a bad command, option or argument is refused with a message that quotes it, and status 2; nothing is silently ignored.
#include <criterion/criterion.h>
#include <string.h>

#include "command.h"

TestSuite(usage, .fini = command_clean);

Test(usage, bad_options_are_refused)
{
	static const struct {
		const char *arguments, *message;
	} cases[] = {
		{"frobnicate", "unknown command 'frobnicate'"},
		{"--frob", "unknown command '--frob'"},
		{"run --frob", "--frob: unknown option"},
		{"run --net", "--net: missing argument"},
		{"run --json=3", "--json=3: option does not take an argument"},
		{"run --batch 2 --batch=3", "--batch: given twice"},
		{"run --json --json", "--json: given twice"},
		{"run --trace a.wct --golden-trace a.wct", "--golden-trace: 'a.wct' would be written twice"},
		{"run --schedule mbs,mbs --dump d", "--dump: 'd-mbs' would be written twice"},
		{"run extra", "unexpected argument 'extra'"},
		{"run --array 16", "'16' is not ROWSxCOLUMNS"},
		{"run --array 16x", "'16x' is not ROWSxCOLUMNS"},
		{"run --array 5x16", "4, 8, 16, 32, 64 or 128"},
		{"run --array 256x16", "4, 8, 16, 32, 64 or 128"},
		{"run --batch 0", "limits are 1 to 65535"},
		{"run --batch 65536", "limits are 1 to 65535"},
		{"run --batch 4x", "'4x' is not a number"},
		{"run --batch -4", "'-4' is not a number"},
		{"run --batch ''", "--batch: the value is empty"},
		{"run --trace ''", "--trace: the value is empty"},
		{"run --net=", "--net: the value is empty"},
		{"run --weights ''", "--weights: the value is empty"},
		{"run --batch 99999999999999999999", "--batch: 99999999999999999999 is out of range, the limits are 1 to 65535"},
		{"run --cores 3", "--cores: 3 is out of range, the limits are 1 to 2"},
		{"train --cores 0", "--cores: 0 is out of range, the limits are 1 to 2"},
		{"plan lenet --cores two", "--cores: 'two' is not a number"},
		{"run --backend model --batch 3 --cores 2", "--batch: 3 is not a multiple of 2 cores (--cores)"},
		{"plan lenet --batch 3 --cores 2", "--batch: 3 is not a multiple of 2 cores (--cores)"},
		{"plan data/small.yaml --schedule data/small.schedule --cores 2", "data/small.schedule: made for cores 1, wanted is 2 (--cores)"},
		{"run --backend model --net data/small.yaml --schedule data/small.schedule --cores 2", "data/small.schedule: made for cores 1, wanted is 2 (--cores)"},
		{"check data/small.schedule --cores 2", "--cores: unknown option"},
		{"report traffic --net lenet --batch 7 --cores 2", "--batch: 7 is not a multiple of 2 cores"},
		{"report footprint --cores 3", "--cores: 3 is out of range, the limits are 1 to 2"},
		{"run --buffer 99999999999999999999KiB", "out of range"},
		{"run --array 99999999999999999999x4", "4, 8, 16, 32, 64 or 128"},
		{"run --seed 99999999999999999999", "out of range"},
		{"trace dump x.wct --window 99999999999999999999:", "out of range"},
		{"run --buffer 10MB", "KiB, MiB or GiB"},
		{"run --buffer 5000", "multiple of 4 KiB"},
		{"run --buffer 0", "limits are"},
		{"run --buffer 99999999999GiB", "limits are"},
		{"run --bus 24", "16, 32, 64 or 128"},
		{"run --bus 8", "limits are"},
		{"run --ports 3", "limits are 1 to 2"},
		{"run --backend model --ports 2", "--ports has no meaning for --backend model"},
		{"run --mac-stages 3", "limits are 1 to 2"},
		{"run --backend timing", "is not one of: rtl, model"},
		{"run --arith float", "is not one of: rtl, dpi"},
		{"plan lenet --json --explain", "--json and --explain exclude each other"},
		{"report sweep --buffer 1MiB", "takes no --buffer"},
		{"report traffic --buffer 5000", "not a multiple of 4 KiB"},
		{"report traffic --schedule mbs2 --max-extra-macs 5", "without the planner hybrid"},
		{"plan resnet50 --schedule hybrid --strips 2", "--strips has no meaning for 'hybrid'"},
		{"plan resnet50 --schedule mbs2 --max-extra-macs 5", "only the planner hybrid"},
		{"plan resnet50 --schedule mbs2 --objective time", "only the planner hybrid"},
		{"plan resnet50 --schedule mbs2 --array 8x8", "knows no array"},
		{"run --schedule nosuch", "no planner 'nosuch' for device accounting; there are: baseline"},
		{"run --schedule mbs,", "empty name"},
		{"run --schedule -", "stdin"},
		{"run --net nosuch", "no built-in network 'nosuch'"},
		{"run --phases back", "neither 'all' nor 'forward'"},
		{"run --jobs 0", "limits are 1 to 64"},
		{"run --seed x", "'x' is not a number"},
		{"run --trace-level tile", "needs --trace"},
		{"run --trace t.wct --trace-level foo", "none of run, layer, tile, wave, cycle"},
		{"run --waves-window 1:2", "needs --waves"},
		{"run --waves w.fst --waves-window 12", "'12' is not FROM:TO"},
		{"run --waves w.fst --waves-window 12:12", "limits are 13"},
		{"run --arith dpi --pe-window 0,0", "--pe-window needs --waves"},
		{"run --arith rtl --waves w.fst --pe-window 0,0", "--pe-window needs --arith dpi"},
		{"run --arith dpi --waves w.fst --pe-window 3", "'3' is not ROW,COLUMN"},
		{"run --arith dpi --waves w.fst --pe-window ,3", "',3' is not ROW,COLUMN"},
		{"run --arith dpi --waves w.fst --pe-window 16,0", "16 is out of range, the limits are 0 to 15"},
		{"run --arith dpi --array 16x32 --waves w.fst --pe-window 0,32", "32 is out of range, the limits are 0 to 31"},
		{"run --backend model --pe-window 0,0", "--pe-window has no meaning for --backend model"},
		{"run --backend model --waves w.fst", "--waves has no meaning for --backend model"},
		{"run --backend model --latency 3", "--latency has no meaning"},
		{"run --latency 100001", "--latency: 100001 is out of range, the limits are 1 to 100000"},
		{"run --net lenet --backend model --gradient nosuch.npy", "--gradient has no meaning for 'lenet', whose gradient is its loss's"},
		{"run --backend model --random-memory", "--random-memory has no meaning"},
		{"run --backend model --arith rtl", "--arith has no meaning"},
		{"run --backend model --mac-stages 2", "--mac-stages has no meaning"},
		{"run --backend model --random-reset", "--random-reset has no meaning"},
		{"run --schedule mbs --strips 7", "--strips has no meaning for 'mbs'"},
		{"run --schedule baseline,mbs --strips 7", "--strips has no meaning for 'baseline'"},
		{"run --schedule data/small.schedule --strips 9", "--strips has no meaning for 'data/small.schedule'"},
		{"run --schedule data/small.schedule --phases forward", "--phases has no meaning for 'data/small.schedule'"},
		{"plan fashion-conv --strips 2", "--strips has no meaning for 'mbs'"},
		{"plan data/small.yaml --schedule data/small.schedule --phases all", "--phases has no meaning"},
		{"run --fault weight:comand=3", "unknown key comand"},
		{"run --fault weight:command=3", "missing wave,row,column,bit"},
		{"run --fault weight:command=3,wave=0,row=16,column=0,bit=0", "rows 0 to 15"},
		{"run --fault lane:command=3,row=0,bit=0", "missing column; expected lane:command=N,row=N,column=N,bit=N"},
		{"run --fault lane:command=3,wave=0,row=0,column=0,bit=0", "unknown key wave"},
		{"run --fault lane:command=3,row=0,column=32,bit=0", "the vector unit of the device has lanes 0 to 31"},
		{"run --backend model --fault memory:command=1,address=64,bit=0", "--fault: address=64 (0x40), the memory of this run has addresses 0x100000 to 0x"},
		{"train --backend model --fault memory:command=1,address=0xffffffffffff,bit=0", "(0xffffffffffff), the memory of this run has addresses 0x100000 to 0x"},
		{"plan", "an argument is missing"},
		{"plan fashion-conv --image 16384", "(--accounting paper has no such limit): node 'conv1': one sample of the output takes 3221225472 bytes, limit 1073741824"},
		{"plan fashion-conv another", "unexpected argument 'another'"},
		{"plan fashion-conv --seed 3", "--seed: unknown option"},
		{"plan fashion-conv --buffer 4KiB", "cannot fit"},
		{"check", "an argument is missing"},
		{"trace", "an argument is missing"},
		{"trace stat", "an argument is missing"},
		{"trace print x.wct", "'print' is neither 'dump' nor 'stat'"},
		{"trace dump x.wct --window 3", "'3' is not FROM:TO"},
		{"trace dump x.wct --window 4:4", "--window: 4 is out of range, the limits are 5"},
		{"trace dump x.wct --window 9:4", "--window: 4 is out of range, the limits are 10"},
		{"trace dump x.wct --core 2", "--core: 2 is out of range, the limits are 0 to 1"},
		{"trace stat x.wct --core 1", "--core has no meaning for 'trace stat'"},
		{"trace dump x.wct --level x", "none of run"},
		{"trace stat x.wct --level tile", "--level has no meaning for 'trace stat'"},
		{"trace stat x.wct --data", "--data has no meaning"},
		{"trace stat x.wct --command 3", "--command has no meaning"},
		{"trace stat x.wct --window 3:4", "--window has no meaning"},
		{"diff one.wct", "an argument is missing"},
		{"nets nosuch", "no built-in network 'nosuch'"},
		{"nets --image 32", "--image: needs a network"},
		{"nets vgg16 --image 0", "--image: 0 is out of range"},
		{"nets vgg16 --image x", "--image: 'x' is not a number"},
		{"nets vgg16 --image 31", "node 'pool5'"},
		{"plan vgg16 --image 32 --accounting device", "node 'adapt' is an adaptive pool, which the device has not"},
		{"run --backend model --net data/adaptive.yaml", "node 'pool1' is an adaptive pool, which the device has not"},
		{"check --net resnet8 data/small.schedule", "for network 'small', not for 'resnet8'"},
		{"version 2", "unexpected argument '2'"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		command_expect_error(cases[i].arguments, 2, cases[i].message);
}

Test(usage, no_command_prints_the_commands_and_fails)
{
	struct command command;

	command_run(&command, "");
	cr_expect_eq(command.status, 2);
	cr_expect(strstr(command.err, "usage: wavecore COMMAND"));
	cr_expect_str_empty(command.out);
	command_release(&command);
}

Test(usage, requested_help_goes_to_stdout)
{
	static const char *const commands[] = {"help", "--help", "run --help", "plan --help", "check --help", "trace --help", "diff --help", "nets --help"};

	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		struct command command;

		command_run(&command, commands[i]);
		cr_expect_eq(command.status, 0, "%s", commands[i]);
		cr_expect(strstr(command.out, "wavecore"), "%s: %s", commands[i], command.out);
		cr_expect_str_empty(command.err);
		command_release(&command);
	}
}

Test(usage, help_has_the_defaults_of_its_command)
{
	static const struct {
		const char *arguments, *line, *batch;
	} cases[] = {
		{"run --help", "Usage: wavecore run [OPTIONS]\n", "(default 4)"},
		{"train --help", "Usage: wavecore train [OPTIONS]\n", "(default 128)"},
		{"plan --help", "Usage: wavecore plan [OPTIONS] NET|FILE\n", "(default 4; for"},
		{"trace --help", "Usage: wavecore trace [OPTIONS] dump|stat FILE\n", NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct command command;
		const char *batch;

		command_run(&command, cases[i].arguments);
		cr_expect_eq(strncmp(command.out, cases[i].line, strlen(cases[i].line)), 0, "%s", command.out);
		batch = strstr(command.out, "samples of the mini-batch ");
		cr_expect(!cases[i].batch || (batch && !strncmp(batch + strlen("samples of the mini-batch "), cases[i].batch, strlen(cases[i].batch))), "%s", command.out);
		cr_expect_eq(strstr(command.out, "paper") != NULL, !strncmp(cases[i].arguments, "plan", 4), "%s", command.out);
		command_release(&command);
	}
}
