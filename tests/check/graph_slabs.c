// SPDX-License-Identifier: Apache-2.0
//
// The graph interpreter's memory: a block for each slab from its first statement to its last, shared by views and by what works in place.
#include <criterion/criterion.h>
#include <stdlib.h>

#include "tests/check/graph_machine.h"

static int open_slab(const struct graph_machine *machine, int kind, int node, const bool *closed)
{
	int found = -1;

	for (int i = 0; i < machine->slab_count; i++) {
		if (machine->slabs[i].kind == kind && machine->slabs[i].node == node)
			found = closed[i] ? -1 : i;
	}
	return found;
}

static void name(struct graph_machine *machine, const struct access *access, int at, int view, const bool *closed)
{
	int index = open_slab(machine, access->kind, access->node, closed);
	struct graph_slab *slab;

	if (index < 0) {
		cr_assert_lt(machine->slab_count, GRAPH_SLABS);
		machine->slabs[machine->slab_count++] =
			(struct graph_slab){access->kind, access->node, access->lo, access->hi, at, at, view, 0, NULL};
		return;
	}
	slab = &machine->slabs[index];
	slab->lo = access->lo < slab->lo ? access->lo : slab->lo;
	slab->hi = access->hi > slab->hi ? access->hi : slab->hi;
	slab->last = at;
}

static void end_pieces(struct graph_machine *machine, const struct sched_statement *statement, bool *closed)
{
	int pieces[TRUTH_PIECES], count = truth_pieces(machine->net, statement->node, pieces);

	for (int i = 0; i < count; i++) {
		int index = open_slab(machine, (int)statement->tensor, pieces[i], closed);

		if (statement->tensor == SCHED_GRAD && !machine->net->nodes[pieces[i]].has_gradient)
			continue;
		if (index >= 0)
			closed[index] = true;
		else
			machine->run->wrong_read = true;
	}
}

// Some row that is wanted does not stream.
static bool reads_slab(const struct access *access)
{
	for (int y = access->lo; y < access->hi; y++) {
		if (!access->passing && (y < access->stream_lo || y >= access->stream_hi))
			return true;
	}
	return false;
}

void graph_lay_out(struct graph_machine *machine)
{
	bool closed[GRAPH_SLABS] = {false};

	machine->slab_count = 0;
	for (int at = 0; at < machine->strip->statement_count; at++) {
		const struct sched_statement *statement = &machine->strip->statements[at];
		struct access accesses[GRAPH_ACCESSES];
		int count = graph_accesses(machine, at, accesses);

		if (statement->op == SCHED_FREE)
			end_pieces(machine, statement, closed);
		for (int i = 0; i < count; i++) {
			int index = open_slab(machine, accesses[i].kind, accesses[i].node, closed);
			int add = statement->view ? open_slab(machine, GRAPH_GRAD, statement->node, closed) : -1;

			if (statement->view) {
				// Only rows that the add's gradient has in its slab.
				accesses[i].lo = add >= 0 && accesses[i].lo < machine->slabs[add].lo ? machine->slabs[add].lo : accesses[i].lo;
				accesses[i].hi = add >= 0 && accesses[i].hi > machine->slabs[add].hi ? machine->slabs[add].hi : accesses[i].hi;
				if (add < 0 || accesses[i].lo >= accesses[i].hi)
					continue;
			}
			if (accesses[i].role == ACCESS_NAMED)
				name(machine, &accesses[i], at, -1, closed);
			else if (accesses[i].role != ACCESS_MADE && index >= 0 && reads_slab(&accesses[i]))
				machine->slabs[index].last = at;
			else if (accesses[i].role == ACCESS_MADE && accesses[i].stream_hi == 0)
				name(machine, &accesses[i], at, add, closed);
		}
	}
}

static struct graph_slab *live(const struct graph_machine *machine, int kind, int node)
{
	for (int i = 0; i < machine->slab_count; i++) {
		const struct graph_slab *slab = &machine->slabs[i];

		if (slab->kind == kind && slab->node == node && slab->first <= machine->at && machine->at <= slab->last)
			return (struct graph_slab *)slab;
	}
	return NULL;
}

uint64_t *graph_cell(const struct graph_machine *machine, int kind, int node, int sample, int y)
{
	const struct graph_slab *slab = live(machine, kind, node);
	struct memory_block *block = slab != NULL ? slab->block : NULL;

	if (block == NULL || y < slab->lo || y >= slab->hi)
		return NULL;
	return &block->value[sample * (block->hi - block->lo) + y - block->lo];
}

