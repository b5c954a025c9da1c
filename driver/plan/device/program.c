// SPDX-License-Identifier: Apache-2.0
//
// From schedule to placed program. Residents of even groups lie at the bottom of the buffer, those of
// odd groups at its top, so that the next group's can be loaded early. Each strip has the stretch between
// to itself; among several layouts of a strip the one whose addresses have been idle longest is
// taken, as its loads can start earliest. One of the layouts depends on nothing but the strip and its number of
// samples, so a group that fits once fits always.
#include "driver/plan/device/program.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "driver/plan/device/expand.h"

struct placer {
	struct expansion x;
	struct usage usage;
	uint32_t bottom, top; // the stretch for strips
	uint32_t cursor;      // of the rotating layout
	uint32_t **fixed;     // per strip: offsets of the layout that depends on nothing else; NULL until made
	int fixed_samples;    // for iterations of this number of samples
	bool fixed_first;     // that are the first one, which loads no sums
};

static int no_memory(struct placer *placer)
{
	return wc_fail(placer->x.err, WC_ERR_SYSTEM, "out of memory");
}

// Bytes of all resident slabs of a group; they are the ones from `slab_first` to the present end.
static uint64_t resident_bytes(const struct expansion *x, int slab_first)
{
	uint64_t bytes = 0;

	for (int i = slab_first; i < x->program->slab_count; i++)
		bytes += x->program->slabs[i].bytes;
	return bytes;
}

static int cannot_place(const struct expansion *x, const struct piece *pieces, int count, uint64_t resident)
{
	char where[200];
	const char *layer;
	uint64_t need;
	int step;

	if (place_live_bytes(pieces, count, &need, &step))
		return wc_fail(x->err, WC_ERR_SYSTEM, "out of memory");
	need += resident;
	layer = x->net->nodes[count ? expand_layer_at(x, step) : x->group->first].name;
	if (need > x->schedule->buffer_bytes)
		return wc_fail(x->err, WC_ERR_INPUT, "cannot fit layer '%s' in %s: needs %" PRIu64 " bytes, buffer has %u", layer,
			       expand_group_text(x, where, sizeof(where)), need, x->schedule->buffer_bytes);
	return wc_fail(x->err, WC_ERR_INPUT,
		       "cannot fit layer '%s' in %s: needs %" PRIu64 " bytes in pieces that do not fit together, buffer has %u", layer,
		       expand_group_text(x, where, sizeof(where)), need, x->schedule->buffer_bytes);
}

// How late the addresses of a layout become free, weighted by bytes: the lower, the earlier loads can start.
static double lateness(const struct placer *placer, const struct piece *pieces, int count)
{
	double sum = 0;

	for (int i = 0; i < count; i++) {
		int latest = usage_latest(&placer->usage, placer->bottom + pieces[i].offset, pieces[i].bytes);

		for (int j = 0; j < count; j++)
			if (pieces[j].last < pieces[i].first && pieces[j].last > latest &&
			    pieces[j].offset < pieces[i].offset + pieces[i].bytes && pieces[i].offset < pieces[j].offset + pieces[j].bytes)
				latest = pieces[j].last;
		sum += (double)pieces[i].bytes * latest;
	}
	return sum;
}

// Fill pieces' offsets with the strip's fixed layout, making it on first use.
static int fixed_layout(struct placer *placer, struct piece *pieces, int count, uint64_t resident)
{
	uint32_t **fixed = &placer->fixed[placer->x.whole ? 0 : placer->x.strip];

	if (!*fixed) {
		int rc = place_offline(pieces, count, placer->top - placer->bottom);

		if (rc == WC_ERR_INPUT)
			return cannot_place(&placer->x, pieces, count, resident);
		*fixed = rc ? NULL : malloc(((size_t)count + 1) * sizeof(**fixed));
		if (!*fixed)
			return no_memory(placer);
		for (int i = 0; i < count; i++)
			(*fixed)[i] = pieces[i].offset;
	}
	for (int i = 0; i < count; i++)
		pieces[i].offset = (*fixed)[i];
	return 0;
}

static void mirror(struct piece *pieces, int count, uint32_t room)
{
	for (int i = 0; i < count; i++)
		pieces[i].offset = room - pieces[i].offset - pieces[i].bytes;
}

// Choose among the layouts of the strip whose pieces these are; offsets are relative to placer->bottom.
static int choose_layout(struct placer *placer, struct piece *pieces, int count, uint64_t resident)
{
	uint32_t room = placer->top - placer->bottom, cursor = placer->cursor;
	int rc = fixed_layout(placer, pieces, count, resident);
	double fixed, mirrored, rotated;

	if (rc)
		return rc;
	fixed = lateness(placer, pieces, count);
	mirror(pieces, count, room);
	mirrored = lateness(placer, pieces, count);
	if (place_rotating(pieces, count, room, &cursor)) {
		rotated = lateness(placer, pieces, count);
		if (rotated <= fixed && rotated <= mirrored) {
			placer->cursor = cursor;
			return 0;
		}
	}
	rc = fixed_layout(placer, pieces, count, resident);
	if (!rc && mirrored < fixed)
		mirror(pieces, count, room);
	return rc;
}

