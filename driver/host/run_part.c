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

// A part ends behind the last step of a group, if no step of an earlier group follows: loads of later ones may have moved before it. So it does
// before the exchange. The programs of all cores are the same up to there.
int run_find_parts(struct run *run, struct wc_error *err)
{
	const struct program *program = &run->cores[0].program;
	const int groups = program->schedule->group_count;
	int *last = wc_alloc((size_t)groups + 1, sizeof(*last)), end = 0;

	run->part_ends = wc_alloc((size_t)groups + 2, sizeof(*run->part_ends));
	if (!last || !run->part_ends) {
		wc_free(last);
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for %d groups", groups);
	}
	for (int i = 0; i < program->step_count; i++)
		last[program->steps[i].group] = i + 1;
	for (int group = 0; run->options->resume && group < groups; group++)
		if (last[group] > end && last[group] < program->step_count)
			run->part_ends[run->part_count++] = end = last[group];
	if (program->exchange > end && program->exchange < program->step_count)
		run->part_ends[run->part_count++] = program->exchange;
	run->part_ends[run->part_count++] = program->step_count;
	wc_free(last);
	return check_position(run, err);
}

static void begin_core(struct run *run, int index, int part)
{
	struct run_core *core = &run->cores[index];

	core->step_limit = part + 1 < run->part_count ? run->part_ends[part] : core->program.step_count;
	core->cycles_before = device_counter(run->backend, index, WC_COUNTER_CYCLES);
}

// The device takes over from the functional model.
static int take_over(struct run *run, struct wc_error *err)
{
	int result;

	run->catches_up = false;
	run->device = run->options->device;
	for (int i = 0; i < run->core_count; i++) {
		struct run_core *core = &run->cores[i];

		core->commands_before = device_csr(run->backend, i, WC_CSR_DONE);
		core->tail = 0;
		op_queue_drop_done(&core->queue);
		lower_new_device(&core->lower);
	}
	result = run_open_device(run, err);
	if (!result)
		compare_new_device(&run->compare, run->backend);
	return result;
}

int run_begin_part(struct run *run, int part, struct wc_error *err)
{
	const int result = run->catches_up && run->parts_done == position_before(run)->parts ? take_over(run, err) : 0;

	for (int core = 0; !result && core < run->core_count; core++)
		begin_core(run, core, part);
	// To read a register takes cycles, which are no command's.
	for (int core = 0; !result && core < run->core_count; core++)
		profile_begin(&run->result->profile, core, run->backend->ops->cycle(run->backend));
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
	run->cycles = run_cycles(run);
	for (int core = 0; core < run->core_count; core++) {
		const uint64_t cycles = device_counter(run->backend, core, WC_COUNTER_CYCLES);

		run->cores[core].cycles_before = cycles;
		if (run->backend->ops->has_cycles)
			profile_settle(&run->result->profile, core, cycles);
	}
	if (!resume)
		return 0;
	position.cycles = run->cycles;
	position.profile = run->result->profile;
	for (enum wc_counter counter = 0; counter < WC_COUNTER_COUNT; counter++)
		position.counters[counter] = run_counter(run, counter);
	return resume->part_done(resume->context, &position, err);
}

uint64_t run_counter(const struct run *run, enum wc_counter counter)
{
	const struct run_position *before = position_before(run);
	uint64_t sum = before ? before->counters[counter] : 0;

	for (int core = 0; !run->catches_up && core < run->core_count; core++)
		sum += device_counter(run->backend, core, counter);
	return sum;
}

uint64_t run_cycles(const struct run *run)
{
	uint64_t longest = 0;

	for (int i = 0; !run->catches_up && i < run->core_count; i++) {
		const uint64_t cycles = device_counter(run->backend, i, WC_COUNTER_CYCLES) - run->cores[i].cycles_before;

		longest = cycles > longest ? cycles : longest;
	}
	return run->cycles + longest;
}
