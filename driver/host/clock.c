// SPDX-License-Identifier: Apache-2.0
#include "driver/host/clock.h"

#include <time.h>

static double read_s(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double clock_wall_s(void)
{
	return read_s(CLOCK_MONOTONIC);
}

double clock_cpu_s(void)
{
	return read_s(CLOCK_PROCESS_CPUTIME_ID);
}
