// SPDX-License-Identifier: Apache-2.0
//
// What is so of the steps and slabs of any program, whatever network it is of.
#ifndef TESTS_PLAN_SOUND_H
#define TESTS_PLAN_SOUND_H

#include "driver/plan/device/program.h"

// Slabs are there while steps use them, those that are there at once lie apart but for what works in place, and slices of weights and sums are
// those that the steps work on. Fails the test; `what` names it.
void sound_program(const char *what, const struct program *program);

#endif
