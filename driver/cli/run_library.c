// SPDX-License-Identifier: Apache-2.0
//
// The verilated device's library, made on demand.
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver/cli/run.h"

// make TARGET in the project's directory; its output goes to stderr.
static int make(const char *root, const char *target, struct wc_error *err)
{
	const pid_t child = fork();
	int status;

	if (child < 0)
		return wc_fail(err, WC_ERR_SYSTEM, "cannot start make: %s", strerror(errno));
	if (child == 0) {
		// A make that runs this program must not hand its job server on.
		unsetenv("MAKEFLAGS");
		unsetenv("MFLAGS");
		unsetenv("MAKELEVEL");
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execlp("make", "make", "-C", root, "--no-print-directory", target, (char *)NULL);
		_exit(127);
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return wc_fail(err, WC_ERR_SYSTEM, "cannot wait for make: %s", strerror(errno));
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return wc_fail(err, WC_ERR_SYSTEM, "cannot build the RTL configuration: 'make -C %s %s' failed", root, target);
	return 0;
}

int run_library(const struct cli_problem *problem, bool dpi, bool waves, bool random_reset, char *path, size_t size, struct wc_error *err)
{
	const struct wc_device_params *device = &problem->device;
	char root[PATH_MAX], target[256];
	int result = cli_root(root, sizeof(root), err);

	if (result)
		return result;
	snprintf(target, sizeof(target), "build/rtl/r%dc%d-b%" PRIu32 "-w%" PRIu32 "-m%d-%s%s%s/wc_rtl.so", device->rows, device->cols,
		 device->buffer_bytes, device->bus_bytes, device->mac_stages, dpi ? "dpi" : "rtl", waves ? "-waves" : "", random_reset ? "-rand" : "");
	if ((size_t)snprintf(path, size, "%s/%s", root, target) >= size)
		return wc_fail(err, WC_ERR_SYSTEM, "path of the project '%s' is longer than %zu bytes", root, size - 1);
	if (!access(path, R_OK))
		return 0;
	fprintf(stderr, "building %s, once\n", target);
	return make(root, target, err);
}
