// SPDX-License-Identifier: Apache-2.0
#include "traces/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

static const char named_pipe[] = "it is a named pipe, not a regular file, and nobody may ever write to it";

// What pipe(2) makes, and a shell's <(...) with it, lies on a file system of its own.
static bool is_anonymous(const struct statfs *system)
{
	return system->f_type == PIPEFS_MAGIC;
}

static const char *refused(int fd, enum wc_file_kind kind)
{
	struct stat status;
	struct statfs system;

	if (fstat(fd, &status))
		return strerror(errno);
	if (S_ISREG(status.st_mode))
		return NULL;
	if (S_ISDIR(status.st_mode))
		return "it is a directory, not a regular file";
	if (S_ISFIFO(status.st_mode) && (fstatfs(fd, &system) || !is_anonymous(&system)))
		return named_pipe;
	return kind == WC_FILE_STREAM ? NULL : "it is not a regular file";
}

int wc_file_open(const char *path, enum wc_file_kind kind, const char **why)
{
	// Not to wait for a writer.
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0) {
		*why = strerror(errno);
		return -1;
	}
	*why = refused(fd, kind);
	if (!*why && fcntl(fd, F_SETFL, 0))
		*why = strerror(errno);
	if (!*why)
		return fd;
	close(fd);
	return -1;
}

const char *wc_file_refused(const char *path)
{
	struct stat status;
	struct statfs system;

	if (stat(path, &status) || !S_ISFIFO(status.st_mode))
		return NULL;
	return statfs(path, &system) || !is_anonymous(&system) ? named_pipe : NULL;
}
