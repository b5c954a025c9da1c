// SPDX-License-Identifier: Apache-2.0
//
// The C interface of a verilated configuration (build/rtl/<config>/wc_rtl.so), found in the library under the name WC_RTL_SYMBOL.
//
// A model is the device just after power-up; there is no reset but free and create. Its calls mean what their namesakes in
// csim/backend.h mean.
#ifndef WC_RTL_API_H
#define WC_RTL_API_H

#include "csim/backend.h"

#define WC_RTL_SYMBOL "wc_rtl"

enum { WC_RTL_ABI = 6 }; // changes with anything in this file, backend.h or memory.h that both sides use

struct wc_rtl_setup {
	struct wc_memory *memory; // borrowed
	uint64_t seed;
	uint32_t latency_cycles;
	bool random_memory;
	const char *waveform;     // NULL: none; borrowed during create()
	uint64_t wave_from, wave_to;
	bool pe_window;
	int pe_row, pe_column;
};

struct wc_rtl_model;

struct wc_rtl {
	int abi;
	struct wc_device_params params; // what the configuration was built for
	bool has_waves, has_macro;      // built with waveforms, with the array as C macro
	struct wc_rtl_model *(*create)(const struct wc_rtl_setup *setup, struct wc_error *err);
	void (*free)(struct wc_rtl_model *model);
	uint32_t (*csr_read)(struct wc_rtl_model *model, uint32_t offset);
	void (*csr_write)(struct wc_rtl_model *model, uint32_t offset, uint32_t value);
	int (*step)(struct wc_rtl_model *model, uint64_t max_cycles, struct wc_error *err);
	void (*set_observer)(struct wc_rtl_model *model, const struct wc_observer *observer);
	void (*set_fault)(struct wc_rtl_model *model, const struct wc_fault *fault);
	uint64_t (*cycle)(struct wc_rtl_model *model);
	void (*buffer_read)(struct wc_rtl_model *model, uint32_t address, void *bytes, uint32_t count);
	void (*buffer_write)(struct wc_rtl_model *model, uint32_t address, const void *bytes, uint32_t count);
};

#endif
