// SPDX-License-Identifier: Apache-2.0
//
// The DRAM that every backend works on, and the monitor that counts what it moves.
//
// One region per traffic class. A byte is counted by the region its beat falls into, beat by
// beat, whatever the device believes: this is the measured side of "predicted = measured".
#ifndef WC_MEMORY_H
#define WC_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "traces/error.h"

enum wc_class {
	WC_CLASS_ACTIVATION,
	WC_CLASS_GRADIENT,
	WC_CLASS_MASK,
	WC_CLASS_WEIGHT,
	WC_CLASS_WEIGHT_GRADIENT,
	WC_CLASS_STATISTICS,
	WC_CLASS_BOUNDARY,
	WC_CLASS_OPTIMIZER,
	WC_CLASS_COMMAND,
	WC_CLASS_IO,
	WC_CLASS_COUNT
};

// The class's name in JSON and tables, e.g. "weight_gradient". Static storage.
const char *wc_class_name(enum wc_class which);

struct wc_region {
	uint64_t base, bytes;
};

struct wc_memory {
	uint8_t *data;             // owned; address a is data[a - base]
	uint64_t base, bytes;      // the window [base, base + bytes) that the device may touch
	uint32_t bus_bytes;        // bytes of one beat
	struct wc_region regions[WC_CLASS_COUNT]; // multiples of 4096; empty regions have bytes 0
	uint64_t read_bytes[WC_CLASS_COUNT];      // accepted beats x bus_bytes, per class
	uint64_t write_bytes[WC_CLASS_COUNT];
};

// Lay the regions out one after another (each rounded up to 4096 bytes), allocate and zero the
// data, clear the counters. `region_bytes` has WC_CLASS_COUNT entries.
int wc_memory_init(struct wc_memory *memory, uint32_t bus_bytes, const uint64_t *region_bytes, struct wc_error *err);
void wc_memory_release(struct wc_memory *memory);

// Whether [addr, addr + bytes) lies inside the window.
bool wc_memory_contains(const struct wc_memory *memory, uint64_t addr, uint64_t bytes);
// Host access; the range must be inside the window. Not counted.
uint8_t *wc_memory_at(struct wc_memory *memory, uint64_t addr, uint64_t bytes);
// Count one accepted beat at bus-aligned `addr`.
void wc_memory_count(struct wc_memory *memory, uint64_t addr, bool write);

#endif
