// SPDX-License-Identifier: Apache-2.0
//
// LOAD and STORE: rows between memory and global buffer, counted beat by beat as the design's bursts move them.
#include <string.h>

#include "csim/model/model.h"

// LOAD and STORE have the same layout.
struct transfer {
	uint64_t dram;
	uint32_t gbuf, row_bytes;
	int count1, count2;
	int32_t dram_stride1, dram_stride2, gbuf_stride1, gbuf_stride2;
};

static model_result move_row(struct wc_model *model, uint64_t dram, uint32_t gbuf, uint32_t bytes, bool write)
{
	struct wc_memory *memory = model->base.memory;
	uint32_t bus = model->base.params.bus_bytes;
	uint64_t beats = (bytes + (uint64_t)bus - 1) / bus;

	if (dram < model->mem_base || dram > model->mem_limit || model->mem_limit - dram < beats * bus)
		return WC_STATUS_MEMORY_RANGE;
	if (!model_in_buffer(model, gbuf, bytes))
		return WC_STATUS_BUFFER_RANGE;
	// The window lies outside what there is: nobody answers on the bus.
	if (!wc_memory_contains(memory, dram, beats * bus))
		return WC_STATUS_AXI_ERROR;
	if (write)
		memcpy(wc_memory_at(memory, dram, bytes), model->buffer + gbuf, bytes);
	else
		memcpy(model->buffer + gbuf, wc_memory_at(memory, dram, bytes), bytes);
	for (uint64_t beat = 0; beat < beats; beat++)
		wc_memory_count(memory, dram + beat * bus, write);
	model->counters[write ? WC_COUNTER_DMA_WRITE_BEATS : WC_COUNTER_DMA_READ_BEATS] += beats;
	return 0;
}

static model_result move(struct wc_model *model, const struct transfer *transfer, bool write)
{
	uint64_t plane_dram = transfer->dram;
	uint32_t plane_gbuf = transfer->gbuf;

	for (int i2 = 0; i2 < transfer->count2; i2++) {
		uint64_t dram = plane_dram;
		uint32_t gbuf = plane_gbuf;

		for (int i1 = 0; i1 < transfer->count1; i1++) {
			model_result result = move_row(model, dram, gbuf, transfer->row_bytes, write);

			if (result)
				return result;
			dram += (uint64_t)(int64_t)transfer->dram_stride1;
			gbuf += (uint32_t)transfer->gbuf_stride1;
		}
		plane_dram += (uint64_t)(int64_t)transfer->dram_stride2;
		plane_gbuf += (uint32_t)transfer->gbuf_stride2;
	}
	return 0;
}

model_result model_load(struct wc_model *model, const struct wc_load_command *command)
{
	struct transfer transfer = {
		command->dram_addr, command->gbuf_addr, command->row_bytes, command->count1, command->count2,
		command->dram_stride1, command->dram_stride2, command->gbuf_stride1, command->gbuf_stride2,
	};

	return move(model, &transfer, false);
}

model_result model_store(struct wc_model *model, const struct wc_store_command *command)
{
	struct transfer transfer = {
		command->dram_addr, command->gbuf_addr, command->row_bytes, command->count1, command->count2,
		command->dram_stride1, command->dram_stride2, command->gbuf_stride1, command->gbuf_stride2,
	};

	return move(model, &transfer, true);
}
