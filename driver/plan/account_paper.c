// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/account_paper.h"

#include <stdlib.h>
#include <string.h>

#include "driver/plan/operands.h"

struct count {
	const struct schedule *schedule;
	const struct net *net;
	const struct sched_group *group;
	bool *sums_begun;          // [node]: the parameters' sums have been written
	uint64_t *gradient_rows;   // [node]: rows of its input's gradient made
	bool *statistics[2];       // [phase][node]: `statistics` statements make the sums
	struct account_paper *account;
	uint64_t samples;          // of the batch; transfers do not depend on how it is cut
	uint64_t iterations;
};

static void add(struct count *count, bool write, enum wc_class class, uint64_t bytes)
{
	(write ? count->account->write_bytes : count->account->read_bytes)[class] += bytes;
}

static void move(struct count *count, bool write, enum sched_tensor tensor, int node, struct rows rows, uint64_t times)
{
	const struct net_node *of = &count->net->nodes[node];
	const uint64_t elements = count->samples * (uint64_t)rows_count(rows) * (uint64_t)of->out.width * (uint64_t)of->out.channels;

	if (tensor == SCHED_MASK)
		*(write ? &count->account->mask_write_bits : &count->account->mask_read_bits) += times * elements * (uint64_t)operand_mask_bits(of);
	else
		add(count, write, tensor == SCHED_ACT ? WC_CLASS_ACTIVATION : WC_CLASS_GRADIENT, 2 * times * elements);
}

static uint64_t parameter_bytes(const struct count *count, int node)
{
	return 2 * (uint64_t)net_parameters(&count->net->nodes[node]);
}

static void read_weights(struct count *count, int node)
{
	const uint64_t streamed = parameter_bytes(count, node) - operand_resident_bytes(&count->net->nodes[node], count->group->weight[node], 2);

	add(count, false, WC_CLASS_WEIGHT, count->iterations * streamed);
}

// One statement's sums in every iteration.
static void add_sums(struct count *count, int node)
{
	const uint64_t bytes = parameter_bytes(count, node) - operand_resident_bytes(&count->net->nodes[node], count->group->wgrad[node], 2);

	add(count, true, WC_CLASS_WEIGHT_GRADIENT, count->iterations * bytes);
	add(count, false, WC_CLASS_WEIGHT_GRADIENT, (count->iterations - !count->sums_begun[node]) * bytes);
	count->sums_begun[node] = true;
}

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

// What a blocked layer reads again because its weights exceed half the buffer.
static void add_rereads(struct count *count, int node, int moving, enum wc_class class)
{
	const uint64_t half = count->schedule->buffer_bytes / 2, weights = parameter_bytes(count, node);
	const struct net_shape *shape = &count->net->nodes[moving].out;
	const uint64_t bytes = 2 * count->samples * (uint64_t)shape->height * (uint64_t)shape->width * (uint64_t)shape->channels;
	uint64_t operand, weight;

	if (!count->group->weight[node].blocked || weights <= half)
		return;
	operand = bytes * ((weights - 1) / half);
	weight = bytes ? weights * ((bytes - 1) / half) : 0;
	add(count, false, operand <= weight ? class : WC_CLASS_WEIGHT, min(operand, weight));
}

static void add_gradient_rereads(struct count *count, int node)
{
	const struct net_node *of = &count->net->nodes[node];
	const uint64_t half = count->schedule->buffer_bytes / 2, weights = parameter_bytes(count, node);
	const uint64_t in = 2 * count->samples * (uint64_t)of->in.height * (uint64_t)of->in.width * (uint64_t)of->in.channels;
	const uint64_t out = 2 * count->samples * (uint64_t)of->out.height * (uint64_t)of->out.width * (uint64_t)of->out.channels;

	if (count->group->weight[node].blocked && weights > half && in > half && out > half)
		add(count, false, WC_CLASS_ACTIVATION, in * ((weights - 1) / half));
}

// How often what streams does: once, and once more for each normalization that makes its statistics or, the gradient streaming, its sums.
static uint64_t passes(const struct count *count, const struct sched_statement *statement)
{
	const int node = statement->node;
	uint64_t times = 1;

	if (statement->op != SCHED_COMPUTE)
		return 1;
	if (statement->tensor == SCHED_ACT)
		return count->net->nodes[node].op == NET_GN && count->group->phase == SCHED_FORWARD && !count->statistics[SCHED_FORWARD][node] ? 2 : 1;
	if (!operand_streams(count->net, statement, SCHED_GRAD, operand_gradient(count->net, statement)))
		return 1;
	for (int i = 0; i < operand_chain_length(statement); i++) {
		const int reader = operand_chain(count->net, statement, i);

		times += count->net->nodes[reader].op == NET_GN && !count->statistics[SCHED_BACKWARD][reader];
	}
	return times;
}

