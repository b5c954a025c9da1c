// SPDX-License-Identifier: Apache-2.0
//
// The device of one core or two: a core alone is the backend itself; two stand behind one backend and work on one memory, command by command.
#include "csim/model/model.h"
#include "traces/alloc.h"
#include "traces/splitmix.h"

struct model_cores {
	struct wc_backend base; // first
	struct wc_model *cores[WC_CORES_MAX];
	int turn;               // whose command comes next, if it has one
	bool overlap;
	uint64_t random;
};

static struct model_cores *cores_of(struct wc_backend *backend)
{
	return (struct model_cores *)backend;
}

static struct wc_backend *core_at(struct wc_backend *backend, uint32_t core)
{
	return &cores_of(backend)->cores[core % WC_CORES_MAX]->base;
}

static int cores_reset(struct wc_backend *backend, uint64_t seed, struct wc_error *err)
{
	struct model_cores *cores = cores_of(backend);
	int result = 0;

	cores->turn = 0;
	cores->random = splitmix_mix(seed) | 1; // never 0
	for (uint32_t i = 0; i < WC_CORES_MAX && !result; i++)
		result = core_at(backend, i)->ops->reset(core_at(backend, i), seed + i * SPLITMIX_STEP, err);
	return result;
}

static uint32_t cores_csr_read(struct wc_backend *backend, uint32_t offset)
{
	struct wc_backend *core = core_at(backend, offset / WC_CSR_CORE(1));

	return core->ops->csr_read(core, offset % WC_CSR_CORE(1));
}

static void cores_csr_write(struct wc_backend *backend, uint32_t offset, uint32_t value)
{
	struct wc_backend *core = core_at(backend, offset / WC_CSR_CORE(1));

	core->ops->csr_write(core, offset % WC_CSR_CORE(1), value);
}

// The core whose command comes next; NULL: none has one.
static struct wc_model *choose(struct model_cores *cores)
{
	int turn = cores->overlap ? (int)(model_draw(&cores->random) % WC_CORES_MAX) : cores->turn;

	if (!model_has_work(cores->cores[turn]))
		turn = 1 - turn;
	cores->turn = 1 - turn;
	return model_has_work(cores->cores[turn]) ? cores->cores[turn] : NULL;
}

static int cores_step(struct wc_backend *backend, uint64_t max_commands, struct wc_error *err)
{
	int result = 0;

	for (uint64_t count = 0; !result && count < max_commands; count++) {
		struct wc_model *core = choose(cores_of(backend));

		if (!core)
			break;
		result = model_issue(core, 1, err);
	}
	return result;
}

static void cores_set_observer(struct wc_backend *backend, const struct wc_observer *observer)
{
	for (uint32_t i = 0; i < WC_CORES_MAX; i++)
		core_at(backend, i)->ops->set_observer(core_at(backend, i), observer);
}

static void cores_set_fault(struct wc_backend *backend, const struct wc_fault *fault)
{
	for (uint32_t i = 0; i < WC_CORES_MAX; i++)
		core_at(backend, i)->ops->set_fault(core_at(backend, i), fault);
}

static uint64_t cores_cycle(struct wc_backend *backend)
{
	(void)backend;
	return 0;
}

static void cores_buffer_read(struct wc_backend *backend, uint32_t address, void *bytes, uint32_t count)
{
	struct wc_backend *core = core_at(backend, address / backend->params.buffer_bytes);

	core->ops->buffer_read(core, address % backend->params.buffer_bytes, bytes, count);
}

static void cores_buffer_write(struct wc_backend *backend, uint32_t address, const void *bytes, uint32_t count)
{
	struct wc_backend *core = core_at(backend, address / backend->params.buffer_bytes);

	core->ops->buffer_write(core, address % backend->params.buffer_bytes, bytes, count);
}

static void cores_free(struct wc_backend *backend)
{
	struct model_cores *cores = cores_of(backend);

	for (int i = 0; i < WC_CORES_MAX; i++)
		if (cores->cores[i])
			wc_backend_free(&cores->cores[i]->base);
	wc_free(cores);
}

static const struct wc_backend_ops cores_ops = {
	.name = "model",
	.has_cycles = false,
	.reset = cores_reset,
	.csr_read = cores_csr_read,
	.csr_write = cores_csr_write,
	.step = cores_step,
	.set_observer = cores_set_observer,
	.set_fault = cores_set_fault,
	.cycle = cores_cycle,
	.buffer_read = cores_buffer_read,
	.buffer_write = cores_buffer_write,
	.free = cores_free,
};

void wc_model_set_overlap(struct wc_backend *backend, bool overlap)
{
	struct model_cores *cores = cores_of(backend);

	if (backend->params.cores == 1) {
		((struct wc_model *)backend)->overlap = overlap;
		return;
	}
	cores->overlap = overlap;
	for (int i = 0; i < WC_CORES_MAX; i++)
		cores->cores[i]->overlap = overlap;
}

struct wc_backend *wc_model_create(const struct wc_device_params *params, struct wc_memory *memory, struct wc_error *err)
{
	struct wc_model *first = model_core_create(params, memory, 0, err);
	struct model_cores *cores;

	if (!first || params->cores == 1)
		return first ? &first->base : NULL;
	cores = wc_alloc(1, sizeof(*cores));
	if (!cores) {
		wc_fail(err, WC_ERR_SYSTEM, "out of memory for a model of %d cores", params->cores);
		wc_backend_free(&first->base);
		return NULL;
	}
	cores->base = (struct wc_backend){&cores_ops, *params, memory};
	cores->cores[0] = first;
	cores->cores[1] = model_core_create(params, memory, 1, err);
	if (!cores->cores[1]) {
		cores_free(&cores->base);
		return NULL;
	}
	cores_reset(&cores->base, 0, err);
	return &cores->base;
}
