// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/operands.h"

int operand_mask_bits(const struct net_node *node)
{
	const int taps = node->conv.kernel_h * node->conv.kernel_w;
	int bits = 0;

	if (node->op == NET_RELU)
		return 1;
	while (1 << bits < taps)
		bits++;
	return bits;
}

uint64_t operand_resident_bytes(const struct net_node *node, struct sched_policy policy, int element_bytes)
{
	const uint64_t bytes = (uint64_t)net_parameters(node) * (uint64_t)element_bytes;

	if (!policy.resident)
		return 0;
	return policy.slice && policy.slice < node->out.channels ? bytes / (uint64_t)node->out.channels * (uint64_t)policy.slice : bytes;
}

int operand_chain_length(const struct sched_statement *statement)
{
	return statement->through_count ? statement->through_count : 1;
}

int operand_chain(const struct net *net, const struct sched_statement *statement, int i)
{
	return statement->through_count ? statement->through[i] : sched_gradient_reader(net, statement);
}

int operand_source(const struct net *net, const struct sched_statement *statement, int tensor)
{
	for (int i = 0; i < statement->saved_count; i++)
		for (int at = tensor; at >= statement->saved[i].node; at = net->nodes[at].inputs[0]) {
			if (at == statement->saved[i].node)
				return at;
			if (net->nodes[at].op != NET_GN && net->nodes[at].op != NET_RELU)
				break;
		}
	return tensor;
}

// From a wanted tensor down to what stands for it; `from` ends above `at` for what has no normalization in between.
static int add_remade(const struct net *net, int from, int at, int *nodes, int count, int max)
{
	for (; from > at; from = net->nodes[from].inputs[0]) {
		bool seen = net->nodes[from].op != NET_GN || count == max;

		for (int i = 0; i < count; i++)
			seen |= nodes[i] == from;
		if (!seen)
			nodes[count++] = from;
	}
	return count;
}

static int remade_of(const struct net *net, const struct sched_statement *statement, int tensor, int *nodes, int count, int max)
{
	// The pieces of a concatenation each have a source of their own.
	for (int i = 0; net->nodes[tensor].op == NET_CONCAT && i < net->nodes[tensor].input_count; i++)
		count = remade_of(net, statement, net->nodes[tensor].inputs[i], nodes, count, max);
	if (net->nodes[tensor].op == NET_CONCAT)
		return count;
	return add_remade(net, tensor, operand_source(net, statement, tensor), nodes, count, max);
}

int operand_remade(const struct net *net, const struct sched_statement *statement, int *nodes, int max)
{
	const bool gradient = statement->op == SCHED_COMPUTE && statement->tensor == SCHED_GRAD;
	const struct net_node *node = &net->nodes[gradient ? operand_chain(net, statement, operand_chain_length(statement) - 1) : statement->node];
	int count = 0;

	if (!statement->saved_count)
		return 0;
	for (int i = 0; i < node->input_count; i++)
		count = remade_of(net, statement, node->inputs[i], nodes, count, max);
	return count;
}

struct rows operand_rows(const struct net *net, const struct sched_statement *statement, const struct sched_operand *operand)
{
	const struct rows rows = { statement->lo, statement->hi };

	if (operand->lo < operand->hi)
		return (struct rows){ operand->lo, operand->hi };
	if (statement->op == SCHED_COMPUTE && statement->tensor == SCHED_GRAD) {
		const int reader = sched_gradient_reader(net, statement);
		const bool of_reader = operand->node == reader && operand->tensor != SCHED_ACT;

		// The sum so far and what stands for an operand of a ReLU or normalization have the result's rows.
		return of_reader ? rows_of_gradient(&net->nodes[reader], rows) : rows;
	}
	if (statement->op == SCHED_SPLIT || statement->op == SCHED_STATISTICS || operand->tensor == SCHED_GRAD)
		return rows;
	return rows_of_input(&net->nodes[statement->node], rows);
}
