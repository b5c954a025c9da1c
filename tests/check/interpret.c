// SPDX-License-Identifier: Apache-2.0
//
// See interpret.h.
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "tests/check/machine.h"

struct slab_row {
	const struct machine *machine;
	int kind, node, sample;
};

static uint64_t note(const struct machine *machine, uint64_t value)
{
	if (is_garbage(value))
		machine->result->garbage_read = true;
	return value;
}

static uint64_t slab_row(void *context, int y)
{
	const struct slab_row *row = context;
	const uint64_t *value = slabs_cell(row->machine, row->kind, row->node, row->sample, y);

	return note(row->machine, value != NULL ? *value : garbage());
}

static bool in_group(const struct machine *machine, int node)
{
	return node >= machine->group->first && node <= machine->group->last;
}

// Whether a statement can be run at all.
static bool runnable(const struct machine *machine, const struct sched_statement *statement)
{
	const struct net *net = machine->net;
	bool conv, forward = machine->group->phase == SCHED_FORWARD;
	int consumer;

	if (statement->node < 0 || statement->node >= net->node_count || statement->lo < 0 || statement->lo >= statement->hi ||
	    statement->hi > net->nodes[statement->node].out.height)
		return false;
	if (statement->tensor == SCHED_MASK && net->nodes[statement->node].op != NET_RELU)
		return false;
	if (statement->tensor == SCHED_GRAD && statement->node == 0)
		return false;
	conv = net->nodes[statement->node].op == NET_CONV;
	consumer = net_consumer(net, statement->node);
	if (statement->op == SCHED_ACCUMULATE)
		return conv && !forward && statement->tensor == SCHED_GRAD && in_group(machine, statement->node) && !statement->with;
	if (statement->op != SCHED_COMPUTE)
		return !statement->with;
	if (statement->tensor == SCHED_ACT)
		return statement->node > 0 && in_group(machine, statement->node) && statement->with != SCHED_WITH_ACT && !(conv && statement->with);
	return statement->tensor == SCHED_GRAD && !forward && consumer > 0 && in_group(machine, consumer) &&
	       (net->nodes[consumer].op == NET_RELU) == (statement->with != SCHED_WITH_NONE);
}

static uint64_t fetched(const struct machine *machine, const struct sched_statement *statement, int sample, int y)
{
	const struct values *from[2] = {&machine->dram, NULL};

	if (statement->op == SCHED_TAKE) {
		from[0] = machine->group->tiling == SCHED_TILING_OVERL ? NULL : &machine->before;
		from[1] = machine->group->phase == SCHED_BACKWARD ? &machine->forward_kept : NULL;
	}
	for (int i = 0; i < 2; i++) {
		uint64_t value = from[i] != NULL ? *values_at(from[i], (int)statement->tensor, statement->node, sample, y) : garbage();

		if (!is_garbage(value))
			return value;
	}
	return note(machine, garbage());
}

static void put(const struct machine *machine, const struct sched_statement *statement, int sample, int y)
{
	int kind = (int)statement->tensor, node = statement->node, global = machine->sample_first + sample;
	struct slab_row row = {machine, kind, node, sample};
	uint64_t value = slab_row(&row, y);

	if (statement->op == SCHED_STORE) {
		*values_at(&machine->dram, kind, node, global, y) = value;
		if (value != *values_at(&machine->reference, kind, node, global, y))
			machine->result->dram_wrong = true;
		return;
	}
	*values_at(&machine->now, kind, node, global, y) = value;
	if (machine->group->phase == SCHED_FORWARD)
		*values_at(&machine->forward_kept, kind, node, global, y) = value;
}

static uint64_t gradient(const struct machine *machine, const struct sched_statement *statement, int sample, int y)
{
	const struct net *net = machine->net;
	int consumer = net_consumer(net, statement->node);
	struct slab_row above = {machine, SCHED_GRAD, consumer, sample};
	struct slab_row mask = {machine, statement->with == SCHED_WITH_MASK ? SCHED_MASK : SCHED_ACT, consumer, sample};
	uint64_t word;

	if (net->nodes[consumer].op == NET_CONV)
		return value_conv_gradient(net, consumer, y, slab_row, &above);
	word = slab_row(&mask, y);
	if (statement->with == SCHED_WITH_ACT)
		word = value_mask(consumer, word);
	return value_relu_gradient(consumer, slab_row(&above, y), word);
}

static void run_row(const struct machine *machine, const struct sched_statement *statement, int sample, int y)
{
	const struct net *net = machine->net;
	int kind = (int)statement->tensor, node = statement->node;
	struct slab_row input = {machine, SCHED_ACT, node > 0 ? net->nodes[node].inputs[0] : 0, sample};
	struct slab_row dy = {machine, SCHED_GRAD, node, sample};
	uint64_t value;

	switch (statement->op) {
	case SCHED_LOAD:
	case SCHED_TAKE:
		*slabs_cell(machine, kind, node, sample, y) = fetched(machine, statement, machine->sample_first + sample, y);
		break;
	case SCHED_KEEP:
	case SCHED_STORE:
		put(machine, statement, sample, y);
		break;
	case SCHED_ACCUMULATE:
		value = value_product(net, node, y, slab_row(&dy, y), slab_row, &input);
		if (machine->group->wgrad[node].resident)
			machine->resident_sums[node] += value;
		else
			machine->dram_sums[node] += value;
		break;
	case SCHED_COMPUTE:
		value = kind == SCHED_ACT ? value_forward(net, node, y, slab_row, &input) : gradient(machine, statement, sample, y);
		*slabs_cell(machine, kind, node, sample, y) = value;
		if (kind == SCHED_ACT && statement->with == SCHED_WITH_MASK)
			*slabs_cell(machine, SCHED_MASK, node, sample, y) = value_mask(node, value);
		break;
	default:
		cr_assert_fail("a statement of `paper` accounting");
	}
}

