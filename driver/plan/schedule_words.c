// SPDX-License-Identifier: Apache-2.0
//
// Lines, words and numbers of the schedule parser.
#include "driver/plan/schedule_parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int parser_fail(struct parser *parser, const char *format, ...)
{
	char text[WC_ERROR_TEXT_BYTES / 2];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return wc_fail(parser->err, WC_ERR_INPUT, "%.200s:%d: %s", parser->file_name, parser->line, text);
}

int parser_no_memory(struct parser *parser)
{
	return wc_fail(parser->err, WC_ERR_SYSTEM, "out of memory");
}

void parser_split(struct parser *parser, char *line, char *tail, size_t tail_bytes)
{
	static const char blanks[] = " \t\r\n";
	char *rest, *word;

	line[strcspn(line, "#")] = 0;
	word = line + strspn(line, blanks);
	word += strcspn(word, blanks);
	snprintf(tail, tail_bytes, "%s", word + strspn(word, blanks));
	for (size_t length = strlen(tail); length && strchr(blanks, tail[length - 1]);)
		tail[--length] = 0;
	parser->tail = tail;
	parser->count = 0;
	for (word = strtok_r(line, blanks, &rest); word; word = strtok_r(NULL, blanks, &rest)) {
		if (parser->count < PARSER_WORDS_MAX)
			parser->words[parser->count] = word;
		parser->count++;
	}
}

int parser_expect_words(struct parser *parser, int min, int max)
{
	if (parser->count < min || parser->count > max)
		return parser_fail(parser, "'%s' takes %d%s%.0d word%s, got %d", parser->words[0], min - 1, max > min ? " to " : "", max > min ? max - 1 : 0,
			    max == 2 ? "" : "s", parser->count - 1);
	return 0;
}

int parser_number(struct parser *parser, const char *what, const char *word, long min, long max, const char **end, long *value)
{
	char *stop;

	if (*word < '0' || *word > '9')
		return parser_fail(parser, "%s '%.64s' must be a number from %ld to %ld", what, word, min, max);
	*value = strtol(word, &stop, 10);
	if (end)
		*end = stop;
	else if (*stop)
		return parser_fail(parser, "%s '%.64s' must be a number from %ld to %ld", what, word, min, max);
	if (*value < min || *value > max)
		return parser_fail(parser, "%s is %.*s, must be from %ld to %ld", what, stop - word < 64 ? (int)(stop - word) : 64, word, min, max);
	return 0;
}

int parser_int(struct parser *parser, const char *what, const char *word, long min, long max, int *value)
{
	long number;
	int rc = parser_number(parser, what, word, min, max, NULL, &number);

	if (!rc)
		*value = (int)number;
	return rc;
}

int parser_node(struct parser *parser, const char *name, int *node)
{
	*node = net_find(parser->net, name);
	if (*node < 0)
		return parser_fail(parser, "network '%s' has no node '%.64s'", parser->net->name, name);
	return 0;
}

int parser_expect_paper(struct parser *parser, const char *word)
{
	if (parser->schedule->accounting == SCHED_PAPER)
		return 0;
	return parser_fail(parser, "'%.64s' belongs to 'accounting paper', this schedule has 'accounting device'", word);
}

int parser_node_rows(struct parser *parser, char *word, enum parser_rows rows, struct sched_operand *tensor)
{
	char *equals = strchr(word, '=');
	const struct net_node *node;
	const char *end;
	long lo, hi;
	int index;

	if (!equals && rows == PARSER_ROWS)
		return parser_fail(parser, "'%.64s' must be followed by =LO:HI", word);
	if (equals && rows == PARSER_NO_ROWS)
		return parser_fail(parser, "'%.64s' must be a tensor without rows", word);
	if (equals)
		*equals = 0;
	if (parser_node(parser, word, &index))
		return WC_ERR_INPUT;
	tensor->node = (int16_t)index;
	tensor->lo = tensor->hi = 0;
	if (!equals)
		return 0;
	node = &parser->net->nodes[tensor->node];
	if (parser_number(parser, "the first row", equals + 1, 0, node->out.height, &end, &lo))
		return WC_ERR_INPUT;
	if (*end != ':')
		return parser_fail(parser, "rows '%.64s' must be LO:HI", equals + 1);
	if (parser_number(parser, "the row behind the last", end + 1, 0, node->out.height, NULL, &hi))
		return WC_ERR_INPUT;
	if (lo >= hi)
		return parser_fail(parser, "rows %ld:%ld of '%s' are empty", lo, hi, node->name);
	tensor->lo = (int16_t)lo;
	tensor->hi = (int16_t)hi;
	return 0;
}

int parser_tensor(struct parser *parser, char *word, enum parser_rows rows, struct sched_operand *tensor)
{
	char *colon = strchr(word, ':');
	size_t length = colon ? (size_t)(colon - word) : 0;
	const struct net_node *node;
	int rc;

	for (tensor->tensor = SCHED_ACT; tensor->tensor <= SCHED_MASK; tensor->tensor++) {
		const char *name = sched_tensor_name(tensor->tensor);

		if (length == strlen(name) && !strncmp(word, name, length))
			break;
	}
	if (tensor->tensor > SCHED_MASK)
		return parser_fail(parser, "'%.64s' must begin with act:, grad: or mask:", word);
	rc = parser_node_rows(parser, colon + 1, rows, tensor);
	if (rc)
		return rc;
	node = &parser->net->nodes[tensor->node];
	if (tensor->tensor == SCHED_MASK && node->op != NET_RELU && node->op != NET_MAX_POOL)
		return parser_fail(parser, "'%s' is neither a relu nor a max_pool and has no mask", node->name);
	if (tensor->tensor == SCHED_GRAD && tensor->node == 0)
		return parser_fail(parser, "the gradient of the image is not computed");
	if (node->op == NET_LOSS)
		return parser_fail(parser, "the loss, '%s', is not scheduled", node->name);
	return 0;
}
