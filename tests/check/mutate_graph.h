// SPDX-License-Identifier: Apache-2.0
//
// Random changes of schedules of graphs, and the judgement of what the checker says of them.
#ifndef MUTATE_GRAPH_H
#define MUTATE_GRAPH_H

#include "tests/check/mutate.h"

// Change one thing: rows, clauses, order or presence of statements, strips, a group's property, the buffer.
void mutate_graph(struct schedule *schedule, const struct net *net, struct random *random);

// Like judge_schedule(), against graph_machine.h. Statistics and parts of gradients are judged as missing rows are.
void judge_graph(const struct schedule *schedule, const struct net *net, uint64_t seed, struct verdicts *verdicts);

#endif
