// SPDX-License-Identifier: Apache-2.0
//
// A network as values: what operators with work to do (convolution, fc, pool, add) make and pass on. A normalization behind a convolution,
// and the ReLU behind that, are made on the way to each reader from the convolution's raw output, which is what lies in the
// buffer or in DRAM. A ReLU behind anything else works in place, and its output is the value.
#ifndef WC_HYBRID_VIEW_H
#define WC_HYBRID_VIEW_H

#include "driver/plan/paper/graph.h"

// What reads or holds a tensor, per node.
struct hybrid_node {
	int value;      // tensor that operators read (a leaf): the value it is made from; itself for a value
	int maker;      // value: the operator that makes it
	int leaf;       // value: the tensor made from it that operators read
	int made;       // operator: the value it makes; -1: no operator with work
	int norm, relu; // leaf: the normalization and ReLU between value and leaf; 0: none
	int plain;      // value behind a ReLU in place: what the ReLU reads; else the value itself
	int turned;     // leaf: the tensor whose gradient its maker wants: that of the value, before a ReLU in place
	bool kept;      // value: backward needs it, unless it is made again
	bool masked;    // value behind a ReLU in place that backward needs for its signs alone: a mask
};

struct hybrid_view {
	const struct paper_graph *graph; // borrowed
	struct hybrid_node *nodes;
};

// 0; WC_ERR_SYSTEM; HYBRID_UNFIT if values do not describe the network: some normalization or ReLU is not the only reader of its
// input, a tensor's readers are in several modules, or the output is a ReLU or concatenation. hybrid_view_release() in any case.
enum { HYBRID_UNFIT = 1 };
int hybrid_view_init(struct hybrid_view *view, const struct paper_graph *graph, struct wc_error *err);
void hybrid_view_release(struct hybrid_view *view);

#endif
