// SPDX-License-Identifier: Apache-2.0
//
// The statements of a strip: operator, tensor and rows, and whether they suit the network in form.
#include "driver/plan/schedule_parser.h"

#include <string.h>

#include "driver/plan/build.h"

// NODE=LO:HI, `word` standing at NODE.
static int read_rows(struct parser *parser, char *word, struct sched_statement *statement)
{
	char *equals = strchr(word, '=');
	const struct net_node *node;
	const char *end;
	long lo, hi;

	if (!equals)
		return parser_fail(parser, "'%.64s' must be followed by =LO:HI", word);
	*equals = 0;
	if (parser_node(parser, word, &statement->node))
		return WC_ERR_INPUT;
	node = &parser->net->nodes[statement->node];
	if (parser_number(parser, "the first row", equals + 1, 0, node->out.height, &end, &lo))
		return WC_ERR_INPUT;
	if (*end != ':')
		return parser_fail(parser, "rows '%.64s' must be LO:HI", equals + 1);
	if (parser_number(parser, "the row behind the last", end + 1, 0, node->out.height, NULL, &hi))
		return WC_ERR_INPUT;
	if (lo >= hi)
		return parser_fail(parser, "rows %ld:%ld of '%s' are empty", lo, hi, node->name);
	statement->lo = (int)lo;
	statement->hi = (int)hi;
	return 0;
}

static int read_tensor(struct parser *parser, char *word, struct sched_statement *statement)
{
	char *colon = strchr(word, ':');
	size_t length = colon ? (size_t)(colon - word) : 0;
	const struct net_node *node;
	int rc;

	for (statement->tensor = SCHED_ACT; statement->tensor <= SCHED_MASK; statement->tensor++) {
		const char *name = sched_tensor_name(statement->tensor);

		if (length == strlen(name) && !strncmp(word, name, length))
			break;
	}
	if (statement->tensor > SCHED_MASK)
		return parser_fail(parser, "'%.64s' must begin with act:, grad: or mask:", word);
	rc = read_rows(parser, colon + 1, statement);
	if (rc)
		return rc;
	node = &parser->net->nodes[statement->node];
	if (statement->tensor == SCHED_MASK && node->op != NET_RELU)
		return parser_fail(parser, "'%s' is not a relu and has no mask", node->name);
	if (statement->tensor == SCHED_GRAD && statement->node == 0)
		return parser_fail(parser, "the gradient of the image is not computed");
	return 0;
}

// The operator that computes a tensor, and whether the words behind suit it.
static int check_compute(struct parser *parser, const struct sched_statement *statement)
{
	const struct net_node *node = &parser->net->nodes[statement->node];
	int consumer = net_consumer(parser->net, statement->node);

	if (statement->tensor == SCHED_MASK)
		return parser_fail(parser, "a mask is computed with its relu: compute act:%s ... mask", node->name);
	if (statement->tensor == SCHED_ACT) {
		if (node->op == NET_INPUT)
			return parser_fail(parser, "the image is not computed");
		if (statement->with == SCHED_WITH_ACT || (statement->with && node->op != NET_RELU))
			return parser_fail(parser, "'%s' cannot stand behind act:%s", parser->words[2], node->name);
		return 0;
	}
	if (consumer < 0)
		return parser_fail(parser, "the gradient of the last node, '%s', is not computed", node->name);
	node = &parser->net->nodes[consumer];
	if (node->op == NET_CONV && statement->with)
		return parser_fail(parser, "'%s' cannot stand behind the data gradient of a convolution", parser->words[2]);
	if (node->op == NET_RELU && !statement->with)
		return parser_fail(parser, "the gradient behind '%s' needs the word 'mask' or 'act'", node->name);
	return 0;
}

int parser_statement(struct parser *parser, enum sched_op op)
{
	struct sched_statement statement = { .op = op, .tensor = SCHED_GRAD, .line = parser->line };
	int rc;

	if (parser_expect_words(parser, 2, op == SCHED_COMPUTE ? 3 : 2))
		return WC_ERR_INPUT;
	if (!parser->strip)
		return parser_fail(parser, "'%s' outside of any strip", parser->words[0]);
	if (parser->count == 3 && !strcmp(parser->words[2], "mask"))
		statement.with = SCHED_WITH_MASK;
	else if (parser->count == 3 && !strcmp(parser->words[2], "act"))
		statement.with = SCHED_WITH_ACT;
	else if (parser->count == 3)
		return parser_fail(parser, "'%.64s' must be mask or act", parser->words[2]);
	if (op == SCHED_ACCUMULATE)
		rc = read_rows(parser, parser->words[1], &statement);
	else
		rc = read_tensor(parser, parser->words[1], &statement);
	if (rc)
		return rc;
	if (op == SCHED_ACCUMULATE && parser->net->nodes[statement.node].op != NET_CONV)
		return parser_fail(parser, "'%s' is not a convolution and has no weight gradient", parser->net->nodes[statement.node].name);
	if (op == SCHED_COMPUTE && check_compute(parser, &statement))
		return WC_ERR_INPUT;
	return build_statement(parser->strip, &statement) ? parser_no_memory(parser) : 0;
}
