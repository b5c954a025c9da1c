// SPDX-License-Identifier: Apache-2.0
//
// The run loop: feed the ring, step the device; then the results. See run.h.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "driver/host/clock.h"
#include "driver/host/run_internal.h"
#include "traces/alloc.h"
#include "traces/fst.h"

enum {
	STEP_CYCLES = 4096,  // between two looks at the ring: it must not run dry
	STEP_COMMANDS = 256, // the same for a backend without cycles
	KEPT_ENTRIES = 256,  // of the ring behind the complete commands are not written again: a diagnosis looks at them
};

// Lower ahead and write what the core's ring has room for.
static int feed(struct run *run, int index, uint32_t done, struct wc_error *err)
{
	struct run_core *core = &run->cores[index];
	const uint32_t limit = done + RUN_RING_ENTRIES - KEPT_ENTRIES;
	const struct fault *fault = &run->options->fault;

	while (core->next_step < core->step_limit && (int32_t)(limit - core->queue.end) > 0) {
		int result = lower_step(&core->lower, core->next_step++, err);

		if (result)
			return result;
	}
	while (core->tail != core->queue.end && core->tail != limit) {
		const uint64_t at = layout_ring(&run->layout, index) + core->tail % RUN_RING_ENTRIES * WC_COMMAND_BYTES;
		uint8_t *entry = wc_memory_at(&run->memory, at, WC_COMMAND_BYTES);

		memcpy(entry, op_queue_at(&core->queue, core->tail)->command.bytes, WC_COMMAND_BYTES);
		if (fault->in_command && fault->device.core == index && fault->device.command == core->tail)
			entry[fault->device.address] ^= (uint8_t)(1u << fault->device.bit);
		core->tail++;
	}
	run->backend->ops->csr_write(run->backend, WC_CSR_CORE(index) + WC_CSR_TAIL, core->tail);
	return 0;
}

// Every core's ring. Whether all that there is has been completed.
static int feed_all(struct run *run, bool *complete, struct wc_error *err)
{
	int result = 0;

	*complete = true;
	for (int i = 0; !result && i < run->core_count; i++) {
		const uint32_t done = device_csr(run->backend, i, WC_CSR_DONE);

		op_queue_drop_done(&run->cores[i].queue);
		result = feed(run, i, done, err);
		*complete &= done == run->cores[i].tail;
	}
	return result;
}

// The device stopped with an error status: the command it names is wrong, or the device is.
static int device_stopped(struct run *run, int core, uint32_t status, struct wc_error *err)
{
	struct mismatch *mismatch = &run->compare.mismatch;
	const uint32_t command = device_csr(run->backend, core, WC_CSR_ERROR_INDEX);
	const struct op *op = op_queue_at(&run->cores[core].queue, command);
	char where[32];

	*mismatch = (struct mismatch){.kind = MISMATCH_STOPPED, .core = core, .command = command, .status = status >> 8 & 0xff};
	mismatch->cycle = run->backend->ops->cycle(run->backend);
	if (op)
		mismatch->op = *op;
	return wc_fail(err, WC_ERR_MISMATCH, "the device stopped at %s with status %s", mismatch_command(mismatch, run->core_count, where, sizeof(where)),
		       device_status_name(mismatch->status));
}

static int check_core(struct run *run, int core, struct wc_error *err)
{
	const uint32_t status = device_csr(run->backend, core, WC_CSR_STATUS), done = device_csr(run->backend, core, WC_CSR_DONE);

	if (status & 4)
		return device_stopped(run, core, status, err);
	if (status & 2 && done != run->cores[core].tail)
		return wc_fail(err, WC_ERR_SYSTEM, "core %d of the device is idle with %" PRIu32 " of %" PRIu32 " commands complete", core, done,
			       run->cores[core].tail);
	return 0;
}

