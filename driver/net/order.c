// SPDX-License-Identifier: Apache-2.0
#include "driver/net/order.h"

#include <stdlib.h>
#include <string.h>

struct sorter {
	const struct net *net;
	int *waiting;   // [node_count] uses of producers that are not done; -1: done
	int *first_use; // [node_count + 1] where a node's readers begin in `readers`
	int *readers;
};

static int collect_readers(struct sorter *sorter)
{
	const struct net *net = sorter->net;
	const size_t count = (size_t)net->node_count;
	int *fill;

	sorter->waiting = calloc(count, sizeof(int));
	sorter->first_use = calloc(count + 2, sizeof(int));
	if (!sorter->waiting || !sorter->first_use)
		return WC_ERR_SYSTEM;
	for (int i = 0; i < net->node_count; i++)
		for (int k = 0; k < net->nodes[i].input_count; k++)
			sorter->first_use[net->nodes[i].inputs[k] + 2]++;
	for (size_t i = 2; i < count + 2; i++)
		sorter->first_use[i] += sorter->first_use[i - 1];
	sorter->readers = malloc(((size_t)sorter->first_use[count + 1] + 1) * sizeof(int));
	if (!sorter->readers)
		return WC_ERR_SYSTEM;
	// Each entry moves to the next node's beginning as it is filled.
	fill = sorter->first_use + 1;
	for (int i = 0; i < net->node_count; i++) {
		sorter->waiting[i] = net->nodes[i].input_count;
		for (int k = 0; k < net->nodes[i].input_count; k++)
			sorter->readers[fill[net->nodes[i].inputs[k]]++] = i;
	}
	return 0;
}

static int sort(struct sorter *sorter, int order[])
{
	int done = 0, next = 0;

	while (next < sorter->net->node_count) {
		int lowest = next + 1;

		if (sorter->waiting[next]) {
			next++;
			continue;
		}
		order[done++] = next;
		sorter->waiting[next] = -1;
		for (int u = sorter->first_use[next]; u < sorter->first_use[next + 1]; u++) {
			const int reader = sorter->readers[u];

			if (!--sorter->waiting[reader] && reader < lowest)
				lowest = reader;
		}
		next = lowest;
	}
	return done;
}

// From a node that is left, every step to a producer that is left leads towards a cycle.
static int find_cycle(const struct sorter *sorter, int order[])
{
	const struct net *net = sorter->net;
	int at = 0, count = 0, lowest = 0;

	while (sorter->waiting[at] <= 0)
		at++;
	// Walk as many steps as there are nodes: then the walk is on a cycle.
	for (int steps = 0, start = -1; at != start; steps++) {
		const struct net_node *node = &net->nodes[at];
		int k = 0;

		if (steps == net->node_count)
			start = at;
		if (steps >= net->node_count)
			order[count++] = at;
		while (sorter->waiting[node->inputs[k]] <= 0)
			k++;
		at = node->inputs[k];
	}
	// Walked from reader to producer.
	for (int i = 0; i < count / 2; i++) {
		const int keep = order[i];

		order[i] = order[count - 1 - i];
		order[count - 1 - i] = keep;
	}
	for (int i = 1; i < count; i++)
		if (order[i] < order[lowest])
			lowest = i;
	while (lowest--) {
		const int first = order[0];

		memmove(order, order + 1, (size_t)(count - 1) * sizeof(int));
		order[count - 1] = first;
	}
	return count;
}

int net_order(const struct net *net, int order[], int *cycle_count, struct wc_error *err)
{
	struct sorter sorter = { .net = net };
	int rc = collect_readers(&sorter);

	*cycle_count = 0;
	if (rc)
		wc_fail(err, rc, "out of memory");
	else if (sort(&sorter, order) < net->node_count)
		*cycle_count = find_cycle(&sorter, order);
	free(sorter.waiting);
	free(sorter.first_use);
	free(sorter.readers);
	return rc;
}
