// SPDX-License-Identifier: Apache-2.0
//
// From options to a device that is ready to run, and back.
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "driver/host/run_internal.h"
#include "driver/plan/rows.h"
#include "traces/alloc.h"

// Work of a step for the progress line, in MACs; transfers and vectors count a little.
static double step_work(const struct program *program, const struct step *step)
{
	const struct net_node *node = &program->net->nodes[step->node];
	const double rows = (double)step->sample_count * (step->hi - step->lo);

	if ((node->op != NET_CONV && node->op != NET_FC) ||
	    (step->op != STEP_FORWARD && step->op != STEP_DATA_GRADIENT && step->op != STEP_WEIGHT_GRADIENT))
		return 1;
	const double weights = (double)net_weights(node);

	if (step->op == STEP_DATA_GRADIENT)
		return rows * node->in.width * weights / (node->conv.stride_h * node->conv.stride_w) * (step->channel_hi - step->channel_lo) / node->out.channels;
	return rows * node->out.width * weights * (step->channel_hi - step->channel_lo) / node->out.channels;
}

// Rows of a dense tensor to their places in DRAM.
static void place_rows(struct run *run, enum layout_store store, int node, const uint8_t *dense, uint64_t row_bytes)
{
	const struct layout_place *place = layout_place(&run->layout, store, node);

	for (int sample = 0; place->bytes && sample < place->samples; sample++)
		for (int row = 0; row < place->rows; row++) {
			memcpy(wc_memory_at(&run->memory, layout_address(&run->layout, store, node, sample, row), row_bytes), dense, row_bytes);
			dense += row_bytes;
		}
}

// The vectors of a value that is there before the run, as the golden model knows them.
static int place_values(struct run *run, enum layout_store store, int node, struct wc_error *err)
{
	const struct value value = {.kind = layout_kind_of(store), .node = node};
	const struct value_shape shape = value_shape_of(run->options->net, run->layout.batch, &value);
	const struct layout_place *place = layout_place(&run->layout, store, node);

	for (int row = 0; place->bytes && row < shape.rows; row++)
		for (int vector = 0; vector < shape.vectors; vector++) {
			const void *values = expect_values(run->expect, &value, 0, row, vector, err);
			const uint64_t address = layout_address(&run->layout, store, node, 0, row) +
						 (uint64_t)vector * round_up(value_vector_bytes(&shape), run->layout.bus_bytes);

			if (!values)
				return WC_ERR_SYSTEM;
			memcpy(wc_memory_at(&run->memory, address, value_vector_bytes(&shape)), values, value_vector_bytes(&shape));
		}
	return 0;
}

// Masters and momenta of an array.
static int place_array(struct run *run, int node, enum parameter_array array, struct wc_error *err)
{
	const struct value value = {.kind = SLAB_UPDATE_STATE, .node = node, .array = array};
	const struct value_shape shape = value_shape_of(run->options->net, run->layout.batch, &value);

	for (int vector = 0; shape.count && vector < shape.vectors; vector++) {
		const void *values = expect_values(run->expect, &value, 0, 0, vector, err);
		const uint64_t address = layout_array(&run->layout, SLAB_UPDATE_STATE, node, array, 0) +
					 (uint64_t)vector * layout_momentum_stride(&run->layout, node, array);

		if (!values)
			return WC_ERR_SYSTEM;
		memcpy(wc_memory_at(&run->memory, address, value_vector_bytes(&shape)), values, value_vector_bytes(&shape));
	}
	return 0;
}

static int place_parameters(struct run *run, struct wc_error *err)
{
	static const enum layout_store stores[] = {LAYOUT_WEIGHT, LAYOUT_BIAS, LAYOUT_PARAMETERS};
	const int nodes = run->options->net->node_count;
	int result = 0;

	for (int node = 0; node < nodes; node++) {
		for (size_t i = 0; !result && i < sizeof(stores) / sizeof(*stores); i++)
			result = place_values(run, stores[i], node, err);
		for (enum parameter_array array = 0; !result && run->whole.update && array < ARRAY_COUNT; array++)
			result = place_array(run, node, array, err);
	}
	return result;
}

int run_place_batch(struct run *run, struct wc_error *err)
{
	const struct data *data = run->options->data;
	const int last = run->options->net->node_count - 1;

	place_rows(run, LAYOUT_ACT, 0, (const uint8_t *)data->images, collect_row_bytes(&run->collect, COLLECT_ACT, 0));
	if (data->gradient)
		place_rows(run, LAYOUT_GRAD, last, (const uint8_t *)data->gradient, collect_row_bytes(&run->collect, COLLECT_GRAD, last));
	return data->labels ? place_values(run, LAYOUT_LABELS, last, err) : 0;
}

static int trace_headers(struct run *run, struct wc_error *err)
{
	const struct run_options *options = run->options;
	const struct schedule *schedule = options->schedule;
	const struct device *device = &options->device;
	char values[6][64];
	const char *const keys[] = {"net", "schedule", "batch", "array", "buffer", "bus", "seed", "cores"};
	const char *texts[] = {options->net->name, options->schedule_name, values[0], values[1], values[2], values[3], values[4], values[5]};
	int result = 0;

	snprintf(values[0], sizeof(values[0]), "%d", schedule->batch);
	snprintf(values[1], sizeof(values[1]), "%dx%d", device->params.rows, device->params.cols);
	snprintf(values[2], sizeof(values[2]), "%" PRIu32, device->params.buffer_bytes);
	snprintf(values[3], sizeof(values[3]), "%" PRIu32, device->params.bus_bytes);
	snprintf(values[4], sizeof(values[4]), "%" PRIu64, options->seed);
	snprintf(values[5], sizeof(values[5]), "%d", schedule->cores);
	for (size_t i = 0; !result && i < sizeof(keys) / sizeof(*keys); i++)
		result = host_trace_header(&run->trace, keys[i], texts[i], err);
	return result ? result : host_trace_device_header(&run->trace, "backend", run->backend->ops->name, err);
}

