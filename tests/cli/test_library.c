// SPDX-License-Identifier: Apache-2.0
//
// Rule: what is simulated is the design as it is now: the library is made anew when the design has changed, by one run at a time, and
// silently taken when it is current.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"

TestSuite(library, .fini = command_clean, .timeout = 300);

// A project of the test's own, whose makefile copies the true library and says how often. The command finds its project from where it lies.
static void make_project(void)
{
	static const char makefile[] = "build/rtl/%/wc_rtl.so: rtl/design\n"
				       "\t@mkdir -p $(@D)\n"
				       "\t@echo begin >> log; sleep $$(cat delay) & echo $$PPID $$! > pids; wait $$!; cp $(REAL)/$*/wc_rtl.so $@.new && mv $@.new $@ && echo end >> log\n";
	char line[4096], root[1024];
	const char *build = getenv("WC_BUILD");

	cr_assert(getcwd(root, sizeof(root)));
	snprintf(line, sizeof(line), "%s/build/rtl", root);
	setenv("REAL", line, 1);
	snprintf(line, sizeof(line), "cd '%s' && mkdir -p project/build project/rtl && touch project/rtl/commands.def project/rtl/design && "
		 "echo 0 > project/delay && ln '%s/%s/wavecore' project/build/wavecore 2>/dev/null || cp '%s/%s/wavecore' project/build/wavecore",
		 command_scratch(), root, build ? build : "build", root, build ? build : "build");
	cr_assert_eq(system(line), 0);
	command_write("project/Makefile", makefile, strlen(makefile));
}

// Run in the project, through the shell.
static int shell(const char *arguments, char *output, size_t size)
{
	char line[4096];
	FILE *file;
	size_t used;
	int status;

	snprintf(line, sizeof(line), "(cd '%s/project' && %s) 2>&1", command_scratch(), arguments);
	fflush(NULL);
	file = popen(line, "r");
	cr_assert(file);
	used = fread(output, 1, size - 1, file);
	output[used] = '\0';
	status = pclose(file);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#define RUN "build/wavecore run --phases forward --batch 1 --schedule baseline"

static int builds(void)
{
	char output[64];

	shell("grep -c begin log", output, sizeof(output));
	return atoi(output);
}

Test(library, is_made_when_the_design_has_changed)
{
	char output[16384];

	make_project();
	cr_assert_eq(shell(RUN, output, sizeof(output)), 0, "%s", output);
	cr_expect(strstr(output, "building build/rtl/r16c16"), "%s", output);
	cr_expect_eq(builds(), 1);
	cr_assert_eq(shell(RUN, output, sizeof(output)), 0, "%s", output);
	cr_expect_not(strstr(output, "build"), "a current library is taken silently: %s", output);
	cr_expect_eq(builds(), 1);
	// What an outer make asks for is not for this one: -n would build nothing, -q say that it is not current.
	cr_assert_eq(shell("sleep 0.01; touch rtl/design; MAKEFLAGS=nq MAKELEVEL=2 " RUN, output, sizeof(output)), 0, "%s", output);
	cr_expect_eq(builds(), 2);
	cr_assert_eq(shell("sleep 0.01; touch rtl/design; REAL=nowhere " RUN, output, sizeof(output)), 3, "%s", output);
	cr_expect(strstr(output, "error: cannot build the RTL configuration"), "%s", output);
}

Test(library, is_made_by_one_run_at_a_time)
{
	char output[16384];

	make_project();
	cr_assert_eq(shell("echo 1 > delay; " RUN " & a=$!; " RUN " & b=$!; wait $a && wait $b", output, sizeof(output)), 0, "%s", output);
	cr_expect(strstr(output, "waiting for another build"), "%s", output);
	cr_expect_eq(builds(), 1, "%s", output);
}

Test(library, a_stop_ends_the_build_with_all_that_it_has_started)
{
	char output[16384];
	int status;

	make_project();
	status = shell("echo 50 > delay; " RUN " & pid=$!; while [ ! -s pids ]; do sleep 0.05; done; kill -TERM $pid; wait $pid; status=$?; "
		       "lives() { grep -q '^State:.[RSD]' /proc/$1/status 2>/dev/null; }; "
		       "for pid in $(cat pids); do for i in $(seq 100); do lives $pid || break; sleep 0.05; done; ! lives $pid || echo $pid goes on; done; "
		       "exit $status", output, sizeof(output));
	cr_expect_eq(status, 128 + 15, "%d: %s", status, output);
	cr_expect(strstr(output, "error: interrupted while 'build/rtl/r16c16") && !strstr(output, "goes on"), "%s", output);
	// What waits for the lock of another build ends, too.
	status = shell("rm -f pids; " RUN " & first=$!; while [ ! -s pids ]; do sleep 0.05; done; " RUN " 2> second & pid=$!; "
		       "while ! grep -q waiting second; do sleep 0.05; done; kill -TERM $pid; wait $pid; status=$?; cat second; kill $first; wait $first; exit $status",
		       output, sizeof(output));
	cr_expect_eq(status, 128 + 15, "%d: %s", status, output);
	cr_expect(strstr(output, "nothing has run"), "%s", output);
}

Test(library, plain_make_knows_all_of_its_targets)
{
	cr_expect_eq(system("MAKEFLAGS= make -n > /dev/null"), 0);
}