// Give addresses to the strip's slabs, from `slab_first` on, and record their use.
static int place_strip(struct placer *placer, int slab_first, uint64_t resident)
{
	struct expansion *x = &placer->x;
	struct piece *pieces;
	int *roots, count, rc;

	rc = expand_pieces(x, slab_first, &pieces, &roots, &count);
	if (rc)
		return rc;
	rc = choose_layout(placer, pieces, count, resident);
	for (int i = 0; !rc && i < count; i++) {
		struct slab *slab = &x->program->slabs[roots[i]];

		slab->offset = placer->bottom + pieces[i].offset;
		x->free_from[roots[i]] = usage_latest(&placer->usage, slab->offset, slab->bytes) + 1;
		for (int j = 0; j < count; j++)
			if (pieces[j].last < pieces[i].first && pieces[j].last >= x->free_from[roots[i]] &&
			    pieces[j].offset < pieces[i].offset + pieces[i].bytes && pieces[i].offset < pieces[j].offset + pieces[j].bytes)
				x->free_from[roots[i]] = pieces[j].last + 1;
	}
	for (int i = 0; !rc && i < count; i++) {
		const struct slab *slab = &x->program->slabs[roots[i]];
		int latest = usage_latest(&placer->usage, slab->offset, slab->bytes);

		if (usage_record(&placer->usage, slab->offset, slab->bytes, latest > pieces[i].last ? latest : pieces[i].last))
			rc = no_memory(placer);
	}
	for (int i = slab_first; !rc && i < x->program->slab_count; i++)
		x->program->slabs[i].offset = x->program->slabs[x->root[i]].offset;
	free(pieces);
	free(roots);
	return rc;
}

// Residents, from `slab_first` on, one above the other at the bottom or the top.
static int place_residents(struct placer *placer, int slab_first, uint64_t bytes)
{
	struct expansion *x = &placer->x;
	uint32_t offset;

	if (bytes > x->schedule->buffer_bytes)
		return cannot_place(x, NULL, 0, bytes);
	placer->bottom = x->group_index % 2 ? 0 : (uint32_t)bytes;
	placer->top = x->group_index % 2 ? x->schedule->buffer_bytes - (uint32_t)bytes : x->schedule->buffer_bytes;
	offset = x->group_index % 2 ? placer->top : 0;
	for (int i = slab_first; i < x->program->slab_count; i++) {
		struct slab *slab = &x->program->slabs[i];

		slab->offset = offset;
		offset += slab->bytes;
		x->free_from[i] = usage_latest(&placer->usage, slab->offset, slab->bytes) + 1;
	}
	placer->cursor = 0;
	return 0;
}

static int iterate(struct placer *placer, uint64_t resident)
{
	struct expansion *x = &placer->x;
	int rc = 0;

	for (int first = 0, i = 0; !rc && first < x->core_samples; first += x->group->sub_batch, i++) {
		int samples = x->core_samples - first < x->group->sub_batch ? x->core_samples - first : x->group->sub_batch;

		if (samples != placer->fixed_samples || placer->fixed_first) {
			for (int j = 0; j < x->group->strip_count; j++) {
				free(placer->fixed[j]);
				placer->fixed[j] = NULL;
			}
			placer->fixed_samples = samples;
			placer->fixed_first = i == 0;
		}
		for (int strip = 0; !rc && strip < x->group->strip_count; strip++) {
			int slab_first = x->program->slab_count;

			x->iteration = i;
			x->strip = strip;
			x->sample_first = x->core_first + first;
			x->sample_count = samples;
			rc = expand_strip(x);
			if (!rc)
				rc = place_strip(placer, slab_first, resident);
		}
	}
	return rc;
}

static int place_group(struct placer *placer, const struct sched_group *group, int index)
{
	struct expansion *x = &placer->x;
	int slab_first = x->program->slab_count, slab_end, rc;
	uint64_t resident;

	rc = expand_begin_group(x, group, index);
	if (rc)
		return rc;
	slab_end = x->program->slab_count;
	resident = resident_bytes(x, slab_first);
	rc = place_residents(placer, slab_first, resident);
	if (rc)
		return rc;
	placer->fixed_samples = 0;
	placer->fixed = calloc((size_t)group->strip_count + 1, sizeof(*placer->fixed));
	if (!placer->fixed)
		return no_memory(placer);
	rc = iterate(placer, resident);
	if (!rc)
		rc = expand_end_group(x);
	for (int i = slab_first; !rc && i < slab_end; i++)
		if (usage_record(&placer->usage, x->program->slabs[i].offset, x->program->slabs[i].bytes, x->program->slabs[i].last_step))
			rc = no_memory(placer);
	for (int i = 0; i < group->strip_count; i++)
		free(placer->fixed[i]);
	free(placer->fixed);
	placer->fixed = NULL;
	return rc;
}

