// SPDX-License-Identifier: Apache-2.0
//
// What forward and backward emission share: which tensors stay on the chip.
#ifndef WC_PAPER_EMIT_INTERNAL_H
#define WC_PAPER_EMIT_INTERNAL_H

#include "driver/plan/paper/emit.h"
#include "driver/plan/paper/statement.h"

struct emit {
	const struct paper_graph *graph;
	const struct paper_group *group;
	int first, last;           // nodes of the group
	struct paper_writer writer;
};

const struct net_node *emit_node(const struct emit *emit, int node);
bool emit_fits(const struct emit *emit, int node);
// Whether reader `reader` finds the activation `tensor` (a piece, not a concatenation) in the buffer.
bool emit_act_stays(const struct emit *emit, int tensor, int reader);
// Whether the complete gradient of `tensor`, which its first reader makes, is in the buffer for the tensor's producer.
bool emit_grad_stays(const struct emit *emit, int tensor);

void emit_forward(struct emit *emit, int node);
void emit_backward(struct emit *emit, int node);

#endif
