// SPDX-License-Identifier: Apache-2.0
//
// Moving loads and takes ahead. The device's engines work in parallel, but the commands reach them in
// order: a load that stands behind a strip's last GEMM cannot start before that GEMM is queued. So each
// load is listed as early as its addresses are free and its data are in memory, at most a few at a
// time, so that they do not fill the load engine's queue and keep the GEMMs behind them from
// being fetched. All other steps keep their order.
#include <stdlib.h>
#include <string.h>

#include "driver/plan/device/expand.h"

enum {
	EARLY_LOADS_MAX = 2, // listed early before one other step; the queue of an engine holds 4
	PENDING_SEEN = 16,   // how many of the next loads are candidates
};

enum { TENSORS = 2 * SLAB_KIND_COUNT }; // slab kinds in DRAM, and in boundary storage

struct hoister {
	const struct program *program;
	int sample_first, sample_count; // the core's
	int *earliest;    // per step, loads only: it may come before step `earliest` of the old order, not sooner
	int *worked;      // per root: the last step so far that used its place other than by loading it, -1: none
	int **stored;     // per tensor and node: per sample, the last step that stored or kept it; NULL: none
	int *order;       // new order of old steps
	int count;
};

static bool is_load(const struct step *step)
{
	return step->op == STEP_LOAD || step->op == STEP_TAKE;
}

// The kind of slab that what is in DRAM has been stored from: reduction and update read gradients that backward has made.
static enum slab_kind stored_kind(const struct slab *slab)
{
	if (slab->kind != SLAB_UPDATE_GRADIENT && slab->kind != SLAB_CORE_GRADIENT)
		return slab->kind;
	return slab->array == ARRAY_FILTERS ? SLAB_WGRAD : slab->array == ARRAY_BIAS ? SLAB_BIAS_WGRAD : SLAB_PARAMETERS_WGRAD;
}

// The table of a transfer's tensor.
static int **stored_of(struct hoister *h, const struct step *step)
{
	bool boundary = step->op == STEP_TAKE || step->op == STEP_KEEP;
	enum slab_kind kind = stored_kind(&h->program->slabs[step->source]);

	return &h->stored[((int)kind + (boundary ? SLAB_KIND_COUNT : 0)) * h->program->net->node_count + step->node];
}

// Sums have no samples: they stand under sample 0.
static void sample_range(const struct hoister *h, const struct step *step, int *first, int *end)
{
	const bool samples = h->program->slabs[step->source].sample_count;

	*first = samples ? step->sample_first - h->sample_first : 0;
	*end = samples ? *first + step->sample_count : 1;
}

// Each element of the masters and momenta is loaded once, before it is stored.
static bool is_read_again(const struct slab *slab)
{
	return slab->kind != SLAB_UPDATE_STATE;
}

static int note_store(struct hoister *h, int index)
{
	const struct step *step = &h->program->steps[index];
	int samples = h->sample_count, **stored = stored_of(h, step), first, end;

	if (!*stored) {
		*stored = malloc((size_t)samples * sizeof(**stored));
		if (!*stored)
			return WC_ERR_SYSTEM;
		for (int i = 0; i < samples; i++)
			(*stored)[i] = -1;
	}
	sample_range(h, step, &first, &end);
	for (int i = first; i < end; i++)
		(*stored)[i] = index;
	return 0;
}

static int earliest_of(struct hoister *h, const struct expansion *x, int index)
{
	const struct step *step = &h->program->steps[index];
	int *stored = *stored_of(h, step), root = x->root[step->source];
	int earliest = x->free_from[root], first, end;

	if (h->worked[root] >= earliest)
		earliest = h->worked[root] + 1;
	if (index >= h->program->exchange && earliest < h->program->exchange)
		earliest = h->program->exchange;
	sample_range(h, step, &first, &end);
	for (int i = first; stored && i < end; i++)
		if (stored[i] >= earliest)
			earliest = stored[i] + 1;
	return earliest;
}

