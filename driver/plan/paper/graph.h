// SPDX-License-Identifier: Apache-2.0
//
// A network as the planners for `paper` accounting see it: operators in order, concatenations resolved into their pieces.
#ifndef WC_PAPER_GRAPH_H
#define WC_PAPER_GRAPH_H

#include "driver/net/net.h"

struct paper_list {
	int *items;
	int count;
};

struct paper_graph {
	const struct net *net;     // borrowed
	int output;                // the network's output: the loss's input, or the last node
	int module_count;          // of net->modules, without one that holds the loss alone
	int *order;                // [node]: position among the operators; -1 for image, concatenations and loss
	struct paper_list *pieces; // [node]: the tensors that act:NODE stands for; the node itself but for concatenations
	struct paper_list *uses;   // [node]: operators that read the tensor, ascending, one entry per use; none for concatenations
};

// 0 or WC_ERR_SYSTEM; paper_graph_release() in any case.
int paper_graph_init(struct paper_graph *graph, const struct net *net, struct wc_error *err);
void paper_graph_release(struct paper_graph *graph);

// Whether a tensor is the network's output, or a piece of it.
bool paper_is_output(const struct paper_graph *graph, int tensor);
// Whether backward needs the tensor's values: a convolution, fc or normalization reads it.
bool paper_saved(const struct paper_graph *graph, int tensor);
// Elements and, in fp16, bytes of a node's output, one sample; pieces of a concatenation together.
int64_t paper_elements(const struct net_node *node);
int64_t paper_bytes(const struct paper_graph *graph, int node);
// What a layer by itself needs of the buffer per sample, in bytes: input and output; what works in place its output alone, an add two.
int64_t paper_layer_need(const struct paper_graph *graph, int node);
// The last node of a module that is scheduled (not the loss).
int paper_module_last(const struct paper_graph *graph, int module);

#endif
