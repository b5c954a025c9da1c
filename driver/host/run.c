// SPDX-License-Identifier: Apache-2.0
//
// The run loop: feed the ring, step the device, compare what it reports; see run.h.
#include "driver/host/run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "driver/host/clock.h"
#include "driver/host/lower.h"
#include "driver/host/trace.h"
#include "traces/alloc.h"

enum {
	STEP_CYCLES = 4096,  // between two looks at the ring: it must not run dry
	STEP_COMMANDS = 256, // the same for a backend without cycles
	// Engines overlap, so the count of complete commands is not a prefix: this many before it are kept.
	SLACK = 256,
};

struct run {
	const struct run_options *options;
	struct run_result *result;
	struct expect *expect;
	struct program program;
	struct layout layout;
	struct wc_memory memory;
	struct op_queue queue;
	struct lower lower;
	struct collect collect;
	struct compare compare;
	struct host_trace trace;
	struct wc_backend *backend;
	uint32_t tail;           // commands written to the ring
	int next_step;           // to be lowered
	double work_done, work_all;
	uint8_t *snapshot;       // the global buffer at the first difference
	int failure;             // what an observer found
	struct wc_error *err;
};

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

static double op_work(const struct op *op)
{
	return op_is_tile(op) ? (double)op->m_count * op->n_count * (double)op->k_total : 1;
}

static bool stop_wanted(const struct run *run)
{
	return run->options->stop && *run->options->stop;
}

static const struct op *op_of(struct run *run, uint32_t command)
{
	const struct op *op = op_queue_at(&run->queue, command);

	if (!op || command - run->queue.first >= run->tail - run->queue.first) {
		run->failure = wc_fail(run->err, WC_ERR_SYSTEM, "the device reports on command %" PRIu32 ", the host has written %" PRIu32, command,
				       run->tail);
		return NULL;
	}
	return op;
}

// Remember the first difference's surroundings before anything overwrites them.
static void take_snapshot(struct run *run)
{
	const uint32_t bytes = run->backend->params.buffer_bytes;

	if (run->snapshot)
		return;
	run->snapshot = wc_alloc(bytes, 1);
	if (run->snapshot)
		run->backend->ops->buffer_read(run->backend, 0, run->snapshot, bytes);
}

static int on_tile_row(void *context, const struct wc_tile_row *row)
{
	struct run *run = context;
	const struct op *op = op_of(run, row->command_index);
	const bool failed = run->compare.mismatch.kind != MISMATCH_NONE;
	int result;

	if (!op)
		return run->failure;
	// Behind the first difference only the rest of its tile is of interest.
	if (failed && row->command_index != run->compare.mismatch.command)
		return 0;
	if (!op_is_tile(op)) {
		run->failure = wc_fail(run->err, WC_ERR_SYSTEM, "the device drains a tile for command %" PRIu32 ", a %s", row->command_index,
				       op_kind_name(op->kind));
		return run->failure;
	}
	result = compare_tile_row(&run->compare, row->command_index, op, row, run->err);
	if (result && result != WC_ERR_MISMATCH)
		return run->failure = result;
	if (result)
		take_snapshot(run);
	if (run->compare.tile_rows == op->m_count && host_trace_wanted(&run->trace)) {
		int traced = host_trace_result(&run->trace, &run->compare, row->command_index, op, row->cycle, run->backend->ops->has_cycles, run->err);

		if (traced)
			return run->failure = traced;
	}
	if (result && (run->compare.tile_rows == op->m_count || run->compare.mismatch.kind == MISMATCH_SHAPE))
		return run->failure = result;
	return 0;
}

static int on_command_end(struct run *run, const struct wc_event *event, const struct op *op)
{
	int result = 0;

	if (run->compare.mismatch.kind != MISMATCH_NONE)
		// The tile at fault has ended although rows are missing.
		return run->compare.mismatch.command == event->command_index ? WC_ERR_MISMATCH : 0;
	result = compare_end(&run->compare, event->command_index, op, event->cycle, run->err);
	if (result == WC_ERR_MISMATCH)
		take_snapshot(run);
	if ((!result || result == WC_ERR_MISMATCH) && !op_is_tile(op) && host_trace_wanted(&run->trace)) {
		int traced = host_trace_result(&run->trace, &run->compare, event->command_index, op, event->cycle, run->backend->ops->has_cycles, run->err);

		result = traced ? traced : result;
	}
	run->work_done += op_work(op);
	if (op_is_tile(op))
		run->result->macs += (uint64_t)op->m_count * (uint64_t)op->n_count * (uint64_t)op->k_total;
	if (run->options->progress)
		run->options->progress(run->options->progress_context, run->work_done < run->work_all ? run->work_done / run->work_all : 1);
	return result;
}

