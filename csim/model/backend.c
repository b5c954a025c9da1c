// SPDX-License-Identifier: Apache-2.0
//
// One core's functional model as a struct wc_backend: creation, CSRs, observer, faults, debug access.
#include <string.h>

#include "csim/model/model.h"
#include "traces/alloc.h"
#include "traces/splitmix.h"

static const uint32_t DEVICE_ID = 0x57415645;

static struct wc_model *model_of(struct wc_backend *backend)
{
	return (struct wc_model *)backend;
}

static int model_reset(struct wc_backend *backend, uint64_t seed, struct wc_error *err)
{
	struct wc_model *model = model_of(backend);

	(void)err;
	model_issue_reset(model);
	model->fault = model->planted;
	model->ring_base = model->mem_base = model->mem_limit = 0;
	model->ring_size = model->irq_enable = 0;
	model->random = splitmix_mix(seed + SPLITMIX_STEP) | 1; // never 0, where the sequence would stay
	// What a buffer holds after power-up is undefined; whoever reads before writing shall not find zeros.
	for (uint32_t i = 0; i < backend->params.buffer_bytes; i += sizeof(uint64_t)) {
		uint64_t bytes = splitmix_mix(seed + i + SPLITMIX_STEP);

		memcpy(model->buffer + i, &bytes, sizeof(bytes));
	}
	return 0;
}

static uint32_t log2_of(int power)
{
	return (uint32_t)__builtin_ctz((unsigned)power);
}

static uint32_t status_of(const struct wc_model *model)
{
	bool stopped = model->status != WC_STATUS_OK;
	bool idle = !stopped && model->done == model->tail;
	bool busy = !stopped && !idle && model->run;

	return (uint32_t)busy | (uint32_t)idle << 1 | (uint32_t)stopped << 2 | (uint32_t)model->status << 8;
}

static uint32_t model_csr_read(struct wc_backend *backend, uint32_t offset)
{
	struct wc_model *model = model_of(backend);

	switch (offset) {
	case WC_CSR_ID:
		return DEVICE_ID;
	case WC_CSR_VERSION:
		return WC_COMMAND_VERSION;
	case WC_CSR_CTRL:
		return model->run;
	case WC_CSR_STATUS:
		return status_of(model);
	case WC_CSR_ERROR_INDEX:
		return model->error_index;
	case WC_CSR_RING_BASE_LO:
		return (uint32_t)model->ring_base;
	case WC_CSR_RING_BASE_HI:
		return (uint32_t)(model->ring_base >> 32);
	case WC_CSR_RING_SIZE:
		return model->ring_size;
	case WC_CSR_TAIL:
		return model->tail;
	case WC_CSR_HEAD:
		return model->head;
	case WC_CSR_DONE:
		return model->done;
	case WC_CSR_IRQ_ENABLE:
		return model->irq_enable;
	case WC_CSR_IRQ_STATUS:
		return model->irq_status;
	case WC_CSR_MEM_BASE_LO:
		return (uint32_t)model->mem_base;
	case WC_CSR_MEM_BASE_HI:
		return (uint32_t)(model->mem_base >> 32);
	case WC_CSR_MEM_LIMIT_LO:
		return (uint32_t)model->mem_limit;
	case WC_CSR_MEM_LIMIT_HI:
		return (uint32_t)(model->mem_limit >> 32);
	case WC_CSR_PARAM0:
		return log2_of(backend->params.rows) | log2_of(backend->params.cols) << 8 | (uint32_t)backend->params.acc_rows << 16;
	case WC_CSR_PARAM1:
		return backend->params.buffer_bytes;
	}
	if (offset >= WC_CSR_COUNTERS && offset < WC_CSR_COUNTERS + 8 * WC_COUNTER_COUNT && offset % 4 == 0)
		return (uint32_t)(model->counters[(offset - WC_CSR_COUNTERS) / 8] >> 8 * (offset % 8));
	return 0;
}

static uint64_t with_low(uint64_t old, uint32_t value)
{
	return (old & ~(uint64_t)UINT32_MAX) | value;
}

static uint64_t with_high(uint64_t old, uint32_t value)
{
	return (old & UINT32_MAX) | (uint64_t)value << 32;
}

static void model_csr_write(struct wc_backend *backend, uint32_t offset, uint32_t value)
{
	struct wc_model *model = model_of(backend);

	switch (offset) {
	case WC_CSR_CTRL:
		if (value & 1)
			model->run = true;
		else if (model->run)
			model_issue_reset(model);
		break;
	case WC_CSR_RING_BASE_LO:
		model->ring_base = with_low(model->ring_base, value & ~0xffu);
		break;
	case WC_CSR_RING_BASE_HI:
		model->ring_base = with_high(model->ring_base, value);
		break;
	case WC_CSR_RING_SIZE:
		model->ring_size = value;
		break;
	case WC_CSR_TAIL:
		model->tail = value;
		break;
	case WC_CSR_IRQ_ENABLE:
		model->irq_enable = value & 3;
		break;
	case WC_CSR_IRQ_STATUS:
		model->irq_status &= ~value;
		break;
	case WC_CSR_MEM_BASE_LO:
		model->mem_base = with_low(model->mem_base, value);
		break;
	case WC_CSR_MEM_BASE_HI:
		model->mem_base = with_high(model->mem_base, value);
		break;
	case WC_CSR_MEM_LIMIT_LO:
		model->mem_limit = with_low(model->mem_limit, value);
		break;
	case WC_CSR_MEM_LIMIT_HI:
		model->mem_limit = with_high(model->mem_limit, value);
		break;
	}
}

