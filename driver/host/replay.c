// SPDX-License-Identifier: Apache-2.0
//
// A command alone on a second device; see replay.h.
#include "driver/host/replay.h"

#include <inttypes.h>
#include <string.h>

#include "traces/alloc.h"

enum { RING_ENTRIES = 16 }; // of which one is used

struct watch {
	struct replay *replay;
	int m, n;
};

static int on_row(void *context, const struct wc_tile_row *row)
{
	struct watch *watch = context;

	if (row->row == watch->m && watch->n < row->count) {
		watch->replay->drained = row->bits[watch->n];
		watch->replay->seen_drained = true;
	}
	return 0;
}

static int on_probe(void *context, const struct wc_probe *probe)
{
	const struct watch *watch = context;
	struct replay *replay = watch->replay;
	struct replay_wave *wave;

	if (probe->wave < 0 || probe->wave >= replay->wave_count)
		return 0;
	wave = &replay->waves[probe->wave];
	switch (probe->kind) {
	case WC_PROBE_OPERAND_A:
		for (int i = 0; probe->index == watch->m && i < replay->rows && i < probe->count; i++)
			wave->a[i] = (uint16_t)probe->bits[i];
		wave->seen_a |= probe->index == watch->m;
		break;
	case WC_PROBE_OPERAND_B:
		if (probe->index >= 0 && probe->index < replay->rows && watch->n < probe->count) {
			wave->b[probe->index] = (uint16_t)probe->bits[watch->n];
			wave->seen_b++;
		}
		break;
	case WC_PROBE_COLUMN:
		for (int i = 0; probe->index == watch->m && i < replay->rows && i < probe->count; i++) {
			wave->psum[i] = probe->bits[i];
			wave->seen_psum++;
		}
		break;
	case WC_PROBE_ACCUMULATOR:
		if (probe->index == watch->m && watch->n < probe->count) {
			wave->accumulator = probe->bits[watch->n];
			wave->seen_accumulator = true;
		}
		break;
	}
	return 0;
}

static int allocate(struct replay *replay, uint32_t buffer_bytes, struct wc_error *err)
{
	const size_t lanes = (size_t)replay->wave_count * (size_t)replay->rows;

	replay->waves = wc_alloc((size_t)replay->wave_count, sizeof(*replay->waves));
	replay->halves = wc_alloc(2 * lanes, sizeof(*replay->halves));
	replay->sums = wc_alloc(lanes, sizeof(*replay->sums));
	replay->buffer = wc_alloc(buffer_bytes, 1);
	if (!replay->waves || !replay->halves || !replay->sums || !replay->buffer)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for a replay of %d waves", replay->wave_count);
	for (int i = 0; i < replay->wave_count; i++) {
		replay->waves[i].a = replay->halves + 2 * (size_t)i * (size_t)replay->rows;
		replay->waves[i].b = replay->waves[i].a + replay->rows;
		replay->waves[i].psum = replay->sums + (size_t)i * (size_t)replay->rows;
	}
	return 0;
}

static int execute(struct wc_backend *backend, int core, struct wc_error *err)
{
	enum { STEP_CYCLES = 1 << 16, STEPS_MAX = 1 << 16 };

	for (int i = 0; i < STEPS_MAX; i++) {
		int result = backend->ops->step(backend, STEP_CYCLES, err);
		const uint32_t status = device_csr(backend, core, WC_CSR_STATUS);

		if (result)
			return result;
		if (status & 4)
			return wc_fail(err, WC_ERR_SYSTEM, "the replay's device stopped with status %s", device_status_name(status >> 8 & 0xff));
		if (device_csr(backend, core, WC_CSR_DONE) == 1)
			return 0;
	}
	return wc_fail(err, WC_ERR_SYSTEM, "the replay does not end");
}

int replay_run(struct replay *replay, const struct device *device, uint64_t seed, int core, const uint8_t *buffer, const union op_command *command, int m,
	       int n, const struct wc_fault *fault, struct wc_error *err)
{
	struct device second = *device;
	uint64_t region_bytes[WC_CLASS_COUNT] = {[WC_CLASS_COMMAND] = RING_ENTRIES * WC_COMMAND_BYTES};
	struct wc_backend *backend = NULL;
	struct wc_memory memory = {0};
	union op_command alone = *command;
	struct watch watch = {replay, m, n};
	struct wc_observer observer = {.context = &watch, .tile_row = on_row};
	struct wc_fault moved;
	const int64_t rows = device->params.rows;
	int result;

	*replay = (struct replay){.rows = device->params.rows};
	if (command->load.opcode == WC_OP_GEMM) {
		replay->wave_count = command->gemm.k_total ? (int)((command->gemm.k_total + rows - 1) / rows) : 1;
		observer.probe = on_probe;
		observer.probe_column = n;
	}
	second.rtl.waveform = NULL;
	second.rtl.pe_window = false;
	alone.load.wait_load = alone.load.wait_gemm = alone.load.wait_vector = alone.load.wait_store = 0;
	if ((result = allocate(replay, device->params.buffer_bytes, err)) ||
	    (result = wc_memory_init(&memory, device->params.bus_bytes, region_bytes, err)) ||
	    (result = device_open(&second, &memory, seed, &backend, err)))
		goto out;
	memcpy(wc_memory_at(&memory, memory.regions[WC_CLASS_COMMAND].base, WC_COMMAND_BYTES), alone.bytes, WC_COMMAND_BYTES);
	backend->ops->buffer_write(backend, (uint32_t)core * device->params.buffer_bytes, buffer, device->params.buffer_bytes);
	backend->ops->set_observer(backend, &observer);
	if (fault) {
		moved = *fault;
		moved.command = 0;
		backend->ops->set_fault(backend, &moved);
	}
	result = device_start(backend, core, memory.regions[WC_CLASS_COMMAND].base, RING_ENTRIES, err);
	if (result)
		goto out;
	backend->ops->csr_write(backend, WC_CSR_CORE(core) + WC_CSR_TAIL, 1);
	result = execute(backend, core, err);
	if (!result)
		backend->ops->buffer_read(backend, (uint32_t)core * device->params.buffer_bytes, replay->buffer, device->params.buffer_bytes);
out:
	wc_backend_free(backend);
	wc_memory_release(&memory);
	if (result)
		replay_release(replay);
	return result;
}

void replay_release(struct replay *replay)
{
	wc_free(replay->waves);
	wc_free(replay->halves);
	wc_free(replay->sums);
	wc_free(replay->buffer);
	*replay = (struct replay){0};
}
