// SPDX-License-Identifier: Apache-2.0
//
// The verilated device's library, made when it is not there or older than the design.
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "driver/cli/run.h"

enum { WAIT_MS = 100, PATIENCE = 50 }; // between two looks at the wish to stop; so many for make to end when asked

static int stopped(const char *target, struct wc_error *err)
{
	return wc_fail(err, WC_ERR_STOPPED, "interrupted while '%s' was looked for or built; nothing has run", target);
}

static _Noreturn void in_child(const char *root, const char *target, bool question)
{
	// A group of its own can be ended with all that make has started. make itself ends with this program.
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	// Training ignores it.
	signal(SIGPIPE, SIG_DFL);
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

// Wait for the end of make and, once a stop is wanted, bring it about. Whether a stop was wanted.
static bool wait_or_stop(pid_t child, const volatile sig_atomic_t *stop, int *ended)
{
	struct pollfd watch = {.fd = pidfd_open(child, 0), .events = POLLIN};
	bool told = false;

	for (int patience = PATIENCE; watch.fd >= 0 && poll(&watch, 1, WAIT_MS) != 1; patience -= told) {
		if (*stop && !told)
			kill(-child, SIGTERM);
		if (told && !patience)
			kill(-child, SIGKILL);
		told |= *stop != 0;
	}
	close(watch.fd);
	while (waitpid(child, ended, 0) < 0 && errno == EINTR)
		;
	return told;
}

// make in the project's directory: QUESTION asks whether the target is current, 1: it is not. Output goes to stderr.
static int make(const char *root, const char *target, bool question, const volatile sig_atomic_t *stop, int *status, struct wc_error *err)
{
	const pid_t child = fork();
	int ended = 0;

	if (child < 0)
		return wc_fail(err, WC_ERR_SYSTEM, "cannot start make: %s", strerror(errno));
	if (child == 0)
		in_child(root, target, question);
	// Here too: whoever is first.
	setpgid(child, child);
	if (wait_or_stop(child, stop, &ended))
		return stopped(target, err);
	*status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
	return 0;
}

static int is_current(const char *root, const char *target, const volatile sig_atomic_t *stop, bool *current, struct wc_error *err)
{
	int status, result = make(root, target, true, stop, &status, err);

	if (!result && status != 0 && status != 1)
		result = wc_fail(err, WC_ERR_SYSTEM, "cannot tell whether the RTL configuration is current: 'make -C %s -q %s' failed", root, target);
	*current = !result && status == 0;
	return result;
}

// One build of configurations at a time in a project's directory: two would share objects. make inherits the lock, so that it holds as long
// as the build, not as this process.
static int lock(const char *root, const char *target, const volatile sig_atomic_t *stop, int *fd, struct wc_error *err)
{
	const struct timespec pause = {.tv_nsec = WAIT_MS * 1000000L};
	char path[PATH_MAX + 32];
	bool told = false;

	snprintf(path, sizeof(path), "%s/build", root);
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "%s/build/rtl", root);
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "%s/build/rtl/.lock", root);
	*fd = open(path, O_RDWR | O_CREAT, 0666);
	if (*fd < 0)
		return wc_fail(err, WC_ERR_SYSTEM, "cannot build the RTL configuration: cannot create '%s': %s", path, strerror(errno));
	while (flock(*fd, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK && errno != EINTR) {
			wc_fail(err, WC_ERR_SYSTEM, "cannot lock '%s': %s", path, strerror(errno));
			close(*fd);
			return WC_ERR_SYSTEM;
		}
		if (*stop) {
			close(*fd);
			return stopped(target, err);
		}
		if (!told)
			fprintf(stderr, "waiting for another build in %s/build/rtl\n", root);
		told = true;
		nanosleep(&pause, NULL);
	}
	return 0;
}

static int build(const char *root, const char *target, const volatile sig_atomic_t *stop, struct wc_error *err)
{
	bool current;
	int fd, status = 0, result = lock(root, target, stop, &fd, err);

	if (result)
		return result;
	// Who held the lock may have made it.
	result = is_current(root, target, stop, &current, err);
	if (!result && !current) {
		fprintf(stderr, "building %s\n", target);
		result = make(root, target, false, stop, &status, err);
	}
	if (!result && status)
		result = wc_fail(err, WC_ERR_SYSTEM, "cannot build the RTL configuration: 'make -C %s %s' failed", root, target);
	close(fd);
	return result;
}

int run_library(const struct cli_problem *problem, bool dpi, bool waves, bool random_reset, const volatile sig_atomic_t *stop, char *path, size_t size,
		struct wc_error *err)
{
	const struct wc_device_params *device = &problem->device;
	char root[PATH_MAX], target[256];
	bool current;
	int result = cli_root(root, sizeof(root), err);

	if (result)
		return result;
	snprintf(target, sizeof(target), "build/rtl/r%dc%d-b%" PRIu32 "-w%" PRIu32 "%s%s-m%d-%s%s%s/wc_rtl.so", device->rows, device->cols,
		 device->buffer_bytes, device->bus_bytes, device->mem_ports == 2 ? "-p2" : "", device->cores == 2 ? "-c2" : "",
		 device->mac_stages, dpi ? "dpi" : "rtl", waves ? "-waves" : "", random_reset ? "-rand" : "");
	if ((size_t)snprintf(path, size, "%s/%s", root, target) >= size)
		return wc_fail(err, WC_ERR_SYSTEM, "path of the project '%s' is longer than %zu bytes", root, size - 1);
	// make knows what the library is made from; one of an older design would be simulated without a word.
	result = is_current(root, target, stop, &current, err);
	return result || current ? result : build(root, target, stop, err);
}
