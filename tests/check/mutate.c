// SPDX-License-Identifier: Apache-2.0
//
// See mutate.h.
#include "tests/check/mutate.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check/interpret.h"
#include "tests/seed.h"

struct random random_begin(const char *test, uint64_t seed)
{
	const uint64_t chosen = tests_seed(test, seed);

	return (struct random){chosen != 0 ? chosen : 1};
}

int random_below(struct random *random, int limit)
{
	random->state ^= random->state >> 12;
	random->state ^= random->state << 25;
	random->state ^= random->state >> 27;
	return (int)((random->state * 0x2545f4914f6cdd1du >> 33) % (uint64_t)limit);
}

int random_step(struct random *random)
{
	static const int steps[] = {-3, -2, -1, -1, 1, 1, 2, 3};

	return steps[random_below(random, 8)];
}

static void swap(void *a, void *b, size_t bytes)
{
	char keep[256];

	cr_assert(bytes <= sizeof(keep));
	memcpy(keep, a, bytes);
	memcpy(a, b, bytes);
	memcpy(b, keep, bytes);
}

static void clamp(const struct net *net, struct sched_statement *statement)
{
	int height = net->nodes[statement->node].out.height;

	statement->lo = statement->lo < 0 ? 0 : statement->lo >= height ? height - 1 : statement->lo;
	statement->hi = statement->hi > height ? height : statement->hi <= statement->lo ? statement->lo + 1 : statement->hi;
}

static void shift_strip(struct sched_strip *strip, const struct net *net, int by)
{
	for (int i = 0; i < strip->statement_count; i++) {
		strip->statements[i].lo += by;
		strip->statements[i].hi += by;
		clamp(net, &strip->statements[i]);
	}
}

static void delete_statement(struct sched_strip *strip, int at)
{
	memmove(&strip->statements[at], &strip->statements[at + 1], (size_t)(strip->statement_count - at - 1) * sizeof(*strip->statements));
	strip->statement_count--;
}

static void repeat_statement(struct sched_strip *strip, int from, int to)
{
	struct sched_statement copy = strip->statements[from];

	strip->statements = realloc(strip->statements, (size_t)(strip->statement_count + 1) * sizeof(*strip->statements));
	cr_assert_not_null(strip->statements);
	memmove(&strip->statements[to + 1], &strip->statements[to], (size_t)(strip->statement_count - to) * sizeof(*strip->statements));
	strip->statements[to] = copy;
	strip->statement_count++;
}

static void move_statement(struct sched_strip *strip, int from, int to)
{
	struct sched_statement copy = strip->statements[from];

	delete_statement(strip, from);
	memmove(&strip->statements[to + 1], &strip->statements[to], (size_t)(strip->statement_count - to) * sizeof(*strip->statements));
	strip->statements[to] = copy;
	strip->statement_count++;
}

static void delete_strip(struct sched_group *group, int at)
{
	struct sched_strip *strips = group->strips;

	if (group->strip_count == 1)
		return;
	free(strips[at].statements);
	memmove(&strips[at], &strips[at + 1], (size_t)(group->strip_count - at - 1) * sizeof(*strips));
	group->strip_count--;
}

static void change_operation(struct sched_statement *statement)
{
	static const enum sched_op other[] = {
		[SCHED_LOAD] = SCHED_TAKE, [SCHED_TAKE] = SCHED_LOAD, [SCHED_COMPUTE] = SCHED_LOAD,
		[SCHED_ACCUMULATE] = SCHED_ACCUMULATE, [SCHED_KEEP] = SCHED_STORE, [SCHED_STORE] = SCHED_KEEP,
	};

	statement->op = other[statement->op];
	statement->with = SCHED_WITH_NONE;
}

