// SPDX-License-Identifier: Apache-2.0
//
// Which device a run uses, so that a replay can make a second one like it.
#ifndef WC_DEVICE_H
#define WC_DEVICE_H

#include "csim/backend.h"

enum device_kind { DEVICE_MODEL, DEVICE_RTL };

struct device {
	enum device_kind kind;
	struct wc_device_params params;
	struct wc_rtl_options rtl; // DEVICE_RTL; strings are borrowed
	bool overlap;              // DEVICE_MODEL: execute in any order that the waits allow, drawn from the seed
	// Tests put a device that lies in front of the true one, which it owns then; NULL: none.
	struct wc_backend *(*wrap)(void *context, struct wc_backend *backend);
	void *wrap_context;
};

// Create and reset a backend on `memory`. *backend is NULL on failure.
int device_open(const struct device *device, struct wc_memory *memory, uint64_t seed, struct wc_backend **backend, struct wc_error *err);
// Give a core its command ring and the memory window, and let it run. WC_ERR_SYSTEM if it reads another version of the commands.
int device_start(struct wc_backend *backend, int core, uint64_t ring_base, uint32_t ring_entries, struct wc_error *err);

uint32_t device_csr(struct wc_backend *backend, int core, enum wc_csr csr);
uint64_t device_counter(struct wc_backend *backend, int core, enum wc_counter counter);
// The name of an error status, "buffer_range". Static storage.
const char *device_status_name(uint32_t status);

#endif