static int loop(struct run *run, struct wc_error *err)
{
	const uint64_t quantum = run->backend->ops->has_cycles ? STEP_CYCLES : STEP_COMMANDS;

	for (;;) {
		double step_s, golden_s;
		bool complete;
		int result = feed_all(run, &complete, err);

		if (result || complete)
			return result;
		step_s = clock_cpu_s();
		golden_s = run->expect->cpu_s;
		result = run->backend->ops->step(run->backend, quantum, err);
		run->result->device_cpu_s += clock_cpu_s() - step_s - (run->expect->cpu_s - golden_s);
		if (run->failure) {
			// The backend only knows that the observer stopped it.
			*err = run->observed;
			return run->failure;
		}
		for (int core = 0; !result && core < run->core_count; core++)
			result = check_core(run, core, err);
		if (result)
			return result;
		if (run_stop_wanted(run))
			return WC_ERR_STOPPED;
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
		result->counters[counter] = run_counter(run, counter);
	result->cycles = run->options->device.kind == DEVICE_RTL ? run_cycles(run) : 0;
	result->end_cycle = run->backend->ops->cycle(run->backend);
	for (int core = 0; core < run->core_count; core++)
		result->commands += run->cores[core].commands_before + device_csr(run->backend, core, WC_CSR_DONE);
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
	const struct run_core *core = &run->cores[run->compare.mismatch.core];
	const struct diagnose_context context = {
		.program = &core->program,
		.layout = &run->layout,
		.expect = run->expect,
		.device = &run->device,
		.fault = &run->options->fault,
		.seed = run->options->seed,
		.buffer = run->snapshot,
		.memory = &run->memory,
		.ring_entries = RUN_RING_ENTRIES,
		.tail = core->tail,
	};

	diagnose(&context, &run->compare.mismatch, &run->result->diagnosis);
}

// For a trace that does not reach the run's end; NULL: it does.
static const char *how_ended(int status)
{
	return !status ? NULL : status == WC_ERR_MISMATCH ? "mismatch" : status == WC_ERR_STOPPED ? "interrupted" : "failed";
}

// The mean of the losses that lie in DRAM.
static double mean_loss(struct run *run)
{
	const struct net *net = run->options->net;
	const int loss = net->node_count - 1, batch = run->layout.batch;
	double sum = 0;

	if (!run->whole.loss)
		return NAN;
	for (int sample = 0; sample < batch; sample++) {
		float value;

		memcpy(&value, wc_memory_at(&run->memory, layout_address(&run->layout, LAYOUT_LOSSES, loss, 0, sample), sizeof(value)), sizeof(value));
		sum += (double)value;
	}
	return sum / batch;
}

// One step: forward, backward, update.
static int run_step(struct run *run, struct wc_error *err)
{
	int result = 0;

	for (int part = 0; !result && part < run->part_count; part++) {
		result = run_begin_part(run, part, err);
		if (!result)
			result = loop(run, err);
		if (!result)
			result = run_end_part(run, err);
	}
	if (!result)
		result = compare_memory(&run->compare, err);
	if (result)
		return result;
	if (run->whole.update)
		run->result->update_wall_s += clock_wall_s() - run->update_from_s;
	run->result->loss = mean_loss(run);
	run->result->steps++;
	return 0;
}

// The same program again, on the next images and with the parameters as they have become.
static int next_step(struct run *run, int step, struct wc_error *err)
{
	const struct run_training *training = run->options->training;
	int result = expect_next_step(run->expect, err);

	if (!result)
		run->result->updates = step;
	if (!result && step < training->steps)
		result = training->next_batch(training->context, step, err);
	if (result || step == training->steps)
		return result;
	for (int core = 0; core < run->core_count; core++) {
		run->cores[core].next_step = 0;
		// The learning rate of this step, above all.
		if (run->expect->optimizer)
			run->cores[core].lower.sgd = run->expect->optimizer->sgd;
		lower_restart(&run->cores[core].lower);
	}
	run->work_done = 0;
	compare_restart(&run->compare);
	return run_place_batch(run, err);
}

static int run_steps(struct run *run, struct wc_error *err)
{
	const struct run_training *training = run->options->training;
	int result = run_step(run, err);

	for (int step = 1; !result && training; step++) {
		if (training->step_done)
			training->step_done(training->context, step - 1, run->result->loss);
		// The results of the last step are still to be kept.
		if (step == training->steps)
			break;
		result = next_step(run, step, err);
		if (!result)
			result = run_step(run, err);
	}
	return result;
}

int run_schedule(const struct run_options *options, struct expect *expect, struct run_result *result, struct wc_error *err)
{
	struct run run = {.options = options, .result = result, .expect = expect};
	const double golden_s = expect->cpu_s;
	const uint64_t golden_macs = expect->macs;
	const double start_s = clock_wall_s();
	struct wc_error later;
	const char *recorded;
	int status, updated, closed;

	*result = (struct run_result){.loss = NAN};
	status = run_set_up(&run, err);
	if (!status) {
		status = run_steps(&run, err);
		take_counts(&run);
		if (!status)
			status = trace_counters(&run, err);
		if (!status)
			status = digest_results(&run, err);
		if (!status && !result->counts.tiles)
			status = wc_fail(err, WC_ERR_MISMATCH, "the run checked no tile");
		if (!status && options->dump)
			status = collect_dump(&run.collect, options->data, expect->optimizer, options->dump, err);
		// The parameters become what the device has made of them, whatever cannot be written.
		updated = options->training && result->steps == options->training->steps ? next_step(&run, options->training->steps, &later) : 0;
		if (updated && !status)
			status = wc_fail(err, updated, "%s", later.text);
	}
	if (status == WC_ERR_MISMATCH && result->mismatch.kind != MISMATCH_NONE && result->mismatch.kind != MISMATCH_STOPPED)
		wc_fail(err, status, "the device and the golden model differ");
	result->stopped = status == WC_ERR_STOPPED;
	closed = host_trace_close(&run.trace, how_ended(status), &later);
	if (closed && !status)
		status = wc_fail(err, closed, "%s", later.text);
	result->wall_s = clock_wall_s() - start_s;
	result->golden_cpu_s = expect->cpu_s - golden_s;
	result->golden_macs = expect->macs - golden_macs;
	if (status == WC_ERR_MISMATCH && result->mismatch.kind != MISMATCH_NONE)
		explain(&run);
	recorded = run.backend && options->device.kind == DEVICE_RTL ? options->device.rtl.waveform : NULL;
	run_tear_down(&run);
	// It is complete when the device is gone. Its writer does not say whether the disk was full.
	if (recorded && fst_check_whole(recorded, &result->waveform) && !status)
		status = wc_fail(err, WC_ERR_SYSTEM, "%s", result->waveform.text);
	return status;
}

void run_result_release(struct run_result *result)
{
	profile_release(&result->profile);
	wc_free(result->digests);
	result->digests = NULL;
	result->digest_count = 0;
}
