// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/paper/slabs.h"

#include <stdlib.h>

enum { TENSORS = SCHED_GRAD + 1 };

static int key_of(enum sched_tensor tensor, int node)
{
	return node * TENSORS + (int)tensor;
}

int paper_slabs_init(struct paper_slabs *slabs, const struct paper_graph *graph)
{
	const int keys = graph->net->node_count * TENSORS;

	*slabs = (struct paper_slabs){ .graph = graph };
	slabs->first = malloc((size_t)keys * sizeof(*slabs->first));
	slabs->now = malloc((size_t)keys * sizeof(*slabs->now));
	if (!slabs->first || !slabs->now)
		return WC_ERR_SYSTEM;
	for (int i = 0; i < keys; i++)
		slabs->first[i] = slabs->now[i] = -1;
	return 0;
}

void paper_slabs_release(struct paper_slabs *slabs)
{
	free(slabs->slabs);
	free(slabs->first);
	free(slabs->now);
	free(slabs->accesses.items);
	*slabs = (struct paper_slabs){ .graph = NULL };
}

// `room`: of the slab that it is a view of; -1: its own.
static int begin(struct paper_slabs *slabs, const struct access *access, struct rows rows, int at, int room)
{
	const int key = key_of(access->tensor, access->node), index = slabs->count;
	int before = slabs->first[key];

	if (index == slabs->capacity) {
		const int capacity = index ? 2 * index : 64;
		struct paper_slab *grown = reallocarray(slabs->slabs, (size_t)capacity, sizeof(*grown));

		if (!grown)
			return WC_ERR_SYSTEM;
		slabs->slabs = grown;
		slabs->capacity = capacity;
	}
	slabs->slabs[index] = (struct paper_slab){ access->tensor, access->node, rows, at, at, room < 0 ? index : room, -1 };
	slabs->count++;
	slabs->now[key] = index;
	if (before < 0)
		slabs->first[key] = index;
	while (before >= 0 && slabs->slabs[before].next >= 0)
		before = slabs->slabs[before].next;
	if (before >= 0)
		slabs->slabs[before].next = index;
	return 0;
}

static int name_rows(struct paper_slabs *slabs, const struct access *access, struct rows rows, int at, int room)
{
	const int now = slabs->now[key_of(access->tensor, access->node)];

	if (now < 0)
		return begin(slabs, access, rows, at, room);
	slabs->slabs[now].rows = rows_hull(slabs->slabs[now].rows, rows);
	slabs->slabs[now].last = at;
	return 0;
}

static int lay_out_access(struct paper_slabs *slabs, const struct access *access, int at)
{
	const int now = slabs->now[key_of(access->tensor, access->node)];

	if (access->role == ACCESS_NAMED || access->role == ACCESS_RESULT)
		return rows_empty(access->stream) ? name_rows(slabs, access, access->rows, at, -1) : 0;
	if (now >= 0 && access_in_slab(access))
		slabs->slabs[now].last = at;
	return 0;
}

// The parts are where the add's gradient is, as far as that is in a slab.
static int lay_out_view(struct paper_slabs *slabs, int at)
{
	const struct access_list *accesses = &slabs->accesses;
	const int add = slabs->now[key_of(SCHED_GRAD, accesses->items[0].node)];
	int rc = 0;

	for (int i = 1; !rc && add >= 0 && i < accesses->count; i++) {
		const struct access *part = &accesses->items[i];
		const struct rows room = slabs->slabs[add].rows, rows = { part->rows.lo > room.lo ? part->rows.lo : room.lo,
									  part->rows.hi < room.hi ? part->rows.hi : room.hi };

		if (rows_empty(rows))
			continue;
		slabs->slabs[add].last = at;
		rc = name_rows(slabs, part, rows, at, slabs->slabs[add].room);
	}
	return rc;
}

static void lay_out_free(struct paper_slabs *slabs, const struct sched_statement *statement)
{
	const struct paper_list *pieces = &slabs->graph->pieces[statement->node];

	for (int i = 0; i < pieces->count && statement->tensor != SCHED_MASK; i++)
		slabs->now[key_of(statement->tensor, pieces->items[i])] = -1;
}

// A view that has rows which its room has not, has room of its own; else the room lives until the last view does.
static void share_rooms(struct paper_slabs *slabs)
{
	for (int i = 0; i < slabs->count; i++) {
		struct paper_slab *slab = &slabs->slabs[i], *room = &slabs->slabs[slab->room];

		if (!rows_contain(room->rows, slab->rows))
			slab->room = i;
		else if (slab->last > room->last)
			room->last = slab->last;
	}
}

static void forget(struct paper_slabs *slabs)
{
	for (int i = 0; i < slabs->count; i++) {
		const int key = key_of(slabs->slabs[i].tensor, slabs->slabs[i].node);

		slabs->first[key] = slabs->now[key] = -1;
	}
	slabs->count = 0;
}

int paper_slabs_lay_out(struct paper_slabs *slabs, const struct sched_strip *strip, enum sched_phase phase)
{
	forget(slabs);
	for (int at = 0; at < strip->statement_count; at++) {
		int rc = access_derive(&slabs->accesses, slabs->graph, strip, at, phase);

		if (strip->statements[at].op == SCHED_FREE)
			lay_out_free(slabs, &strip->statements[at]);
		if (!rc && strip->statements[at].view)
			rc = lay_out_view(slabs, at);
		for (int i = 0; !rc && !strip->statements[at].view && i < slabs->accesses.count; i++)
			rc = lay_out_access(slabs, &slabs->accesses.items[i], at);
		if (rc)
			return rc;
	}
	share_rooms(slabs);
	for (int i = 0; i < slabs->count; i++) {
		const int key = key_of(slabs->slabs[i].tensor, slabs->slabs[i].node);

		slabs->now[key] = slabs->first[key];
	}
	return 0;
}

int paper_slabs_step(struct paper_slabs *slabs, const struct sched_strip *strip, int index, enum sched_phase phase)
{
	const struct sched_statement *statement = &strip->statements[index];
	const struct paper_list *pieces = &slabs->graph->pieces[statement->node];

	// Behind a `free` the tensor's next slab is meant.
	for (int i = 0; statement->op == SCHED_FREE && statement->tensor != SCHED_MASK && i < pieces->count; i++) {
		int *now = &slabs->now[key_of(statement->tensor, pieces->items[i])];

		if (*now >= 0 && slabs->slabs[*now].first < index)
			*now = slabs->slabs[*now].next;
	}
	return access_derive(&slabs->accesses, slabs->graph, strip, index, phase);
}

const struct paper_slab *paper_slabs_at(const struct paper_slabs *slabs, const struct access *access)
{
	const int now = slabs->now[key_of(access->tensor, access->node)];

	return now < 0 ? NULL : &slabs->slabs[now];
}
