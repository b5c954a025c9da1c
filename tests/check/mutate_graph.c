// SPDX-License-Identifier: Apache-2.0
//
// See mutate_graph.h.
#include "tests/check/mutate_graph.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check/compare.h"
#include "tests/check/graph_machine.h"

static void clamp(const struct net *net, int node, int *lo, int *hi)
{
	int height = net->nodes[node].out.height;

	*lo = *lo < 0 ? 0 : *lo >= height ? height - 1 : *lo;
	*hi = *hi > height ? height : *hi <= *lo ? *lo + 1 : *hi;
}

static void insert(struct sched_strip *strip, int at, struct sched_statement statement)
{
	strip->statements = realloc(strip->statements, (size_t)(strip->statement_count + 1) * sizeof(*strip->statements));
	cr_assert_not_null(strip->statements);
	memmove(&strip->statements[at + 1], &strip->statements[at], (size_t)(strip->statement_count - at) * sizeof(*strip->statements));
	strip->statements[at] = statement;
	strip->statement_count++;
}

static struct sched_statement take_out(struct sched_strip *strip, int at)
{
	struct sched_statement statement = strip->statements[at];

	memmove(&strip->statements[at], &strip->statements[at + 1], (size_t)(strip->statement_count - at - 1) * sizeof(*strip->statements));
	strip->statement_count--;
	return statement;
}

static void forget(struct sched_operand *list, int *count, int at)
{
	memmove(&list[at], &list[at + 1], (size_t)(*count - at - 1) * sizeof(*list));
	--*count;
}

// Drop a clause, change the rows of one, or add one; `device` knows `by` alone.
static void mutate_clause(struct sched_statement *statement, const struct net *net, struct random *random, bool device)
{
	struct sched_operand tensor = {(enum sched_tensor)random_below(random, 2), (int16_t)random_below(random, net->node_count), 0, 0};

	if (device) {
		const struct net_node *node = &net->nodes[statement->node];

		if (statement->op == SCHED_COMPUTE && statement->tensor == SCHED_GRAD && node->consumer_count > 0)
			statement->by = node->consumers[random_below(random, node->consumer_count)];
		return;
	}

	switch (random_below(random, 8)) {
	case 0:
		if (statement->from_count > 0)
			forget(statement->from, &statement->from_count, random_below(random, statement->from_count));
		break;
	case 1:
		if (statement->to_count > 0)
			forget(statement->to, &statement->to_count, random_below(random, statement->to_count));
		break;
	case 2:
		if (statement->saved_count > 0)
			forget(statement->saved, &statement->saved_count, random_below(random, statement->saved_count));
		break;
	case 3:
		if (statement->through_count > 0)
			statement->through_count--;
		break;
	case 4:
		statement->view = !statement->view && statement->op == SCHED_SPLIT;
		break;
	case 5:
		if (statement->op == SCHED_COMPUTE && statement->tensor == SCHED_GRAD)
			statement->by = random_below(random, net->node_count);
		break;
	case 6:
		if (statement->from_count > 0) {
			struct sched_operand *from = &statement->from[random_below(random, statement->from_count)];

			int lo = from->lo + random_step(random), hi = from->hi > 0 ? from->hi + random_step(random) : net->nodes[from->node].out.height;

			clamp(net, from->node, &lo, &hi);
			from->lo = (int16_t)lo;
			from->hi = (int16_t)hi;
		}
		break;
	default:
		if (random_below(random, 2) == 0 && statement->from_count < SCHED_LIST_MAX)
			statement->from[statement->from_count++] = tensor;
		else if (statement->to_count < SCHED_LIST_MAX)
			statement->to[statement->to_count++] = tensor;
		break;
	}
}