static void mutate_statement(struct sched_strip *strip, const struct net *net, struct random *random)
{
	int at = random_below(random, strip->statement_count);
	struct sched_statement *statement = &strip->statements[at];

	switch (random_below(random, 9)) {
	case 0:
	case 1:
		statement->lo += random_step(random);
		break;
	case 2:
	case 3:
		statement->hi += random_step(random);
		break;
	case 4:
		delete_statement(strip, at);
		return;
	case 5:
		repeat_statement(strip, at, random_below(random, strip->statement_count + 1));
		return;
	case 6:
		move_statement(strip, at, random_below(random, strip->statement_count));
		return;
	case 7:
		change_operation(statement);
		return;
	default:
		statement->node = random_below(random, net->node_count);
		break;
	}
	clamp(net, statement);
}

static void mutate_group(struct schedule *schedule, const struct net *net, struct random *random)
{
	struct sched_group *group = &schedule->groups[random_below(random, schedule->group_count)];
	int strip = random_below(random, group->strip_count), node = 1 + random_below(random, net->node_count - 1);
	bool conv = net->nodes[node].op == NET_CONV && node >= group->first && node <= group->last;

	switch (random_below(random, 9)) {
	case 0:
		swap(&group->strips[strip], &group->strips[random_below(random, group->strip_count)], sizeof(*group->strips));
		break;
	case 1:
		shift_strip(&group->strips[strip], net, random_step(random));
		break;
	case 2:
		delete_strip(group, strip);
		break;
	case 3:
		group->sub_batch = 1 + random_below(random, schedule->batch + 1);
		break;
	case 4:
		group->tiling = (enum sched_tiling)random_below(random, 3);
		break;
	case 5:
		swap(group, &schedule->groups[random_below(random, schedule->group_count)], sizeof(*group));
		break;
	case 6:
		if (conv)
			group->weight[node] = (struct sched_policy){.resident = !group->weight[node].resident};
		break;
	case 7:
		if (conv && group->phase == SCHED_BACKWARD)
			group->wgrad[node] = (struct sched_policy){.resident = !group->wgrad[node].resident};
		break;
	default:
		schedule->buffer_bytes = schedule->buffer_bytes / 4 * (uint32_t)(1 + random_below(random, 4));
		break;
	}
}

void mutate(struct schedule *schedule, const struct net *net, struct random *random)
{
	struct sched_group *group = &schedule->groups[random_below(random, schedule->group_count)];
	struct sched_strip *strip = &group->strips[random_below(random, group->strip_count)];

	if (random_below(random, 4) == 0 || strip->statement_count == 0)
		mutate_group(schedule, net, random);
	else
		mutate_statement(strip, net, random);
}

char *mutant_text(const struct schedule *schedule, const struct net *net)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *file = open_memstream(&text, &bytes);

	cr_assert_not_null(file);
	schedule_write(schedule, net, file, NULL);
	fclose(file);
	return text;
}

void contradict(const struct schedule *schedule, const struct net *net, uint64_t seed, const char *what, const char *verdict)
{
	cr_assert_fail("seed %" PRIu64 ": %s; checker: %s\n%s", seed, what, verdict, mutant_text(schedule, net));
}

void judge_schedule(const struct schedule *schedule, const struct net *net, uint64_t seed, struct verdicts *verdicts)
{
	struct check_result result;
	struct interpretation run = interpret(schedule, net);

	schedule_check(schedule, net, &result, NULL);
	if (result.ok) {
		verdicts->proven++;
		if (!interpretation_right(&run))
			contradict(schedule, net, seed, "proven, but what it delivers is wrong", "proven");
		if (result.peak_bytes != run.peak_bytes || run.peak_bytes > schedule->buffer_bytes)
			contradict(schedule, net, seed, "proven, but occupancy differs", "proven");
		return;
	}
	verdicts->caught[result.violation.kind]++;
	if (run.meaningless)
		return;
	switch (result.violation.kind) {
	case CHECK_ABSENT:
	case CHECK_NOT_STORED:
	case CHECK_NOT_KEPT:
	case CHECK_COVERAGE:
		if (interpretation_right(&run))
			contradict(schedule, net, seed, "caught, but nothing is wrong", result.violation.text);
		break;
	case CHECK_BUFFER:
		if (run.peak_bytes <= schedule->buffer_bytes)
			contradict(schedule, net, seed, "caught, but it fits", result.violation.text);
		break;
	default:
		break;
	}
}
