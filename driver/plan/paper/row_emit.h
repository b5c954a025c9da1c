// SPDX-License-Identifier: Apache-2.0
//
// What the builders of OverL and 2PS strips share.
#ifndef WC_PAPER_ROW_EMIT_H
#define WC_PAPER_ROW_EMIT_H

#include "driver/plan/paper/row_build.h"
#include "driver/plan/paper/statement.h"
#include "driver/plan/strips.h"

struct row_emit {
	const struct row_build *build;
	struct paper_writer writer;
	int body;                  // the first node that is not made on the way: behind a normalization and its ReLUs, or the segment's first
	bool holds_input, holds_gradient;
	int top;                   // the last node that backward computes again, body - 1: none
};

const struct net_node *row_node(const struct row_emit *emit, int node);
// The tensor that a node reads.
int row_input(const struct row_emit *emit, int node);
// The segment's input.
int row_source(const struct row_emit *emit);
bool row_has_norm(const struct row_emit *emit);
bool row_input_has_gradient(const struct row_emit *emit, int node);
// Whether the operator reads more than a row for a row.
bool row_is_windowed(const struct row_emit *emit, int node);

// Statements; those without rows are left out.
void row_move(struct row_emit *emit, enum sched_op op, enum sched_tensor tensor, int node, struct rows rows);
// A feature map's rows; forward, the segment's output goes to DRAM.
void row_activation(struct row_emit *emit, int node, struct rows rows);
void row_accumulate(struct row_emit *emit, int node, struct rows rows);
// Rows of the gradient of what `reader` reads.
void row_gradient(struct row_emit *emit, int reader, struct rows rows);
// Backward's first step: rows of the gradient of the segment's output, out of DRAM or through the normalization behind.
void row_output_gradient(struct row_emit *emit, struct rows rows);
// Backward's last step, of a segment that begins with a normalization: from the gradient of what the body reads to that of the
// normalization's output, and its sums.
void row_norm_gradient(struct row_emit *emit, struct rows rows);

int row_build_overl(struct row_emit *emit, struct sched_group *group);
int row_build_2ps(struct row_emit *emit, struct sched_group *group);
// Begin the strip at `position` in the order of execution; false: a probe leaves it out, or memory ran out.
bool row_begin_strip(struct row_emit *emit, struct sched_group *group, int position);

#endif
