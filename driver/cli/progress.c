// SPDX-License-Identifier: Apache-2.0
//
// The progress line.
#include <stdio.h>
#include <unistd.h>

#include "driver/cli/run.h"
#include "driver/host/clock.h"

void progress_start(struct progress *progress)
{
	*progress = (struct progress){.on = isatty(STDERR_FILENO), .start_s = clock_wall_s()};
	progress->last_s = progress->start_s;
}

void progress_show(struct progress *progress, double fraction)
{
	double now;

	if (!progress->on)
		return;
	now = clock_wall_s();
	if (now - progress->last_s < 0.1)
		return;
	progress->last_s = now;
	progress->shown = true;
	fprintf(stderr, "\r%5.1f%%", 100 * fraction);
	// Too early an estimate only misleads.
	if (fraction > 0.01 && now - progress->start_s > 0.5)
		fprintf(stderr, "  %.0f s left   ", (now - progress->start_s) * (1 - fraction) / fraction);
	fflush(stderr);
}

void progress_end(struct progress *progress)
{
	if (progress->shown)
		fprintf(stderr, "\r%30s\r", "");
	progress->shown = false;
}