static int on_event(void *context, const struct wc_event *event)
{
	struct run *run = context;
	const bool ring = event->kind == WC_EVENT_BURST && event->command_index == UINT32_MAX;
	const struct op *op = ring ? NULL : op_of(run, event->command_index);
	int result;

	if (!op && !ring)
		return run->failure;
	// The end of a command stands behind its result.
	if (event->kind == WC_EVENT_COMMAND_END) {
		result = on_command_end(run, event, op);
		if (result)
			return run->failure = result;
	}
	result = host_trace_event(&run->trace, event, op, run->backend->ops->has_cycles, run->err);
	if (!result && stop_wanted(run))
		result = WC_ERR_STOPPED;
	return run->failure = result;
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

static int set_up(struct run *run, struct expect *expect, struct wc_error *err)
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
	expect_restart(expect);
	if ((result = host_trace_open(&run->trace, &run->program, &options->device.params, options->trace, options->golden_trace, options->trace_level,
				      err)) ||
	    (result = trace_headers(run, err)) ||
	    (result = compare_init(&run->compare, &run->program, &run->layout, expect, &run->collect, run->backend, host_trace_wanted(&run->trace), err)))
		return result;
	for (int i = 0; i < run->program.step_count; i++)
		run->work_all += step_work(&run->program, &run->program.steps[i]);
	run->result->buffer_high_water = run->program.peak_bytes;

	const struct wc_observer observer = {
		.context = run,
		.tile_row = on_tile_row,
		.event = on_event,
		.waves = options->trace && options->trace_level >= WCT_LEVEL_WAVE,
	};

	run->backend->ops->set_observer(run->backend, &observer);
	run->backend->ops->set_fault(run->backend, options->fault.device.kind == WC_FAULT_NONE ? NULL : &options->fault.device);
	return device_start(run->backend, run->layout.ring_base, RUN_RING_ENTRIES, err);
}

// Lower ahead and write what the ring has room for.
static int feed(struct run *run, uint32_t done, struct wc_error *err)
{
	const uint32_t limit = done + RUN_RING_ENTRIES - SLACK;
	const struct fault *fault = &run->options->fault;

	while (run->next_step < run->program.step_count && (int32_t)(limit - run->queue.end) > 0) {
		int result = lower_step(&run->lower, run->next_step++, err);

		if (result)
			return result;
	}
	while (run->tail != run->queue.end && run->tail != limit) {
		uint8_t *entry = wc_memory_at(&run->memory, run->layout.ring_base + run->tail % RUN_RING_ENTRIES * WC_COMMAND_BYTES, WC_COMMAND_BYTES);

		memcpy(entry, op_queue_at(&run->queue, run->tail)->command.bytes, WC_COMMAND_BYTES);
		if (fault->in_command && fault->device.command == run->tail)
			entry[fault->device.address] ^= (uint8_t)(1u << fault->device.bit);
		run->tail++;
	}
	run->backend->ops->csr_write(run->backend, WC_CSR_TAIL, run->tail);
	return 0;
}

// The device stopped with an error status: the command it names is wrong, or the device is.
static int device_stopped(struct run *run, uint32_t status, struct wc_error *err)
{
	struct mismatch *mismatch = &run->compare.mismatch;
	const uint32_t command = run->backend->ops->csr_read(run->backend, WC_CSR_ERROR_INDEX);
	const struct op *op = op_queue_at(&run->queue, command);

	*mismatch = (struct mismatch){.kind = MISMATCH_STOPPED, .command = command, .status = status >> 8 & 0xff};
	mismatch->cycle = run->backend->ops->cycle(run->backend);
	if (op)
		mismatch->op = *op;
	return wc_fail(err, WC_ERR_MISMATCH, "the device stopped at command %" PRIu32 " with status %s", command, device_status_name(mismatch->status));
}

static int loop(struct run *run, struct wc_error *err)
{
	const uint64_t quantum = run->backend->ops->has_cycles ? STEP_CYCLES : STEP_COMMANDS;

	for (;;) {
		const uint32_t done = run->backend->ops->csr_read(run->backend, WC_CSR_DONE);
		double step_s, golden_s;
		uint32_t status;
		int result;

		if (done - run->queue.first > SLACK)
			op_queue_drop(&run->queue, done - SLACK);
		result = feed(run, done, err);
		if (result)
			return result;
		if (done == run->tail)
			return 0;
		step_s = clock_cpu_s();
		golden_s = run->expect->cpu_s;
		result = run->backend->ops->step(run->backend, quantum, err);
		run->result->device_cpu_s += clock_cpu_s() - step_s - (run->expect->cpu_s - golden_s);
		if (run->failure)
			return run->failure;
		if (result)
			return result;
		status = run->backend->ops->csr_read(run->backend, WC_CSR_STATUS);
		if (status & 4)
			return device_stopped(run, status, err);
		if (stop_wanted(run))
			return WC_ERR_STOPPED;
		if (status & 2 && run->backend->ops->csr_read(run->backend, WC_CSR_DONE) != run->tail)
			return wc_fail(err, WC_ERR_SYSTEM, "the device is idle with %" PRIu32 " of %" PRIu32 " commands complete",
				       run->backend->ops->csr_read(run->backend, WC_CSR_DONE), run->tail);
	}
}

