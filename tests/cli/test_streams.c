// SPDX-License-Identifier: Apache-2.0
//
// Rule: output that cannot be written fails every command with status 3, help included, and never lands in another file; a file that would
// have to be waited for is refused.
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"

TestSuite(streams, .fini = command_clean, .timeout = 120);

// Instead of the command: words for the shell, and in them the command again.
#define SHELL "version > /dev/null; "
#define AGAIN "../../../wavecore "
#define MODEL "run --net data/small.yaml --backend model --array 8x8 --batch 2 --buffer 16KiB "

static void expect_status(const char *arguments, int status, const char *message)
{
	struct command command;

	command_run(&command, arguments);
	cr_expect_eq(command.status, status, "wavecore %s: status %d\n%s", arguments, command.status, command.err);
	cr_expect(strstr(command.err, message) || strstr(command.out, message), "wavecore %s: no '%s'\n%s%s", arguments, message, command.out, command.err);
	command_release(&command);
}

Test(streams, a_full_disk_fails_every_command)
{
	static const char *const commands[] = {
		"help", "--help", "--version", "version", "run --help", "run --usage", "trace --help", "plan --help",
		"nets data/small.yaml", "check --net data/small.yaml data/small.schedule", "plan fashion-conv", "plan fashion-conv --json", "plan fashion-conv --explain",
		"report --help", "report traffic --net data/small.yaml", "report traffic --net data/small.yaml --json",
		"trace dump t.wct", "trace dump t.wct --json", "trace stat t.wct", "trace stat t.wct --json", "diff t.wct g.wct", "diff t.wct g.wct --json",
		MODEL "--schedule mbs", MODEL "--schedule mbs --json", MODEL "--schedule mbs,baseline --json",
	};
	char line[512];

	expect_status(MODEL "--trace t.wct --golden-trace g.wct", 0, "equal");
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		struct command command;

		snprintf(line, sizeof(line), SHELL "(" AGAIN "%s > /dev/full)", commands[i]);
		command_run(&command, line);
		cr_expect_eq(command.status, 3, "wavecore %s: status %d", line, command.status);
		cr_expect(strstr(command.err, "error: ") && strstr(command.err, "cannot write") && strstr(command.err, "No space left on device"), "wavecore %s: %s", line, command.err);
		command_release(&command);
	}
}

Test(streams, closed_ones_do_not_become_files)
{
	struct command command;

	expect_status(SHELL "(" AGAIN "version >&-)", 3, "cannot write to stdout");
	// The trace is the first file to be opened.
	command_run(&command, SHELL "(" AGAIN MODEL "--trace t.wct >&-)");
	cr_expect_eq(command.status, 3);
	command_release(&command);
	expect_status("trace stat t.wct", 0, "command_end");
	expect_status(SHELL "(" AGAIN "check --net data/small.yaml - <&-)", 2, "cannot read '-'");
}

Test(streams, a_trace_on_a_full_disk_is_named)
{
	expect_status("run --backend model --batch 30 --schedule baseline --trace-level wave --trace /dev/full", 3, "cannot write trace '/dev/full'");
}

Test(streams, named_pipes_are_refused_at_once)
{
	static const char *const commands[] = {
		"trace stat pipe", "trace dump pipe", "diff pipe pipe", "check pipe", "plan pipe", MODEL "--input pipe", MODEL "--gradient pipe",
		MODEL "--schedule pipe", "plan data/small.yaml --schedule pipe --array 8x8 --batch 2 --buffer 16KiB", "run --backend model --net pipe",
		MODEL "--trace pipe", MODEL "--golden-trace pipe", "run --waves pipe", MODEL "--weights weights",
	};
	char path[512];

	snprintf(path, sizeof(path), "%s/pipe", command_scratch());
	cr_assert_eq(mkfifo(path, 0666), 0);
	snprintf(path, sizeof(path), "%s/weights", command_scratch());
	cr_assert_eq(mkdir(path, 0777), 0);
	snprintf(path, sizeof(path), "%s/weights/c1.weight.npy", command_scratch());
	cr_assert_eq(mkfifo(path, 0666), 0);
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		command_expect_error(commands[i], 2, "named pipe");
	expect_status("report traffic --net pipe", 2, "named pipe");
}

Test(streams, pipes_of_the_shell_are_read)
{
	expect_status("check --net data/small.yaml /dev/stdin < data/small.schedule", 0, "proven");
	expect_status(SHELL "cat data/small.schedule | " AGAIN "check --net data/small.yaml /dev/stdin", 0, "proven");
	expect_status(SHELL "cat data/small.schedule | " AGAIN "check --net data/small.yaml -", 0, "proven");
	expect_status(SHELL "bash -c '" AGAIN "check --net <(cat data/small.yaml) <(cat data/small.schedule)'", 0, "proven");
	expect_status(SHELL "bash -c '" AGAIN "plan <(cat data/small.yaml)'", 0, "group forward");
	expect_status(SHELL "cat data/small.yaml | " AGAIN "trace stat /dev/stdin", 2, "not a regular file");
}
