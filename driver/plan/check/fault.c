// SPDX-License-Identifier: Apache-2.0
//
// Violations: where, what, and which rows are there instead, in one line.
#include <stdarg.h>
#include <string.h>

#include "driver/plan/check/internal.h"

const char *check_kind_name(enum check_kind kind)
{
	static const char *const names[] = {
		[CHECK_NONE] = "none",
		[CHECK_FORM] = "form",
		[CHECK_ORDER] = "order",
		[CHECK_ABSENT] = "absent",
		[CHECK_NOT_STORED] = "not-stored",
		[CHECK_NOT_KEPT] = "not-kept",
		[CHECK_TWICE] = "twice",
		[CHECK_UNUSED] = "unused",
		[CHECK_PARTS] = "parts",
		[CHECK_STATISTICS] = "statistics",
		[CHECK_COVERAGE] = "coverage",
		[CHECK_BUFFER] = "buffer",
	};

	return names[kind];
}

const char *check_tensor_name(enum sched_tensor tensor)
{
	static const char *const names[] = {[SCHED_ACT] = "act", [SCHED_GRAD] = "grad", [SCHED_MASK] = "mask"};

	return names[tensor];
}

const struct sched_group *check_group(const struct check_state *state)
{
	return state->place.group < 0 ? NULL : &state->schedule->groups[state->place.group];
}

const struct sched_statement *check_statement(const struct check_state *state)
{
	const struct check_place *place = &state->place;

	if (place->group < 0 || place->strip < 0 || place->statement < 0)
		return NULL;
	return &state->schedule->groups[place->group].strips[place->strip].statements[place->statement];
}

// The node's name; "?" where the index is none.
static const char *name_at(const struct net *net, int node)
{
	return node >= 0 && node < net->node_count ? net->nodes[node].name : "?";
}

static void append(char *text, size_t bytes, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void append(char *text, size_t bytes, const char *format, ...)
{
	size_t used = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + used, bytes - used, format, args);
	va_end(args);
}

static void append_tensors(char *text, size_t bytes, const struct net *net, const char *word, const struct sched_operand *list, int count)
{
	for (int i = 0; i < count && i < SCHED_LIST_MAX; i++) {
		append(text, bytes, "%s%s:%s", i > 0 ? "," : word, check_tensor_name(list[i].tensor), name_at(net, list[i].node));
		if (list[i].lo < list[i].hi)
			append(text, bytes, "=%d:%d", list[i].lo, list[i].hi);
	}
}

void check_statement_text(char *text, size_t bytes, const struct net *net, const struct sched_statement *statement)
{
	static const char *const words[] = {[SCHED_WITH_NONE] = "", [SCHED_WITH_MASK] = " mask", [SCHED_WITH_ACT] = " act"};
	bool of_node = statement->op == SCHED_ACCUMULATE || statement->op == SCHED_STATISTICS || statement->op == SCHED_SPLIT;

	snprintf(text, bytes, "%s %s%s%s", sched_op_name(statement->op), of_node ? "" : check_tensor_name(statement->tensor), of_node ? "" : ":",
		 name_at(net, statement->node));
	if (statement->op != SCHED_FREE)
		append(text, bytes, "=%d:%d%s", statement->lo, statement->hi, words[statement->with]);
	if (statement->by != 0)
		append(text, bytes, " by %s", name_at(net, statement->by));
	for (int i = 0; i < statement->through_count && i < SCHED_THROUGH_MAX; i++)
		append(text, bytes, "%s%s", i > 0 ? "," : " through ", name_at(net, statement->through[i]));
	append_tensors(text, bytes, net, " using ", statement->saved, statement->saved_count);
	append_tensors(text, bytes, net, " from ", statement->from, statement->from_count);
	append_tensors(text, bytes, net, " to ", statement->to, statement->to_count);
	if (statement->view)
		append(text, bytes, " view");
}

