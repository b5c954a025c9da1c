// SPDX-License-Identifier: Apache-2.0
//
// Which rows a statement of a schedule has to do with, row by row from driver/README.md. See graph_machine.h.
#include <criterion/criterion.h>

#include "tests/check/graph_machine.h"

struct list {
	const struct graph_machine *machine;
	const struct sched_statement *statement;
	int at, count;
	struct access *accesses;
};

int graph_operator(const struct graph_machine *machine, const struct sched_statement *statement)
{
	const struct net_node *node = &machine->net->nodes[statement->node];

	if (statement->op == SCHED_ACCUMULATE || statement->op == SCHED_STATISTICS || statement->op == SCHED_SPLIT)
		return statement->node;
	if (statement->op != SCHED_COMPUTE)
		return -1;
	if (statement->tensor == SCHED_ACT)
		return statement->node;
	if (statement->by > 0)
		return statement->by;
	return statement->through_count > 0 ? statement->through[0] : node->consumers[0];
}

static bool names(const struct net *net, int tensor, int node)
{
	int pieces[TRUTH_PIECES], count = truth_pieces(net, tensor, pieces);

	for (int i = 0; i < count; i++) {
		if (pieces[i] == node)
			return true;
	}
	return false;
}

int graph_source(const struct graph_machine *machine, const struct sched_statement *statement, int node)
{
	const struct net *net = machine->net;

	for (int i = 0; i < statement->saved_count; i++) {
		for (int from = node;; from = net->nodes[from].inputs[0]) {
			if (from == statement->saved[i].node || names(net, statement->saved[i].node, from))
				return from == statement->saved[i].node ? from : names(net, statement->saved[i].node, node) ? node : from;
			if (net->nodes[from].op != NET_GN && net->nodes[from].op != NET_RELU)
				break;
		}
	}
	return -1;
}

// The statement before sends to DRAM what statistics want.
static bool is_passing(const struct list *list, const struct access *access)
{
	const struct sched_statement *before = list->statement - 1;

	if (list->statement->op != SCHED_STATISTICS || list->at == 0 || before->op != SCHED_COMPUTE || (int)before->tensor != access->kind ||
	    access->lo < before->lo || access->hi > before->hi || !names(list->machine->net, before->node, access->node))
		return false;
	for (int i = 0; i < before->to_count; i++) {
		if ((int)before->to[i].tensor == access->kind && names(list->machine->net, before->to[i].node, access->node))
			return true;
	}
	return false;
}

static void add(struct list *list, struct access access)
{
	bool made = access.role == ACCESS_MADE;
	const struct sched_operand *streams = made ? list->statement->to : list->statement->from;
	int count = made ? list->statement->to_count : list->statement->from_count, found = -1;

	for (int i = 0; i < count && found < 0; i++) {
		if ((int)streams[i].tensor == access.kind && names(list->machine->net, streams[i].node, access.node))
			found = i;
	}
	if (found >= 0 && streams[found].hi > 0) {
		access.stream_lo = streams[found].lo;
		access.stream_hi = streams[found].hi;
	} else if (found >= 0 || (access.kind == GRAPH_MASK && !list->machine->device)) {
		access.stream_lo = access.lo;
		access.stream_hi = access.hi;
	}
	access.passing = found < 0 && !made && is_passing(list, &access);
	cr_assert_lt(list->count, GRAPH_ACCESSES);
	list->accesses[list->count++] = access;
}

static void add_pieces(struct list *list, enum access_role role, int kind, int tensor, int lo, int hi)
{
	int pieces[TRUTH_PIECES], count = truth_pieces(list->machine->net, tensor, pieces);

	for (int i = 0; i < count; i++) {
		if (kind != GRAPH_GRAD || list->machine->net->nodes[pieces[i]].has_gradient)
			add(list, (struct access){.role = role, .kind = kind, .node = pieces[i], .lo = lo, .hi = hi, .tensor = tensor});
	}
}

// An activation that an operator wants, or what `using` names in its place.
static void add_wanted(struct list *list, int tensor, int lo, int hi)
{
	int pieces[TRUTH_PIECES], count = truth_pieces(list->machine->net, tensor, pieces);

	for (int i = 0; i < count; i++) {
		int source = graph_source(list->machine, list->statement, pieces[i]), before = list->count;

		add_pieces(list, ACCESS_READ, GRAPH_ACT, source < 0 ? pieces[i] : source, lo, hi);
		for (int j = before; j < list->count; j++)
			list->accesses[j].tensor = tensor;
	}
}

// The interval of input rows that rows lo:hi of a node read, by looking at every row.
static void input_rows(const struct net_node *node, int lo, int hi, int *from, int *to)
{
	const struct net_conv *conv = &node->conv;
	int dilation = node->op == NET_CONV ? conv->dilation_h : 1, tap;

	*from = *to = 0;
	for (int y = 0; y < node->in.height; y++) {
		bool in = false;

		if (node->op == NET_CONV || node->op == NET_MAX_POOL || node->op == NET_AVG_POOL)
			in = y >= lo * conv->stride_h - conv->pad_h && y <= (hi - 1) * conv->stride_h - conv->pad_h + dilation * (conv->kernel_h - 1);
		else
			for (int out = lo; out < hi; out++)
				in |= truth_reads(node, out, y, &tap);
		if (in && *to == 0)
			*from = y;
		if (in)
			*to = y + 1;
	}
}