void graph_split_off(struct graph_machine *machine, int node, int y)
{
	struct graph_slab *slab = live(machine, GRAPH_GRAD, node);

	if (slab != NULL)
		slab->rows |= (uint64_t)1 << y;
}

bool graph_is_split_off(const struct graph_machine *machine, int node, int y)
{
	const struct graph_slab *slab = live(machine, GRAPH_GRAD, node);

	return slab == NULL || slab->view < 0 || (slab->rows >> y & 1) != 0;
}

static bool elementwise(enum net_op op)
{
	return op == NET_RELU || op == NET_GN || op == NET_ADD;
}

// Whether results may take the place of an operand of this role.
static bool in_place(const struct graph_machine *machine, const struct access *access)
{
	const struct sched_statement *statement = &machine->strip->statements[machine->at];
	bool backward = statement->op == SCHED_SPLIT || statement->tensor == SCHED_GRAD;

	if ((statement->op != SCHED_COMPUTE && statement->op != SCHED_SPLIT) || statement->view ||
	    !elementwise(machine->net->nodes[graph_operator(machine, statement)].op))
		return false;
	return access->role == (backward ? ACCESS_GRADIENT : ACCESS_READ) && access->kind != GRAPH_MASK;
}

// The block of an operand that nothing needs behind this statement, of rows lo:hi; NULL.
static struct memory_block *dying(const struct graph_machine *machine, const struct access *access, int lo, int hi)
{
	const struct graph_slab *slab = live(machine, access->kind, access->node);

	if (slab == NULL || slab->block == NULL || access->stream_hi > 0 || access->passing || slab->block->lo != lo || slab->block->hi != hi)
		return NULL;
	for (int i = 0; i < machine->slab_count; i++) {
		if (machine->slabs[i].block == slab->block && machine->slabs[i].last > machine->at)
			return NULL;
	}
	return slab->block;
}

// Under `device` masks have slabs, of a bit an element or as many as tell a pool's taps apart, and all rows are whole beats.
uint64_t graph_row_bytes(const struct graph_machine *machine, int kind, int node)
{
	const struct net_node *at = &machine->net->nodes[node];
	uint64_t elements = (uint64_t)at->out.width * (uint64_t)at->out.channels, bus = machine->device ? machine->schedule->bus_bytes : 1, bits = 16;

	if (kind == GRAPH_MASK) {
		for (bits = 0; at->op == NET_MAX_POOL && 1 << bits < at->conv.kernel_h * at->conv.kernel_w; bits++)
			;
		bits = at->op == NET_MAX_POOL ? bits : 1;
	}
	return (elements * bits + 8 * bus - 1) / (8 * bus) * bus;
}

// A concatenation's pieces.
static bool is_view(const struct graph_machine *machine, int tensor)
{
	return !machine->device && machine->net->nodes[tensor].op == NET_CONCAT;
}

static struct memory_block *new_block(const struct graph_machine *machine, const struct graph_slab *slab)
{
	struct memory_block *block = calloc(1, sizeof(*block));
	int count = machine->sample_count * (slab->hi - slab->lo);

	cr_assert_not_null(block);
	block->value = calloc((size_t)count, sizeof(*block->value));
	cr_assert_not_null(block->value);
	for (int i = 0; i < count; i++)
		block->value[i] = garbage();
	block->lo = slab->lo;
	block->hi = slab->hi;
	block->bytes = (uint64_t)(slab->hi - slab->lo) * graph_row_bytes(machine, slab->kind, slab->node);
	return block;
}

// Under `device` a split's last first part alone takes its gradient's place.
static bool last_first_part(const struct graph_machine *machine, const struct sched_statement *split, int node)
{
	const struct net_node *at = &machine->net->nodes[split->node];
	int last = -1;

	if (!machine->device || split->op != SCHED_SPLIT)
		return true;
	for (int i = 0; i < at->input_count; i++) {
		struct truth_part parts[TRUTH_PARTS];

		if (machine->net->nodes[at->inputs[i]].has_gradient && truth_parts(machine->net, at->inputs[i], parts) > 0 && parts[0].reader == split->node)
			last = at->inputs[i];
	}
	return node == last;
}

// An operand of one piece whose block a slab made by this statement takes over.
static struct memory_block *taken_over(const struct graph_machine *machine, const struct graph_slab *slab)
{
	const struct sched_statement *statement = &machine->strip->statements[machine->at];
	struct access accesses[GRAPH_ACCESSES];
	int count = graph_accesses(machine, machine->at, accesses);
	bool whole = false;

