// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/paper/occupancy.h"

#include <stdlib.h>

#include "driver/plan/operands.h"
#include "driver/plan/paper/slabs.h"

struct group_state {
	struct paper_slabs slabs;
	const struct net *net;
	const struct sched_group *group;
	int64_t kept_before; // by the strip executed before
	struct paper_occupancy *occupancy;
};

static int64_t rows_bytes(const struct group_state *state, int node, struct rows rows)
{
	const struct net_shape *shape = &state->net->nodes[node].out;

	return 2 * (int64_t)rows_count(rows) * shape->width * shape->channels;
}

// Operators that make a row from the same row of each input.
static bool may_be_in_place(const struct net *net, const struct sched_statement *statement)
{
	const bool gradient = statement->op == SCHED_COMPUTE && statement->tensor == SCHED_GRAD;
	const int count = gradient ? operand_chain_length(statement) : 1;

	if ((statement->op != SCHED_COMPUTE && statement->op != SCHED_SPLIT) || statement->view)
		return false;
	for (int i = 0; i < count; i++) {
		const enum net_op op = net->nodes[gradient ? operand_chain(net, statement, i) : statement->node].op;

		if (op != NET_RELU && op != NET_GN && op != NET_ADD)
			return false;
	}
	return true;
}

// Rows of the slabs of a result, all its pieces, that begin here; empty if none does, or they differ. *bytes of a sample.
static struct rows begun(const struct group_state *state, int named, int at, int64_t *bytes)
{
	const struct access_list *list = &state->slabs.accesses;
	struct rows rows = { 0, 0 };

	*bytes = 0;
	for (int i = 0; i < list->count; i++) {
		const struct access *access = &list->items[i];
		const struct paper_slab *slab = paper_slabs_at(&state->slabs, access);

		if (access->role != ACCESS_RESULT || access->named != named || !rows_empty(access->stream) || !slab || slab->first != at)
			continue;
		if (*bytes && (slab->rows.lo != rows.lo || slab->rows.hi != rows.hi))
			return (struct rows){ 0, 0 };
		rows = slab->rows;
		*bytes += rows_bytes(state, slab->node, rows);
	}
	return rows;
}

// Bytes of the slabs of an operand that end here and have these rows, if those of all its pieces do.
static int64_t ended(const struct group_state *state, enum access_role role, int named, int at, struct rows rows)
{
	const struct access_list *list = &state->slabs.accesses;
	int64_t bytes = 0;

	for (int i = 0; i < list->count; i++) {
		const struct access *access = &list->items[i];
		const struct paper_slab *slab = paper_slabs_at(&state->slabs, access);

		if (access->role != role || access->named != named)
			continue;
		if (!slab || !rows_empty(access->stream) || access->passing)
			return 0;
		slab = &state->slabs.slabs[slab->room];
		if (slab->last != at || slab->rows.lo != rows.lo || slab->rows.hi != rows.hi)
			return 0;
		bytes += rows_bytes(state, slab->node, rows);
	}
	return bytes;
}

// Bytes saved at a statement that works in place: on one of its inputs, or on the gradient that it reads.
static int64_t saved_in_place(const struct group_state *state, const struct sched_statement *statement, int at)
{
	const struct access_list *list = &state->slabs.accesses;
	const bool backward = statement->op == SCHED_SPLIT || statement->tensor == SCHED_GRAD;
	int64_t most = 0;

	if (!may_be_in_place(state->net, statement))
		return 0;
	for (int i = 0; i < list->count; i++)
		for (int k = 0; list->items[i].role == (backward ? ACCESS_GRADIENT : ACCESS_OPERAND) && k < list->count; k++) {
			int64_t beginning, ending;
			struct rows rows;

			if (list->items[k].role != ACCESS_RESULT)
				continue;
			rows = begun(state, list->items[k].named, at, &beginning);
			ending = rows_empty(rows) ? 0 : ended(state, list->items[i].role, list->items[i].named, at, rows);
			ending = ending < beginning ? ending : beginning;
			most = ending > most ? ending : most;
		}
	return most;
}

// Bytes of slabs that begin at each statement, less those that have ended.
static int64_t *find_changes(const struct group_state *state, const struct sched_strip *strip)
{
	int64_t *change = calloc((size_t)strip->statement_count + 1, sizeof(*change));

	for (int i = 0; change && i < state->slabs.count; i++) {
		const struct paper_slab *slab = &state->slabs.slabs[i];

		if (slab->room != i)
			continue;
		change[slab->first] += rows_bytes(state, slab->node, slab->rows);
		change[slab->last + 1] -= rows_bytes(state, slab->node, slab->rows);
	}
	return change;
}

static int follow_strip(struct group_state *state, const struct sched_strip *strip)
{
	int64_t *change = NULL, live = state->kept_before, kept = 0;
	int rc = paper_slabs_lay_out(&state->slabs, strip, state->group->phase);

	if (!rc && !(change = find_changes(state, strip)))
		rc = WC_ERR_SYSTEM;
	for (int at = 0; !rc && at < strip->statement_count; at++) {
		const struct sched_statement *statement = &strip->statements[at];
		int64_t bytes;

		rc = paper_slabs_step(&state->slabs, strip, at, state->group->phase);
		for (int i = 0; !rc && statement->op == SCHED_KEEP && i < state->slabs.accesses.count; i++)
			kept += rows_bytes(state, state->slabs.accesses.items[i].node, state->slabs.accesses.items[i].rows);
		live += change[at];
		bytes = live + kept - saved_in_place(state, statement, at);
		if (bytes > state->occupancy->sample_bytes) {
			state->occupancy->sample_bytes = bytes;
			state->occupancy->node = statement->node;
		}
	}
	free(change);
	state->kept_before = kept;
	return rc;
}

int paper_occupancy(const struct paper_graph *graph, const struct sched_group *group, struct paper_occupancy *occupancy, struct wc_error *err)
{
	struct group_state state = { .net = graph->net, .group = group, .occupancy = occupancy };
	int rc = paper_slabs_init(&state.slabs, graph);

	*occupancy = (struct paper_occupancy){ .node = group->first };
	for (int i = group->first; i <= group->last; i++) {
		occupancy->resident_bytes += (int64_t)operand_resident_bytes(&graph->net->nodes[i], group->weight[i], 2);
		occupancy->resident_bytes += (int64_t)operand_resident_bytes(&graph->net->nodes[i], group->wgrad[i], 2);
	}
	for (int i = 0; !rc && i < group->strip_count; i++)
		rc = follow_strip(&state, &group->strips[i]);
	paper_slabs_release(&state.slabs);
	return rc ? wc_fail(err, WC_ERR_SYSTEM, "out of memory") : 0;
}
