// SPDX-License-Identifier: Apache-2.0
//
// The backend "rtl": a verilated configuration, loaded from its shared object, behind struct wc_backend.
#include <assert.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "csim/rtl/rtl_api.h"

enum { DEFAULT_LATENCY_CYCLES = 100 };

struct rtl_backend {
	struct wc_backend base;
	void *handle; // of the library
	const struct wc_rtl *rtl;
	struct wc_rtl_model *model;
	struct wc_rtl_setup setup;
	char *waveform; // owned copy of the path
	struct wc_observer observer;
	struct wc_fault fault;
};

static struct rtl_backend *of(struct wc_backend *backend)
{
	return (struct rtl_backend *)backend;
}

static int reset(struct wc_backend *backend, uint64_t seed, struct wc_error *err)
{
	struct rtl_backend *rb = of(backend);
	struct wc_rtl_model *model;

	// The old model first: it may have the waveform file open.
	rb->rtl->free(rb->model);
	rb->model = NULL;
	rb->setup.seed = seed;
	model = rb->rtl->create(&rb->setup, err);
	if (!model)
		return WC_ERR_SYSTEM;
	rb->model = model;
	rb->rtl->set_observer(model, &rb->observer);
	rb->rtl->set_fault(model, &rb->fault);
	return 0;
}

static uint32_t csr_read(struct wc_backend *backend, uint32_t offset)
{
	return of(backend)->rtl->csr_read(of(backend)->model, offset);
}

static void csr_write(struct wc_backend *backend, uint32_t offset, uint32_t value)
{
	of(backend)->rtl->csr_write(of(backend)->model, offset, value);
}

static int step(struct wc_backend *backend, uint64_t max_cycles, struct wc_error *err)
{
	return of(backend)->rtl->step(of(backend)->model, max_cycles, err);
}

static void set_observer(struct wc_backend *backend, const struct wc_observer *observer)
{
	struct rtl_backend *rb = of(backend);

	rb->observer = observer ? *observer : (struct wc_observer){ 0 };
	if (rb->model)
		rb->rtl->set_observer(rb->model, &rb->observer);
}

static void set_fault(struct wc_backend *backend, const struct wc_fault *fault)
{
	struct rtl_backend *rb = of(backend);

	rb->fault = fault ? *fault : (struct wc_fault){ .kind = WC_FAULT_NONE };
	if (rb->model)
		rb->rtl->set_fault(rb->model, &rb->fault);
}

static uint64_t cycle(struct wc_backend *backend)
{
	return of(backend)->rtl->cycle(of(backend)->model);
}

// Whether a range lies inside one core's buffer.
static bool in_buffer(const struct wc_backend *backend, uint32_t address, uint32_t count)
{
	uint32_t bytes = backend->params.buffer_bytes;

	return address / bytes < (uint32_t)backend->params.cores && (uint64_t)address % bytes + count <= bytes;
}

static void buffer_read(struct wc_backend *backend, uint32_t address, void *bytes, uint32_t count)
{
	assert(in_buffer(backend, address, count));
	of(backend)->rtl->buffer_read(of(backend)->model, address, bytes, count);
}

static void buffer_write(struct wc_backend *backend, uint32_t address, const void *bytes, uint32_t count)
{
	assert(in_buffer(backend, address, count));
	of(backend)->rtl->buffer_write(of(backend)->model, address, bytes, count);
}

static void backend_free(struct wc_backend *backend)
{
	struct rtl_backend *rb = of(backend);

	if (rb->rtl)
		rb->rtl->free(rb->model);
	if (rb->handle)
		dlclose(rb->handle);
	free(rb->waveform);
	free(rb);
}

static const struct wc_backend_ops ops = {
	.name = "rtl",
	.has_cycles = true,
	.reset = reset,
	.csr_read = csr_read,
	.csr_write = csr_write,
	.step = step,
	.set_observer = set_observer,
	.set_fault = set_fault,
	.cycle = cycle,
	.buffer_read = buffer_read,
	.buffer_write = buffer_write,
	.free = backend_free,
};

