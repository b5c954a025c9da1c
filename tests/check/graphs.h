// SPDX-License-Identifier: Apache-2.0
//
// Small graphs and complete `paper` schedules for them, by hand.
#ifndef GRAPHS_H
#define GRAPHS_H

#include "tests/check/fixture.h"

struct graph_case {
	const char *name;
	const char *yaml; // the network
	const char *text; // the schedule
};

// A residual block with identity, one sub-batch after the other; its norms regenerated, in fused strips; a residual block with a
// strided shortcut, streams; two branches and a pool joined by a concatenation that two nodes read; strips of convolutions
// and pools that hand over lines; layers whose weights exceed half of the buffer; the residual block layer by layer, with
// views in DRAM; a norm that two nodes read; strips that end and begin at norms, with halos and handing over lines; and an odd graph: groups, dilation, an adaptive pool, a
// concatenation within one, an add of three whose input another reads later, and a concatenation as the output, without loss.
enum graph_name { GRAPH_IDENTITY, GRAPH_REGENERATED, GRAPH_SHORTCUT, GRAPH_CONCAT, GRAPH_STRIPS, GRAPH_WIDE, GRAPH_HEAVY, GRAPH_ODD, GRAPH_LAYERS,
		  GRAPH_FORK, GRAPH_NORMS_OVERL, GRAPH_NORMS_2PS, GRAPH_COUNT };

extern const char graph_norms_net[], graph_norms_overl[], graph_norms_2ps[]; // graphs_norm.c
extern const struct graph_case graph_cases[GRAPH_COUNT];

// Read the network; fails the test if it cannot be read.
void graph_net(struct net *net, const char *yaml);
// Parse `text` for the case's network and check it.
int graph_check(const struct graph_case *graph, const char *text, struct check_result *result);
// The same with one replacement, see fixture_replace().
int graph_check_replaced(const struct graph_case *graph, const char *from, int nth, const char *to, struct check_result *result);

#endif