// Place the slabs from `slab_first` on, of what runs beside the groups: it has the buffer to itself, and no layout is asked of it twice.
static int place_alone(struct placer *placer, int slab_first)
{
	uint32_t *fixed = NULL;
	int rc;

	placer->fixed = &fixed;
	placer->bottom = 0;
	placer->top = placer->x.schedule->buffer_bytes;
	rc = place_strip(placer, slab_first, 0);
	free(fixed);
	placer->fixed = NULL;
	return rc;
}

static int place_loss(struct placer *placer)
{
	static const struct sched_group frame = { .phase = SCHED_FORWARD };
	struct expansion *x = &placer->x;
	const int loss = x->net->node_count - 1, slab_first = x->program->slab_count;
	int rc;

	if (x->net->nodes[loss].op != NET_LOSS)
		return 0;
	expand_begin_whole(x, &frame, "the loss of the batch");
	placer->cursor = 0;
	rc = expand_loss(x, loss);
	return rc ? rc : place_alone(placer, slab_first);
}

// The reduction of the gradients over the cores, and the update: blocks of parameters, which go round the cores.
static int place_update(struct placer *placer, bool update)
{
	static const struct sched_group frame = { .phase = SCHED_BACKWARD };
	struct expansion *x = &placer->x;
	const int block = expand_update_block(x->schedule), cores = x->schedule->cores;
	int rc = 0, turn = 0;

	expand_begin_whole(x, &frame, update ? "the update" : "the reduction");
	if (cores > 1)
		x->program->exchange = x->program->step_count;
	placer->cursor = 0;
	for (int node = 0; node < x->net->node_count; node++)
		for (enum parameter_array array = ARRAY_FILTERS; array < ARRAY_COUNT; array++) {
			const int count = (int)program_array_count(&x->net->nodes[node], array);

			for (int lo = 0; !rc && lo < count; lo += block) {
				const int slab_first = x->program->slab_count;

				if (turn++ % cores != x->program->core)
					continue;
				rc = expand_update(x, node, array, (struct rows){ lo, count - lo < block ? count : lo + block }, update);
				if (!rc)
					rc = place_alone(placer, slab_first);
			}
		}
	return rc;
}

static bool ends_phase(const struct schedule *schedule, int group)
{
	return group + 1 == schedule->group_count || schedule->groups[group + 1].phase != schedule->groups[group].phase;
}

// The groups, and what runs behind the last one of each phase.
static int place_all(struct placer *placer, struct program_whole whole)
{
	const struct schedule *schedule = placer->x.schedule;
	int rc = 0;

	for (int i = 0; !rc && i < schedule->group_count; i++) {
		const enum sched_phase phase = schedule->groups[i].phase;

		rc = place_group(placer, &schedule->groups[i], i);
		if (!rc && whole.loss && phase == SCHED_FORWARD && ends_phase(schedule, i))
			rc = place_loss(placer);
		if (!rc && (whole.update || schedule->cores > 1) && phase == SCHED_BACKWARD && ends_phase(schedule, i))
			rc = place_update(placer, whole.update);
	}
	return rc;
}

// Peak address and peak sum of live bytes, once the steps' order is final.
static int measure(struct expansion *x)
{
	struct program *program = x->program;
	struct piece *pieces;
	uint64_t live = 0;
	int *roots, count, step, rc;

	rc = expand_pieces(x, 0, &pieces, &roots, &count);
	if (rc)
		return rc;
	if (place_live_bytes(pieces, count, &live, &step))
		rc = wc_fail(x->err, WC_ERR_SYSTEM, "out of memory");
	program->live_bytes = (uint32_t)live;
	for (int i = 0; i < program->slab_count; i++)
		if (program->slabs[i].offset + program->slabs[i].bytes > program->peak_bytes)
			program->peak_bytes = program->slabs[i].offset + program->slabs[i].bytes;
	free(pieces);
	free(roots);
	return rc;
}

int program_expand(struct program *program, const struct schedule *schedule, const struct net *net, struct wc_error *err)
{
	return program_expand_whole(program, schedule, net, (struct program_whole){ .loss = false, .update = false }, err);
}

int program_expand_whole(struct program *program, const struct schedule *schedule, const struct net *net, struct program_whole whole,
			 struct wc_error *err)
{
	return program_expand_core(program, schedule, net, whole, 0, err);
}

int program_expand_core(struct program *program, const struct schedule *schedule, const struct net *net, struct program_whole whole, int core,
			struct wc_error *err)
{
	struct placer placer = { .bottom = 0 };
	int rc;

	rc = expand_init(&placer.x, program, schedule, net, err);
	if (rc)
		return rc;
	expand_set_core(&placer.x, core);
	rc = expand_check_length(&placer.x);
	if (!rc && usage_init(&placer.usage, schedule->buffer_bytes))
		rc = no_memory(&placer);
	if (!rc)
		rc = place_all(&placer, whole);
	if (!rc && !program->exchange)
		program->exchange = program->step_count;
	if (!rc)
		rc = hoist_loads(&placer.x);
	if (!rc)
		rc = measure(&placer.x);
	usage_release(&placer.usage);
	expand_release(&placer.x);
	if (rc)
		program_release(program);
	return rc;
}

void program_release(struct program *program)
{
	free(program->steps);
	free(program->slabs);
	memset(program, 0, sizeof(*program));
}
