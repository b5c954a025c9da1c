// SPDX-License-Identifier: Apache-2.0
//
// See sound.h.
#include "tests/plan/sound.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static bool is_live_at(const struct slab *slab, int step)
{
	return slab->first_step <= step && step <= slab->last_step;
}

static const struct slab *slab_of(const struct program *program, int index)
{
	return index < 0 ? NULL : &program->slabs[index];
}

// The slice of filters that a convolution's step works with, and of the bias or its gradient.
static void check_slices(const char *what, const struct program *program, int index)
{
	const struct step *step = &program->steps[index];
	const struct net_node *node = &program->net->nodes[step->node];
	const bool forward = step->op == STEP_FORWARD, gradient = step->op == STEP_DATA_GRADIENT, sums = step->op == STEP_WEIGHT_GRADIENT;
	const struct slab *filters = slab_of(program, sums ? step->result : step->operand);

	if ((node->op != NET_CONV && node->op != NET_FC) || !(forward || gradient || sums))
		return;
	cr_assert_not_null(filters, "%s, step %d: no filters", what, index);
	cr_assert_eq(filters->kind, sums ? SLAB_WGRAD : SLAB_WEIGHT, "%s, step %d", what, index);
	cr_assert(filters->lo == step->channel_lo && filters->hi == step->channel_hi, "%s, step %d: channels %d:%d with filters %d:%d", what, index,
		  step->channel_lo, step->channel_hi, filters->lo, filters->hi);
	if (forward && node->bias) {
		const struct slab *bias = slab_of(program, step->parameters);

		cr_assert(bias && bias->kind == SLAB_BIAS_WIDE && bias->lo == filters->lo && bias->hi == filters->hi, "%s, step %d: bias", what, index);
	}
	// Sums over slices begin with the first; one slice of all makes no sums.
	if (gradient)
		cr_assert_eq(program->slabs[step->result].kind == SLAB_WIDE, filters->hi - filters->lo < node->out.channels, "%s, step %d", what, index);
	if (gradient && program->slabs[step->result].kind == SLAB_WIDE)
		cr_assert_eq(step->first_cut, step->channel_lo == 0, "%s, step %d: first cut of a gradient", what, index);
}

// A gradient's parts are made from it before one takes its place.
static void check_split(const char *what, const struct program *program, int index)
{
	const struct step *step = &program->steps[index], *next = step + 1;

	if (step->op != STEP_SPLIT || index + 1 == program->step_count || next->op != STEP_SPLIT || next->source != step->source || next->lo != step->lo)
		return;
	cr_assert_neq(program->slabs[step->result].offset, program->slabs[step->source].offset, "%s, step %d: a part is in place before the last", what, index);
}

// What a normalization's sums are shifted by: of all rows at once it is in the input, else it has a slab.
static void check_shift(const char *what, const struct program *program, int index)
{
	const struct step *step = &program->steps[index];
	const int height = program->net->nodes[step->node].out.height;

	if (step->op != STEP_ROW_SUMS && step->op != STEP_COMBINE)
		return;
	if (step->mask >= 0)
		cr_assert_eq(program->slabs[step->mask].kind, SLAB_SHIFT, "%s, step %d", what, index);
	if (step->phase == SCHED_BACKWARD) {
		cr_assert_lt(step->mask, 0, "%s, step %d: shift", what, index);
	} else if (step->op == STEP_ROW_SUMS) {
		cr_assert_eq(step->mask < 0, step->hi - step->lo == height, "%s, step %d: shift of rows %d:%d", what, index, step->lo, step->hi);
	} else {
		cr_assert_neq(step->mask < 0, step->operand < 0, "%s, step %d: shift", what, index);
		cr_assert(step->operand < 0 || (program->slabs[step->operand].kind == SLAB_ACT && program->slabs[step->operand].lo == 0 &&
						program->slabs[step->operand].node == program->net->nodes[step->node].inputs[0]), "%s, step %d: shift", what, index);
	}
}

static void check_step(const char *what, const struct program *program, int index)
{
	const struct step *step = &program->steps[index];
	int slabs[STEP_SLABS];

	step_slabs(step, slabs);
	for (int i = 0; i < STEP_SLABS; i++)
		cr_assert(slabs[i] < 0 || is_live_at(&program->slabs[slabs[i]], index), "%s, step %d: slab %d is there from %d to %d", what, index, slabs[i],
			  program->slabs[slabs[i]].first_step, program->slabs[slabs[i]].last_step);
	check_slices(what, program, index);
	check_split(what, program, index);
	check_shift(what, program, index);
}

static bool works_in_place(const struct slab *a, const struct slab *b)
{
	return (a->kind == SLAB_ACT || a->kind == SLAB_GRAD) && a->kind == b->kind && a->offset == b->offset && a->lo == b->lo && a->hi == b->hi &&
	       a->sample_first == b->sample_first && a->sample_count == b->sample_count;
}

static const struct slab *sorted;

static int by_first_step(const void *a, const void *b)
{
	const int left = sorted[*(const int *)a].first_step, right = sorted[*(const int *)b].first_step;

	return (left > right) - (left < right);
}

static void check_places(const char *what, const struct program *program)
{
	int *order = calloc((size_t)program->slab_count, sizeof(*order)), *live = calloc((size_t)program->slab_count, sizeof(*live)), count = 0;

	cr_assert(order && live);
	for (int i = 0; i < program->slab_count; i++)
		order[i] = i;
	sorted = program->slabs;
	qsort(order, (size_t)program->slab_count, sizeof(*order), by_first_step);
	for (int i = 0; i < program->slab_count; i++) {
		const struct slab *slab = &program->slabs[order[i]];
		int kept = 0;

		for (int k = 0; k < count; k++) {
			const struct slab *other = &program->slabs[live[k]];

			if (other->last_step < slab->first_step)
				continue;
			live[kept++] = live[k];
			cr_assert(slab->offset + slab->bytes <= other->offset || other->offset + other->bytes <= slab->offset || works_in_place(slab, other),
				  "%s: slabs %d and %d, of kinds %d and %d, have the same place at step %d", what, order[i], live[k], slab->kind, other->kind,
				  slab->first_step);
		}
		count = kept;
		live[count++] = order[i];
	}
	free(order);
	free(live);
}

void sound_program(const char *what, const struct program *program)
{
	for (int i = 0; i < program->step_count; i++)
		check_step(what, program, i);
	check_places(what, program);
}
