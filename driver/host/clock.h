// SPDX-License-Identifier: Apache-2.0
//
// Seconds since some fixed moment: of the wall clock, and of this process on the processor.
#ifndef WC_CLOCK_H
#define WC_CLOCK_H

double clock_wall_s(void);
double clock_cpu_s(void);

#endif
