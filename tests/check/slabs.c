// SPDX-License-Identifier: Apache-2.0
//
// The interpreter's slabs: memory that lives from the first statement that names it to the last that uses it.
#include <criterion/criterion.h>
#include <stdlib.h>

#include "tests/check/machine.h"

void *machine_allocate(size_t count, size_t bytes)
{
	void *memory = calloc(count > 0 ? count : 1, bytes);

	cr_assert_not_null(memory);
	return memory;
}

static struct cells *cells_of(const struct machine *machine, int kind, int node)
{
	return &machine->cells[kind * machine->net->node_count + node];
}

uint64_t *slabs_cell(const struct machine *machine, int kind, int node, int sample, int y)
{
	struct cells *cells = cells_of(machine, kind, node);

	if (cells->first > cells->last || cells->value == NULL || y < cells->lo || y >= cells->hi)
		return NULL;
	return &cells->value[(size_t)sample * (size_t)(cells->hi - cells->lo) + (size_t)(y - cells->lo)];
}

// Whether the interval of input rows that rows lo:hi of a node read has a row in the image.
static bool reads_input(const struct net_node *node, int lo, int hi)
{
	const struct net_conv *conv = &node->conv;

	for (int y = 0; y < node->in.height; y++) {
		if (node->op != NET_CONV || (y >= lo * conv->stride_h - conv->pad_h &&
					     y <= (hi - 1) * conv->stride_h - conv->pad_h + conv->dilation_h * (conv->kernel_h - 1)))
			return true;
	}
	return false;
}

// Whether the interval of output gradient rows from which input rows lo:hi are gathered has a row in the tensor.
static bool reads_gradient(const struct net_node *node, int lo, int hi)
{
	const struct net_conv *conv = &node->conv;

	for (int y = 0; y < node->out.height; y++) {
		if (node->op != NET_CONV || (y * conv->stride_h >= lo + conv->pad_h - conv->dilation_h * (conv->kernel_h - 1) &&
					     y * conv->stride_h <= hi - 1 + conv->pad_h))
			return true;
	}
	return false;
}

static void use(const struct machine *machine, int kind, int node, int at)
{
	struct cells *cells = cells_of(machine, kind, node);

	if (cells->first <= cells->last)
		cells->last = at;
}

static void name(const struct machine *machine, int kind, int node, int lo, int hi, int at)
{
	struct cells *cells = cells_of(machine, kind, node);

	if (cells->first > cells->last)
		*cells = (struct cells){.lo = lo, .hi = hi, .first = at, .last = at};
	if (lo < cells->lo)
		cells->lo = lo;
	if (hi > cells->hi)
		cells->hi = hi;
	cells->last = at;
}

// Hull and life of every slab of the strip.
void slabs_lay_out(const struct machine *machine)
{
	const struct net *net = machine->net;

	for (int i = 0; i < KINDS * net->node_count; i++)
		machine->cells[i] = (struct cells){.first = 0, .last = -1};
	for (int at = 0; at < machine->strip->statement_count; at++) {
		const struct sched_statement *statement = &machine->strip->statements[at];
		int node = statement->node, consumer = net_consumer(net, node);
		bool compute = statement->op == SCHED_COMPUTE;

		if (compute && statement->tensor == SCHED_GRAD) {
			if (reads_gradient(&net->nodes[consumer], statement->lo, statement->hi))
				use(machine, SCHED_GRAD, consumer, at);
			if (statement->with == SCHED_WITH_MASK)
				use(machine, SCHED_MASK, consumer, at);
			if (statement->with == SCHED_WITH_ACT)
				use(machine, SCHED_ACT, consumer, at);
		} else if (compute || statement->op == SCHED_ACCUMULATE) {
			if (reads_input(&net->nodes[node], statement->lo, statement->hi))
				use(machine, SCHED_ACT, net->nodes[node].inputs[0], at);
		}
		if (statement->op == SCHED_ACCUMULATE)
			use(machine, SCHED_GRAD, node, at);
		else
			name(machine, statement->tensor, node, statement->lo, statement->hi, at);
		if (compute && statement->tensor == SCHED_ACT && statement->with == SCHED_WITH_MASK)
			name(machine, SCHED_MASK, node, statement->lo, statement->hi, at);
	}
}