static int model_step(struct wc_backend *backend, uint64_t max_cycles, struct wc_error *err)
{
	return model_issue(model_of(backend), max_cycles, err);
}

static void model_set_observer(struct wc_backend *backend, const struct wc_observer *observer)
{
	model_of(backend)->observer = observer ? *observer : (struct wc_observer){0};
}

static void model_set_fault(struct wc_backend *backend, const struct wc_fault *fault)
{
	struct wc_model *model = model_of(backend);
	bool is_mine = fault && fault->core == model->core;

	model->planted = model->fault = is_mine ? *fault : (struct wc_fault){.kind = WC_FAULT_NONE};
}

static uint64_t model_cycle(struct wc_backend *backend)
{
	(void)backend;
	return 0;
}

static void model_buffer_read(struct wc_backend *backend, uint32_t address, void *bytes, uint32_t count)
{
	memcpy(bytes, model_of(backend)->buffer + address, count);
}

static void model_buffer_write(struct wc_backend *backend, uint32_t address, const void *bytes, uint32_t count)
{
	memcpy(model_of(backend)->buffer + address, bytes, count);
}

static void model_free(struct wc_backend *backend)
{
	struct wc_model *model = model_of(backend);

	model_tile_release(&model->tile);
	wc_free(model->buffer);
	wc_free(model);
}

int model_event(struct wc_model *model, enum wc_event_kind kind, uint32_t index, uint64_t a, uint64_t b, struct wc_error *err)
{
	struct wc_event event = {.kind = kind, .core = model->core, .command_index = index, .a = a, .b = b};

	if (model->observer.event && model->observer.event(model->observer.context, &event))
		return wc_fail(err, WC_ERR_STOPPED, "stopped by the observer at command %u", index);
	return 0;
}

bool model_fault_strikes(struct wc_model *model, enum wc_fault_kind kind, uint32_t index)
{
	if (model->fault.kind != kind || model->fault.command != index)
		return false;
	model->fault.kind = WC_FAULT_NONE;
	return true;
}

static const struct wc_backend_ops model_ops = {
	.name = "model",
	.has_cycles = false,
	.reset = model_reset,
	.csr_read = model_csr_read,
	.csr_write = model_csr_write,
	.step = model_step,
	.set_observer = model_set_observer,
	.set_fault = model_set_fault,
	.cycle = model_cycle,
	.buffer_read = model_buffer_read,
	.buffer_write = model_buffer_write,
	.free = model_free,
};

static bool array_size_valid(int size)
{
	return size >= 4 && size <= 128 && (size & (size - 1)) == 0;
}

static int check_params(const struct wc_device_params *params, const struct wc_memory *memory, struct wc_error *err)
{
	if (!array_size_valid(params->rows) || !array_size_valid(params->cols))
		return wc_fail(err, WC_ERR_INPUT, "array %dx%d: rows and columns are each one of 4, 8, 16, 32, 64, 128", params->rows, params->cols);
	if (params->acc_rows < 1 || params->acc_rows > 65535)
		return wc_fail(err, WC_ERR_INPUT, "accumulator of %d rows: at least 1, at most 65535", params->acc_rows);
	if (params->buffer_bytes == 0 || params->buffer_bytes % 4096 != 0)
		return wc_fail(err, WC_ERR_INPUT, "global buffer of %u bytes: not a multiple of 4096", params->buffer_bytes);
	if (params->bus_bytes < 16 || params->bus_bytes > 128 || (params->bus_bytes & (params->bus_bytes - 1)) != 0)
		return wc_fail(err, WC_ERR_INPUT, "bus of %u bytes: one of 16, 32, 64, 128", params->bus_bytes);
	if (params->bus_bytes != memory->bus_bytes)
		return wc_fail(err, WC_ERR_INPUT, "bus of %u bytes, the memory has one of %u", params->bus_bytes, memory->bus_bytes);
	if (params->cores != 1 && params->cores != WC_CORES_MAX)
		return wc_fail(err, WC_ERR_INPUT, "%d cores: 1 or %d", params->cores, WC_CORES_MAX);
	return 0;
}

struct wc_model *model_core_create(const struct wc_device_params *params, struct wc_memory *memory, int core, struct wc_error *err)
{
	struct wc_model *model;

	if (check_params(params, memory, err))
		return NULL;
	model = wc_alloc(1, sizeof(*model));
	if (!model) {
		wc_fail(err, WC_ERR_SYSTEM, "out of memory for a model");
		return NULL;
	}
	model->base = (struct wc_backend){&model_ops, *params, memory};
	model->core = core;
	model->simd_code = wc_simd_code;
	model->buffer = wc_alloc(params->buffer_bytes, 1);
	if (!model->buffer) {
		wc_fail(err, WC_ERR_SYSTEM, "out of memory for a global buffer of %u bytes", params->buffer_bytes);
		goto free_model;
	}
	if (model_tile_init(&model->tile, params, err))
		goto free_model;
	model_reset(&model->base, 0, err);
	return model;

free_model:
	model_free(&model->base);
	return NULL;
}
