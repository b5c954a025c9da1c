// SPDX-License-Identifier: Apache-2.0
//
// The graph as schedules see it: what concatenations stand for, and who reads what.
#ifndef WC_CHECK_GRAPH_H
#define WC_CHECK_GRAPH_H

#include <stdbool.h>

#include "driver/net/net.h"

// The nodes that a concatenation stands for, or the readers of a tensor: ascending, one entry per use. A network's last
// node, if it is no loss, is read by the caller, who counts as the reader node_count.
struct check_list {
	int *nodes; // inside the graph's pool
	int count;
};

struct check_graph {
	int *pool;                  // owned
	bool views;                 // concatenations are views
	struct check_list *leaves;  // [node]: the node itself but for a view; owned
	struct check_list *readers; // [node]: empty for a view; owned
};

// `views`: concatenations are views. 0, or the error; check_graph_release() is due in either case.
int check_graph_init(struct check_graph *graph, const struct net *net, bool views, struct wc_error *err);
void check_graph_release(struct check_graph *graph);
// The node whose tensor is the network's output; it may be a concatenation.
int check_output(const struct net *net);

#endif
