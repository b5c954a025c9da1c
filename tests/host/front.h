// SPDX-License-Identifier: Apache-2.0
//
// A device in front of the true one that changes what the host sees of it: rows, probes, events, registers, and with the
// event of a command's end the memories. So the host's comparison is shown every kind of fault, and late reports too.
#ifndef WC_TESTS_HOST_FRONT_H
#define WC_TESTS_HOST_FRONT_H

#include "driver/host/device.h"

// Each callback may be NULL: nothing is changed. `device` is the true one, of the run or of a replay.
struct front {
	// `row`, its values in `bits`: false: it is not reported.
	bool (*row)(struct front *front, struct wc_tile_row *row, uint32_t *bits);
	void (*probe)(struct front *front, const struct wc_probe *probe, uint32_t *bits); // replays only
	// Before the host sees the event; false: it is withheld until front_pass_on().
	bool (*event)(struct front *front, struct wc_backend *device, const struct wc_event *event);
	uint32_t (*csr)(struct front *front, uint32_t offset, uint32_t value); // what reading `value` from a register gives
	void *context;                    // the test's
	// The front's own.
	const struct wc_observer *observer; // of the device that reports
	struct wc_event withheld;
	bool is_withheld;
};

// Let `front` stand before every device that is opened as `device` says.
void front_put(struct front *front, struct device *device);
// Report the withheld event, from inside event(). The observer's return.
int front_pass_on(struct front *front);

#endif
