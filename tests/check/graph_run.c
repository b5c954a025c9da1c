// SPDX-License-Identifier: Apache-2.0
//
// See graph_machine.h: running statements.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check/graph_machine.h"

// One sample of a statement.
struct step {
	struct graph_machine *machine;
	const struct sched_statement *statement;
	const struct access *accesses;
	int count, sample;
};

static int *of_node(const struct step *step, int *values, int node)
{
	return &values[(step->machine->sample_first + step->sample) * step->machine->net->node_count + node];
}

static uint64_t *sum_of(const struct step *step, uint64_t *values, int node)
{
	return &values[(step->machine->sample_first + step->sample) * step->machine->net->node_count + node];
}

static const struct access *find(const struct step *step, enum access_role role, int kind, int node)
{
	for (int i = 0; i < step->count; i++) {
		if (step->accesses[i].role == role && step->accesses[i].kind == kind && step->accesses[i].node == node)
			return &step->accesses[i];
	}
	cr_assert_fail("a row that the statement has no business with");
	return NULL;
}

// Where the row is, against what it should be.
static uint64_t read_row(const struct step *step, const struct access *access, int y)
{
	struct graph_machine *machine = step->machine;
	int global = machine->sample_first + step->sample;
	bool streams = access->passing || (y >= access->stream_lo && y < access->stream_hi);
	const uint64_t *cell = streams ? values_at(&machine->dram, access->kind, access->node, global, y)
				       : graph_cell(machine, access->kind, access->node, step->sample, y);
	const struct values *truth = access->role == ACCESS_SUM ? &machine->truth.partial[access->part] : &machine->truth.values;
	bool there = cell != NULL && (streams || access->kind != GRAPH_GRAD || graph_is_split_off(machine, access->node, y));
	uint64_t value = there ? *cell : garbage();

	if (value != *values_at(truth, access->kind, access->node, global, y))
		machine->run->wrong_read = true;
	return value;
}

static uint64_t wanted(void *context, int tensor, int y);

// A piece as the operator wants it: there, or made from what `using` names.
static uint64_t wanted_piece(struct step *step, int node, int y)
{
	int source = graph_source(step->machine, step->statement, node);

	if (source < 0 || source == node)
		return read_row(step, find(step, ACCESS_READ, GRAPH_ACT, node), y);
	return truth_forward(step->machine->net, node, y, *sum_of(step, step->machine->statistics, node), wanted, step);
}

static uint64_t wanted(void *context, int tensor, int y)
{
	struct step *step = context;
	int pieces[TRUTH_PIECES], count;
	uint64_t values[TRUTH_PIECES] = {0};

	count = truth_pieces(step->machine->net, tensor, pieces);
	for (int i = 0; i < count; i++)
		values[i] = wanted_piece(step, pieces[i], y);
	return truth_join(values, count);
}

static uint64_t given_gradient(void *context, int node, int y)
{
	const struct step *step = context;

	return read_row(step, find(step, ACCESS_GRADIENT, GRAPH_GRAD, node), y);
}

static uint64_t chain_gradient(void *context, int node, int y);

// An activation behind the tensor whose gradient a chain makes, made from it; without a chain, as it is wanted.
static uint64_t operand(void *context, int tensor, int y)
{
	struct step *step = context;

	for (int i = 0; i < step->statement->through_count; i++) {
		if (step->statement->through[i] == tensor)
			return truth_forward(step->machine->net, tensor, y, *sum_of(step, step->machine->statistics, tensor), operand, step);
	}
	return wanted(step, tensor, y);
}

static uint64_t mask(void *context, int node, int y)
{
	struct step *step = context;
	bool stored = step->statement->through_count == 0 &&
		      (step->machine->net->nodes[node].op != NET_RELU || step->statement->with == SCHED_WITH_MASK);

	return stored ? read_row(step, find(step, ACCESS_READ, GRAPH_MASK, node), y) : truth_mask(node, operand(step, node, y));
}

