// SPDX-License-Identifier: Apache-2.0
//
// Which rows of which tensors a statement on a graph works with: driver/README.md, "Meaning". For planners and accounting; the
// checker has its own.
#ifndef WC_PLAN_OPERANDS_H
#define WC_PLAN_OPERANDS_H

#include "driver/plan/rows.h"

// Bits of a mask per element: 1 for a ReLU, ceil(log2(kh kw)) for a max pool.
int operand_mask_bits(const struct net_node *node);

// Parameters, of `element_bytes`, that a policy keeps in the buffer: none, those of `slice` output channels, or all.
uint64_t operand_resident_bytes(const struct net_node *node, struct sched_policy policy, int element_bytes);

// The backward operators that a `compute grad:` statement runs, from the one that reads the tensor onwards: `through`, or the reader alone.
int operand_chain_length(const struct sched_statement *statement);
int operand_chain(const struct net *net, const struct sched_statement *statement, int i);

// Whether a tensor is `node`'s, or a piece of it, if that is a concatenation.
bool operand_holds(const struct net *net, int named, int node);

// What a statement reads for a tensor that it wants: the tensor itself, or what `using` names in its place.
int operand_source(const struct net *net, const struct sched_statement *statement, int tensor);

// The normalizations that a statement makes on the way from what `using` names; each once. At most `max` into `nodes`; their number.
int operand_remade(const struct net *net, const struct sched_statement *statement, int *nodes, int max);

// The node whose output's gradient a backward statement reads.
int operand_gradient(const struct net *net, const struct sched_statement *statement);
// Whether a statement reads, or makes, an activation or a gradient, the sum so far included; `node` is no concatenation.
bool operand_reads(const struct net *net, const struct sched_statement *statement, enum sched_tensor tensor, int node);
bool operand_makes(const struct net *net, const struct sched_statement *statement, enum sched_tensor tensor, int node);
// Whether some entry of `from` names a tensor, a piece of it, or what it is a piece of.
bool operand_streams(const struct net *net, const struct sched_statement *statement, enum sched_tensor tensor, int node);

// The mask that a statement makes or, for a gradient, reads, with its rows; false: none. Under `paper` it always streams, whether or not `from`
// or `to` names it.
bool operand_mask(const struct net *net, const struct sched_statement *statement, struct sched_operand *mask);

// Rows of an operand: those that stand behind it, else those that the statement needs of it.
struct rows operand_rows(const struct net *net, const struct sched_statement *statement, const struct sched_operand *operand);

#endif
