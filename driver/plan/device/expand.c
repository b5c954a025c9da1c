// SPDX-License-Identifier: Apache-2.0
//
// Slabs, steps and groups of an expansion. expand_strip.c turns statements into them.
#include "driver/plan/device/expand.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// Larger than any buffer, and small enough for sums of offsets in 32 bits.
enum { SLAB_MAX_BYTES = 1 << 30 };
// A program of more steps takes gigabytes.
enum { STEPS_MAX = 1 << 24 };

static int no_memory(struct expansion *x)
{
	return wc_fail(x->err, WC_ERR_SYSTEM, "out of memory");
}

int expand_init(struct expansion *x, struct program *program, const struct schedule *schedule, const struct net *net, struct wc_error *err)
{
	const size_t nodes = (size_t)net->node_count;
	int **const tables[] = { &x->cuts, &x->cuts_group, &x->resident_weight, &x->resident_sums, &x->resident_bias, &x->resident_bias_sums, &x->counted,
				 &x->has_statistics };

	memset(program, 0, sizeof(*program));
	program->schedule = schedule;
	program->net = net;
	*x = (struct expansion){ .program = program, .schedule = schedule, .net = net, .err = err, .holds = !net_is_chain(net) };
	x->current = calloc(nodes * EXPAND_TENSOR_KINDS, sizeof(*x->current));
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		*tables[i] = calloc(nodes, sizeof(**tables[i]));
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (!*tables[i] || !x->current) {
			expand_release(x);
			return no_memory(x);
		}
	expand_set_core(x, 0);
	return 0;
}

void expand_set_core(struct expansion *x, int core)
{
	x->program->core = core;
	x->core_samples = schedule_of_core(x->schedule).batch;
	x->core_first = core * x->core_samples;
}

void expand_release(struct expansion *x)
{
	int *const tables[] = { x->root, x->free_from, x->cuts, x->cuts_group, x->resident_weight, x->resident_sums, x->resident_bias,
				x->resident_bias_sums, x->counted, x->has_statistics, x->current };

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		free(tables[i]);
	free(x->lives);
	use_release(&x->uses);
	*x = (struct expansion){ .program = x->program, .schedule = x->schedule, .net = x->net, .err = x->err };
}

static int too_long(struct expansion *x)
{
	return wc_fail(x->err, WC_ERR_INPUT, "the schedule takes more than %d steps; use a smaller batch, a larger sub_batch or fewer strips or slices",
		       STEPS_MAX);
}

int expand_check_length(struct expansion *x)
{
	int64_t steps = 0;

	for (int i = 0; i < x->schedule->group_count; i++) {
		const struct sched_group *group = &x->schedule->groups[i];
		const int64_t iterations = ((int64_t)x->core_samples + group->sub_batch - 1) / group->sub_batch;

		for (int s = 0; s < group->strip_count; s++) {
			steps += iterations * group->strips[s].statement_count;
			if (steps > STEPS_MAX)
				return too_long(x);
		}
	}
	return 0;
}

const char *expand_group_text(const struct expansion *x, char *text, size_t bytes)
{
	const char *phase = sched_phase_name(x->group->phase);
	const char *first = x->net->nodes[x->group->first].name, *last = x->net->nodes[x->group->last].name;

	if (x->whole)
		snprintf(text, bytes, "%s", x->whole);
	else if (x->group_index < x->schedule->group_count)
		snprintf(text, bytes, "group %d (%s %.64s..%.64s)", x->group_index, phase, first, last);
	else
		snprintf(text, bytes, "a %s group %.64s..%.64s", phase, first, last);
	return text;
}

int expand_layer_at(const struct expansion *x, int step)
{
	for (int i = step; i < x->program->step_count; i++) {
		enum step_op op = x->program->steps[i].op;

		if (op != STEP_LOAD && op != STEP_STORE && op != STEP_TAKE && op != STEP_KEEP)
			return x->program->steps[i].node;
	}
	return x->program->steps[step].node;
}