static uint64_t backward(struct step *step, int reader, int y)
{
	struct graph_machine *machine = step->machine;
	const struct net_node *node = &machine->net->nodes[reader];
	uint64_t input = node->op == NET_GN ? operand(step, node->inputs[0], y) : 0;

	return truth_backward(machine->net, reader, y, *sum_of(step, machine->statistics, reader), *sum_of(step, machine->sums, reader), chain_gradient, mask,
			      input, step);
}

// The gradient of a node's output: read, or for the inner nodes of a chain made on the way.
static uint64_t chain_gradient(void *context, int node, int y)
{
	struct step *step = context;

	for (int i = 0; i + 1 < step->statement->through_count; i++) {
		if (step->statement->through[i] == node)
			return truth_piece(step->machine->net, step->statement->through[i + 1], backward(step, step->statement->through[i + 1], y), 0);
	}
	return given_gradient(step, node, y);
}

static void weigh(struct graph_machine *machine, int node, uint64_t value)
{
	if (machine->group->wgrad[node].resident)
		machine->resident[node] += value;
	else
		machine->weights[node] += value;
}

static void add_sums(struct step *step, int node)
{
	bool device = step->machine->device;

	for (int y = step->statement->lo; y < step->statement->hi; y++) {
		uint64_t value = truth_sum(node, y, chain_gradient(step, node, y), operand(step, step->machine->net->nodes[node].inputs[0], y));

		*sum_of(step, step->machine->sums, node) += value;
		++*of_node(step, step->machine->summed, node);
		if (!device)
			weigh(step->machine, node, value);
	}
	// gamma's and beta's gradients are made with the last rows.
	if (device && *of_node(step, step->machine->summed, node) == step->machine->net->nodes[node].out.height)
		weigh(step->machine, node, *sum_of(step, step->machine->sums, node));
}

static void add_statistics(struct step *step, int node)
{
	for (int y = step->statement->lo; y < step->statement->hi; y++) {
		*sum_of(step, step->machine->statistics, node) += truth_statistic(node, y, wanted(step, step->machine->net->nodes[node].inputs[0], y));
		++*of_node(step, step->machine->counted, node);
	}
}

// Normalizations that make statistics or sums by themselves, from the chain's end on.
static void normalize(struct step *step)
{
	const struct sched_statement *statement = step->statement;
	struct graph_machine *machine = step->machine;
	int operator = graph_operator(machine, statement);

	if (statement->op == SCHED_STATISTICS && machine->group->phase == SCHED_FORWARD)
		add_statistics(step, operator);
	if (statement->op == SCHED_STATISTICS && machine->group->phase == SCHED_BACKWARD)
		add_sums(step, operator);
	if (statement->op != SCHED_COMPUTE)
		return;
	if (statement->tensor == SCHED_ACT && machine->net->nodes[operator].op == NET_GN && *of_node(step, machine->counted, operator) == 0)
		add_statistics(step, operator);
	for (int i = statement->through_count - 1; i >= 0 && statement->tensor == SCHED_GRAD; i--) {
		if (machine->net->nodes[statement->through[i]].op == NET_GN && *of_node(step, machine->summed, statement->through[i]) == 0)
			add_sums(step, statement->through[i]);
	}
	if (statement->tensor == SCHED_GRAD && statement->through_count == 0 && machine->net->nodes[operator].op == NET_GN &&
	    *of_node(step, machine->summed, operator) == 0)
		add_sums(step, operator);
}

static uint64_t made_gradient(struct step *step, const struct access *access, int y)
{
	struct truth_part parts[TRUTH_PARTS];
	uint64_t part;

	truth_parts(step->machine->net, access->node, parts);
	part = truth_piece(step->machine->net, parts[access->part].reader, backward(step, parts[access->part].reader, y), parts[access->part].piece);
	return access->part == 0 ? part : truth_add(read_row(step, find(step, ACCESS_SUM, GRAPH_GRAD, access->node), y), part);
}

