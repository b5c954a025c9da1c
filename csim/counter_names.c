// SPDX-License-Identifier: Apache-2.0
//
// Names of the device's performance counters, as tables and JSON show them.
#include <assert.h>

#include "csim/backend.h"

const char *wc_counter_name(enum wc_counter counter)
{
	static const char *const names[WC_COUNTER_COUNT] = {
		[WC_COUNTER_CYCLES] = "cycles",
		[WC_COUNTER_ARRAY_BUSY] = "array_busy",
		[WC_COUNTER_STALL_OPERAND] = "stall_operand",
		[WC_COUNTER_STALL_WEIGHT] = "stall_weight",
		[WC_COUNTER_STALL_ACCUMULATOR] = "stall_accumulator",
		[WC_COUNTER_STALL_LOAD] = "stall_load",
		[WC_COUNTER_STALL_STORE] = "stall_store",
		[WC_COUNTER_STALL_VECTOR] = "stall_vector",
		[WC_COUNTER_STALL_DRAIN] = "stall_drain",
		[WC_COUNTER_STALL_COMMAND] = "stall_command",
		[WC_COUNTER_WAVES] = "waves",
		[WC_COUNTER_BUBBLES] = "bubbles",
		[WC_COUNTER_DMA_READ_BEATS] = "dma_read_beats",
		[WC_COUNTER_DMA_WRITE_BEATS] = "dma_write_beats",
		[WC_COUNTER_VECTOR_BUSY] = "vector_busy",
		[WC_COUNTER_COMMAND_BEATS] = "command_beats",
	};

	assert(counter < WC_COUNTER_COUNT);
	return names[counter];
}
