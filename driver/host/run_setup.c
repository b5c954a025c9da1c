// SPDX-License-Identifier: Apache-2.0
//
// From options to a device that is ready to run, and back.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "driver/host/run_internal.h"
#include "traces/alloc.h"

// Work of a step for the progress line, in MACs; transfers and vectors count a little.
static double step_work(const struct program *program, const struct step *step)
{
	const struct net_node *node = &program->net->nodes[step->node];
	const double rows = (double)step->sample_count * (step->hi - step->lo);

	if (node->op != NET_CONV || step->op == STEP_LOAD || step->op == STEP_STORE || step->op == STEP_TAKE || step->op == STEP_KEEP)
		return 1;
	const double weights = (double)net_conv_weights(node);

	if (step->op == STEP_DATA_GRADIENT)
		return rows * node->in.width * weights / (node->conv.stride_h * node->conv.stride_w);
	return rows * node->out.width * weights * (step->channel_hi - step->channel_lo) / node->out.channels;
}

// Rows of a dense tensor to their places in DRAM.
static void place_rows(struct run *run, enum layout_store store, int node, const uint8_t *dense, uint64_t row_bytes)
{
	const struct layout_place *place = layout_place(&run->layout, store, node);
	const int samples = place->sample_bytes ? run->layout.batch : 1;

	for (int sample = 0; place->bytes && sample < samples; sample++)
		for (int row = 0; row < place->rows; row++) {
			memcpy(wc_memory_at(&run->memory, layout_address(&run->layout, store, node, sample, row), row_bytes), dense, row_bytes);
			dense += row_bytes;
		}
}

static void place_inputs(struct run *run)
{
	const struct net *net = run->options->net;
	const struct data *data = run->options->data;
	const int last = net->node_count - 1;

	place_rows(run, LAYOUT_ACT, 0, (const uint8_t *)data->images, collect_row_bytes(&run->collect, COLLECT_ACT, 0));
	place_rows(run, LAYOUT_GRAD, last, (const uint8_t *)data->gradient, collect_row_bytes(&run->collect, COLLECT_GRAD, last));
	for (int node = 0; node < net->node_count; node++)
		if (net->nodes[node].op == NET_CONV)
			place_rows(run, LAYOUT_WEIGHT, node, (const uint8_t *)data->weights[node],
				   collect_row_bytes(&run->collect, COLLECT_WGRAD, node) / 2);
}

static int trace_headers(struct run *run, struct wc_error *err)
{
	const struct run_options *options = run->options;
	const struct schedule *schedule = options->schedule;
	const struct device *device = &options->device;
	char values[5][64];
	const char *const keys[] = {"net", "schedule", "batch", "array", "buffer", "bus", "seed"};
	const char *texts[] = {options->net->name, options->schedule_name, values[0], values[1], values[2], values[3], values[4]};
	int result = 0;

	snprintf(values[0], sizeof(values[0]), "%d", schedule->batch);
	snprintf(values[1], sizeof(values[1]), "%dx%d", device->params.rows, device->params.cols);
	snprintf(values[2], sizeof(values[2]), "%" PRIu32, device->params.buffer_bytes);
	snprintf(values[3], sizeof(values[3]), "%" PRIu32, device->params.bus_bytes);
	snprintf(values[4], sizeof(values[4]), "%" PRIu64, options->seed);
	for (size_t i = 0; !result && i < sizeof(keys) / sizeof(*keys); i++)
		result = host_trace_header(&run->trace, keys[i], texts[i], err);
	return result ? result : host_trace_device_header(&run->trace, "backend", run->backend->ops->name, err);
}

int run_set_up(struct run *run, struct wc_error *err)
{
	const struct run_options *options = run->options;
	int result;

	if ((options->dump && (result = collect_dump_prepare(options->dump, err))) ||
	    (result = program_expand(&run->program, options->schedule, options->net, err)) ||
	    (result = layout_init(&run->layout, options->schedule, options->net, RUN_RING_ENTRIES, err)) ||
	    (result = wc_memory_init(&run->memory, options->device.params.bus_bytes, run->layout.region_bytes, err)))
		return result;
	layout_bind(&run->layout, &run->memory);
	if ((result = op_queue_init(&run->queue, err)) ||
	    (result = lower_init(&run->lower, &run->program, &run->layout, &options->device.params, &run->queue, err)) ||
	    (result = collect_init(&run->collect, options->net, options->schedule->batch, err)) ||
	    (result = device_open(&options->device, &run->memory, options->seed, &run->backend, err)))
		return result;
	place_inputs(run);
	expect_restart(run->expect);
	if ((result = host_trace_open(&run->trace, &run->program, &options->device.params, options->trace, options->golden_trace, options->trace_level,
				      err)) ||
	    (result = trace_headers(run, err)) ||
	    (result = compare_init(&run->compare, &run->program, &run->layout, run->expect, &run->collect, run->backend, host_trace_wanted(&run->trace), err)))
		return result;
	for (int i = 0; i < run->program.step_count; i++)
		run->work_all += step_work(&run->program, &run->program.steps[i]);
	run->result->buffer_high_water = run->program.live_bytes;

	const struct wc_observer observer = {
		.context = run,
		.tile_row = run_on_tile_row,
		.event = run_on_event,
		.waves = options->trace && options->trace_level >= WCT_LEVEL_WAVE,
	};

	run->backend->ops->set_observer(run->backend, &observer);
	run->backend->ops->set_fault(run->backend, options->fault.device.kind == WC_FAULT_NONE ? NULL : &options->fault.device);
	return device_start(run->backend, run->layout.ring_base, RUN_RING_ENTRIES, err);
}

void run_tear_down(struct run *run)
{
	wc_backend_free(run->backend);
	compare_release(&run->compare);
	collect_release(&run->collect);
	lower_release(&run->lower);
	op_queue_release(&run->queue);
	wc_memory_release(&run->memory);
	layout_release(&run->layout);
	program_release(&run->program);
	wc_free(run->snapshot);
}