static uint64_t fetched(struct step *step, const struct access *access, int y)
{
	struct graph_machine *machine = step->machine;
	const struct values *from = step->statement->op == SCHED_LOAD ? &machine->dram : &machine->kept_before;
	uint64_t value = machine->group->tiling == SCHED_TILING_OVERL && step->statement->op == SCHED_TAKE
				 ? garbage()
				 : *values_at(from, access->kind, access->node, machine->sample_first + step->sample, y);

	if (is_garbage(value) && machine->device && machine->group->phase == SCHED_BACKWARD && step->statement->op == SCHED_TAKE)
		value = *values_at(&machine->kept_forward, access->kind, access->node, machine->sample_first + step->sample, y);
	if (is_garbage(value))
		machine->run->wrong_read = true;
	return value;
}

static uint64_t made(struct step *step, const struct access *access, int y)
{
	const struct net *net = step->machine->net;

	if (step->statement->op == SCHED_LOAD || step->statement->op == SCHED_TAKE)
		return fetched(step, access, y);
	if (access->kind == GRAPH_GRAD)
		return made_gradient(step, access, y);
	if (access->kind == GRAPH_MASK)
		return truth_mask(access->node, truth_forward(net, access->node, y, 0, wanted, step));
	return truth_forward(net, access->node, y, *sum_of(step, step->machine->statistics, access->node), wanted, step);
}

// Gradients may be any of their sums.
static bool is_right(const struct graph_machine *machine, const struct access *access, int sample, int y, uint64_t value)
{
	if (access->kind != GRAPH_GRAD)
		return value == *values_at(&machine->truth.values, access->kind, access->node, sample, y);
	for (int i = 0; i < TRUTH_PARTS; i++) {
		if (value == *values_at(&machine->truth.partial[i], GRAPH_GRAD, access->node, sample, y))
			return true;
	}
	return false;
}

static void put(struct step *step, const struct access *access, int y, uint64_t value)
{
	struct graph_machine *machine = step->machine;
	int global = machine->sample_first + step->sample;

	if (!is_right(machine, access, global, y, value))
		machine->run->wrong_made = true;
	if (access->role == ACCESS_MADE && access->stream_hi == 0) {
		uint64_t *cell = graph_cell(machine, access->kind, access->node, step->sample, y);

		cr_assert_not_null(cell);
		*cell = value;
		if (access->kind == GRAPH_GRAD)
			graph_split_off(machine, access->node, y);
	} else if (access->role == ACCESS_MADE || step->statement->op == SCHED_STORE) {
		*values_at(&machine->dram, access->kind, access->node, global, y) = value;
	} else {
		*values_at(&machine->kept_now, access->kind, access->node, global, y) = value;
		if (machine->group->phase == SCHED_FORWARD)
			*values_at(&machine->kept_forward, access->kind, access->node, global, y) = value;
	}
}

// The part is where the add's gradient is: in the slab that it shares, or in DRAM.
static void view_row(struct step *step, const struct access *access, int y)
{
	struct graph_machine *machine = step->machine;
	int global = machine->sample_first + step->sample;
	const uint64_t *cell = graph_cell(machine, GRAPH_GRAD, step->statement->node, step->sample, y);
	uint64_t there = *values_at(&machine->dram, GRAPH_GRAD, step->statement->node, global, y);
	uint64_t *copy = graph_cell(machine, GRAPH_GRAD, access->node, step->sample, y);
	uint64_t right = *values_at(&machine->truth.values, GRAPH_GRAD, step->statement->node, global, y);

	if ((cell == NULL || *cell != right) && there != right)
		machine->run->wrong_read = true;
	if (cell != NULL && copy != NULL)
		*copy = *cell;
	if (there == right)
		*values_at(&machine->dram, GRAPH_GRAD, access->node, global, y) = there;
}