// A transfer, or the end, of a tensor that some statement names.
static void add_transfer(struct sched_strip *strip, struct random *random)
{
	static const enum sched_op ops[] = {SCHED_LOAD, SCHED_STORE, SCHED_KEEP, SCHED_TAKE, SCHED_FREE, SCHED_FREE};
	int at = random_below(random, strip->statement_count + 1), of = random_below(random, strip->statement_count);
	struct sched_statement statement = {.op = ops[random_below(random, 6)], .tensor = strip->statements[of].tensor, .node = strip->statements[of].node,
					    .lo = strip->statements[of].lo, .hi = strip->statements[of].hi};

	insert(strip, at, statement);
}

static void mutate_statement(struct sched_strip *strip, const struct net *net, struct random *random, bool device)
{
	int at = random_below(random, strip->statement_count), other = random_below(random, strip->statement_count);
	struct sched_statement *statement = &strip->statements[at];

	switch (random_below(random, 12)) {
	case 0:
		statement->lo += random_step(random);
		break;
	case 1:
		statement->hi += random_step(random);
		break;
	case 2:
		take_out(strip, at);
		return;
	case 3:
		insert(strip, random_below(random, strip->statement_count + 1), *statement);
		return;
	case 4:
	case 5: {
		struct sched_statement moved = take_out(strip, at);

		insert(strip, random_below(random, strip->statement_count + 1), moved);
		return;
	}
	case 6: {
		struct sched_statement swapped = *statement;

		*statement = strip->statements[other];
		strip->statements[other] = swapped;
		return;
	}
	case 7:
		add_transfer(strip, random);
		return;
	case 8:
		statement->with = (enum sched_with)random_below(random, 3);
		return;
	case 9: {
		// The same work in two cuts.
		struct sched_statement second = *statement;

		if (statement->hi - statement->lo < 2 || statement->op == SCHED_FREE)
			return;
		statement->hi = second.lo = statement->lo + 1 + random_below(random, statement->hi - statement->lo - 1);
		insert(strip, at + 1, second);
		return;
	}
	default:
		mutate_clause(statement, net, random, device);
		return;
	}
	clamp(net, statement->node, &statement->lo, &statement->hi);
}

static void shift_strip(struct sched_strip *strip, const struct net *net, int by)
{
	for (int i = 0; i < strip->statement_count; i++) {
		strip->statements[i].lo += by;
		strip->statements[i].hi += by;
		clamp(net, strip->statements[i].node, &strip->statements[i].lo, &strip->statements[i].hi);
	}
}

// What passes through the buffer in slices, or stays. The nodes that have such policies are a group's own.
static void mutate_policy(const struct schedule *schedule, struct sched_group *group, const struct net *net, struct random *random)
{
	int node = group->first + random_below(random, group->last - group->first + 1);
	struct sched_policy *policy = group->phase == SCHED_BACKWARD && random_below(random, 2) == 0 ? &group->wgrad[node] : &group->weight[node];

	*policy = (struct sched_policy){0};
	if (random_below(random, 2) == 0)
		policy->resident = true;
	else if (random_below(random, 2) == 0 && net->nodes[node].op != NET_GN)
		policy->slice = schedule->rows * (1 + random_below(random, 4));
}

static void mutate_group(struct schedule *schedule, const struct net *net, struct random *random)
{
	struct sched_group *group = &schedule->groups[random_below(random, schedule->group_count)];
	struct sched_strip *strip = &group->strips[random_below(random, group->strip_count)];
	int node = 1 + random_below(random, net->node_count - 1);
	struct sched_policy policy = {.resident = random_below(random, 2) == 0, .slice = random_below(random, 2)};

	if (schedule->accounting == SCHED_DEVICE && random_below(random, 3) == 0) {
		mutate_policy(schedule, group, net, random);
		return;
	}
	switch (random_below(random, 7)) {
	case 0:
		shift_strip(strip, net, random_step(random));
		break;
	case 1:
	case 2:
		group->sub_batch = 1 + random_below(random, schedule->batch);
		break;
	case 3:
		group->tiling = (enum sched_tiling)random_below(random, 3);
		break;
	case 4:
		group->weight[node] = policy.resident ? policy : (struct sched_policy){.blocked = policy.slice > 0};
		break;
	case 5:
		if (group->phase == SCHED_BACKWARD)
			group->wgrad[node] = policy.resident ? policy : (struct sched_policy){false, false, 0};
		break;
	default:
		schedule->buffer_bytes = schedule->buffer_bytes / 8 * (uint32_t)(1 + random_below(random, 8));
		break;
	}
}