static int digest_results(struct run *run, struct wc_error *err)
{
	struct run_result *result = run->result;
	const int nodes = run->options->net->node_count;

	result->digests = wc_alloc(2 * (size_t)nodes, sizeof(*result->digests));
	if (!result->digests)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for digests");
	for (enum collect_kind kind = COLLECT_ACT; kind <= COLLECT_GRAD; kind++)
		for (int node = 1; node < nodes; node++) {
			const void *values = collect_whole(&run->collect, kind, node);

			if (values)
				result->digests[result->digest_count++] = (struct run_digest){
					.kind = kind,
					.node = node,
					.crc = wct_digest_bytes(0, values,
								collect_rows(&run->collect, kind, node) * collect_row_bytes(&run->collect, kind, node)),
				};
		}
	return 0;
}

static void take_counts(struct run *run)
{
	struct run_result *result = run->result;

	for (enum wc_counter counter = 0; counter < WC_COUNTER_COUNT; counter++)
		result->counters[counter] = device_counter(run->backend, counter);
	result->cycles = run->backend->ops->has_cycles ? result->counters[WC_COUNTER_CYCLES] : 0;
	result->commands = run->backend->ops->csr_read(run->backend, WC_CSR_DONE);
	memcpy(result->read_bytes, run->memory.read_bytes, sizeof(result->read_bytes));
	memcpy(result->write_bytes, run->memory.write_bytes, sizeof(result->write_bytes));
	result->counts = run->compare.counts;
	result->mismatch = run->compare.mismatch;
}

static int trace_counters(struct run *run, struct wc_error *err)
{
	int result = 0;

	for (enum wc_counter counter = 0; !result && counter < WC_COUNTER_COUNT; counter++)
		result = host_trace_counter(&run->trace, wc_counter_name(counter), run->result->counters[counter], err);
	return result;
}

static void explain(struct run *run)
{
	const struct diagnose_context context = {
		.program = &run->program,
		.layout = &run->layout,
		.expect = run->expect,
		.device = &run->options->device,
		.fault = &run->options->fault,
		.seed = run->options->seed,
		.buffer = run->snapshot,
		.memory = &run->memory,
		.ring_entries = RUN_RING_ENTRIES,
		.tail = run->tail,
	};

	diagnose(&context, &run->compare.mismatch, &run->result->diagnosis);
}

static void tear_down(struct run *run)
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

int run_schedule(const struct run_options *options, struct expect *expect, struct run_result *result, struct wc_error *err)
{
	struct run run = {.options = options, .result = result, .expect = expect, .err = err};
	const double golden_s = expect->cpu_s;
	const uint64_t golden_macs = expect->macs;
	const double start_s = clock_wall_s();
	struct wc_error trace_error;
	int status, closed;

	*result = (struct run_result){0};
	status = set_up(&run, expect, err);
	if (!status) {
		status = loop(&run, err);
		if (!status)
			status = compare_memory(&run.compare, err);
		take_counts(&run);
		if (!status)
			status = trace_counters(&run, err);
		if (!status)
			status = digest_results(&run, err);
		if (!status && !result->counts.tiles)
			status = wc_fail(err, WC_ERR_MISMATCH, "the run checked no tile");
		if (!status && options->dump)
			status = collect_dump(&run.collect, options->data, options->dump, err);
	}
	if (status == WC_ERR_MISMATCH && result->mismatch.kind != MISMATCH_NONE && result->mismatch.kind != MISMATCH_STOPPED)
		wc_fail(err, status, "the device and the golden model differ");
	result->stopped = status == WC_ERR_STOPPED;
	closed = host_trace_close(&run.trace, !status, &trace_error);
	if (closed && !status)
		status = wc_fail(err, closed, "%s", trace_error.text);
	result->wall_s = clock_wall_s() - start_s;
	result->golden_cpu_s = expect->cpu_s - golden_s;
	result->golden_macs = expect->macs - golden_macs;
	if (status == WC_ERR_MISMATCH && result->mismatch.kind != MISMATCH_NONE)
		explain(&run);
	tear_down(&run);
	return status;
}

void run_result_release(struct run_result *result)
{
	wc_free(result->digests);
	result->digests = NULL;
	result->digest_count = 0;
}
