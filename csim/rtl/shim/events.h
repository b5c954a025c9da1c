// SPDX-License-Identifier: Apache-2.0
//
// From the taps of one cycle to the observer's callbacks.
#ifndef WC_RTL_EVENTS_H
#define WC_RTL_EVENTS_H

#include "csim/backend.h"
#include "csim/rtl/shim/axi_memory.h"
#include "csim/rtl/shim/taps.h"

struct events {
	const struct taps *taps; // borrowed
	struct wc_observer observer;
	uint32_t mask;           // which bits of taps->events the observer wants to hear of
};

void events_set_observer(struct events *events, const struct wc_observer *observer);
// Report what is set in both taps->events and the mask. Returns what an observer's callback returned, if not 0; the rest of the cycle is
// not reported then.
int events_report(const struct events *events, uint64_t cycle);
// Report the core's bursts among those that the memory accepted on one of the device's ports in this cycle.
int events_bursts(const struct events *events, const struct axi_accepted *accepted, int port, uint64_t cycle);

#endif
