// SPDX-License-Identifier: Apache-2.0
//
// What a statement of a `device` schedule does with slabs: which rows of which tensors it names, reads and fills, after driver/README.md. A
// concatenation is a tensor like any other.
#ifndef WC_PLAN_USE_H
#define WC_PLAN_USE_H

#include "driver/plan/rows.h"

enum use_role {
	USE_MOVE, // load, take, keep, store: names rows of the slab
	USE_READ,
	USE_FILL,
};

struct use {
	enum use_role role;
	enum sched_tensor tensor;
	int node;
	struct rows rows;
};

struct use_list {
	struct use *items; // owned
	int count, capacity;
};

// Replace the list's items by those of `statement`; reads come before fills, in the order of the operator's operands. 0 or WC_ERR_SYSTEM.
int use_find(struct use_list *list, const struct net *net, enum sched_phase phase, const struct sched_statement *statement);
void use_release(struct use_list *list);

// Whether a part of grad:`node` by `reader` is added to a sum: another reader, which runs later in forward, has made its part before.
bool use_continues(const struct net *net, int node, int reader);

// Rows of the kernel whose weights a data gradient of rows `rows` reads: all, but of a fully connected layer those of these rows, if the
// weights of a row are whole beats.
struct rows use_kernel_rows(const struct net_node *node, struct rows rows, uint32_t bus_bytes);

// Whether `statistics` of a normalization stand in the group's phase, in the group or in the schedule's others: its operators then do not
// make the sums themselves.
bool use_has_statistics(const struct schedule *schedule, const struct sched_group *group, int node);
// The same for all nodes at once: marks[node] becomes 1 where it holds, and stays as it is elsewhere.
void use_mark_statistics(const struct schedule *schedule, const struct sched_group *group, int *marks);

#endif
