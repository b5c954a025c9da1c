// SPDX-License-Identifier: Apache-2.0
//
// Rule: no file that the user names is waited for: a named pipe is refused at once; a shell's pipe can be a stream, not a file.
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"
#include "traces/file.h"
#include "traces/npy.h"
#include "traces/wct_reader.h"

TestSuite(file, .init = scratch_create, .fini = scratch_remove, .timeout = 20);

static void expect(const char *path, enum wc_file_kind kind, const char *says)
{
	const char *why = NULL;
	const int fd = wc_file_open(path, kind, &why);

	if (says) {
		cr_expect_lt(fd, 0, "%s", path);
		cr_expect(why && strstr(why, says), "%s: '%s' does not say '%s'", path, why ? why : "", says);
	} else {
		cr_expect_geq(fd, 0, "%s: %s", path, why ? why : "");
		close(fd);
	}
}

Test(file, a_named_pipe_is_refused_at_once)
{
	const char *path = scratch_path("pipe");
	struct wct_reader *reader;
	struct npy_array array;
	struct wc_error err;

	cr_assert_eq(mkfifo(path, 0666), 0);
	expect(path, WC_FILE_REGULAR, "named pipe");
	expect(path, WC_FILE_STREAM, "named pipe");
	cr_expect(wc_file_refused(path));
	cr_expect_eq(wct_reader_open(&reader, path, &err), WC_ERR_INPUT);
	cr_expect(strstr(err.text, path) && strstr(err.text, "named pipe"), "%s", err.text);
	cr_expect_eq(npy_read(path, &array, &err), WC_ERR_INPUT);
	cr_expect(strstr(err.text, path) && strstr(err.text, "named pipe"), "%s", err.text);
}

Test(file, a_pipe_of_the_process_is_a_stream)
{
	int fds[2];
	char path[64], bytes[8] = "";
	const char *why;

	cr_assert_eq(pipe(fds), 0);
	cr_assert_eq(write(fds[1], "abc", 3), 3);
	close(fds[1]);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
	expect(path, WC_FILE_REGULAR, "not a regular file");
	cr_expect_null(wc_file_refused(path));
	const int fd = wc_file_open(path, WC_FILE_STREAM, &why);

	cr_assert_geq(fd, 0, "%s", why);
	cr_expect_eq(read(fd, bytes, sizeof(bytes)), 3);
	cr_expect_str_eq(bytes, "abc");
	close(fd);
	close(fds[0]);
}

Test(file, kinds_of_files)
{
	const char *path = scratch_path("file");

	file_write(path, "x", 1);
	expect(path, WC_FILE_REGULAR, NULL);
	expect(path, WC_FILE_STREAM, NULL);
	expect("/", WC_FILE_REGULAR, "directory");
	expect("/", WC_FILE_STREAM, "directory");
	expect("/dev/null", WC_FILE_REGULAR, "not a regular file");
	expect("/dev/null", WC_FILE_STREAM, NULL);
	expect(scratch_path("none"), WC_FILE_REGULAR, "No such file");
	cr_expect_null(wc_file_refused(scratch_path("none")));
	cr_expect_null(wc_file_refused(path));
}