void mutate_graph(struct schedule *schedule, const struct net *net, struct random *random)
{
	struct sched_group *group = &schedule->groups[random_below(random, schedule->group_count)];
	struct sched_strip *strip = &group->strips[random_below(random, group->strip_count)];

	if (random_below(random, 6) == 0 || strip->statement_count == 0)
		mutate_group(schedule, net, random);
	else
		mutate_statement(strip, net, random, schedule->accounting == SCHED_DEVICE);
}

// The verdict contradicts the interpreter.
static void contradict_run(const struct schedule *schedule, const struct net *net, uint64_t seed, const char *what, const struct graph_run *run,
			   const char *verdict)
{
	char text[256];

	snprintf(text, sizeof(text), "%s (read %d, made %d, output %d, weights %d, peak %" PRIu64 ")", what, run->wrong_read, run->wrong_made, run->output_wrong,
		 run->weights_wrong, run->peak_bytes);
	contradict(schedule, net, seed, text, verdict);
}

// The last group of which the verdict says something; the form of no later one is known to be sound.
static int last_group(const struct schedule *schedule, const struct check_result *result)
{
	int last = schedule->group_count - 1;

	if (result->violation.place.group >= 0)
		return result->violation.place.group;
	while (!result->ok && result->violation.tensor == SCHED_ACT && schedule->groups[last].phase == SCHED_BACKWARD)
		last--;
	return last;
}

// The accounting, written apart from checker and interpreter, agrees.
static void compare(const struct schedule *schedule, const struct net *net, const struct check_result *result, uint64_t seed)
{
	char *text = mutant_text(schedule, net), what[4096];

	snprintf(what, sizeof(what), "seed %" PRIu64 "\n%s", seed, text);
	free(text);
	if (schedule->accounting == SCHED_PAPER)
		compare_paper_account(schedule, net, result, what);
	else
		compare_account(schedule, net, result, what);
}

void judge_graph(const struct schedule *schedule, const struct net *net, uint64_t seed, struct verdicts *verdicts)
{
	struct check_result result;
	struct graph_run run;
	char verdict[128];

	schedule_check(schedule, net, &result, NULL);
	if (!result.ok)
		verdicts->caught[result.violation.kind]++;
	switch (result.violation.kind) {
	case CHECK_FORM:
	case CHECK_ORDER:
	case CHECK_TWICE:
	case CHECK_UNUSED:
		return; // work done twice, or at the wrong place, need not make values wrong
	default:
		break;
	}
	run = graph_run(schedule, net, last_group(schedule, &result));
	snprintf(verdict, sizeof(verdict), "proven, peak %" PRIu64, result.peak_bytes);
	if (result.ok) {
		verdicts->proven++;
		compare(schedule, net, &result, seed);
		if (!graph_run_right(&run))
			contradict_run(schedule, net, seed, "proven, but it is wrong", &run, verdict);
		if (result.peak_bytes != run.peak_bytes || run.peak_bytes > schedule->buffer_bytes)
			contradict_run(schedule, net, seed, "proven, but occupancy differs", &run, verdict);
	} else if (result.violation.kind == CHECK_BUFFER) {
		if (run.peak_bytes <= schedule->buffer_bytes)
			contradict_run(schedule, net, seed, "caught, but it fits", &run, result.violation.text);
	} else if (graph_run_right(&run)) {
		contradict_run(schedule, net, seed, "caught, but nothing is wrong", &run, result.violation.text);
	}
}
