// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/build.h"

#include <stdlib.h>
#include <string.h>

// Room for one more element; capacities are the powers of two, so that none needs to be stored.
static void *grow(void *array, int count, size_t element_bytes)
{
	if (count & (count - 1))
		return array;
	return reallocarray(array, count ? (size_t)count * 2 : 1, element_bytes);
}

int build_group_init(struct sched_group *group, enum sched_phase phase, int first, int last, int node_count)
{
	*group = (struct sched_group){ .phase = phase, .first = first, .last = last, .sub_batch = 1 };
	group->weight = calloc((size_t)node_count, sizeof(*group->weight));
	group->wgrad = calloc((size_t)node_count, sizeof(*group->wgrad));
	if (group->weight && group->wgrad)
		return 0;
	sched_group_release(group);
	return WC_ERR_SYSTEM;
}

int build_append(struct schedule *schedule, struct sched_group *group)
{
	struct sched_group *groups = grow(schedule->groups, schedule->group_count, sizeof(*groups));

	if (!groups) {
		sched_group_release(group);
		return WC_ERR_SYSTEM;
	}
	schedule->groups = groups;
	groups[schedule->group_count++] = *group;
	memset(group, 0, sizeof(*group));
	return 0;
}

struct sched_group *build_group(struct schedule *schedule, enum sched_phase phase, int first, int last, int node_count)
{
	struct sched_group group;

	if (build_group_init(&group, phase, first, last, node_count) || build_append(schedule, &group))
		return NULL;
	return &schedule->groups[schedule->group_count - 1];
}

struct sched_strip *build_strip(struct sched_group *group)
{
	struct sched_strip *strips = grow(group->strips, group->strip_count, sizeof(*strips));

	if (!strips)
		return NULL;
	group->strips = strips;
	strips[group->strip_count] = (struct sched_strip){ 0 };
	return &strips[group->strip_count++];
}

int build_statement(struct sched_strip *strip, const struct sched_statement *statement)
{
	struct sched_statement *statements = grow(strip->statements, strip->statement_count, sizeof(*statements));

	if (!statements)
		return WC_ERR_SYSTEM;
	strip->statements = statements;
	statements[strip->statement_count++] = *statement;
	return 0;
}

void build_drop_groups(struct schedule *schedule)
{
	for (int i = 0; i < schedule->group_count; i++)
		sched_group_release(&schedule->groups[i]);
	free(schedule->groups);
	schedule->groups = NULL;
	schedule->group_count = 0;
}
