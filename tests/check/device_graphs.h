// SPDX-License-Identifier: Apache-2.0
//
// Small graphs and complete `device` schedules for them, by hand.
#ifndef DEVICE_GRAPHS_H
#define DEVICE_GRAPHS_H

#include "tests/check/graphs.h"

// A residual block with identity and norms, in iterations; branches joined by a concatenation that two nodes read; strips around a norm, which
// hand over lines and partial sums; convolutions with biases in slices, whose input several read; pools block by block, a ReLU made again; a
// convolution of two groups with a bias and a stride, and a depthwise one, in slices of whole groups.
enum device_name { DEVICE_RESIDUAL, DEVICE_CONCAT, DEVICE_NORM_STRIPS, DEVICE_SLICES, DEVICE_POOLS, DEVICE_GROUPS, DEVICE_COUNT };

extern const char device_norm_strips_net[], device_norm_strips[]; // device_graphs_norm.c
extern const struct graph_case device_cases[DEVICE_COUNT];

// Parse `text` for the case's network and check it, with loss and update.
int device_check(const struct graph_case *graph, const char *text, struct check_result *result);
// The same with one replacement, see fixture_replace().
int device_check_replaced(const struct graph_case *graph, const char *from, int nth, const char *to, struct check_result *result);

#endif
