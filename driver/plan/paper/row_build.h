// SPDX-License-Identifier: Apache-2.0
//
// Statements of one tiled segment, one phase: strips that carry their halo (OverL), or that hand lines on (2PS). LR-CNN, section 4.
//
// A segment is nodes first..last, each of which reads the one before it and no other node: convolutions, ReLUs, max and average
// pools. The segment's input and output go through DRAM; nothing between is stored, and backward computes it again,
// strip by strip. What is needed once streams; in backward, the input and the output's gradient may be held where they are
// needed twice. A ReLU's gradient looks at its output, which is in the buffer, and needs no mask; a max pool's index is written
// whenever the pool runs.
//
// A normalization needs whole samples, so it lies between two segments, and each does its part row by row:
//
//   first      The segment behind it. Forward, its statistics are known: it and the ReLUs behind it are made on the way from the
//              segment's input to the operator that reads them, and never are tensors of their own. Backward makes the sums, and stores
//              the gradient of the normalization's output.
//   next_norm  The segment before it. Forward makes its statistics on the output's way to DRAM. Backward, its sums are known: the gradient of the
//              segment's output is made from that of the normalization's.
//
//   OverL  backward, every row of the input's gradient is gathered in the one strip that owns it, every row of a
//          convolution's output enters the weight gradient in the one that owns it.
//   2PS    forward, a strip keeps the last lines of what a convolution or pool reads for the next strip, and stores those that backward
//          needs again. Backward runs from the bottom strip up: it loads these lines, and hands lines of gradients upwards.
#ifndef WC_PAPER_ROW_BUILD_H
#define WC_PAPER_ROW_BUILD_H

#include "driver/plan/paper/graph.h"
#include "driver/plan/schedule.h"

struct row_build {
	const struct paper_graph *graph;
	int first, last;
	enum sched_phase phase;
	enum sched_tiling tiling; // also with one strip
	int strips;
	bool hold;       // backward: the input, and the gradient of the output, stay in the buffer between two uses
	bool training;   // a backward group will follow
	int next_norm;   // the normalization that alone reads the segment's output; 0: none
	bool probe;      // some strips stand for all: for the occupancy alone
};

enum { ROW_NO_FIT = 1 };

// Whether nodes of this kind can be cut into rows.
bool row_tileable(const struct net_node *node);
// Whether the segment takes the gradient through the normalization behind it.
bool row_applies(const struct row_build *build);

// Fill an empty group's strips and tiling. 0, ROW_NO_FIT if the layers cannot be cut into so many strips, or WC_ERR_SYSTEM.
int row_build(const struct row_build *build, struct sched_group *group, struct wc_error *err);

#endif