// Entry `index` of `from`, or, without `from`, of `to`: of a concatenation, the pieces that the operator reads or makes, each where it is first named.
static void count_stream(struct count *count, const struct sched_statement *statement, bool from, int index, int node, uint64_t times)
{
	const struct sched_operand *list = from ? statement->from : statement->to;
	const struct sched_operand operand = { .tensor = list[index].tensor, .node = node, .lo = list[index].lo, .hi = list[index].hi };
	const struct net_node *of = &count->net->nodes[node];

	for (int i = 0; of->op == NET_CONCAT && i < of->input_count; i++)
		count_stream(count, statement, from, index, of->inputs[i], times);
	for (int i = 0; i < index; i++)
		if (list[i].tensor == operand.tensor && operand_holds(count->net, list[i].node, node))
			return;
	if (of->op == NET_CONCAT || operand.tensor == SCHED_MASK)
		return;
	if (!from && operand_makes(count->net, statement, operand.tensor, node))
		move(count, true, operand.tensor, node, (struct rows){ statement->lo, statement->hi }, 1);
	// The sum of the other readers' parts is read once, whatever the operator does.
	if (from && operand_reads(count->net, statement, operand.tensor, node))
		move(count, false, operand.tensor, node, operand_rows(count->net, statement, &operand),
		     operand.tensor == SCHED_GRAD && node != operand_gradient(count->net, statement) ? 1 : times);
}

static void count_streams(struct count *count, const struct sched_statement *statement)
{
	const uint64_t times = passes(count, statement);
	struct sched_operand mask;

	for (int i = 0; i < statement->from_count; i++)
		count_stream(count, statement, true, i, statement->from[i].node, times);
	for (int i = 0; i < statement->to_count; i++)
		count_stream(count, statement, false, i, statement->to[i].node, 1);
	if (operand_mask(count->net, statement, &mask))
		move(count, statement->tensor == SCHED_ACT, SCHED_MASK, mask.node, (struct rows){ mask.lo, mask.hi }, 1);
}

// MACs of some rows of all; the product may exceed 64 bits.
static uint64_t share(const struct count *count, const struct net_node *node, uint64_t rows, int height)
{
	return (uint64_t)((unsigned __int128)count->samples * (uint64_t)net_macs(node) * rows / (uint64_t)height);
}

static void count_forward(struct count *count, const struct sched_statement *statement)
{
	const struct net_node *node = &count->net->nodes[statement->node];
	const uint64_t macs = share(count, node, (uint64_t)(statement->hi - statement->lo), node->out.height);

	if (!net_parameters(node))
		return;
	read_weights(count, statement->node);
	add_rereads(count, statement->node, node->inputs[0], WC_CLASS_ACTIVATION);
	count->account->macs += macs;
	if (count->group->phase == SCHED_BACKWARD)
		count->account->recomputed_macs += macs;
}

static void count_gradient(struct count *count, const struct sched_statement *statement)
{
	for (int i = 0; i < operand_chain_length(statement); i++) {
		const int reader = operand_chain(count->net, statement, i);
		const struct net_node *node = &count->net->nodes[reader];

		if (!net_parameters(node))
			continue;
		read_weights(count, reader);
		if (node->op == NET_GN) {
			if (!count->statistics[SCHED_BACKWARD][reader])
				add_sums(count, reader);
			continue;
		}
		add_rereads(count, reader, reader, WC_CLASS_GRADIENT);
		count->gradient_rows[reader] += (uint64_t)(statement->hi - statement->lo);
	}
}

static void count_remade(struct count *count, const struct sched_statement *statement)
{
	int nodes[SCHED_LIST_MAX];
	const int remade = operand_remade(count->net, statement, nodes, SCHED_LIST_MAX);

	for (int i = 0; i < remade; i++)
		read_weights(count, nodes[i]);
}

static void count_statement(struct count *count, const struct sched_statement *statement)
{
	const struct net_node *node = &count->net->nodes[statement->node];
	const struct rows rows = { statement->lo, statement->hi };

	count_streams(count, statement);
	count_remade(count, statement);
	switch (statement->op) {
	case SCHED_LOAD:
	case SCHED_STORE:
		move(count, statement->op == SCHED_STORE, statement->tensor, statement->node, rows, 1);
		return;
	case SCHED_COMPUTE:
		if (statement->tensor == SCHED_ACT)
			count_forward(count, statement);
		else
			count_gradient(count, statement);
		return;
	case SCHED_ACCUMULATE:
		add_sums(count, statement->node);
		add_gradient_rereads(count, statement->node);
		count->account->macs += share(count, node, (uint64_t)rows_count(rows), node->out.height);
		return;
	case SCHED_STATISTICS:
		if (count->group->phase == SCHED_BACKWARD)
			add_sums(count, statement->node);
		return;
	default:
		return;
	}
}

