// SPDX-License-Identifier: Apache-2.0
//
// The clauses of a statement: which operands stream, what stands for a saved one, whose partial gradient it is.
#include "driver/plan/schedule_parser.h"

#include <string.h>

// A comma-separated list of tensors; only `from` may give rows.
static int read_tensors(struct parser *parser, const char *word, char *list, enum parser_rows rows, struct sched_operand *tensors, int *count)
{
	char *rest = NULL;

	if (*count)
		return parser_fail(parser, "'%s' given twice", word);
	for (char *one = strtok_r(list, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
		int rc;

		if (*count == SCHED_LIST_MAX)
			return parser_fail(parser, "'%s' takes at most %d tensors", word, SCHED_LIST_MAX);
		rc = parser_tensor(parser, one, rows, &tensors[*count]);
		if (rc)
			return rc;
		++*count;
	}
	return *count ? 0 : parser_fail(parser, "'%s' takes a list of tensors", word);
}

static int read_chain(struct parser *parser, char *list, struct sched_statement *statement)
{
	char *rest = NULL;

	if (statement->through_count)
		return parser_fail(parser, "'through' given twice");
	for (char *one = strtok_r(list, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
		if (statement->through_count == SCHED_THROUGH_MAX)
			return parser_fail(parser, "'through' takes at most %d nodes", SCHED_THROUGH_MAX);
		if (parser_node(parser, one, &statement->through[statement->through_count]))
			return WC_ERR_INPUT;
		statement->through_count++;
	}
	return statement->through_count ? 0 : parser_fail(parser, "'through' takes a list of nodes");
}

// A clause with a list behind it.
static int read_list(struct parser *parser, const char *word, char *list, struct sched_statement *statement)
{
	if (!strcmp(word, "from"))
		return read_tensors(parser, word, list, PARSER_SOME_ROWS, statement->from, &statement->from_count);
	if (!strcmp(word, "to"))
		return read_tensors(parser, word, list, PARSER_NO_ROWS, statement->to, &statement->to_count);
	if (!strcmp(word, "through"))
		return read_chain(parser, list, statement);
	if (!strcmp(word, "using"))
		return read_tensors(parser, word, list, PARSER_NO_ROWS, statement->saved, &statement->saved_count);
	if (statement->by)
		return parser_fail(parser, "'by' given twice");
	if (parser_node(parser, list, &statement->by))
		return WC_ERR_INPUT;
	return statement->by ? 0 : parser_fail(parser, "the image reads nothing: 'by %s'", list);
}

int parser_clauses(struct parser *parser, struct sched_statement *statement)
{
	static const char *const lists[] = { "by", "through", "using", "from", "to" };

	for (int i = 2; i < parser->count; i++) {
		const char *word = parser->words[i];
		size_t list = 0;
		int rc;

		if (!strcmp(word, "mask") || !strcmp(word, "act")) {
			if (statement->with)
				return parser_fail(parser, "'%s' is one word too many", word);
			statement->with = *word == 'm' ? SCHED_WITH_MASK : SCHED_WITH_ACT;
			continue;
		}
		while (list < sizeof(lists) / sizeof(lists[0]) && strcmp(lists[list], word))
			list++;
		if (strcmp(word, "view") && list == sizeof(lists) / sizeof(lists[0]))
			return parser_fail(parser, "'%.64s' must be mask, act, by, through, using, from, to or view", word);
		if (strcmp(word, "by") && parser_expect_paper(parser, word))
			return WC_ERR_INPUT;
		if (!strcmp(word, "view")) {
			statement->view = true;
			continue;
		}
		if (++i == parser->count)
			return parser_fail(parser, "nothing stands behind '%s'", word);
		rc = read_list(parser, word, parser->words[i], statement);
		if (rc)
			return rc;
	}
	return 0;
}