void check_place_text(char *text, size_t bytes, const struct schedule *schedule, const struct net *net, const struct check_place *place)
{
	const struct sched_group *group;
	char range[128] = "", strip[64] = "";

	if (place->group < 0) {
		snprintf(text, bytes, "whole schedule");
		return;
	}
	group = &schedule->groups[place->group];
	if (group->first >= 0 && group->first < net->node_count && group->last >= 0 && group->last < net->node_count)
		snprintf(range, sizeof(range), " %.48s..%.48s", net->nodes[group->first].name, net->nodes[group->last].name);
	if (place->strip >= 0 && place->statement >= 0)
		snprintf(strip, sizeof(strip), ", strip %d, statement %d", place->strip, place->statement);
	else if (place->strip >= 0)
		snprintf(strip, sizeof(strip), ", strip %d", place->strip);
	snprintf(text, bytes, "group %d (%s%s)%s", place->group, group->phase == SCHED_FORWARD ? "forward" : "backward", range, strip);
	if (place->line > 0)
		snprintf(text + strlen(text), bytes - strlen(text), ", line %d", place->line);
}

// The maximal intervals of rows with any of the flags, as "lo:hi lo:hi"; cut with "..." when the text is full.
static void list_rows(char *text, size_t bytes, const uint16_t *flags, int height, unsigned shown)
{
	size_t used = 0;

	snprintf(text, bytes, "none");
	for (int lo = 0; lo < height;) {
		int hi = lo;

		while (hi < height && (flags[hi] & shown) != 0)
			hi++;
		if (hi > lo) {
			if (used + 32 > bytes) {
				snprintf(text + used, bytes - used, " ...");
				return;
			}
			used += (size_t)snprintf(text + used, bytes - used, "%s%d:%d", used > 0 ? " " : "", lo, hi);
		}
		lo = hi + 1;
	}
}

// Everything but kind-specific rows; the tail of the line is `message` and then `present`.
static int fail(struct check_state *state, enum check_kind kind, const char *message, const char *tail)
{
	struct check_violation *violation = &state->result->violation;
	const struct sched_statement *statement = check_statement(state);
	struct check_place at = state->place;
	char place[224], text[128] = "";

	violation->kind = kind;
	violation->place = state->place;
	violation->sample = 0;
	if (state->schedule->file_name != NULL)
		at.line = 0; // stands before the text, with the file
	check_place_text(place, sizeof(place), state->schedule, state->net, &at);
	if (statement != NULL) {
		char body[112];

		check_statement_text(body, sizeof(body), state->net, statement);
		snprintf(text, sizeof(text), ": '%s'", body);
	}
	snprintf(violation->text, sizeof(violation->text), "%.150s%.110s: %.130s%.119s", place, text, message, tail);
	if (state->schedule->file_name == NULL)
		return wc_fail(state->err, WC_ERR_INPUT, "%s", violation->text);
	if (state->place.line <= 0)
		return wc_fail(state->err, WC_ERR_INPUT, "%s: %s", state->schedule->file_name, violation->text);
	return wc_fail(state->err, WC_ERR_INPUT, "%s:%d: %s", state->schedule->file_name, state->place.line, violation->text);
}

int check_fail(struct check_state *state, enum check_kind kind, int node, const char *format, ...)
{
	struct check_violation *violation = &state->result->violation;
	char message[256];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	violation->node = node;
	return fail(state, kind, message, "");
}

int check_fail_rows(struct check_state *state, enum check_kind kind, const struct check_rows_fault *rows, const char *format, ...)
{
	struct check_violation *violation = &state->result->violation;
	char message[256], tail[192];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	violation->tensor = rows->tensor;
	violation->node = rows->node;
	violation->needed_lo = rows->needed.lo;
	violation->needed_hi = rows->needed.hi;
	violation->fault_lo = rows->fault.lo;
	violation->fault_hi = rows->fault.hi;
	list_rows(violation->present, sizeof(violation->present), check_flags(state, rows->tensor, rows->node),
		  state->net->nodes[rows->node].out.height, rows->shown);
	snprintf(tail, sizeof(tail), " (sample %d); %s %s", 0, rows->holder, violation->present);
	return fail(state, kind, message, tail);
}
