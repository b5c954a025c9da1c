// SPDX-License-Identifier: Apache-2.0
//
// A plan's templates and chosen gaps as statements.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "driver/plan/build.h"
#include "driver/plan/paper/hybrid/pins.h"
#include "driver/plan/paper/hybrid/tile.h"
#include "driver/plan/paper/statement.h"

enum { TENSORS = SCHED_GRAD + 1 };

struct emitter {
	struct hybrid_search *search;
	const struct hybrid_view *view;
	const struct net *net;
	const struct hybrid_plan *plan;
	const struct hybrid_group *group;
	const struct hybrid_template *template; // of the module being emitted
	const bool *bridged;                    // its chosen gaps; NULL: none
	struct paper_writer writer;
	bool *had;                              // [node * TENSORS + tensor]: the strip has had a slab of it
};

// What an event finds and leaves.
struct place {
	bool before, behind; // in the buffer
	bool alone;          // loaded for this step
	bool needed;         // DRAM must get the version made here
};

static bool gap(const struct emitter *emitter, int slab, int event)
{
	return emitter->bridged && emitter->bridged[hybrid_gap(emitter->template, slab) + event];
}

static int event_at(const struct hybrid_slab *slab, int step)
{
	for (int i = 0; i < slab->event_count; i++)
		if (slab->events[i].step == step)
			return i;
	return -1;
}

static int find_slab(const struct emitter *emitter, enum sched_tensor tensor, int node)
{
	for (int i = 0; i < emitter->template->slab_count; i++)
		if (emitter->template->slabs[i].tensor == tensor && emitter->template->slabs[i].node == node)
			return i;
	return -1;
}

// Whether the version that event `event` makes is read from DRAM before there is another.
static bool is_needed(const struct emitter *emitter, int index, int event)
{
	const struct hybrid_slab *slab = &emitter->template->slabs[index];

	if (slab->stored)
		return true;
	for (int i = event; i + 1 < slab->event_count; i++) {
		if (!gap(emitter, index, i))
			return true;
		if (slab->events[i + 1].makes)
			return false;
	}
	return slab->leaves;
}

static struct place place_of(const struct emitter *emitter, int index, int step)
{
	const struct hybrid_slab *slab = &emitter->template->slabs[index];
	const int event = event_at(slab, step);
	struct place place = { .before = event > 0 && gap(emitter, index, event - 1), .behind = event + 1 < slab->event_count && gap(emitter, index, event) };

	place.alone = !emitter->group->streamed && slab->events[event].whole && !place.before && !place.behind;
	place.needed = is_needed(emitter, index, event);
	return place;
}

// The tensor that a slab is at an event: a gradient changes its name when it turns.
static int name_of(const struct emitter *emitter, int index, int step, bool result)
{
	const struct hybrid_slab *slab = &emitter->template->slabs[index];
	const int event = event_at(slab, step);

	if (slab->tensor == SCHED_ACT)
		return slab->node;
	if (slab->turns == HYBRID_TURNED || (slab->turns >= 0 && (event > slab->turns || (result && event == slab->turns))))
		return emitter->view->nodes[slab->node].turned;
	return slab->node;
}

static void move(struct emitter *emitter, enum sched_op op, enum sched_tensor tensor, int node)
{
	struct sched_statement statement = paper_whole(&emitter->writer, op, tensor, node);

	if (op == SCHED_FREE)
		statement.hi = 0;
	paper_add(&emitter->writer, &statement);
}

static bool *had(const struct emitter *emitter, enum sched_tensor tensor, int node)
{
	return &emitter->had[node * TENSORS + (int)tensor];
}

static void load(struct emitter *emitter, enum sched_tensor tensor, int node)
{
	if (*had(emitter, tensor, node))
		move(emitter, SCHED_FREE, tensor, node);
	*had(emitter, tensor, node) = true;
	move(emitter, SCHED_LOAD, tensor, node);
}

// Fetch an operand; true if it streams instead.
static bool streams(struct emitter *emitter, int index, int step)
{
	const struct place place = place_of(emitter, index, step);

	if (place.before)
		return false;
	if (!place.behind && !place.alone)
		return true;
	load(emitter, emitter->template->slabs[index].tensor, name_of(emitter, index, step, false));
	return false;
}