// All rows of a statement are made from what was there before it.
static void run_sample(struct step *step)
{
	static uint64_t values[GRAPH_ACCESSES][64];
	struct graph_machine *machine = step->machine;

	for (int i = 0; i < step->count && !step->statement->view; i++) {
		const struct access *access = &step->accesses[i];
		bool reads = access->role != ACCESS_MADE && access->role != ACCESS_NAMED;

		for (int y = access->lo; y < access->hi && reads; y++)
			read_row(step, access, y);
		for (int y = access->stream_lo; y < access->stream_hi && reads; y++)
			if (is_garbage(*values_at(&machine->dram, access->kind, access->node, machine->sample_first + step->sample, y)))
				machine->run->wrong_read = true;
	}
	normalize(step);
	if (step->statement->op == SCHED_ACCUMULATE) {
		for (int y = step->statement->lo; y < step->statement->hi; y++)
			weigh(machine, step->statement->node,
			      truth_product(machine->net, step->statement->node, y, given_gradient(step, step->statement->node, y), wanted, step));
	}
	for (int i = 0; i < step->count; i++) {
		const struct access *access = &step->accesses[i];

		cr_assert_leq(access->hi, 64);
		for (int y = access->lo; y < access->hi; y++) {
			const uint64_t *cell = graph_cell(machine, access->kind, access->node, step->sample, y);

			if (access->kind == GRAPH_GRAD && !graph_is_split_off(machine, access->node, y))
				cell = NULL;
			if (access->role == ACCESS_MADE && step->statement->view)
				view_row(step, access, y);
			else if (access->role == ACCESS_MADE)
				values[i][y] = made(step, access, y);
			else if (access->role == ACCESS_NAMED)
				values[i][y] = cell != NULL ? *cell : garbage();
		}
	}
	for (int i = 0; i < step->count && !step->statement->view; i++) {
		const struct access *access = &step->accesses[i];

		for (int y = access->lo; y < access->hi; y++) {
			if (access->role == ACCESS_MADE || access->role == ACCESS_NAMED)
				put(step, access, y, values[i][y]);
			if (access->role == ACCESS_NAMED && is_garbage(values[i][y]))
				machine->run->wrong_read = true;
		}
	}
}

static void run_statement(struct graph_machine *machine)
{
	const struct sched_statement *statement = &machine->strip->statements[machine->at];
	struct access accesses[GRAPH_ACCESSES];
	struct step step = {machine, statement, accesses, graph_accesses(machine, machine->at, accesses), 0};
	uint64_t bytes;

	graph_open(machine);
	for (int i = 0; i < step.count && statement->op == SCHED_KEEP && !machine->device; i++)
		machine->kept_now_bytes += 2 * (uint64_t)(accesses[i].hi - accesses[i].lo) * (uint64_t)machine->net->nodes[accesses[i].node].out.width *
					   (uint64_t)machine->net->nodes[accesses[i].node].out.channels;
	bytes = graph_bytes(machine);
	if (bytes > machine->run->peak_bytes)
		machine->run->peak_bytes = bytes;
	for (step.sample = 0; step.sample < machine->sample_count; step.sample++)
		run_sample(&step);
	for (int i = 0; i < step.count && statement->view; i++) {
		for (int y = accesses[i].lo; y < accesses[i].hi && accesses[i].role == ACCESS_MADE; y++)
			graph_split_off(machine, accesses[i].node, y);
	}
	if (statement->op == SCHED_ACCUMULATE)
		machine->begun[statement->node] = true;
	graph_close(machine);
}

static void forget(struct values *values)
{
	values_release(values);
	values_init(values, values->net, values->samples);
}

static void run_strip(struct graph_machine *machine)
{
	struct values kept = machine->kept_before;

	graph_lay_out(machine);
	machine->kept_now_bytes = 0;
	for (machine->at = 0; machine->at < machine->strip->statement_count; machine->at++)
		run_statement(machine);
	machine->kept_before = machine->kept_now;
	machine->kept_before_bytes = machine->kept_now_bytes;
	machine->kept_now = kept;
	forget(&machine->kept_now);
}

static void run_group(struct graph_machine *machine)
{
	int batch = machine->schedule->batch, nodes = machine->net->node_count;

	memset(machine->resident, 0, (size_t)nodes * sizeof(*machine->resident));
	for (int first = 0; first < batch; first += machine->group->sub_batch) {
		machine->sample_first = first;
		machine->sample_count = batch - first < machine->group->sub_batch ? batch - first : machine->group->sub_batch;
		forget(&machine->kept_before);
		machine->kept_before_bytes = 0;
		for (int i = 0; i < machine->group->strip_count; i++) {
			machine->strip = &machine->group->strips[i];
			run_strip(machine);
		}
	}
	for (int node = 0; node < nodes; node++) {
		if (machine->group->wgrad[node].resident)
			machine->weights[node] = machine->resident[node];
	}
}

