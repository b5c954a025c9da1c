// SPDX-License-Identifier: Apache-2.0
//
// Rule: a signal that asks a run to stop ends it, and all that it has started, with status 128 + its number and what is done kept; a
// process that dies, or a file that cannot grow, does not hide the other runs.
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "command.h"

// The tests themselves may run where some are ignored: in a shell's background, under nohup.
static void take_signals(void)
{
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
}

TestSuite(signals, .init = take_signals, .fini = command_clean, .timeout = 120);

#define SMALL "run --net data/small.yaml --backend model --array 8x8 --batch 2 --buffer 16KiB "

static long size_of(const char *name)
{
	struct stat status;
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", command_scratch(), name);
	return stat(path, &status) ? 0 : (long)status.st_size;
}

static void pause_ms(long ms)
{
	const struct timespec time = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&time, NULL);
}

static void wait_for(const char *name)
{
	for (int i = 0; i < 3000 && !size_of(name); i++)
		pause_ms(10);
	cr_assert(size_of(name), "%s did not come", name);
}

// The children of a process, at most `max`.
static int children_of(pid_t parent, pid_t *children, int max)
{
	char path[64];
	FILE *file;
	int count = 0, child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)parent, (int)parent);
	file = fopen(path, "r");
	while (file && count < max && fscanf(file, "%d", &child) == 1)
		children[count++] = child;
	if (file)
		fclose(file);
	return count;
}

// Whether it ends within 20 seconds. A dead process that nobody has waited for counts as ended.
static bool ends(pid_t process)
{
	for (int i = 0; i < 2000; i++) {
		char path[64], state = 'X';
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%d/stat", (int)process);
		file = fopen(path, "r");
		if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1 || state == 'Z' || state == 'X') {
			if (file)
				fclose(file);
			return true;
		}
		fclose(file);
		pause_ms(10);
	}
	return false;
}

// It runs for many seconds; the trace shows that it has begun.
#define LONG "run --backend model --schedule baseline --batch 3000 --trace long.wct --trace-level wave"

Test(signals, that_ask_a_run_to_stop)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		struct command command;
		int status;
		const pid_t child = command_start(&command, LONG);

		wait_for("long.wct");
		cr_assert_eq(kill(child, signals[i]), 0);
		cr_assert_eq(waitpid(child, &status, 0), child);
		command_read(&command);
		cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 128 + signals[i], "signal %d: %x %s", signals[i], status, command.err);
		cr_expect(strstr(command.err, "interrupted after") && strstr(command.err, "long.wct"), "%s", command.err);
		command_release(&command);
		// What is there is whole, and says why it ends.
		command_run(&command, "trace stat long.wct");
		cr_expect_eq(command.status, 0, "%s", command.err);
		cr_expect_not(strstr(command.out, "cut off"), "%s", command.out);
		command_release(&command);
		command_run(&command, "trace dump long.wct --level run");
		cr_expect(strstr(command.out, "ended") && strstr(command.out, "interrupted"), "%s", command.out);
		command_release(&command);
		command_clean();
	}
}

Test(signals, an_ignored_hangup_stays_ignored)
{
	struct command command;
	int status;

	signal(SIGHUP, SIG_IGN);
	const pid_t child = command_start(&command, LONG);

	signal(SIGHUP, SIG_DFL);
	wait_for("long.wct");
	cr_assert_eq(kill(child, SIGHUP), 0);
	pause_ms(300);
	cr_expect_eq(waitpid(child, &status, WNOHANG), 0, "it goes on");
	cr_assert_eq(kill(child, SIGTERM), 0);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_expect_eq(WEXITSTATUS(status), 128 + SIGTERM);
	command_read(&command);
	command_release(&command);
}

#define SIDE_BY_SIDE "run --backend model --schedule baseline,mbs,2ps --jobs 2 --batch 600 --trace t.wct --trace-level wave"

Test(signals, children_end_with_their_parent)
{
	struct command command;
	pid_t children[4];
	int status, count;
	const pid_t parent = command_start(&command, SIDE_BY_SIDE);

	wait_for("t-baseline.wct");
	wait_for("t-mbs.wct");
	count = children_of(parent, children, 4);
	cr_assert_eq(count, 2);
	cr_assert_eq(kill(parent, SIGKILL), 0);
	cr_assert_eq(waitpid(parent, &status, 0), parent);
	for (int i = 0; i < count; i++)
		cr_expect(ends(children[i]), "child %d goes on", i);
	command_read(&command);
	command_release(&command);
	// They have kept what they had.
	command_run(&command, "trace stat t-mbs.wct");
	cr_expect_eq(command.status, 0, "%s", command.err);
	command_release(&command);
}