// The statement makes a slab's version: where it goes. A store behind, if it stays and DRAM needs it, is the caller's.
static bool result_stays(struct emitter *emitter, struct sched_statement *statement, int index, int step)
{
	const struct place place = place_of(emitter, index, step);
	const int node = name_of(emitter, index, step, true);
	const enum sched_tensor tensor = emitter->template->slabs[index].tensor;

	if (place.behind) {
		*had(emitter, tensor, node) = true;
		return place.needed;
	}
	paper_to(&emitter->writer, statement, tensor, node);
	return false;
}

// Inputs of an operator as activations: streamed, or in the buffer; what normalizations and ReLUs make of them on the way.
static void read_inputs(struct emitter *emitter, struct sched_statement *statement, int node, int step)
{
	for (int i = 0; i < emitter->net->nodes[node].input_count; i++) {
		const struct paper_list *pieces = &emitter->view->graph->pieces[emitter->net->nodes[node].inputs[i]];

		for (int k = 0; k < pieces->count; k++) {
			const int value = emitter->view->nodes[pieces->items[k]].value;
			const int index = find_slab(emitter, SCHED_ACT, value);

			if (streams(emitter, index, step))
				paper_from(&emitter->writer, statement, SCHED_ACT, value);
			if (value != pieces->items[k])
				paper_using(&emitter->writer, statement, SCHED_ACT, value);
		}
	}
}

// The normalization behind a raw value.
static int norm_of(const struct emitter *emitter, int value)
{
	return emitter->view->nodes[emitter->view->nodes[value].leaf].norm;
}

static void compute(struct emitter *emitter, int node, int step, bool again)
{
	struct sched_statement statement = paper_whole(&emitter->writer, SCHED_COMPUTE, SCHED_ACT, node);
	const int value = emitter->view->nodes[node].made, index = find_slab(emitter, SCHED_ACT, value);
	const bool relu = value != node;
	bool store;

	read_inputs(emitter, &statement, node, step);
	if (!again && emitter->net->nodes[node].op == NET_MAX_POOL)
		paper_to(&emitter->writer, &statement, SCHED_MASK, node);
	if (relu) {
		// The ReLU's input is in the buffer for the ReLU alone, or passes through DRAM.
		if (emitter->group->streamed)
			paper_to(&emitter->writer, &statement, SCHED_ACT, node);
		paper_add(&emitter->writer, &statement);
		statement = paper_whole(&emitter->writer, SCHED_COMPUTE, SCHED_ACT, value);
		if (emitter->group->streamed)
			paper_from(&emitter->writer, &statement, SCHED_ACT, node);
		if (!again && emitter->view->nodes[value].masked) {
			statement.with = SCHED_WITH_MASK;
			paper_to(&emitter->writer, &statement, SCHED_MASK, value);
		}
	}
	store = result_stays(emitter, &statement, index, step);
	paper_add(&emitter->writer, &statement);
	if (!again && norm_of(emitter, value)) {
		statement = paper_whole(&emitter->writer, SCHED_STATISTICS, SCHED_ACT, norm_of(emitter, value));
		paper_add(&emitter->writer, &statement);
	}
	if (store)
		move(emitter, SCHED_STORE, SCHED_ACT, value);
}

// The sums so far that the parts are added to, and where the new ones go.
static void place_parts(struct emitter *emitter, struct sched_statement *statement, int input, int step, bool *stores)
{
	const struct paper_list *pieces = &emitter->view->graph->pieces[input];

	for (int k = 0; k < pieces->count; k++) {
		const int leaf = pieces->items[k], index = find_slab(emitter, SCHED_GRAD, leaf);

		if (!emitter->net->nodes[leaf].has_gradient)
			continue;
		if (event_at(&emitter->template->slabs[index], step) > 0 && streams(emitter, index, step))
			paper_from(&emitter->writer, statement, SCHED_GRAD, leaf);
		stores[leaf] = result_stays(emitter, statement, index, step);
	}
}

static void store_parts(struct emitter *emitter, int input, const bool *stores)
{
	const struct paper_list *pieces = &emitter->view->graph->pieces[input];

	for (int k = 0; k < pieces->count; k++)
		if (stores[pieces->items[k]])
			move(emitter, SCHED_STORE, SCHED_GRAD, pieces->items[k]);
}