int expand_slab(struct expansion *x, const struct slab *slab, uint64_t bytes)
{
	struct program *program = x->program;
	char where[200];

	if (bytes > SLAB_MAX_BYTES)
		return wc_fail(x->err, WC_ERR_INPUT, "cannot fit layer '%s' in %s: one piece of it needs %" PRIu64 " bytes, buffer has %u",
			       x->net->nodes[slab->node].name, expand_group_text(x, where, sizeof(where)), bytes, x->schedule->buffer_bytes);
	if (program->slab_count == x->slab_capacity) {
		size_t capacity = x->slab_capacity ? (size_t)x->slab_capacity * 2 : 64;
		struct slab *slabs = reallocarray(program->slabs, capacity, sizeof(*slabs));
		int *root, *free_from;

		if (!slabs)
			return no_memory(x);
		program->slabs = slabs;
		root = reallocarray(x->root, capacity, sizeof(*root));
		if (!root)
			return no_memory(x);
		x->root = root;
		free_from = reallocarray(x->free_from, capacity, sizeof(*free_from));
		if (!free_from)
			return no_memory(x);
		x->free_from = free_from;
		x->slab_capacity = (int)capacity;
	}
	program->slabs[program->slab_count] = *slab;
	program->slabs[program->slab_count].bytes = (uint32_t)bytes;
	program->slabs[program->slab_count].first_step = -1;
	x->root[program->slab_count] = program->slab_count;
	x->free_from[program->slab_count] = 0;
	return program->slab_count++;
}

int expand_filter_slab(struct expansion *x, enum slab_kind kind, int node, struct rows channels, struct rows taps)
{
	const struct net_node *conv = &x->net->nodes[node];
	const bool filters = kind == SLAB_WEIGHT || kind == SLAB_WGRAD, wide = kind == SLAB_WGRAD || kind == SLAB_BIAS_WIDE || kind == SLAB_BIAS_WGRAD;
	const struct slab slab = { .kind = kind, .node = node, .lo = channels.lo, .hi = channels.hi, .tap_lo = taps.lo, .tap_hi = taps.hi };
	const uint64_t row = (uint64_t)(net_conv_weights(conv) / conv->out.channels / conv->conv.kernel_h);
	const uint64_t channel = (filters ? row * (uint64_t)rows_count(taps) : 1) * (wide ? 4 : 2);

	return expand_slab(x, &slab, round_up(channel * (uint64_t)rows_count(channels), x->schedule->bus_bytes));
}

int expand_weight_slab(struct expansion *x, enum slab_kind kind, int node, int lo, int hi)
{
	return expand_filter_slab(x, kind, node, (struct rows){ lo, hi }, (struct rows){ 0, x->net->nodes[node].conv.kernel_h });
}

int expand_vector_slab(struct expansion *x, enum slab_kind kind, int node)
{
	const struct slab slab = { .kind = kind, .node = node, .hi = 1, .pitch_bytes = program_row_bytes(x->net, kind, node, x->schedule->bus_bytes) };

	return expand_slab(x, &slab, slab.pitch_bytes);
}

int expand_map_slab(struct expansion *x, enum slab_kind kind, int node, struct rows rows)
{
	const struct slab slab = {
		.kind = kind, .node = node, .lo = rows.lo, .hi = rows.hi, .sample_first = x->sample_first, .sample_count = x->sample_count,
		.pitch_bytes = program_row_bytes(x->net, kind, node, x->schedule->bus_bytes),
	};

	return expand_slab(x, &slab, (uint64_t)x->sample_count * (uint64_t)rows_count(rows) * slab.pitch_bytes);
}

void expand_touch(struct expansion *x, int slab, int step)
{
	struct slab *touched;

	if (slab < 0)
		return;
	touched = &x->program->slabs[slab];
	if (touched->first_step < 0)
		touched->first_step = step;
	touched->last_step = step;
}

