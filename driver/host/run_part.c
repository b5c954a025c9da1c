// SPDX-License-Identifier: Apache-2.0
//
// The parts of a run that can be taken up again: where they end, and who runs them.
#include <inttypes.h>

#include "driver/host/run_internal.h"
#include "traces/alloc.h"

static const struct run_position *position_before(const struct run *run)
{
	return run->options->resume ? run->options->resume->from : NULL;
}

static int check_position(const struct run *run, struct wc_error *err)
{
	const struct run_options *options = run->options;
	const struct run_position *before = position_before(run);
	const uint64_t parts = (uint64_t)run->part_count * (uint64_t)(options->training ? options->training->steps : 1);

	if (!before || before->parts <= parts)
		return 0;
	return wc_fail(err, WC_ERR_INPUT, "--resume: '%s' says that %" PRIu64 " groups are finished, but the run has %" PRIu64, options->resume->name,
		       before->parts, parts);
}

// A part ends behind the last step of a group, if no step of an earlier group follows: loads of later ones may have moved before it.
int run_find_parts(struct run *run, struct wc_error *err)
{
	const struct program *program = &run->program;
	const int groups = program->schedule->group_count;
	int *last = wc_alloc((size_t)groups + 1, sizeof(*last)), end = 0;

	run->part_ends = wc_alloc((size_t)groups + 1, sizeof(*run->part_ends));
	if (!last || !run->part_ends) {
		wc_free(last);
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for %d groups", groups);
	}
	for (int i = 0; i < program->step_count; i++)
		last[program->steps[i].group] = i + 1;
	for (int group = 0; run->options->resume && group < groups; group++)
		if (last[group] > end && last[group] < program->step_count)
			run->part_ends[run->part_count++] = end = last[group];
	run->part_ends[run->part_count++] = program->step_count;
	wc_free(last);
	return check_position(run, err);
}

int run_begin_part(struct run *run, struct wc_error *err)
{
	int result;

	if (!run->catches_up || run->parts_done != position_before(run)->parts)
		return 0;
	run->catches_up = false;
	run->commands_before = run->backend->ops->csr_read(run->backend, WC_CSR_DONE);
	run->device = run->options->device;
	op_queue_drop_done(&run->queue);
	lower_new_device(&run->lower);
	run->tail = 0;
	result = run_open_device(run, err);
	if (!result)
		compare_new_device(&run->compare, run->backend);
	return result;
}

// What is complete has the cycles that it took before.
static void take_cycles(struct profile *profile, const struct profile *before)
{
	for (int i = 0; i < profile->node_count * PROFILE_PHASES; i++)
		profile->entries[i].cycles = before->entries[i].cycles;
}

int run_end_part(struct run *run, struct wc_error *err)
{
	const struct run_resume *resume = run->options->resume;
	struct run_position position = {.parts = ++run->parts_done};

	if (run->catches_up) {
		if (run->parts_done == resume->from->parts)
			take_cycles(&run->result->profile, &resume->from->profile);
		return 0;
	}

	if (run->backend->ops->has_cycles)
		profile_settle(&run->result->profile, run_counter(run, WC_COUNTER_CYCLES), run->backend->ops->cycle(run->backend));
	position.profile = run->result->profile;
	if (!resume)
		return 0;
	for (enum wc_counter counter = 0; counter < WC_COUNTER_COUNT; counter++)
		position.counters[counter] = run_counter(run, counter);
	return resume->part_done(resume->context, &position, err);
}

uint64_t run_counter(const struct run *run, enum wc_counter counter)
{
	const struct run_position *before = position_before(run);

	return (run->catches_up ? 0 : device_counter(run->backend, counter)) + (before ? before->counters[counter] : 0);
}
