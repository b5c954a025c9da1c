// SPDX-License-Identifier: Apache-2.0
#include "driver/host/profile.h"

#include "traces/alloc.h"

const char *profile_phase_name(enum profile_phase phase)
{
	static const char *const names[PROFILE_PHASES] = {"forward", "recompute", "data_gradient", "weight_gradient", "loss", "update"};

	return names[phase];
}

static enum profile_phase phase_of(const struct step *step)
{
	switch (step->op) {
	case STEP_LOSS:
		return PROFILE_LOSS;
	case STEP_REDUCE:
	case STEP_UPDATE:
		return PROFILE_UPDATE;
	case STEP_WEIGHT_GRADIENT:
	case STEP_BIAS_GRADIENT:
	case STEP_ONES:
		return PROFILE_WEIGHT_GRADIENT;
	case STEP_FORWARD:
	case STEP_BIAS:
		return step->phase == SCHED_FORWARD ? PROFILE_FORWARD : PROFILE_RECOMPUTE;
	default:
		return step->phase == SCHED_FORWARD ? PROFILE_FORWARD : PROFILE_DATA_GRADIENT;
	}
}

int profile_init(struct profile *profile, int node_count, struct wc_error *err)
{
	*profile = (struct profile){.node_count = node_count};
	profile->entries = wc_alloc((size_t)node_count * PROFILE_PHASES, sizeof(*profile->entries));
	return profile->entries ? 0 : wc_fail(err, WC_ERR_SYSTEM, "out of memory for the profile of %d nodes", node_count);
}

void profile_release(struct profile *profile)
{
	wc_free(profile->entries);
	*profile = (struct profile){0};
}

static struct profile_entry *entry_at(const struct profile *profile, int node, enum profile_phase phase)
{
	return &profile->entries[node * PROFILE_PHASES + (int)phase];
}

const struct profile_entry *profile_at(const struct profile *profile, int node, enum profile_phase phase)
{
	return entry_at(profile, node, phase);
}

struct profile_entry profile_sum(const struct profile *profile, enum profile_phase phase)
{
	struct profile_entry sum = {0};

	for (int node = 0; node < profile->node_count; node++) {
		const struct profile_entry *entry = profile_at(profile, node, phase);

		sum.cycles += entry->cycles;
		sum.busy_cycles += entry->busy_cycles;
		sum.macs += entry->macs;
		sum.commands += entry->commands;
	}
	return sum;
}

void profile_add(struct profile *profile, const struct program *program, const struct op *op, int rows, uint64_t cycle)
{
	const struct step *step = &program->steps[op->step];
	struct profile_entry *entry = entry_at(profile, step->node, phase_of(step));
	struct profile_core *core = &profile->cores[op->core];

	if (op->kind == OP_LOAD || op->kind == OP_STORE)
		return;
	entry->commands++;
	core->last = entry;
	if (cycle > core->last_cycle) {
		entry->cycles += cycle - core->last_cycle;
		core->cycles += cycle - core->last_cycle;
		core->last_cycle = cycle;
	}
	if (op_is_tile(op)) {
		entry->macs += (uint64_t)op->m_count * (uint64_t)op->n_count * (uint64_t)op->k_total;
		entry->busy_cycles += (uint64_t)op->m_count * (uint64_t)op_waves(op, rows);
	}
}

void profile_begin(struct profile *profile, int core, uint64_t cycle)
{
	profile->cores[core].last_cycle = cycle;
}

void profile_settle(struct profile *profile, int core, uint64_t cycles)
{
	struct profile_core *of = &profile->cores[core];

	if (!of->last)
		return;
	// Between a command's end and the rest the core may have been idle for some cycles: the difference has either sign.
	of->last->cycles += cycles - of->cycles;
	of->cycles = cycles;
}