// All cores' global buffers.
static int copy_buffers(struct wc_backend *from, struct wc_backend *to, struct wc_error *err)
{
	const uint32_t bytes = to->params.buffer_bytes;
	uint8_t *buffer = wc_alloc(bytes, 1);

	if (!buffer)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for a buffer of %" PRIu32 " bytes", bytes);
	for (uint32_t core = 0; core < (uint32_t)to->params.cores; core++) {
		from->ops->buffer_read(from, core * bytes, buffer, bytes);
		to->ops->buffer_write(to, core * bytes, buffer, bytes);
	}
	wc_free(buffer);
	return 0;
}

static int set_up_core(struct run *run, int index, struct wc_error *err)
{
	const struct run_options *options = run->options;
	struct run_core *core = &run->cores[index];
	int result;

	if ((result = program_expand_core(&core->program, options->schedule, options->net, run->whole, index, err)) ||
	    (result = op_queue_init(&core->queue, err)) ||
	    (result = lower_init(&core->lower, &core->program, &run->layout, &options->device.params, &core->queue, err)))
		return result;
	core->lower.loss_scale = options->data->loss_scale / (float)options->schedule->batch;
	if (run->expect->optimizer)
		core->lower.sgd = run->expect->optimizer->sgd;
	for (int i = 0; i < core->program.step_count; i++)
		run->work_all += step_work(&core->program, &core->program.steps[i]);
	if (core->program.live_bytes > run->result->buffer_high_water)
		run->result->buffer_high_water = core->program.live_bytes;
	return 0;
}

int run_set_up(struct run *run, struct wc_error *err)
{
	const struct run_options *options = run->options;
	int result;

	run->whole = (struct program_whole){
		.loss = options->net->nodes[options->net->node_count - 1].op == NET_LOSS, .update = run->expect->optimizer != NULL,
	};
	run->core_count = options->schedule->cores;
	assert(run->core_count == options->device.params.cores && run->core_count <= WC_CORES_MAX);
	if ((options->dump && (result = collect_dump_prepare(options->dump, err))) ||
	    (result = layout_init(&run->layout, options->schedule, options->net, run->whole, RUN_RING_ENTRIES, err)) ||
	    (result = wc_memory_init(&run->memory, options->device.params.bus_bytes, run->layout.region_bytes, err)))
		return result;
	layout_bind(&run->layout, &run->memory);
	if ((result = collect_init(&run->collect, options->net, options->schedule->batch, err)) ||
	    (result = profile_init(&run->result->profile, options->net->node_count, err)))
		return result;
	for (int core = 0; core < run->core_count; core++)
		if ((result = set_up_core(run, core, err)))
			return result;
	run->device = options->device;
	run->catches_up = options->resume && options->resume->from;
	if (run->catches_up) {
		run->device.kind = DEVICE_MODEL;
		run->cycles = options->resume->from->cycles;
	}
	expect_restart(run->expect, run->core_count);
	// A trace that is there is replaced when nothing can be refused any more.
	if ((result = run_find_parts(run, err)) || (result = place_parameters(run, err)) || (result = run_place_batch(run, err)) ||
	    (result = run_open_device(run, err)) ||
	    (result = host_trace_open(&run->trace, &options->device.params, options->trace, options->golden_trace, options->trace_level, err)))
		return result;
	for (int core = 0; core < run->core_count; core++)
		host_trace_program(&run->trace, &run->cores[core].program);
	if ((result = trace_headers(run, err)))
		return result;
	return compare_init(&run->compare, &run->layout, run->expect, &run->collect, run->backend, host_trace_wanted(&run->trace), err);
}

int run_open_device(struct run *run, struct wc_error *err)
{
	const struct run_options *options = run->options;
	const struct wc_observer observer = {
		.context = run,
		.tile_row = run_on_tile_row,
		.event = run_on_event,
		.waves = options->trace && options->trace_level >= WCT_LEVEL_WAVE,
	};
	struct wc_backend *backend;
	int result = device_open(&run->device, &run->memory, options->seed, &backend, err);

	if (result)
		return result;
	if (run->backend)
		result = copy_buffers(run->backend, backend, err);
	wc_backend_free(run->backend);
	run->backend = backend;
	if (result)
		return result;
	backend->ops->set_observer(backend, &observer);
	backend->ops->set_fault(backend, options->fault.device.kind == WC_FAULT_NONE ? NULL : &options->fault.device);
	for (int core = 0; !result && core < run->core_count; core++) {
		result = device_start(backend, core, layout_ring(&run->layout, core), RUN_RING_ENTRIES, err);
		run->result->profile.cores[core] = (struct profile_core){0};
	}
	return result;
}

void run_tear_down(struct run *run)
{
	wc_backend_free(run->backend);
	compare_release(&run->compare);
	collect_release(&run->collect);
	for (int i = 0; i < run->core_count; i++) {
		lower_release(&run->cores[i].lower);
		op_queue_release(&run->cores[i].queue);
		program_release(&run->cores[i].program);
	}
	wc_memory_release(&run->memory);
	layout_release(&run->layout);
	wc_free(run->part_ends);
	wc_free(run->snapshot);
}
