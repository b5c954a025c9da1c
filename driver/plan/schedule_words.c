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
		return parser_fail(parser, "%s is %.64s, must be from %ld to %ld", what, word, min, max);
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
