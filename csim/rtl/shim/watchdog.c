// SPDX-License-Identifier: Apache-2.0
//
// The watchdog's report: see watchdog.h.
#include "csim/rtl/shim/watchdog.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const engine_names[TAP_ENGINES] = { "load", "gemm", "vector", "store" };

// What one engine is about: `text` gets "load: command 7 waits for gemm 3 (2 complete)" or the like.
static void describe(const struct taps *taps, int engine, char *text, size_t bytes)
{
	const uint32_t *waits = taps->waits + 4 * engine;

	if (!(*taps->waiting >> engine & 1)) {
		snprintf(text, bytes, "%s: %s", engine_names[engine], *taps->waiting >> (4 + engine) & 1 ? "at work, nothing queued" : "nothing queued");
		return;
	}
	for (int e = 0; e < TAP_ENGINES; e++)
		if (waits[e] > taps->complete[e]) {
			snprintf(text, bytes, "%s: command %u waits for %s %u (%u complete)", engine_names[engine], taps->begin_index[engine],
				 engine_names[e], waits[e], taps->complete[e]);
			return;
		}
	snprintf(text, bytes, "%s: command %u waits for the engine, which is at work", engine_names[engine], taps->begin_index[engine]);
}

int watchdog_fail(const struct taps *taps, int cores, uint64_t cycle, unsigned bursts, struct wc_error *err)
{
	char engines[TAP_ENGINES][96], who[16] = "the device";

	for (int e = 0; e < TAP_ENGINES; e++)
		describe(taps, e, engines[e], sizeof engines[e]);
	if (cores > 1)
		snprintf(who, sizeof who, "core %d", taps->core);
	return wc_fail(err, WC_ERR_SYSTEM, "%s has not moved for %d cycles (cycle %" PRIu64 "): %s; %s; %s; %s; %u bursts wait for the memory",
		       who, WATCHDOG_CYCLES, cycle, engines[0], engines[1], engines[2], engines[3], bursts);
}