static int output_pieces(const struct net *net, int pieces[TRUTH_PIECES])
{
	const struct net_node *last = &net->nodes[net->node_count - 1];

	return truth_pieces(net, last->op == NET_LOSS ? last->inputs[0] : net->node_count - 1, pieces);
}

static void judge_output(const struct graph_machine *machine)
{
	int pieces[TRUTH_PIECES], count = output_pieces(machine->net, pieces);

	for (int i = 0; i < count * machine->schedule->batch; i++) {
		int node = pieces[i % count], sample = i / count;

		for (int y = 0; y < machine->net->nodes[node].out.height; y++) {
			if (*values_at(&machine->dram, GRAPH_ACT, node, sample, y) != *values_at(&machine->truth.values, GRAPH_ACT, node, sample, y))
				machine->run->output_wrong = true;
		}
	}
}

// The image, or the caller's part of the output's gradient, is in DRAM.
static void give(struct graph_machine *machine, int kind, const int *pieces, int count)
{
	const struct values *truth = kind == GRAPH_ACT ? &machine->truth.values : &machine->truth.partial[0];

	for (int i = 0; i < count * machine->schedule->batch; i++) {
		for (int y = 0; y < machine->net->nodes[pieces[i % count]].out.height; y++)
			*values_at(&machine->dram, kind, pieces[i % count], i / count, y) = *values_at(truth, kind, pieces[i % count], i / count, y);
	}
}

static void run_groups(struct graph_machine *machine, int last)
{
	bool backward = false;

	for (int i = 0; i <= last; i++) {
		machine->group = &machine->schedule->groups[i];
		if (machine->group->phase == SCHED_BACKWARD && !backward) {
			int pieces[TRUTH_PIECES], count = output_pieces(machine->net, pieces);

			judge_output(machine);
			give(machine, GRAPH_GRAD, pieces, count);
			backward = true;
		}
		run_group(machine);
	}
	if (!backward)
		judge_output(machine);
	for (int node = 0; node < machine->net->node_count && backward && last == machine->schedule->group_count - 1; node++)
		machine->run->weights_wrong |= machine->weights[node] != machine->truth.weights[node];
}

struct graph_run graph_run(const struct schedule *schedule, const struct net *net, int last)
{
	struct graph_run run = {0};
	struct graph_machine *machine = calloc(1, sizeof(*machine));
	size_t nodes = (size_t)net->node_count, all = nodes * (size_t)schedule->batch;
	struct values *values[] = {&machine->dram, &machine->kept_before, &machine->kept_now, &machine->kept_forward};
	const int image = 0;

	cr_assert_not_null(machine);
	machine->schedule = schedule;
	machine->net = net;
	machine->device = schedule->accounting == SCHED_DEVICE;
	machine->run = &run;
	truth_set_views(!machine->device);
	truth_init(&machine->truth, net, schedule->batch);
	for (int i = 0; i < 4; i++)
		values_init(values[i], net, schedule->batch);
	machine->statistics = calloc(all, sizeof(uint64_t));
	machine->sums = calloc(all, sizeof(uint64_t));
	machine->counted = calloc(all, sizeof(int));
	machine->summed = calloc(all, sizeof(int));
	machine->weights = calloc(nodes, sizeof(uint64_t));
	machine->resident = calloc(nodes, sizeof(uint64_t));
	machine->begun = calloc(nodes, sizeof(bool));
	cr_assert(machine->begun && machine->statistics && machine->sums && machine->counted && machine->summed && machine->weights && machine->resident);
	give(machine, GRAPH_ACT, &image, 1);
	run_groups(machine, last);
	for (int i = 0; i < 4; i++)
		values_release(values[i]);
	truth_release(&machine->truth);
	free(machine->statistics);
	free(machine->sums);
	free(machine->counted);
	free(machine->summed);
	free(machine->weights);
	free(machine->resident);
	free(machine->begun);
	free(machine);
	return run;
}

bool graph_run_right(const struct graph_run *run)
{
	return !run->wrong_read && !run->wrong_made && !run->output_wrong && !run->weights_wrong;
}