static void run_statement(const struct machine *machine, int at)
{
	const struct sched_statement *statement = &machine->strip->statements[at];
	uint64_t bytes;

	slabs_open(machine, at);
	bytes = slabs_bytes(machine, at);
	if (bytes > machine->result->peak_bytes)
		machine->result->peak_bytes = bytes;
	if (statement->op == SCHED_ACCUMULATE && !machine->sums_begun[statement->node]) {
		machine->sums_begun[statement->node] = true;
		machine->dram_sums[statement->node] = 0;
	}
	for (int sample = 0; sample < machine->sample_count; sample++) {
		for (int y = statement->lo; y < statement->hi; y++)
			run_row(machine, statement, sample, y);
	}
	slabs_close(machine, at);
}

static void forget(struct values *values)
{
	values_release(values);
	values_init(values, values->net, values->samples);
}

static bool run_strip(struct machine *machine)
{
	struct values kept;

	for (int at = 0; at < machine->strip->statement_count; at++) {
		if (!runnable(machine, &machine->strip->statements[at]))
			return false;
	}
	slabs_lay_out(machine);
	for (int at = 0; at < machine->strip->statement_count; at++)
		run_statement(machine, at);
	kept = machine->before;
	machine->before = machine->now;
	machine->now = kept;
	forget(&machine->now);
	return true;
}

static bool run_group(struct machine *machine)
{
	const struct sched_group *group = machine->group;
	int nodes = machine->net->node_count, batch = machine->schedule->batch;

	if (group->first < 0 || group->last >= nodes || group->first > group->last || group->sub_batch < 1)
		return false;
	memset(machine->resident_sums, 0, (size_t)nodes * sizeof(*machine->resident_sums));
	for (int first = 0; first < batch; first += group->sub_batch) {
		machine->sample_first = first;
		machine->sample_count = batch - first < group->sub_batch ? batch - first : group->sub_batch;
		forget(&machine->before);
		for (int i = 0; i < group->strip_count; i++) {
			machine->strip = &group->strips[i];
			if (!run_strip(machine))
				return false;
		}
	}
	for (int node = 0; node < nodes; node++) {
		if (group->wgrad[node].resident)
			machine->dram_sums[node] = machine->resident_sums[node];
	}
	return true;
}

static void judge(const struct machine *machine)
{
	const struct net *net = machine->net;
	struct interpretation *result = machine->result;
	int last = net->node_count - 1;

	for (int sample = 0; sample < machine->schedule->batch; sample++) {
		for (int y = 0; y < net->nodes[last].out.height; y++) {
			if (*values_at(&machine->dram, SCHED_ACT, last, sample, y) != *values_at(&machine->reference, SCHED_ACT, last, sample, y))
				result->output_wrong = true;
		}
	}
	for (int node = 0; node < net->node_count && !result->forward_only; node++) {
		if (net->nodes[node].op == NET_CONV && machine->dram_sums[node] != machine->want_sums[node])
			result->gradient_wrong = true;
	}
}

// In DRAM at the start: the image and the output's gradient.
static void give(const struct machine *machine)
{
	const struct net *net = machine->net;
	int given[2][2] = {{SCHED_ACT, 0}, {SCHED_GRAD, net->node_count - 1}};

	for (int i = 0; i < 2; i++) {
		for (int sample = 0; sample < machine->schedule->batch; sample++) {
			for (int y = 0; y < net->nodes[given[i][1]].out.height; y++)
				*values_at(&machine->dram, given[i][0], given[i][1], sample, y) =
					*values_at(&machine->reference, given[i][0], given[i][1], sample, y);
		}
	}
}

struct interpretation interpret(const struct schedule *schedule, const struct net *net)
{
	struct interpretation result = {.forward_only = true};
	struct machine machine = {.schedule = schedule, .net = net, .result = &result};
	struct values *all[] = {&machine.reference, &machine.dram, &machine.forward_kept, &machine.before, &machine.now};
	size_t nodes = (size_t)net->node_count;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		values_init(all[i], net, schedule->batch);
	machine.want_sums = machine_allocate(nodes, sizeof(*machine.want_sums));
	machine.dram_sums = machine_allocate(nodes, sizeof(*machine.dram_sums));
	machine.resident_sums = machine_allocate(nodes, sizeof(*machine.resident_sums));
	machine.sums_begun = machine_allocate(nodes, sizeof(*machine.sums_begun));
	machine.cells = machine_allocate(KINDS * nodes, sizeof(*machine.cells));
	values_reference(&machine.reference, machine.want_sums);
	give(&machine);
	for (int i = 0; i < schedule->group_count && !result.meaningless; i++) {
		machine.group = &schedule->groups[i];
		if (machine.group->phase == SCHED_BACKWARD)
			result.forward_only = false;
		result.meaningless = !run_group(&machine);
	}
	judge(&machine);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		values_release(all[i]);
	free(machine.want_sums);
	free(machine.dram_sums);
	free(machine.resident_sums);
	free(machine.sums_begun);
	free(machine.cells);
	return result;
}

bool interpretation_right(const struct interpretation *result)
{
	return !result->meaningless && !result->garbage_read && !result->output_wrong && !result->gradient_wrong && !result->dram_wrong;
}
