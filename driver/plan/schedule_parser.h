// SPDX-License-Identifier: Apache-2.0
//
// What the parts of the schedule parser share: the present line, cut into words, and the helpers
// that read numbers and nodes from it and fail with file and line.
#ifndef WC_SCHEDULE_PARSER_H
#define WC_SCHEDULE_PARSER_H

#include "driver/plan/schedule.h"

enum { PARSER_WORDS_MAX = 16 };

enum header {
	HEADER_VERSION, HEADER_NET, HEADER_IMAGE, HEADER_BATCH, HEADER_CORES, HEADER_ARRAY,
	HEADER_BUFFER, HEADER_BUS, HEADER_ACCOUNTING, HEADER_RESERVE, HEADER_PLANNER, HEADER_COUNT,
};

struct parser {
	struct schedule *schedule;
	const struct net *net;
	struct wc_error *err;
	const char *file_name;
	int line;
	char *words[PARSER_WORDS_MAX]; // of the present line
	int count;              // may exceed PARSER_WORDS_MAX; only that many are kept
	const char *tail;       // the line behind its first word
	bool header_seen[HEADER_COUNT];
	struct sched_group *group;
	struct sched_strip *strip;
	bool has_sub_batch, has_tiling; // of the present group
};

// Set "FILE:LINE: text" and return WC_ERR_INPUT.
int parser_fail(struct parser *parser, const char *format, ...) __attribute__((format(printf, 2, 3)));
int parser_no_memory(struct parser *parser);

// Take a line: cut its comment off and split it in place. `tail`, of `tail_bytes`, must be as long as
// the line and live as long as it is being read.
void parser_split(struct parser *parser, char *line, char *tail, size_t tail_bytes);
// Fail unless the line has `min` to `max` words, the first included.
int parser_expect_words(struct parser *parser, int min, int max);
// A decimal number in [min, max]; *end is where it stops, or it must be the whole word if `end` is NULL.
int parser_number(struct parser *parser, const char *what, const char *word, long min, long max, const char **end, long *value);
int parser_int(struct parser *parser, const char *what, const char *word, long min, long max, int *value);
// A node of the network by name.
int parser_node(struct parser *parser, const char *name, int *node);

// Fail unless the schedule is for `paper` accounting, to which `word` belongs.
int parser_expect_paper(struct parser *parser, const char *word);

// The clauses behind a statement's tensor, from words[2] on (schedule_clause.c).
int parser_clauses(struct parser *parser, struct sched_statement *statement);
// TENSOR, or TENSOR=LO:HI with `rows`: required, or else optional and then 0:0. `word` is cut up.
enum parser_rows { PARSER_NO_ROWS, PARSER_SOME_ROWS, PARSER_ROWS };
int parser_tensor(struct parser *parser, char *word, enum parser_rows rows, struct sched_operand *tensor);
// The same of NODE=LO:HI.
int parser_node_rows(struct parser *parser, char *word, enum parser_rows rows, struct sched_operand *tensor);

// `weight` or `wgrad` of a group, of elements of 2 or 4 bytes (schedule_policy.c).
int parser_policy(struct parser *parser, struct sched_policy *policies, int element_bytes);

// A statement line (schedule_statement.c): add it to the present strip.
int parser_statement(struct parser *parser, enum sched_op op);

#endif
