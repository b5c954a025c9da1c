// SPDX-License-Identifier: Apache-2.0
//
// The checker's counts against the planners' accounting, which was written apart from it.
#ifndef COMPARE_H
#define COMPARE_H

#include "driver/plan/check/check.h"

// Fail the test, naming `what`, unless bytes of every class and direction, commands, MACs and footprint are equal; of a `paper` schedule
// the most bytes in the buffer, too.
void compare_account(const struct schedule *schedule, const struct net *net, const struct check_result *result, const char *what);
void compare_paper_account(const struct schedule *schedule, const struct net *net, const struct check_result *result, const char *what);

#endif