void expand_hold(struct expansion *x, int slab, int first, int last)
{
	struct slab *held = &x->program->slabs[slab];

	held->first_step = held->first_step < 0 || first < held->first_step ? first : held->first_step;
	held->last_step = last > held->last_step ? last : held->last_step;
}

int expand_step(struct expansion *x, struct step step)
{
	struct program *program = x->program;
	int index = program->step_count, slabs[STEP_SLABS];

	if (index == STEPS_MAX)
		return too_long(x);
	if (index == x->step_capacity) {
		size_t capacity = x->step_capacity ? (size_t)x->step_capacity * 2 : 64;
		struct step *steps = reallocarray(program->steps, capacity, sizeof(*steps));

		if (!steps)
			return no_memory(x);
		program->steps = steps;
		x->step_capacity = (int)capacity;
	}
	step.phase = x->group->phase;
	step.group = x->group_index;
	step.iteration = x->iteration;
	step.strip = x->strip;
	step.sample_first = x->sample_first;
	step.sample_count = x->sample_count;
	program->steps[program->step_count++] = step;
	step_slabs(&step, slabs);
	for (int i = 0; i < STEP_SLABS; i++)
		expand_touch(x, slabs[i], index);
	return 0;
}

int expand_weight_transfer(struct expansion *x, enum step_op op, int slab)
{
	const struct slab *moved = &x->program->slabs[slab];
	struct step step = step_make(op, moved->node, moved->lo, moved->hi);

	step.channel_lo = moved->lo;
	step.channel_hi = moved->hi;
	step.source = slab;
	return expand_step(x, step);
}

int expand_rows_transfer(struct expansion *x, enum step_op op, int slab, struct rows rows)
{
	struct step step = step_make(op, x->program->slabs[slab].node, rows.lo, rows.hi);

	step.source = slab;
	return rows_empty(rows) ? 0 : expand_step(x, step);
}

int expand_slab_transfer(struct expansion *x, enum step_op op, int slab)
{
	return expand_rows_transfer(x, op, slab, (struct rows){ x->program->slabs[slab].lo, x->program->slabs[slab].hi });
}

int expand_pieces(const struct expansion *x, int slab_first, struct piece **pieces, int **roots, int *count)
{
	size_t slabs = (size_t)(x->program->slab_count - slab_first) + 1;

	*pieces = calloc(slabs, sizeof(**pieces));
	*roots = calloc(slabs, sizeof(**roots));
	*count = 0;
	if (!*pieces || !*roots) {
		free(*pieces);
		free(*roots);
		return wc_fail(x->err, WC_ERR_SYSTEM, "out of memory");
	}
	for (int i = slab_first; i < x->program->slab_count; i++) {
		const struct slab *slab = &x->program->slabs[i];

		if (x->root[i] == i) {
			(*pieces)[*count] = (struct piece){ .bytes = slab->bytes, .first = slab->first_step, .last = slab->last_step };
			(*roots)[(*count)++] = i;
			continue;
		}
		// What shares a place comes after its root and lives on in it.
		for (int j = *count - 1; j >= 0; j--) {
			if ((*roots)[j] != x->root[i])
				continue;
			if ((*pieces)[j].last < slab->last_step)
				(*pieces)[j].last = slab->last_step;
			break;
		}
	}
	return 0;
}

int expand_count_cut(struct expansion *x, int node, struct step *step)
{
	char where[200];

	if (x->cuts[node] && x->cuts_group[node] != x->group_index)
		return wc_fail(x->err, WC_ERR_INPUT, "%s accumulates into '%s', but group %d has done so before",
			       expand_group_text(x, where, sizeof(where)), x->net->nodes[node].name, x->cuts_group[node]);
	x->cuts_group[node] = x->group_index;
	step->cut = x->cuts[node]++;
	step->first_cut = step->cut == 0;
	return 0;
}
