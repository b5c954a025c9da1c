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
	uint64_t bytes;

	if (!policy.resident)
		return 0;
	bytes = (uint64_t)net_parameters(node) * (uint64_t)element_bytes;
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

bool operand_holds(const struct net *net, int named, int node)
{
	bool found = named == node;

	for (int i = 0; net->nodes[named].op == NET_CONCAT && !found && i < net->nodes[named].input_count; i++)
		found = operand_holds(net, net->nodes[named].inputs[i], node);
	return found;
}

int operand_source(const struct net *net, const struct sched_statement *statement, int tensor)
{
	for (int i = 0; i < statement->saved_count; i++)
		for (int at = tensor;; at = net->nodes[at].inputs[0]) {
			if (operand_holds(net, statement->saved[i].node, at))
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

bool operand_mask(const struct net *net, const struct sched_statement *statement, struct sched_operand *mask)
{
	const bool gradient = statement->tensor == SCHED_GRAD;
	enum net_op op;
	struct rows rows;

	if (statement->op != SCHED_COMPUTE || (gradient && statement->through_count))
		return false;
	*mask = (struct sched_operand){ .tensor = SCHED_MASK, .node = gradient ? operand_chain(net, statement, 0) : statement->node };
	op = net->nodes[mask->node].op;
	if (op != NET_MAX_POOL && !(op == NET_RELU && statement->with == SCHED_WITH_MASK))
		return false;
	for (int i = 0; gradient && i < statement->from_count; i++)
		if (statement->from[i].tensor == SCHED_MASK && statement->from[i].node == mask->node)
			*mask = statement->from[i];
	rows = gradient ? operand_rows(net, statement, mask) : (struct rows){ statement->lo, statement->hi };
	mask->lo = rows.lo;
	mask->hi = rows.hi;
	return true;
}

// Whether an activation is what an operator reads for its input `wanted`, or a piece of it.
static bool is_operand(const struct net *net, const struct sched_statement *statement, int wanted, int node)
{
	const struct net_node *of = &net->nodes[wanted];
	bool found = false;

	if (of->op != NET_CONCAT)
		return operand_holds(net, operand_source(net, statement, wanted), node);
	for (int i = 0; !found && i < of->input_count; i++)
		found = is_operand(net, statement, of->inputs[i], node);
	return found;
}

int operand_gradient(const struct net *net, const struct sched_statement *statement)
{
	return statement->op == SCHED_COMPUTE ? operand_chain(net, statement, operand_chain_length(statement) - 1) : statement->node;
}

// Whether a statement makes, or adds to, the gradient of a tensor.
static bool is_part(const struct net *net, const struct sched_statement *statement, int node)
{
	const struct net_node *of = &net->nodes[statement->node];
	bool found = statement->op == SCHED_COMPUTE && operand_holds(net, statement->node, node);

	for (int i = 0; statement->op == SCHED_SPLIT && !found && i < of->input_count; i++)
		found = operand_holds(net, of->inputs[i], node);
	return found && net->nodes[node].has_gradient;
}

bool operand_reads(const struct net *net, const struct sched_statement *statement, enum sched_tensor tensor, int node)
{
	const bool gradient = statement->op == SCHED_COMPUTE && statement->tensor == SCHED_GRAD;
	const int by = gradient ? operand_chain(net, statement, 0) : statement->node;
	const struct net_node *of = &net->nodes[by];
	bool found = false;

	if (tensor == SCHED_GRAD)
		return operand_gradient(net, statement) == node || is_part(net, statement, node);
	// Of backward operators, a ReLU alone reads its output; a chain, and a normalization, read the input.
	if (gradient && of->op == NET_RELU && !statement->through_count)
		return is_operand(net, statement, by, node);
	for (int i = 0; !found && i < of->input_count; i++)
		found = is_operand(net, statement, of->inputs[i], node);
	return found;
}

bool operand_makes(const struct net *net, const struct sched_statement *statement, enum sched_tensor tensor, int node)
{
	return tensor == SCHED_GRAD ? is_part(net, statement, node) : statement->node == node;
}

bool operand_streams(const struct net *net, const struct sched_statement *statement, enum sched_tensor tensor, int node)
{
	const struct net_node *of = &net->nodes[node];
	bool streamed = false;

	for (int i = 0; !streamed && i < statement->from_count; i++)
		streamed = statement->from[i].tensor == tensor && operand_holds(net, statement->from[i].node, node);
	for (int i = 0; of->op == NET_CONCAT && !streamed && i < of->input_count; i++)
		streamed = operand_streams(net, statement, tensor, of->inputs[i]);
	return streamed;
}
