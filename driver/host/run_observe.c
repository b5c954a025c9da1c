// SPDX-License-Identifier: Apache-2.0
//
// What the device reports, compared as it comes; the first difference stops the run.
#include <inttypes.h>

#include "driver/host/clock.h"
#include "driver/host/run_internal.h"
#include "traces/alloc.h"

static double op_work(const struct op *op)
{
	return op_is_tile(op) ? (double)op->m_count * op->n_count * (double)op->k_total : 1;
}

static struct op *op_of(struct run *run, int index, uint32_t command)
{
	const struct run_core *core = index >= 0 && index < run->core_count ? &run->cores[index] : NULL;
	struct op *op = core ? op_queue_at(&core->queue, command) : NULL;

	if (!op || command - core->queue.first >= core->tail - core->queue.first) {
		run->failure = wc_fail(&run->observed, WC_ERR_SYSTEM, "the device reports on command %" PRIu32 " of core %d, the host has written %" PRIu32,
				       command, index, core ? core->tail : 0);
		return NULL;
	}
	return op;
}

// Remember the first difference's surroundings before anything overwrites them.
static void take_snapshot(struct run *run, int core)
{
	const uint32_t bytes = run->backend->params.buffer_bytes;

	if (run->snapshot)
		return;
	run->snapshot = wc_alloc(bytes, 1);
	if (run->snapshot)
		run->backend->ops->buffer_read(run->backend, (uint32_t)core * bytes, run->snapshot, bytes);
}

int run_on_tile_row(void *context, const struct wc_tile_row *row)
{
	struct run *run = context;
	const struct op *op = run->failure ? NULL : op_of(run, row->core, row->command_index);
	const struct compare_tile *tile;
	const bool failed = run->compare.mismatch.kind != MISMATCH_NONE;
	int result;

	// A core that goes on in the same cycle changes nothing of it.
	if (!op)
		return run->failure;
	tile = &run->compare.tiles[row->core];
	// Behind the first difference only the rest of its tile is of interest.
	if (failed && (row->core != run->compare.mismatch.core || row->command_index != run->compare.mismatch.command))
		return 0;
	if (!op_is_tile(op)) {
		run->failure = wc_fail(&run->observed, WC_ERR_SYSTEM, "the device drains a tile for command %" PRIu32 ", a %s", row->command_index,
				       op_name(op));
		return run->failure;
	}
	result = compare_tile_row(&run->compare, row->command_index, op, row, &run->observed);
	if (result && result != WC_ERR_MISMATCH)
		return run->failure = result;
	if (result)
		take_snapshot(run, row->core);
	if (tile->rows == op->m_count && host_trace_wanted(&run->trace)) {
		int traced = host_trace_result(&run->trace, &run->compare, row->command_index, op, row->cycle, run->backend->ops->has_cycles, &run->observed);

		if (traced)
			return run->failure = traced;
	}
	if (result && (tile->rows == op->m_count || run->compare.mismatch.kind == MISMATCH_SHAPE))
		return run->failure = result;
	return 0;
}

static int on_command_end(struct run *run, const struct wc_event *event, const struct op *op)
{
	int result = 0;

	if (run->compare.mismatch.kind != MISMATCH_NONE)
		// The tile at fault has ended although rows are missing.
		return run->compare.mismatch.core == event->core && run->compare.mismatch.command == event->command_index ? WC_ERR_MISMATCH : 0;
	result = compare_end(&run->compare, event->command_index, op, event->cycle, &run->observed);
	if (result == WC_ERR_MISMATCH)
		take_snapshot(run, event->core);
	if ((!result || result == WC_ERR_MISMATCH) && !op_is_tile(op) && host_trace_wanted(&run->trace)) {
		int traced = host_trace_result(&run->trace, &run->compare, event->command_index, op, event->cycle, run->backend->ops->has_cycles, &run->observed);

		result = traced ? traced : result;
	}
	run->work_done += op_work(op);
	if (!value_is_array(op->value.kind))
		run->update_from_s = clock_wall_s();
	profile_add(&run->result->profile, &run->cores[op->core].program, op, run->device.params.rows, event->cycle);
	if (op_is_tile(op))
		run->result->macs += (uint64_t)op->m_count * (uint64_t)op->n_count * (uint64_t)op->k_total;
	if (run->options->progress) {
		const int steps = run->options->training ? run->options->training->steps : 1;
		const double done = run->work_done < run->work_all ? run->work_done / run->work_all : 1;

		run->options->progress(run->options->progress_context, (run->result->steps + done) / steps);
	}
	return result;
}

int run_on_event(void *context, const struct wc_event *event)
{
	struct run *run = context;
	const bool ring = event->kind == WC_EVENT_BURST && event->command_index == UINT32_MAX;
	struct op *op = run->failure || ring ? NULL : op_of(run, event->core, event->command_index);
	int result;

	if (run->failure)
		return run->failure;
	// The end of a command stands behind its result.
	if (event->kind == WC_EVENT_COMMAND_END) {
		op->done = true;
		result = on_command_end(run, event, op);
		if (result)
			return run->failure = result;
	}
	result = host_trace_event(&run->trace, event, op, run->backend->ops->has_cycles, &run->observed);
	if (!result && run_stop_wanted(run))
		result = WC_ERR_STOPPED;
	return run->failure = result;
}