// The interval of output rows whose gradient rows lo:hi of the input's are gathered from.
static void output_rows(const struct net_node *node, int lo, int hi, int *from, int *to)
{
	const struct net_conv *conv = &node->conv;
	int dilation = node->op == NET_CONV ? conv->dilation_h : 1, tap;

	*from = *to = 0;
	for (int y = 0; y < node->out.height; y++) {
		bool in = false;

		if (node->op == NET_CONV || node->op == NET_MAX_POOL || node->op == NET_AVG_POOL)
			in = y * conv->stride_h >= lo + conv->pad_h - dilation * (conv->kernel_h - 1) && y * conv->stride_h <= hi - 1 + conv->pad_h;
		else
			for (int row = lo; row < hi; row++)
				in |= truth_reads(node, y, row, &tap);
		if (in && *to == 0)
			*from = y;
		if (in)
			*to = y + 1;
	}
}

// The parts of `reader` of what it reads as `tensor`.
static void add_parts(struct list *list, int tensor, int reader, int lo, int hi)
{
	const struct net *net = list->machine->net;
	int pieces[TRUTH_PIECES], count = truth_pieces(net, tensor, pieces);

	for (int i = 0; i < count; i++) {
		struct truth_part parts[TRUTH_PARTS];
		int all = truth_parts(net, pieces[i], parts), mine = 0;

		if (!net->nodes[pieces[i]].has_gradient)
			continue;
		while (mine < all && (parts[mine].reader != reader || net->nodes[reader].inputs[parts[mine].input] != tensor))
			mine++;
		cr_assert_lt(mine, all);
		if (mine > 0)
			add(list, (struct access){.role = ACCESS_SUM, .kind = GRAPH_GRAD, .node = pieces[i], .lo = lo, .hi = hi, .tensor = tensor, .part = mine - 1});
		add(list, (struct access){.role = ACCESS_MADE, .kind = GRAPH_GRAD, .node = pieces[i], .lo = lo, .hi = hi, .tensor = tensor, .part = mine});
	}
}

static void add_gradient(struct list *list)
{
	const struct sched_statement *statement = list->statement;
	int reader = graph_operator(list->machine, statement), last = reader, lo, hi;
	const struct net_node *node = &list->machine->net->nodes[reader];

	output_rows(node, statement->lo, statement->hi, &lo, &hi);
	if (statement->through_count > 0)
		last = statement->through[statement->through_count - 1];
	add_pieces(list, ACCESS_GRADIENT, GRAPH_GRAD, last, lo, hi);
	if (statement->through_count > 0 || node->op == NET_GN)
		add_wanted(list, statement->node, lo, hi);
	else if (node->op == NET_MAX_POOL || statement->with == SCHED_WITH_MASK)
		add_pieces(list, ACCESS_READ, GRAPH_MASK, reader, lo, hi);
	else if (node->op == NET_RELU)
		add_wanted(list, reader, lo, hi);
	add_parts(list, statement->node, reader, statement->lo, statement->hi);
}

int graph_accesses(const struct graph_machine *machine, int at, struct access accesses[GRAPH_ACCESSES])
{
	const struct sched_statement *statement = &machine->strip->statements[at];
	const struct net_node *node = &machine->net->nodes[statement->node];
	struct list list = {machine, statement, at, 0, accesses};
	int lo, hi;

	input_rows(node, statement->lo, statement->hi, &lo, &hi);
	switch (statement->op) {
	case SCHED_FREE:
		break;
	case SCHED_LOAD:
	case SCHED_TAKE:
		add_pieces(&list, ACCESS_MADE, (int)statement->tensor, statement->node, statement->lo, statement->hi);
		break;
	case SCHED_STORE:
	case SCHED_KEEP:
		add_pieces(&list, ACCESS_NAMED, (int)statement->tensor, statement->node, statement->lo, statement->hi);
		break;
	case SCHED_ACCUMULATE:
	case SCHED_STATISTICS:
		if (statement->op == SCHED_ACCUMULATE || machine->group->phase == SCHED_BACKWARD)
			add_pieces(&list, ACCESS_GRADIENT, GRAPH_GRAD, statement->node, statement->lo, statement->hi);
		add_wanted(&list, node->inputs[0], lo, hi);
		break;
	case SCHED_SPLIT:
		add_pieces(&list, ACCESS_GRADIENT, GRAPH_GRAD, statement->node, statement->lo, statement->hi);
		for (int i = 0; i < node->input_count; i++)
			add_parts(&list, node->inputs[i], statement->node, statement->lo, statement->hi);
		break;
	default:
		if (statement->tensor == SCHED_GRAD) {
			add_gradient(&list);
			break;
		}
		for (int i = 0; i < node->input_count; i++)
			add_wanted(&list, node->inputs[i], lo, hi);
		add_pieces(&list, ACCESS_MADE, GRAPH_ACT, statement->node, statement->lo, statement->hi);
		if (statement->with == SCHED_WITH_MASK || node->op == NET_MAX_POOL)
			add_pieces(&list, ACCESS_MADE, GRAPH_MASK, statement->node, statement->lo, statement->hi);
		break;
	}
	return list.count;
}
