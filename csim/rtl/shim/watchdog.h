// SPDX-License-Identifier: Apache-2.0
//
// Says, for a core in which nothing moves, which engine waits for what.
#ifndef WC_WATCHDOG_H
#define WC_WATCHDOG_H

#include "csim/rtl/shim/taps.h"
#include "traces/error.h"

enum { WATCHDOG_CYCLES = 1000000 };

// Always WC_ERR_SYSTEM; names the core, if there are several. `bursts` is the number of read and write bursts that the memory has not answered.
int watchdog_fail(const struct taps *taps, int cores, uint64_t cycle, unsigned bursts, struct wc_error *err);

#endif
