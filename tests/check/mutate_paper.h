// SPDX-License-Identifier: Apache-2.0
//
// Random changes of `paper` schedules, and the judgement of what the checker says of them.
#ifndef MUTATE_PAPER_H
#define MUTATE_PAPER_H

#include "tests/check/mutate.h"

// Change one thing: rows, clauses, order or presence of statements, strips, a group's property, the buffer.
void mutate_paper(struct schedule *schedule, const struct net *net, struct random *random);

// Like judge_schedule(), against graph_machine.h. Statistics and parts of gradients are judged as missing rows are.
void judge_paper(const struct schedule *schedule, const struct net *net, uint64_t seed, struct verdicts *verdicts);

#endif
