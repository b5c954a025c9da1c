// SPDX-License-Identifier: Apache-2.0
//
// The statements of a strip: operator, tensor and rows, and whether they suit the network in form.
#include "driver/plan/schedule_parser.h"

#include <string.h>

#include "driver/plan/build.h"

static const char *name_of(const struct parser *parser, int node)
{
	return parser->net->nodes[node].name;
}

static int check_gradient(struct parser *parser, const struct sched_statement *statement)
{
	const struct net_node *node = &parser->net->nodes[statement->node];
	int reader = sched_gradient_reader(parser->net, statement);
	enum net_op op;

	if (!node->consumer_count)
		return parser_fail(parser, "the gradient of the last node, '%s', is not computed", node->name);
	if (reader < 0)
		return parser_fail(parser, "%d nodes read '%s': 'by' must say whose part it is", node->consumer_count, node->name);
	op = parser->net->nodes[reader].op;
	if (op == NET_LOSS)
		return parser_fail(parser, "the gradient of the network's output, '%s', is not computed", node->name);
	if (op == NET_CONCAT && parser->schedule->accounting == SCHED_PAPER)
		return parser_fail(parser, "'%s' is a piece of '%s': its gradient is made as grad:%s", node->name, name_of(parser, reader), name_of(parser, reader));
	if (op == NET_ADD || op == NET_CONCAT)
		return parser_fail(parser, "the gradient behind the %s '%s' is made by: split %s", net_op_name(op), name_of(parser, reader),
				   name_of(parser, reader));
	if (statement->with && op != NET_RELU)
		return parser_fail(parser, "'%s' cannot stand behind the gradient of '%s', which is no relu", parser->words[2], name_of(parser, reader));
	if (op == NET_RELU && !statement->with && !statement->saved_count && !statement->through_count)
		return parser_fail(parser, "the gradient behind '%s' needs the word 'mask' or 'act'", name_of(parser, reader));
	return 0;
}

// Whether the operator that computes a tensor exists, and the words behind suit it.
static int check_compute(struct parser *parser, const struct sched_statement *statement)
{
	const struct net_node *node = &parser->net->nodes[statement->node];

	if (statement->tensor == SCHED_MASK)
		return parser_fail(parser, "a mask is computed with its node: compute act:%s", node->name);
	if (statement->tensor == SCHED_GRAD)
		return check_gradient(parser, statement);
	if (node->op == NET_INPUT)
		return parser_fail(parser, "the image is not computed");
	if (node->op == NET_CONCAT && parser->schedule->accounting == SCHED_PAPER)
		return parser_fail(parser, "'%s' is a view of its pieces and is not computed", node->name);
	if (statement->with == SCHED_WITH_ACT || (statement->with && node->op != NET_RELU))
		return parser_fail(parser, "'%s' cannot stand behind act:%s", parser->words[2], node->name);
	if (statement->by || statement->through_count)
		return parser_fail(parser, "'%s' belongs to gradients", statement->by ? "by" : "through");
	return 0;
}

static int check_node(struct parser *parser, const struct sched_statement *statement)
{
	const struct net_node *node = &parser->net->nodes[statement->node];

	if (statement->op == SCHED_ACCUMULATE && node->op != NET_CONV && node->op != NET_FC)
		return parser_fail(parser, "'%s' is no convolution or fc and has no weight gradient", node->name);
	if (statement->op == SCHED_STATISTICS && node->op != NET_GN)
		return parser_fail(parser, "'%s' is no gn and has no statistics", node->name);
	if (statement->op == SCHED_SPLIT && node->op != NET_ADD && node->op != NET_CONCAT)
		return parser_fail(parser, "'%s' is no add or concatenation and cannot be split", node->name);
	if (statement->op == SCHED_SPLIT && node->op == NET_CONCAT && parser->schedule->accounting == SCHED_PAPER)
		return parser_fail(parser, "'%s' is a view of its pieces and is not split", node->name);
	if (statement->view && statement->op != SCHED_SPLIT)
		return parser_fail(parser, "'view' belongs to split");
	if (statement->with && statement->op != SCHED_COMPUTE)
		return parser_fail(parser, "'mask' and 'act' belong to compute");
	if ((statement->by || statement->through_count) && statement->op != SCHED_COMPUTE)
		return parser_fail(parser, "'by' and 'through' belong to compute");
	return statement->op == SCHED_COMPUTE ? check_compute(parser, statement) : 0;
}

int parser_statement(struct parser *parser, enum sched_op op)
{
	const bool names_node = op == SCHED_ACCUMULATE || op == SCHED_STATISTICS || op == SCHED_SPLIT;
	const bool moves = op == SCHED_LOAD || op == SCHED_STORE || op == SCHED_TAKE || op == SCHED_KEEP || op == SCHED_FREE;
	struct sched_statement statement = { .op = op, .line = parser->line };
	struct sched_operand tensor = { .tensor = op == SCHED_STATISTICS ? SCHED_ACT : SCHED_GRAD };
	int rc;

	if (parser_expect_words(parser, 2, moves ? 2 : PARSER_WORDS_MAX))
		return WC_ERR_INPUT;
	if (!parser->strip)
		return parser_fail(parser, "'%s' outside of any strip", parser->words[0]);
	if (names_node)
		rc = parser_node_rows(parser, parser->words[1], PARSER_ROWS, &tensor);
	else
		rc = parser_tensor(parser, parser->words[1], op == SCHED_FREE ? PARSER_NO_ROWS : PARSER_ROWS, &tensor);
	if (rc)
		return rc;
	statement.tensor = tensor.tensor;
	statement.node = tensor.node;
	statement.lo = tensor.lo;
	statement.hi = tensor.hi;
	rc = parser_clauses(parser, &statement);
	if (!rc)
		rc = check_node(parser, &statement);
	if (rc)
		return rc;
	return build_statement(parser->strip, &statement) ? parser_no_memory(parser) : 0;
}