Test(signals, a_stop_says_what_has_not_begun)
{
	struct command command;
	int status;

	// As a shell starts what is to run in the background.
	signal(SIGINT, SIG_IGN);
	const pid_t parent = command_start(&command, SIDE_BY_SIDE);

	signal(SIGINT, SIG_DFL);
	wait_for("t-baseline.wct");
	wait_for("t-mbs.wct");
	cr_assert_eq(kill(parent, SIGTERM), 0);
	cr_assert_eq(waitpid(parent, &status, 0), parent);
	command_read(&command);
	cr_expect_eq(WEXITSTATUS(status), 128 + SIGTERM);
	cr_expect(strstr(command.err, "1 of 3 schedules have not begun"), "%s", command.err);
	cr_expect(strstr(command.err, "schedule 'mbs': interrupted"), "%s", command.err);
	command_release(&command);
}

Test(signals, a_stop_before_any_has_begun)
{
	struct command command;
	int status;
	// The golden model's tensors for all schedules come first, and take many seconds.
	const pid_t parent = command_start(&command, "run --backend model --schedule baseline,mbs --jobs 2 --batch 6000 --trace t.wct");

	pause_ms(1500);
	cr_assert_eq(kill(parent, SIGINT), 0);
	cr_assert_eq(waitpid(parent, &status, 0), parent);
	command_read(&command);
	cr_expect(WIFEXITED(status) ? WEXITSTATUS(status) == 128 + SIGINT : WTERMSIG(status) == SIGINT, "%x", status);
	cr_expect_str_empty(command.out);
	command_release(&command);
}

Test(signals, a_process_that_dies_does_not_hide_the_others)
{
	struct command command;
	pid_t child;
	int status;
	const pid_t parent = command_start(&command, "run --backend model --schedule mbs,baseline --batch 300 --jobs 2 --trace t.wct --trace-level wave");

	wait_for("t-mbs.wct");
	// The first one is that of mbs.
	cr_assert_eq(children_of(parent, &child, 1), 1);
	cr_assert_eq(kill(child, SIGKILL), 0);
	cr_assert_eq(waitpid(parent, &status, 0), parent);
	command_read(&command);
	cr_expect_eq(WEXITSTATUS(status), 3, "%s", command.err);
	cr_expect(strstr(command.out, "\nbaseline ") && !strstr(command.out, "\nmbs"), "%s", command.out);
	cr_expect(strstr(command.err, "error: the run of 'mbs' was ended by signal 9"), "%s", command.err);
	command_release(&command);
}

Test(signals, a_file_that_cannot_grow_is_an_error_of_its_run_alone)
{
	struct rlimit limit, all;
	struct command command;

	command_run(&command, SMALL "--schedule mbs,2ps,baseline --trace t.wct");
	cr_assert_eq(command.status, 0, "%s", command.err);
	command_release(&command);
	// 2ps writes the longest trace.
	cr_assert_eq(getrlimit(RLIMIT_FSIZE, &all), 0);
	limit = all;
	limit.rlim_cur = (rlim_t)(size_of("t-mbs.wct") > size_of("t-baseline.wct") ? size_of("t-mbs.wct") : size_of("t-baseline.wct"));
	cr_assert_lt((long)limit.rlim_cur, size_of("t-2ps.wct"));
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (int jobs = 1; jobs <= 3; jobs += 2) {
		command_run(&command, jobs == 1 ? SMALL "--schedule mbs,2ps,baseline --trace t.wct" : SMALL "--schedule mbs,2ps,baseline --trace t.wct --jobs 3");
		cr_expect_eq(command.status, 3, "%s", command.err);
		cr_expect(strstr(command.out, "\nmbs ") && strstr(command.out, "\nbaseline ") && !strstr(command.out, "\n2ps"), "%s", command.out);
		cr_expect(strstr(command.err, "error: schedule '2ps': cannot write trace 't-2ps.wct': File too large"), "%s", command.err);
		command_release(&command);
	}
	setrlimit(RLIMIT_FSIZE, &all);
}