	if (slab->kind == GRAPH_MASK || !last_first_part(machine, statement, slab->node))
		return NULL;
	for (int i = 0; i < count; i++)
		whole |= accesses[i].role == ACCESS_MADE && accesses[i].kind == slab->kind && accesses[i].node == slab->node &&
			 !is_view(machine, accesses[i].tensor) && accesses[i].stream_hi == 0;
	for (int i = 0; i < count && whole && statement->op != SCHED_LOAD; i++) {
		struct memory_block *block;

		if (!in_place(machine, &accesses[i]) || is_view(machine, accesses[i].tensor))
			continue;
		block = dying(machine, &accesses[i], slab->lo, slab->hi);
		// A split's other parts have found it taken.
		for (int j = 0; block != NULL && j < machine->slab_count; j++) {
			if (machine->slabs[j].block == block && machine->slabs[j].first == machine->at)
				block = NULL;
		}
		if (block != NULL)
			return block;
	}
	return NULL;
}

static struct memory_block *viewed(const struct graph_machine *machine, const struct graph_slab *slab)
{
	struct memory_block *block = slab->view >= 0 ? machine->slabs[slab->view].block : NULL;

	return block != NULL && block->lo <= slab->lo && slab->hi <= block->hi ? block : NULL;
}

void graph_open(struct graph_machine *machine)
{
	for (int i = 0; i < machine->slab_count; i++) {
		struct graph_slab *slab = &machine->slabs[i];

		if (slab->first != machine->at)
			continue;
		slab->block = viewed(machine, slab);
		if (slab->block == NULL)
			slab->block = taken_over(machine, slab);
		if (slab->block == NULL)
			slab->block = new_block(machine, slab);
		slab->block->users++;
	}
}

void graph_close(struct graph_machine *machine)
{
	for (int i = 0; i < machine->slab_count; i++) {
		struct memory_block *block = machine->slabs[i].block;

		if (machine->slabs[i].last != machine->at || block == NULL)
			continue;
		machine->slabs[i].block = NULL;
		if (--block->users > 0)
			continue;
		free(block->value);
		free(block);
	}
}

// What a statement with a concatenation on either side saves by working in place, piece by piece.
static uint64_t joined_bytes(const struct graph_machine *machine)
{
	struct access accesses[GRAPH_ACCESSES];
	int count = graph_accesses(machine, machine->at, accesses), lo = 0, hi = 0;
	uint64_t begun = 0, dead = 0;
	bool concat = false, all = true;

	for (int i = 0; i < count; i++) {
		const struct graph_slab *slab = live(machine, accesses[i].kind, accesses[i].node);

		concat |= is_view(machine, accesses[i].tensor);
		if (accesses[i].role != ACCESS_MADE || accesses[i].kind == GRAPH_MASK || slab == NULL || slab->first != machine->at || accesses[i].stream_hi > 0)
			continue;
		lo = slab->lo;
		hi = slab->hi;
		begun += slab->block->bytes;
	}
	for (int i = 0; i < count; i++) {
		struct memory_block *block;

		if (!in_place(machine, &accesses[i]))
			continue;
		block = dying(machine, &accesses[i], lo, hi);
		all = all && block != NULL;
		dead += block != NULL ? block->bytes : 0;
	}
	return concat && all ? (begun < dead ? begun : dead) : 0;
}

static uint64_t parameters(const struct net_node *node, const struct sched_policy *policy)
{
	int channels = policy->slice > 0 ? policy->slice : node->out.channels, each = 0;

	if (node->op == NET_GN)
		each = 2;
	if (node->op == NET_CONV)
		each = node->in.channels / node->conv.groups * node->conv.kernel_h * node->conv.kernel_w + node->bias;
	if (node->op == NET_FC)
		each = node->in.height * node->in.width * node->in.channels + node->bias;
	return policy->resident ? 2 * (uint64_t)each * (uint64_t)channels : 0;
}

uint64_t graph_bytes(const struct graph_machine *machine)
{
	uint64_t bytes = machine->kept_before_bytes + machine->kept_now_bytes, whole = machine->schedule->reserve_bytes;

	for (int i = 0; i < machine->slab_count; i++) {
		bool first = machine->slabs[i].block != NULL;

		for (int j = 0; j < i && first; j++)
			first = machine->slabs[j].block != machine->slabs[i].block;
		if (first)
			bytes += machine->slabs[i].block->bytes;
	}
	if (machine->device)
		return whole + graph_room(machine) + graph_stays(machine) + (uint64_t)machine->sample_count * bytes;
	for (int i = 0; i < machine->net->node_count; i++)
		whole += parameters(&machine->net->nodes[i], &machine->group->weight[i]) + parameters(&machine->net->nodes[i], &machine->group->wgrad[i]);
	return whole + (uint64_t)machine->sample_count * (bytes - joined_bytes(machine));
}