// The slab whose memory a ReLU's result takes over at statement `at`, NULL if it gets its own.
static struct cells *taken_over(const struct machine *machine, int kind, int node, int at)
{
	const struct sched_statement *statement = &machine->strip->statements[at];
	int relu, input;
	struct cells *from, *to = cells_of(machine, kind, node);

	if (statement->op != SCHED_COMPUTE || (int)statement->tensor != kind || statement->node != node)
		return NULL;
	relu = kind == SCHED_ACT ? node : net_consumer(machine->net, node);
	if (machine->net->nodes[relu].op != NET_RELU)
		return NULL;
	input = kind == SCHED_ACT ? machine->net->nodes[node].inputs[0] : relu;
	from = cells_of(machine, kind, input);
	return from->first <= from->last && from->last == at && to->first == at && from->lo == to->lo && from->hi == to->hi ? from : NULL;
}

static size_t cell_count(const struct machine *machine, const struct cells *cells)
{
	return (size_t)machine->sample_count * (size_t)(cells->hi - cells->lo);
}

void slabs_open(const struct machine *machine, int at)
{
	for (int kind = 0; kind < KINDS; kind++) {
		for (int node = 0; node < machine->net->node_count; node++) {
			struct cells *cells = cells_of(machine, kind, node), *from;

			if (cells->first > cells->last || cells->first != at)
				continue;
			from = taken_over(machine, kind, node, at);
			if (from != NULL && from->value != NULL) {
				cells->value = from->value;
				from->shared = true;
				continue;
			}
			cells->value = machine_allocate(cell_count(machine, cells), sizeof(*cells->value));
			for (size_t i = 0; i < cell_count(machine, cells); i++)
				cells->value[i] = garbage();
		}
	}
}

void slabs_close(const struct machine *machine, int at)
{
	for (int i = 0; i < KINDS * machine->net->node_count; i++) {
		struct cells *cells = &machine->cells[i];

		if (cells->first > cells->last || cells->last != at)
			continue;
		if (!cells->shared)
			free(cells->value);
		cells->value = NULL;
	}
}

static uint64_t beats(const struct machine *machine, uint64_t bytes)
{
	uint64_t bus = machine->schedule->bus_bytes;

	while (bytes % bus != 0)
		bytes++;
	return bytes;
}

// Widest sum of two neighbouring slices; of one slice if none is read ahead.
static uint64_t slices(const struct machine *machine, const struct net_node *conv, int slice, int element, bool ahead)
{
	int filter = conv->in.channels * conv->conv.kernel_h * conv->conv.kernel_w * element;
	uint64_t most = 0, last = 0;

	if (slice <= 0)
		slice = conv->out.channels;
	for (int left = conv->out.channels; left > 0; left -= slice) {
		uint64_t bytes = beats(machine, (uint64_t)filter * (uint64_t)(left < slice ? left : slice));

		if (last + bytes > most)
			most = last + bytes;
		if (ahead)
			last = bytes;
	}
	return most;
}

uint64_t slabs_bytes(const struct machine *machine, int at)
{
	const struct net *net = machine->net;
	const struct sched_statement *statement = &machine->strip->statements[at];
	uint64_t bytes = 0;

	for (int node = 0; node < net->node_count; node++) {
		const struct net_node *conv = &net->nodes[node];
		int elements = conv->out.width * conv->out.channels;

		for (int kind = 0; kind < KINDS; kind++) {
			struct cells *cells = cells_of(machine, kind, node);

			if (cells->value != NULL && !cells->shared)
				bytes += cell_count(machine, cells) * beats(machine, (uint64_t)(kind == SCHED_MASK ? (elements + 7) / 8 : elements * 2));
		}
		if (conv->op != NET_CONV)
			continue;
		if (machine->group->weight[node].resident)
			bytes += slices(machine, conv, 0, 2, true);
		else if (statement->op == SCHED_COMPUTE && statement->tensor == SCHED_ACT && statement->node == node)
			bytes += slices(machine, conv, machine->group->weight[node].slice, 2, true);
		else if (statement->op == SCHED_COMPUTE && statement->tensor == SCHED_GRAD && conv->inputs[0] == statement->node)
			bytes += slices(machine, conv, 0, 2, true);
		if (machine->group->wgrad[node].resident)
			bytes += slices(machine, conv, 0, 4, true);
		else if (statement->op == SCHED_ACCUMULATE && statement->node == node)
			bytes += slices(machine, conv, machine->group->wgrad[node].slice, 4, machine->sums_begun[node]);
	}
	return bytes;
}