// Fill h->earliest.
static int bound_loads(struct hoister *h, const struct expansion *x)
{
	for (int i = 0; i < h->program->step_count; i++) {
		const struct step *step = &h->program->steps[i];
		int slabs[STEP_SLABS];

		if (is_load(step)) {
			h->earliest[i] = earliest_of(h, x, i);
			continue;
		}
		step_slabs(step, slabs);
		for (int j = 0; j < STEP_SLABS; j++)
			if (slabs[j] >= 0)
				h->worked[x->root[slabs[j]]] = i;
		if ((step->op == STEP_STORE || step->op == STEP_KEEP) && is_read_again(&h->program->slabs[step->source]) && note_store(h, i))
			return WC_ERR_SYSTEM;
	}
	return 0;
}

// Fill h->order. `loads` lists the loads in the old order, those already listed marked -1.
static void list_steps(struct hoister *h, int *loads, int load_count)
{
	int head = 0;

	for (int i = 0; i < h->program->step_count; i++) {
		if (is_load(&h->program->steps[i]))
			continue;
		for (; head < load_count && loads[head] < i; head++)
			if (loads[head] >= 0)
				h->order[h->count++] = loads[head];
		for (int j = head, early = 0; j < load_count && j < head + PENDING_SEEN && early < EARLY_LOADS_MAX; j++) {
			if (loads[j] < 0 || h->earliest[loads[j]] > i)
				continue;
			h->order[h->count++] = loads[j];
			loads[j] = -1;
			early++;
		}
		h->order[h->count++] = i;
	}
	for (; head < load_count; head++)
		if (loads[head] >= 0)
			h->order[h->count++] = loads[head];
}

// Put the steps into the new order and renew the slabs' lives.
static int apply(struct expansion *x, const struct hoister *h)
{
	struct program *program = x->program;
	struct step *steps = malloc(((size_t)program->step_count + 1) * sizeof(*steps));

	if (!steps)
		return WC_ERR_SYSTEM;
	for (int i = 0; i < program->slab_count; i++)
		program->slabs[i].first_step = -1;
	for (int i = 0; i < h->count; i++) {
		int slabs[STEP_SLABS];

		steps[i] = program->steps[h->order[i]];
		step_slabs(&steps[i], slabs);
		for (int j = 0; j < STEP_SLABS; j++) {
			if (slabs[j] < 0)
				continue;
			if (program->slabs[slabs[j]].first_step < 0)
				program->slabs[slabs[j]].first_step = i;
			program->slabs[slabs[j]].last_step = i;
		}
	}
	free(program->steps);
	program->steps = steps;
	x->step_capacity = program->step_count + 1;
	return 0;
}

int hoist_loads(struct expansion *x)
{
	struct program *program = x->program;
	size_t steps = (size_t)program->step_count + 1, tables = (size_t)TENSORS * (size_t)program->net->node_count;
	struct hoister h = { .program = program, .sample_first = x->core_first, .sample_count = x->core_samples };
	int *loads = malloc(steps * sizeof(*loads)), load_count = 0, rc = WC_ERR_SYSTEM;

	h.earliest = calloc(steps, sizeof(*h.earliest));
	h.order = malloc(steps * sizeof(*h.order));
	h.worked = malloc(((size_t)program->slab_count + 1) * sizeof(*h.worked));
	h.stored = calloc(tables, sizeof(*h.stored));
	if (!loads || !h.earliest || !h.order || !h.worked || !h.stored)
		goto done;
	for (int i = 0; i < program->slab_count; i++)
		h.worked[i] = -1;
	for (int i = 0; i < program->step_count; i++)
		if (is_load(&program->steps[i]))
			loads[load_count++] = i;
	rc = bound_loads(&h, x);
	if (rc)
		goto done;
	list_steps(&h, loads, load_count);
	rc = apply(x, &h);
done:
	for (size_t i = 0; h.stored && i < tables; i++)
		free(h.stored[i]);
	free(h.stored);
	free(h.worked);
	free(h.order);
	free(h.earliest);
	free(loads);
	return rc ? wc_fail(x->err, rc, "out of memory") : 0;
}
