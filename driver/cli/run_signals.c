// SPDX-License-Identifier: Apache-2.0
//
// Signals of a run: those that ask it to stop, and the one that a waveform on a full disk ends in.
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "driver/cli/run.h"

static volatile sig_atomic_t stop;
// Made ahead: a handler cannot format.
static char bus_text[1024];

static void on_stop(int signal)
{
	stop = signal;
}

static void on_bus(int signal)
{
	(void)signal;
	// Nothing can be done if this fails too.
	if (write(STDERR_FILENO, bus_text, strlen(bus_text)) < 0)
		_exit(CLI_SYSTEM);
	_exit(CLI_SYSTEM);
}

const volatile sig_atomic_t *run_signals_stop(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		// Without SA_RESTART: waiting ends.
		const struct sigaction action = {.sa_handler = on_stop};
		struct sigaction old;

		// What was started to ignore it (nohup) goes on ignoring it.
		if (!sigaction(signals[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
	return &stop;
}

void run_signals_end_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	// It may have died before that.
	if (getppid() != parent)
		raise(SIGTERM);
}

void run_signals_recording(const char *waveform)
{
	const struct sigaction action = {.sa_handler = waveform ? on_bus : SIG_DFL};

	if (waveform)
		snprintf(bus_text, sizeof(bus_text), "error: cannot go on recording the waveform '%.800s': SIGBUS; is its disk full, or that of /tmp?\n", waveform);
	sigaction(SIGBUS, &action, NULL);
}