static void backward(struct emitter *emitter, int node, int step, bool *stores)
{
	const struct net_node *of = &emitter->net->nodes[node];
	const int input = of->inputs[0];
	const int gradient = find_slab(emitter, SCHED_GRAD, emitter->view->nodes[emitter->view->nodes[node].made].leaf);
	struct sched_statement statement = paper_whole(&emitter->writer, SCHED_ACCUMULATE, SCHED_GRAD, node);
	const bool streamed = streams(emitter, gradient, step);

	if (of->op == NET_CONV || of->op == NET_FC) {
		if (streamed)
			paper_from(&emitter->writer, &statement, SCHED_GRAD, node);
		read_inputs(emitter, &statement, node, step);
		paper_add(&emitter->writer, &statement);
	}
	if (!emitter->net->nodes[input].has_gradient)
		return;
	statement = paper_whole(&emitter->writer, SCHED_COMPUTE, SCHED_GRAD, input);
	statement.by = emitter->net->nodes[input].consumer_count > 1 ? node : 0;
	if (streamed)
		paper_from(&emitter->writer, &statement, SCHED_GRAD, node);
	if (of->op == NET_MAX_POOL)
		paper_from(&emitter->writer, &statement, SCHED_MASK, node);
	place_parts(emitter, &statement, input, step, stores);
	paper_add(&emitter->writer, &statement);
	store_parts(emitter, input, stores);
}

static void split(struct emitter *emitter, int node, int step, bool *stores)
{
	const struct net_node *of = &emitter->net->nodes[node];
	const int gradient = find_slab(emitter, SCHED_GRAD, emitter->view->nodes[emitter->view->nodes[node].made].leaf);
	struct sched_statement statement = paper_whole(&emitter->writer, SCHED_SPLIT, SCHED_GRAD, node);

	if (streams(emitter, gradient, step))
		paper_from(&emitter->writer, &statement, SCHED_GRAD, node);
	for (int i = 0; i < of->input_count; i++)
		place_parts(emitter, &statement, of->inputs[i], step, stores);
	paper_add(&emitter->writer, &statement);
	for (int i = 0; i < of->input_count; i++)
		store_parts(emitter, of->inputs[i], stores);
}

// A leaf's gradient through its ReLU and normalization, in place.
static void turn(struct emitter *emitter, int leaf, int step)
{
	const struct hybrid_node *node = &emitter->view->nodes[leaf];
	const int index = find_slab(emitter, SCHED_GRAD, leaf), value = find_slab(emitter, SCHED_ACT, node->value);
	struct sched_statement statement = paper_whole(&emitter->writer, SCHED_COMPUTE, SCHED_GRAD, node->turned);
	const bool masked = emitter->view->nodes[node->value].masked;
	bool store;

	if (streams(emitter, index, step))
		paper_from(&emitter->writer, &statement, SCHED_GRAD, leaf);
	if (masked) {
		paper_from(&emitter->writer, &statement, SCHED_MASK, node->value);
		statement.with = SCHED_WITH_MASK;
	} else {
		if (streams(emitter, value, step))
			paper_from(&emitter->writer, &statement, SCHED_ACT, node->value);
		statement.with = node->norm ? SCHED_WITH_NONE : SCHED_WITH_ACT;
	}
	if (node->norm && node->relu) {
		statement.through[statement.through_count++] = node->norm;
		statement.through[statement.through_count++] = node->relu;
	}
	store = result_stays(emitter, &statement, index, step);
	paper_add(&emitter->writer, &statement);
	if (store)
		move(emitter, SCHED_STORE, SCHED_GRAD, node->turned);
}

// From the module before: what does not stay here must be in DRAM.
static void enter(struct emitter *emitter, int step)
{
	for (int i = 0; i < emitter->template->slab_count; i++) {
		const struct hybrid_slab *slab = &emitter->template->slabs[i];

		if (event_at(slab, step) < 0)
			continue;
		*had(emitter, slab->tensor, name_of(emitter, i, step, false)) = true;
		if (!slab->copied && is_needed(emitter, i, 0))
			move(emitter, SCHED_STORE, slab->tensor, name_of(emitter, i, step, false));
	}
}

static void emit_module(struct emitter *emitter, const struct hybrid_pick *pick, bool *stores)
{
	emitter->template = &pick->option->template;
	emitter->bridged = emitter->group->streamed ? NULL : pick->option->curve.states[pick->state].bridged;
	for (int step = 0; !emitter->writer.rc && step < emitter->template->step_count; step++) {
		const int node = emitter->template->steps[step].node;

		switch (emitter->template->steps[step].kind) {
		case HYBRID_ENTRY:
			enter(emitter, step);
			break;
		case HYBRID_FORWARD:
		case HYBRID_AGAIN:
			compute(emitter, node, step, emitter->template->steps[step].kind == HYBRID_AGAIN);
			break;
		case HYBRID_BACKWARD:
			backward(emitter, node, step, stores);
			break;
		case HYBRID_SPLIT:
			split(emitter, node, step, stores);
			break;
		case HYBRID_TURN:
			turn(emitter, node, step);
			break;
		case HYBRID_EXIT:
			break;
		}
	}
}

