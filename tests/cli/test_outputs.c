// SPDX-License-Identifier: Apache-2.0
//
// Rule: an output never destroys what it should not: an input of the same run under whatever name, another output, or anything that is
// no regular file. All here is refused before the run begins.
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "command.h"

TestSuite(outputs, .fini = command_clean, .timeout = 120);

#define SMALL "run --net data/small.yaml --backend model --array 8x8 --batch 2 --buffer 16KiB "

static const char *in_scratch(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", command_scratch(), name);
	return path;
}

// Through the shell, in the scratch directory.
static void shell(const char *line)
{
	char all[1024];

	snprintf(all, sizeof(all), "cd '%s' && %s", command_scratch(), line);
	cr_assert_eq(system(all), 0, "%s", line);
}

static mode_t kind_of(const char *name)
{
	struct stat status;

	return lstat(in_scratch(name), &status) ? 0 : status.st_mode & S_IFMT;
}

// A socket stands for whatever is no regular file: what is wrongly removed here is not missed.
static void make_socket(const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	cr_assert_lt(snprintf(address.sun_path, sizeof(address.sun_path), "%s", in_scratch(name)), (int)sizeof(address.sun_path));
	cr_assert_eq(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	close(fd);
}

Test(outputs, regular_files_alone_are_replaced)
{
	make_socket("socket");
	shell("ln -s nowhere dangling; ln -s socket link; touch w.fst; mkdir w.fst.hier r.new");
	command_expect_error("run --waves socket", 2, "--waves: 'socket' is not a regular file");
	command_expect_error("run --waves link", 2, "is not a regular file");
	command_expect_error("run --waves dangling", 2, "--waves: 'dangling' is a symbolic link to a file that is not there");
	command_expect_error("run --waves w.fst", 2, "w.fst.hier");
	command_expect_error("run --resume socket", 2, "--resume: 'socket' is not a regular file");
	command_expect_error("run --resume link", 2, "is not a regular file");
	command_expect_error("run --resume dangling", 2, "--resume: 'dangling' is a symbolic link to a file that is not there");
	command_expect_error("run --resume r", 2, "--resume: 'r.new', which is written while it runs, is not a regular file");
	// With several schedules their names are in the file's.
	shell("ln -s nowhere d-mbs.fst");
	command_expect_error("run --schedule baseline,mbs --waves d.fst", 2, "d-mbs.fst");
	cr_expect_eq(kind_of("socket"), S_IFSOCK);
	cr_expect_eq(kind_of("link"), S_IFLNK);
	cr_expect_eq(kind_of("dangling"), S_IFLNK);
}

Test(outputs, do_not_go_into_what_the_run_reads)
{
	static const struct {
		const char *arguments, *says;
	} cases[] = {
		{"--schedule sch --trace sch", "--trace: 'sch' is the file of --schedule too"},
		{"--schedule sch --golden-trace ./d/../sch", "--golden-trace: './d/../sch' is the file of --schedule too"},
		{"--schedule mbs,sch --trace hard", "--trace: 'hard-sch' is the file of --schedule too"},
		{"--input d/input.act.nhwc.npy --trace soft", "--trace: 'soft' is the file of --input too"},
		{"--gradient d/c2.grad.nhwc.npy --trace d/c2.grad.nhwc.npy", "is the file of --gradient too"},
		{"--weights d --trace d/c1.weight.krsc.npy", "is the file of --weights too"},
		{"--weights d --dump d", "--dump: 'd/c1.weight.krsc.npy' is the file of --weights too"},
		{"--input d/input.act.nhwc.npy --dump d", "is the file of --input too"},
		{"--gradient d/c2.grad.nhwc.npy --dump ./d/", "is the file of --gradient too"},
		{"--trace t.wct --golden-trace t2.wct", "--golden-trace: 't2.wct' is the file of --trace too"},
		{"--dump d --trace t3.wct", "--dump: 'd/c1.act.nhwc.npy' is the file of --trace too"},
	};
	char line[512];

	command_expect_error(SMALL "--net data/small.yaml", 2, "given twice");
	shell("cp data/small.schedule sch; cp data/small.yaml net.yaml; ln sch hard-sch");
	struct command command;

	command_run(&command, SMALL "--schedule sch --dump d");
	cr_assert_eq(command.status, 0, "%s", command.err);
	command_release(&command);
	shell("ln -s d/input.act.nhwc.npy soft; touch t.wct; ln t.wct t2.wct; ln d/c1.act.nhwc.npy t3.wct; tar cf before.tar d sch net.yaml");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(line, sizeof(line), SMALL "%s", cases[i].arguments);
		command_expect_error(line, 2, cases[i].says);
	}
	command_expect_error("run --net net.yaml --backend model --trace net.yaml", 2, "is the file of --net too");
	command_expect_error("run --net net.yaml --schedule sch --waves sch", 2, "--waves: 'sch' is the file of --schedule too");
	shell("tar df before.tar");
	// What only lies beside.
	command_run(&command, SMALL "--input d/input.act.nhwc.npy --weights d --dump d2 --trace d/t.wct");
	cr_expect_eq(command.status, 0, "%s", command.err);
	command_release(&command);
}
