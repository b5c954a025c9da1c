// SPDX-License-Identifier: Apache-2.0
//
// Backends behind one door; see device.h.
#include "driver/host/device.h"

#include <inttypes.h>

#include "csim/model/model.h"
#include "wc_commands.h"

int device_open(const struct device *device, struct wc_memory *memory, uint64_t seed, struct wc_backend **backend, struct wc_error *err)
{
	int result;

	*backend = device->kind == DEVICE_MODEL ? wc_model_create(&device->params, memory, err)
						: wc_rtl_create(&device->params, &device->rtl, memory, err);
	if (!*backend)
		return WC_ERR_SYSTEM;
	if (device->kind == DEVICE_MODEL)
		wc_model_set_overlap(*backend, device->overlap);
	if (device->wrap)
		*backend = device->wrap(device->wrap_context, *backend);
	result = (*backend)->ops->reset(*backend, seed, err);
	if (result) {
		wc_backend_free(*backend);
		*backend = NULL;
	}
	return result;
}

uint32_t device_csr(struct wc_backend *backend, int core, enum wc_csr csr)
{
	return backend->ops->csr_read(backend, WC_CSR_CORE(core) + (uint32_t)csr);
}

int device_start(struct wc_backend *backend, int core, uint64_t ring_base, uint32_t ring_entries, struct wc_error *err)
{
	const struct wc_memory *memory = backend->memory;
	const uint64_t limit = memory->base + memory->bytes;
	const struct {
		uint32_t offset, value;
	} writes[] = {
		{WC_CSR_RING_BASE_LO, (uint32_t)ring_base},
		{WC_CSR_RING_BASE_HI, (uint32_t)(ring_base >> 32)},
		{WC_CSR_RING_SIZE, ring_entries},
		{WC_CSR_MEM_BASE_LO, (uint32_t)memory->base},
		{WC_CSR_MEM_BASE_HI, (uint32_t)(memory->base >> 32)},
		{WC_CSR_MEM_LIMIT_LO, (uint32_t)limit},
		{WC_CSR_MEM_LIMIT_HI, (uint32_t)(limit >> 32)},
		{WC_CSR_IRQ_ENABLE, 3},
		{WC_CSR_CTRL, 1},
	};
	const uint32_t version = device_csr(backend, core, WC_CSR_VERSION);

	if (version != WC_COMMAND_VERSION)
		return wc_fail(err, WC_ERR_SYSTEM, "the device reads version %" PRIu32 " of the commands, the host writes %d", version,
			       WC_COMMAND_VERSION);
	for (size_t i = 0; i < sizeof(writes) / sizeof(*writes); i++)
		backend->ops->csr_write(backend, WC_CSR_CORE(core) + writes[i].offset, writes[i].value);
	return 0;
}

uint64_t device_counter(struct wc_backend *backend, int core, enum wc_counter counter)
{
	const uint32_t offset = WC_CSR_CORE(core) + WC_CSR_COUNTERS + 8 * (uint32_t)counter;
	const uint64_t low = backend->ops->csr_read(backend, offset);

	return low | (uint64_t)backend->ops->csr_read(backend, offset + 4) << 32;
}

const char *device_status_name(uint32_t status)
{
	static const char *const names[] = {
		[WC_STATUS_OK] = "ok",
		[WC_STATUS_BAD_OPCODE] = "bad_opcode",
		[WC_STATUS_BAD_VERSION] = "bad_version",
		[WC_STATUS_BAD_FIELD] = "bad_field",
		[WC_STATUS_MISALIGNED] = "misaligned",
		[WC_STATUS_BUFFER_RANGE] = "buffer_range",
		[WC_STATUS_MEMORY_RANGE] = "memory_range",
		[WC_STATUS_AXI_ERROR] = "axi_error",
		[WC_STATUS_DEPENDENCE] = "dependence",
	};

	return status < sizeof(names) / sizeof(*names) ? names[status] : "unknown";
}
