// SPDX-License-Identifier: Apache-2.0
//
// The verilated device's library, made when it is not there or older than the design.
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver/cli/run.h"

// make in the project's directory: QUESTION asks whether the target is current, 1: it is not. Output goes to stderr.
static int make(const char *root, const char *target, bool question, int *status, struct wc_error *err)
{
	const pid_t child = fork();
	int ended;

	if (child < 0)
		return wc_fail(err, WC_ERR_SYSTEM, "cannot start make: %s", strerror(errno));
	if (child == 0) {
		// What a make that runs this program says to its own children (job server, flags, a second reading) is not for this one.
		unsetenv("MAKEFLAGS");
		unsetenv("MFLAGS");
		unsetenv("MAKELEVEL");
		unsetenv("MAKEFILES");
		unsetenv("MAKE_RESTARTS");
		unsetenv("GNUMAKEFLAGS");
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execlp("make", "make", "-C", root, "--no-print-directory", question ? "-q" : "-s", target, (char *)NULL);
		fprintf(stderr, "cannot start make: %s\n", strerror(errno));
		_exit(127);
	}
	while (waitpid(child, &ended, 0) < 0)
		if (errno != EINTR)
			return wc_fail(err, WC_ERR_SYSTEM, "cannot wait for make: %s", strerror(errno));
	*status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
	return 0;
}

static int is_current(const char *root, const char *target, bool *current, struct wc_error *err)
{
	int status, result = make(root, target, true, &status, err);

	if (!result && status != 0 && status != 1)
		result = wc_fail(err, WC_ERR_SYSTEM, "cannot tell whether the RTL configuration is current: 'make -C %s -q %s' failed", root, target);
	*current = !result && status == 0;
	return result;
}

// One build of configurations at a time in a project's directory: two would share objects. make inherits the lock, so that it holds as long
// as the build, not as this process. -1: see err.
static int lock(const char *root, struct wc_error *err)
{
	char path[PATH_MAX + 32];
	int fd;

	snprintf(path, sizeof(path), "%s/build", root);
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "%s/build/rtl", root);
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "%s/build/rtl/.lock", root);
	fd = open(path, O_RDWR | O_CREAT, 0666);
	if (fd < 0) {
		wc_fail(err, WC_ERR_SYSTEM, "cannot build the RTL configuration: cannot create '%s': %s", path, strerror(errno));
		return -1;
	}
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		fprintf(stderr, "waiting for another build in %s/build/rtl\n", root);
		while (flock(fd, LOCK_EX))
			if (errno != EINTR) {
				wc_fail(err, WC_ERR_SYSTEM, "cannot lock '%s': %s", path, strerror(errno));
				close(fd);
				return -1;
			}
	}
	return fd;
}

static int build(const char *root, const char *target, struct wc_error *err)
{
	const int fd = lock(root, err);
	bool current;
	int status = 0, result;

	if (fd < 0)
		return WC_ERR_SYSTEM;
	// Who held the lock may have made it.
	result = is_current(root, target, &current, err);
	if (!result && !current) {
		fprintf(stderr, "building %s\n", target);
		result = make(root, target, false, &status, err);
	}
	if (!result && status)
		result = wc_fail(err, WC_ERR_SYSTEM, "cannot build the RTL configuration: 'make -C %s %s' failed", root, target);
	close(fd);
	return result;
}

int run_library(const struct cli_problem *problem, bool dpi, bool waves, bool random_reset, char *path, size_t size, struct wc_error *err)
{
	const struct wc_device_params *device = &problem->device;
	char root[PATH_MAX], target[256];
	bool current;
	int result = cli_root(root, sizeof(root), err);

	if (result)
		return result;
	snprintf(target, sizeof(target), "build/rtl/r%dc%d-b%" PRIu32 "-w%" PRIu32 "%s-m%d-%s%s%s/wc_rtl.so", device->rows, device->cols,
		 device->buffer_bytes, device->bus_bytes, device->mem_ports == 2 ? "-p2" : "", device->mac_stages, dpi ? "dpi" : "rtl", waves ? "-waves" : "", random_reset ? "-rand" : "");
	if ((size_t)snprintf(path, size, "%s/%s", root, target) >= size)
		return wc_fail(err, WC_ERR_SYSTEM, "path of the project '%s' is longer than %zu bytes", root, size - 1);
	// make knows what the library is made from; one of an older design would be simulated without a word.
	result = is_current(root, target, &current, err);
	return result || current ? result : build(root, target, err);
}
