// SPDX-License-Identifier: Apache-2.0
#include "driver/plan/device/use.h"

#include <stdlib.h>

#include "traces/error.h"

static int add(struct use_list *list, enum use_role role, enum sched_tensor tensor, int node, struct rows rows)
{
	if (list->count == list->capacity) {
		const int capacity = list->capacity ? 2 * list->capacity : 8;
		struct use *items = reallocarray(list->items, (size_t)capacity, sizeof(*items));

		if (!items)
			return WC_ERR_SYSTEM;
		list->items = items;
		list->capacity = capacity;
	}
	list->items[list->count++] = (struct use){ role, tensor, node, rows };
	return 0;
}

static int find_forward(struct use_list *list, const struct net *net, const struct sched_statement *statement)
{
	const struct net_node *node = &net->nodes[statement->node];
	const struct rows rows = { statement->lo, statement->hi };
	int rc = 0;

	for (int i = 0; !rc && i < node->input_count; i++)
		rc = add(list, USE_READ, SCHED_ACT, node->inputs[i], rows_of_input(node, rows));
	if (!rc)
		rc = add(list, USE_FILL, SCHED_ACT, statement->node, rows);
	if (!rc && (statement->with == SCHED_WITH_MASK || node->op == NET_MAX_POOL))
		rc = add(list, USE_FILL, SCHED_MASK, statement->node, rows);
	return rc;
}

static int find_gradient(struct use_list *list, const struct net *net, const struct sched_statement *statement)
{
	const int reader = sched_gradient_reader(net, statement);
	const struct net_node *node = &net->nodes[reader];
	const struct rows rows = { statement->lo, statement->hi }, gathered = rows_of_gradient(node, rows);
	int rc = add(list, USE_READ, SCHED_GRAD, reader, gathered);

	if (!rc && node->op == NET_RELU)
		rc = add(list, USE_READ, statement->with == SCHED_WITH_MASK ? SCHED_MASK : SCHED_ACT, reader, rows);
	if (!rc && node->op == NET_GN)
		rc = add(list, USE_READ, SCHED_ACT, statement->node, rows);
	if (!rc && node->op == NET_MAX_POOL)
		rc = add(list, USE_READ, SCHED_MASK, reader, gathered);
	return rc ? rc : add(list, USE_FILL, SCHED_GRAD, statement->node, rows);
}

static int find_split(struct use_list *list, const struct net *net, const struct sched_statement *statement)
{
	const struct net_node *node = &net->nodes[statement->node];
	const struct rows rows = { statement->lo, statement->hi };
	int rc = add(list, USE_READ, SCHED_GRAD, statement->node, rows);

	for (int i = 0; !rc && i < node->input_count; i++)
		if (net->nodes[node->inputs[i]].has_gradient)
			rc = add(list, USE_FILL, SCHED_GRAD, node->inputs[i], rows);
	return rc;
}

int use_find(struct use_list *list, const struct net *net, enum sched_phase phase, const struct sched_statement *statement)
{
	const struct net_node *node = &net->nodes[statement->node];
	const struct rows rows = { statement->lo, statement->hi };
	int rc = 0;

	list->count = 0;
	switch (statement->op) {
	case SCHED_COMPUTE:
		return statement->tensor == SCHED_ACT ? find_forward(list, net, statement) : find_gradient(list, net, statement);
	case SCHED_SPLIT:
		return find_split(list, net, statement);
	case SCHED_ACCUMULATE:
	case SCHED_STATISTICS:
		if (statement->op == SCHED_ACCUMULATE || phase == SCHED_BACKWARD)
			rc = add(list, USE_READ, SCHED_GRAD, statement->node, rows);
		return rc ? rc : add(list, USE_READ, SCHED_ACT, node->inputs[0], rows_of_input(node, rows));
	case SCHED_FREE:
		return 0;
	default:
		return add(list, USE_MOVE, statement->tensor, statement->node, rows);
	}
}

void use_release(struct use_list *list)
{
	free(list->items);
	*list = (struct use_list){ .count = 0 };
}

bool use_continues(const struct net *net, int node, int reader)
{
	const struct net_node *of = &net->nodes[node];

	for (int i = 0; i < of->consumer_count; i++)
		if (of->consumers[i] > reader && net->nodes[of->consumers[i]].op != NET_LOSS)
			return true;
	return false;
}

struct rows use_kernel_rows(const struct net_node *node, struct rows rows, uint32_t bus_bytes)
{
	const bool whole = node->op != NET_FC || (uint64_t)node->conv.kernel_w * (uint64_t)node->in.channels * 2 % bus_bytes;

	return whole ? (struct rows){ 0, node->conv.kernel_h } : rows;
}

// Mark the normalizations whose `statistics` stand in a group, all or up to `node`: whether it is among them.
static bool mark_statistics(const struct sched_group *group, int node, int *marks)
{
	for (int i = 0; i < group->strip_count; i++)
		for (int k = 0; k < group->strips[i].statement_count; k++) {
			const struct sched_statement *statement = &group->strips[i].statements[k];

			if (statement->op != SCHED_STATISTICS)
				continue;
			if (marks)
				marks[statement->node] = 1;
			if (statement->node == node)
				return true;
		}
	return false;
}

// The group need not be in the schedule.
static bool mark_phase(const struct schedule *schedule, const struct sched_group *group, int node, int *marks)
{
	if (mark_statistics(group, node, marks))
		return true;
	for (int g = 0; g < schedule->group_count; g++)
		if (schedule->groups[g].phase == group->phase && mark_statistics(&schedule->groups[g], node, marks))
			return true;
	return false;
}

bool use_has_statistics(const struct schedule *schedule, const struct sched_group *group, int node)
{
	return mark_phase(schedule, group, node, NULL);
}

void use_mark_statistics(const struct schedule *schedule, const struct sched_group *group, int *marks)
{
	mark_phase(schedule, group, -1, marks);
}