static void count_group(struct count *count)
{
	const struct sched_group *group = count->group;

	count->iterations = (uint64_t)((count->schedule->batch + group->sub_batch - 1) / group->sub_batch);
	for (int i = group->first; i <= group->last; i++) {
		add(count, false, WC_CLASS_WEIGHT, operand_resident_bytes(&count->net->nodes[i], group->weight[i], 2));
		add(count, true, WC_CLASS_WEIGHT_GRADIENT, operand_resident_bytes(&count->net->nodes[i], group->wgrad[i], 2));
	}
	for (int i = 0; i < group->strip_count; i++)
		for (int k = 0; k < group->strips[i].statement_count; k++)
			count_statement(count, &group->strips[i].statements[k]);
}

// Of the whole schedule, whichever groups are counted.
static void find_statistics(struct count *count)
{
	for (int g = 0; g < count->schedule->group_count; g++) {
		const struct sched_group *group = &count->schedule->groups[g];

		for (int i = 0; i < group->strip_count; i++)
			for (int k = 0; k < group->strips[i].statement_count; k++)
				if (group->strips[i].statements[k].op == SCHED_STATISTICS)
					count->statistics[group->phase][group->strips[i].statements[k].node] = true;
	}
}

int account_paper_groups(const struct schedule *schedule, int first, int groups, const struct net *net, struct account_paper *account,
			 struct wc_error *err)
{
	const size_t nodes = (size_t)net->node_count;
	bool *flags = calloc(3 * nodes, sizeof(*flags));
	uint64_t *rows = calloc(nodes, sizeof(*rows));
	struct count count = {
		.schedule = schedule, .net = net, .account = account, .sums_begun = flags, .gradient_rows = rows,
		.samples = (uint64_t)schedule->batch,
	};

	memset(account, 0, sizeof(*account));
	if (!flags || !rows) {
		free(flags);
		free(rows);
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory");
	}
	count.statistics[SCHED_FORWARD] = flags + nodes;
	count.statistics[SCHED_BACKWARD] = flags + 2 * nodes;
	find_statistics(&count);
	for (int g = first; g < first + groups; g++) {
		count.group = &schedule->groups[g];
		count_group(&count);
	}
	// Summed first, so that strips that cover a tensor come to exactly a forward pass.
	for (int i = 0; i < net->node_count; i++)
		account->macs += !rows[i] ? 0 : share(&count, &net->nodes[i], rows[i], net->nodes[i].in.height);
	free(flags);
	free(rows);
	return 0;
}

uint64_t account_paper_bytes(const struct account_paper *account)
{
	uint64_t bytes = (account->mask_read_bits + account->mask_write_bits + 7) / 8;

	for (int class = 0; class < WC_CLASS_COUNT; class++)
		bytes += account->read_bytes[class] + account->write_bytes[class];
	return bytes;
}

int account_paper_schedule(const struct schedule *schedule, const struct net *net, struct account *account, struct wc_error *err)
{
	const struct schedule core = schedule_of_core(schedule);
	const uint64_t cores = (uint64_t)schedule->cores;
	struct account_paper paper;
	int rc = account_paper_groups(&core, 0, core.group_count, net, &paper, err);
	uint64_t once = (uint64_t)schedule->batch * (uint64_t)net_forward_macs(net);

	memset(account, 0, sizeof(*account));
	if (rc)
		return rc;
	if (schedule->group_count && schedule->groups[schedule->group_count - 1].phase == SCHED_BACKWARD)
		once = (uint64_t)schedule->batch * (uint64_t)net_training_macs(net);
	for (int class = 0; class < WC_CLASS_COUNT; class++) {
		account->read_bytes[class] = paper.read_bytes[class];
		account->write_bytes[class] = paper.write_bytes[class];
		if (class == WC_CLASS_MASK) {
			// Rounded once, together.
			account->write_bytes[class] = (paper.mask_write_bits + 7) / 8;
			account->read_bytes[class] = (paper.mask_read_bits + paper.mask_write_bits + 7) / 8 - account->write_bytes[class];
		}
		account->read_bytes[class] *= cores;
		account->write_bytes[class] *= cores;
		account->payload_bytes[class] = account->read_bytes[class] + account->write_bytes[class];
	}
	account->macs = cores * paper.macs;
	account->extra_macs = account->macs > once ? account->macs - once : 0;
	return 0;
}