static int check_params(const struct wc_device_params *want, const struct wc_device_params *have, const char *library, struct wc_error *err)
{
	const struct {
		const char *name;
		uint32_t want, have;
	} all[] = {
		{ "rows", want->rows, have->rows },
		{ "cols", want->cols, have->cols },
		{ "accumulator rows", want->acc_rows, have->acc_rows },
		{ "MAC stages", want->mac_stages, have->mac_stages },
		{ "buffer bytes", want->buffer_bytes, have->buffer_bytes },
		{ "bus bytes", want->bus_bytes, have->bus_bytes },
		{ "memory ports", want->mem_ports, have->mem_ports },
		{ "cores", want->cores, have->cores },
	};

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		if (all[i].want != all[i].have)
			return wc_fail(err, WC_ERR_INPUT, "cannot use '%s': it was built for %s %u, the run asks for %u", library, all[i].name,
				       all[i].have, all[i].want);
	return 0;
}

static int open_library(struct rtl_backend *rb, const char *library, struct wc_error *err)
{
	rb->handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	if (!rb->handle)
		return wc_fail(err, WC_ERR_SYSTEM, "cannot load '%s': %s", library, dlerror());
	rb->rtl = dlsym(rb->handle, WC_RTL_SYMBOL);
	if (!rb->rtl)
		return wc_fail(err, WC_ERR_SYSTEM, "cannot use '%s': it is not a verilated WaveCore ('%s' is missing)", library, WC_RTL_SYMBOL);
	if (rb->rtl->abi != WC_RTL_ABI) {
		int abi = rb->rtl->abi;

		rb->rtl = NULL;
		return wc_fail(err, WC_ERR_SYSTEM, "cannot use '%s': interface version %d, this program has %d; build it again", library, abi,
			       WC_RTL_ABI);
	}
	return check_params(&rb->base.params, &rb->rtl->params, library, err);
}

struct wc_backend *wc_rtl_create(const struct wc_device_params *params, const struct wc_rtl_options *options, struct wc_memory *memory,
				 struct wc_error *err)
{
	struct rtl_backend *rb = calloc(1, sizeof *rb);

	if (!rb) {
		wc_fail(err, WC_ERR_SYSTEM, "cannot allocate the RTL backend");
		return NULL;
	}
	rb->base = (struct wc_backend){ .ops = &ops, .params = *params, .memory = memory };
	if (open_library(rb, options->library, err))
		goto release;
	if (memory->bus_bytes != params->bus_bytes) {
		wc_fail(err, WC_ERR_INPUT, "cannot join memory and device: beats of %u bytes, the bus has %u", memory->bus_bytes, params->bus_bytes);
		goto release;
	}
	if (options->waveform && !rb->rtl->has_waves) {
		wc_fail(err, WC_ERR_INPUT, "cannot record '%s': '%s' is built without waveforms; use the configuration whose name ends in -waves",
			options->waveform, options->library);
		goto release;
	}
	if (options->pe_window && !(options->waveform && rb->rtl->has_macro)) {
		wc_fail(err, WC_ERR_INPUT, "cannot show a window of PEs: %s",
			options->waveform ? "the library has no array macro; use a configuration with dpi in its name" : "no waveform is recorded");
		goto release;
	}
	if (options->pe_window && (options->pe_row < 0 || options->pe_row >= params->rows || options->pe_column < 0 || options->pe_column >= params->cols)) {
		wc_fail(err, WC_ERR_INPUT, "cannot show a window of PEs from (%d, %d): the array is %dx%d", options->pe_row, options->pe_column, params->rows,
			params->cols);
		goto release;
	}
	if (options->waveform) {
		rb->waveform = strdup(options->waveform);
		if (!rb->waveform) {
			wc_fail(err, WC_ERR_SYSTEM, "cannot allocate the RTL backend");
			goto release;
		}
	}
	rb->setup = (struct wc_rtl_setup){
		.memory = memory,
		.latency_cycles = options->latency_cycles ? options->latency_cycles : DEFAULT_LATENCY_CYCLES,
		.random_memory = options->random_memory,
		.waveform = rb->waveform,
		.wave_from = options->wave_from,
		.wave_to = options->wave_to,
		.pe_window = options->pe_window,
		.pe_row = options->pe_row,
		.pe_column = options->pe_column,
	};
	if (reset(&rb->base, 0, err))
		goto release;
	return &rb->base;

release:
	backend_free(&rb->base);
	return NULL;
}
