// SPDX-License-Identifier: Apache-2.0
//
// From the ring to the engines: fetch, check, order of execution, completion, errors.
#include <string.h>

#include "csim/model/model.h"

void model_issue_reset(struct wc_model *model)
{
	model->run = false;
	model->tail = model->head = model->done = 0;
	model->status = WC_STATUS_OK;
	model->error_index = 0;
	model->irq_status = 0;
	memset(model->counters, 0, sizeof(model->counters));
	memset(model->issued, 0, sizeof(model->issued));
	memset(model->complete, 0, sizeof(model->complete));
	memset(model->queues, 0, sizeof(model->queues));
	model->bad_status = WC_STATUS_OK;
}

static void stop(struct wc_model *model, enum wc_status status, uint32_t index)
{
	model->status = status;
	model->error_index = index;
	model->irq_status |= 2;
}

// Read command `head` from its slot.
static enum wc_status fetch(struct wc_model *model, uint8_t *command)
{
	struct wc_memory *memory = model->base.memory;
	uint64_t slot = model->ring_base + (uint64_t)(model->ring_size ? model->head % model->ring_size : 0) * WC_COMMAND_BYTES;

	if (slot < model->mem_base || slot > model->mem_limit || model->mem_limit - slot < WC_COMMAND_BYTES)
		return WC_STATUS_MEMORY_RANGE;
	if (!wc_memory_contains(memory, slot, WC_COMMAND_BYTES))
		return WC_STATUS_AXI_ERROR;
	memcpy(command, wc_memory_at(memory, slot, WC_COMMAND_BYTES), WC_COMMAND_BYTES);
	for (uint32_t offset = 0; offset < WC_COMMAND_BYTES; offset += model->base.params.bus_bytes) {
		wc_memory_count(memory, slot + offset, false);
		model->counters[WC_COUNTER_COMMAND_BEATS]++;
	}
	return WC_STATUS_OK;
}

// Fetch one command into its engine's queue. False: there is none, it is bad, or the queue is full.
static bool take_one(struct wc_model *model)
{
	uint8_t command[WC_COMMAND_BYTES];
	struct model_queue *queue;
	enum model_engine engine;
	enum wc_status status;

	for (engine = 0; engine < MODEL_ENGINES; engine++)
		if (model->queues[engine].count == MODEL_QUEUE_DEPTH)
			return false;
	if (!model->run || model->head == model->tail || model->bad_status != WC_STATUS_OK)
		return false;
	status = fetch(model, command);
	if (status == WC_STATUS_OK)
		status = model_check(command, &model->base.params, model->issued);
	if (status != WC_STATUS_OK) {
		model->bad_status = status;
		model->bad_index = model->head;
		if (status != WC_STATUS_MEMORY_RANGE)
			model->head++;
		return false;
	}
	engine = model_engine_of(command[0]);
	queue = &model->queues[engine];
	queue->entries[queue->count].index = model->head++;
	memcpy(queue->entries[queue->count].command, command, WC_COMMAND_BYTES);
	queue->count++;
	model->issued[engine]++;
	return true;
}

static bool ready(const struct wc_model *model, const struct model_queue *queue)
{
	uint32_t waits[MODEL_ENGINES];

	if (queue->count == 0)
		return false;
	model_waits(queue->entries[0].command, waits);
	for (int engine = 0; engine < MODEL_ENGINES; engine++)
		if (waits[engine] > model->complete[engine])
			return false;
	return true;
}

uint64_t model_draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

// The engine whose oldest command comes next; -1: none is ready. In program order there is one command in all queues.
static int choose(struct wc_model *model)
{
	int candidates[MODEL_ENGINES];
	int count = 0;

	for (int engine = 0; engine < MODEL_ENGINES; engine++)
		if (ready(model, &model->queues[engine]))
			candidates[count++] = engine;
	if (count == 0)
		return -1;
	return candidates[count == 1 ? 0 : model_draw(&model->random) % count];
}

static model_result execute(struct wc_model *model, const struct model_queued *queued, struct wc_error *err)
{
	// The bytes lie in a buffer without a type; a copy of the right type may be read through its members.
	union {
		struct wc_load_command load;
		struct wc_store_command store;
		struct wc_gemm_command gemm;
		struct wc_vector_command vector;
		struct wc_simd_command simd;
	} command;

	memcpy(&command, queued->command, sizeof(command));
	switch (command.load.opcode) {
	case WC_OP_LOAD:
		return model_load(model, &command.load);
	case WC_OP_STORE:
		return model_store(model, &command.store);
	case WC_OP_GEMM:
		return model_gemm(model, &command.gemm, queued->index, err);
	case WC_OP_SIMD:
		return model_simd(model, &command.simd, queued->index);
	default:
		return model_vector(model, &command.vector, queued->index);
	}
}

static void strike_buffer(struct wc_model *model, uint32_t index)
{
	if (model_fault_strikes(model, WC_FAULT_BUFFER, index) && model->fault.address < model->base.params.buffer_bytes)
		model->buffer[model->fault.address] ^= (uint8_t)(1u << model->fault.bit % 8);
}

static void strike_memory(struct wc_model *model, uint32_t index)
{
	if (model_fault_strikes(model, WC_FAULT_MEMORY, index) && wc_memory_contains(model->base.memory, model->fault.address, 1))
		*wc_memory_at(model->base.memory, model->fault.address, 1) ^= (uint8_t)(1u << model->fault.bit % 8);
}

// The oldest command of `engine`, from begin to end. 0, or an enum wc_result.
static int run_one(struct wc_model *model, enum model_engine engine, struct wc_error *err)
{
	struct model_queue *queue = &model->queues[engine];
	struct model_queued queued = queue->entries[0];
	model_result result;
	int observed;

	queue->count--;
	memmove(queue->entries, queue->entries + 1, queue->count * sizeof(*queue->entries));
	strike_buffer(model, queued.index);
	observed = model_event(model, WC_EVENT_COMMAND_BEGIN, queued.index, queued.command[0], 0, err);
	if (observed)
		return observed;
	result = execute(model, &queued, err);
	if (result < 0)
		return result;
	if (result > 0) {
		stop(model, (enum wc_status)result, queued.index);
		return 0;
	}
	model->complete[engine]++;
	model->done++;
	strike_memory(model, queued.index);
	return model_event(model, WC_EVENT_COMMAND_END, queued.index, queued.command[0], 0, err);
}

bool model_has_work(const struct wc_model *model)
{
	return model->run && model->status == WC_STATUS_OK && model->done != model->tail;
}

int model_issue(struct wc_model *model, uint64_t max_commands, struct wc_error *err)
{
	bool worked = false;

	for (uint64_t count = 0; model->status == WC_STATUS_OK && count < max_commands; count++) {
		int engine, result;

		while (take_one(model) && model->overlap)
			;
		engine = choose(model);
		if (engine < 0) {
			if (model->bad_status != WC_STATUS_OK)
				stop(model, model->bad_status, model->bad_index);
			break;
		}
		result = run_one(model, engine, err);
		if (result)
			return result;
		worked = true;
	}
	if (worked && model->status == WC_STATUS_OK && model->done == model->tail)
		model->irq_status |= 1;
	return 0;
}
