// SPDX-License-Identifier: Apache-2.0
//
// The DRAM and its monitor: see memory.h.
#include "csim/memory.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { REGION_ALIGN = 4096 };

// Where the window begins. Not 0, so that a forgotten base is an access outside the window.
static const uint64_t WINDOW_BASE = 0x100000;

const char *wc_class_name(enum wc_class which)
{
	static const char *const names[WC_CLASS_COUNT] = {
		[WC_CLASS_ACTIVATION] = "activation",
		[WC_CLASS_GRADIENT] = "gradient",
		[WC_CLASS_MASK] = "mask",
		[WC_CLASS_WEIGHT] = "weight",
		[WC_CLASS_WEIGHT_GRADIENT] = "weight_gradient",
		[WC_CLASS_STATISTICS] = "statistics",
		[WC_CLASS_BOUNDARY] = "boundary",
		[WC_CLASS_OPTIMIZER] = "optimizer",
		[WC_CLASS_COMMAND] = "command",
		[WC_CLASS_IO] = "io",
	};

	assert(which < WC_CLASS_COUNT);
	return names[which];
}

int wc_memory_init(struct wc_memory *memory, uint32_t bus_bytes, const uint64_t *region_bytes, struct wc_error *err)
{
	uint64_t at = WINDOW_BASE;

	memset(memory, 0, sizeof(*memory));
	for (int i = 0; i < WC_CLASS_COUNT; i++) {
		uint64_t bytes = region_bytes[i];

		if (bytes > (uint64_t)1 << 60)
			return wc_fail(err, WC_ERR_INPUT, "cannot lay out the memory: region '%s' needs %" PRIu64 " bytes, limit is %" PRIu64,
				       wc_class_name(i), bytes, (uint64_t)1 << 60);
		bytes = (bytes + REGION_ALIGN - 1) / REGION_ALIGN * REGION_ALIGN;
		memory->regions[i] = (struct wc_region){ .base = at, .bytes = bytes };
		at += bytes;
	}
	memory->base = WINDOW_BASE;
	memory->bytes = at - WINDOW_BASE;
	memory->bus_bytes = bus_bytes;
	memory->data = calloc(memory->bytes ? memory->bytes : 1, 1);
	if (!memory->data)
		return wc_fail(err, WC_ERR_SYSTEM, "cannot allocate %" PRIu64 " bytes for the device's memory", memory->bytes);
	return 0;
}

void wc_memory_release(struct wc_memory *memory)
{
	free(memory->data);
	memory->data = NULL;
	memory->bytes = 0;
}

bool wc_memory_contains(const struct wc_memory *memory, uint64_t addr, uint64_t bytes)
{
	return addr >= memory->base && addr - memory->base <= memory->bytes && bytes <= memory->bytes - (addr - memory->base);
}

uint8_t *wc_memory_at(struct wc_memory *memory, uint64_t addr, uint64_t bytes)
{
	assert(wc_memory_contains(memory, addr, bytes));
	(void)bytes;
	return memory->data + (addr - memory->base);
}

void wc_memory_count(struct wc_memory *memory, uint64_t addr, bool write)
{
	for (int i = 0; i < WC_CLASS_COUNT; i++)
		if (addr - memory->regions[i].base < memory->regions[i].bytes) {
			*(write ? &memory->write_bytes[i] : &memory->read_bytes[i]) += memory->bus_bytes;
			return;
		}
}