// Backward, a group runs the ReLUs and normalizations between the module before its first and itself, too.
static void nodes_of(const struct emitter *emitter, int *first, int *last)
{
	const struct hybrid_group *group = emitter->group;
	const struct paper_list *inputs;

	*first = emitter->net->modules[group->first].first;
	*last = paper_module_last(emitter->view->graph, group->last);
	if (emitter->group->phase == SCHED_FORWARD)
		return;
	inputs = &emitter->view->graph->pieces[emitter->net->nodes[*first].inputs[0]];
	for (int i = 0; i < inputs->count; i++) {
		const struct hybrid_node *leaf = &emitter->view->nodes[inputs->items[i]];
		const int through = leaf->norm ? leaf->norm : leaf->turned != inputs->items[i] ? inputs->items[i] : *first;

		*first = through < *first ? through : *first;
	}
}

static int emit_tile(struct emitter *emitter, struct sched_group *made)
{
	struct hybrid_chain chain;

	if (!hybrid_chain_find(&chain, emitter->view, emitter->group->first, emitter->group->last))
		return HYBRID_UNFIT;
	return hybrid_tile(made, &chain, emitter->view, emitter->group->strips, emitter->plan->stored, emitter->search->planner->err);
}

static int emit_group(struct emitter *emitter, struct schedule *schedule)
{
	const struct hybrid_group *group = emitter->group;
	const int count = group->last - group->first + 1, nodes = emitter->net->node_count;
	bool *stores = calloc((size_t)nodes, sizeof(*stores));
	struct sched_group *made;
	int first, last;

	nodes_of(emitter, &first, &last);
	made = build_group(schedule, group->phase, first, last, nodes);
	if (made && !group->strips)
		emitter->writer.strip = build_strip(made);
	if (!made || !stores || (!group->strips && !emitter->writer.strip)) {
		free(stores);
		return wc_fail(emitter->search->planner->err, WC_ERR_SYSTEM, "out of memory");
	}
	made->sub_batch = group->sub_batch;
	memset(emitter->had, 0, (size_t)nodes * TENSORS);
	if (group->strips)
		emitter->writer.rc = emit_tile(emitter, made);
	for (int i = 0; !emitter->writer.rc && !group->strips && i < count; i++)
		emit_module(emitter, &group->picks[group->phase == SCHED_FORWARD ? i : count - 1 - i], stores);
	free(stores);
	for (int i = first; group->streamed && i <= last; i++)
		made->weight[i].blocked = net_macs(&emitter->net->nodes[i]) > 0;
	if (!emitter->writer.rc)
		emitter->writer.rc = hybrid_pin(emitter->search, group, made);
	return emitter->writer.rc;
}

int hybrid_emit(struct hybrid_search *search, const struct hybrid_plan *plan)
{
	struct emitter emitter = { .search = search, .view = search->view, .net = search->view->graph->net, .plan = plan };
	struct schedule *schedule = search->planner->schedule;
	int rc = 0;

	emitter.writer = (struct paper_writer){ .net = emitter.net, .err = search->planner->err, .too_many = HYBRID_UNFIT };
	schedule->reserve_bytes = paper_reserve_bytes(schedule->buffer_bytes);
	emitter.had = calloc((size_t)emitter.net->node_count * TENSORS, sizeof(*emitter.had));
	if (!emitter.had)
		return wc_fail(search->planner->err, WC_ERR_SYSTEM, "out of memory");
	for (int i = 0; !rc && i < plan->counts[SCHED_FORWARD]; i++) {
		emitter.group = &plan->groups[SCHED_FORWARD][i];
		rc = emit_group(&emitter, schedule);
	}
	for (int i = plan->counts[SCHED_BACKWARD] - 1; !rc && search->planner->options->phases == PLAN_ALL && i >= 0; i--) {
		emitter.group = &plan->groups[SCHED_BACKWARD][i];
		rc = emit_group(&emitter, schedule);
	}
	free(emitter.had);
	return rc;
}
