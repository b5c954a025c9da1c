// SPDX-License-Identifier: Apache-2.0
//
// Rows of every layer of a segment in every strip. A segment is nodes first..last, each of which reads the one before it: convolutions, pools with a
// kernel, and what makes a row from the same row. The first may read any node.
#ifndef WC_PLAN_STRIPS_H
#define WC_PLAN_STRIPS_H

#include "driver/plan/rows.h"

// One interval per strip and node first - 1 .. last; node first - 1 stands for the segment's input.
struct strip_rows {
	struct rows *rows;
	int first, last, strips;
};

// All intervals empty. 0 or WC_ERR_SYSTEM; strip_rows_release() in any case.
int strip_rows_init(struct strip_rows *table, int first, int last, int strips);
void strip_rows_release(struct strip_rows *table);
struct rows *strip_rows_at(const struct strip_rows *table, int strip, int node);

// OverL: the last layer's rows divided evenly, below it what the layer above reads; rows that no strip would read
// go to the strip before, so that the strips cover every layer. The input has just the rows that are read.
void strip_rows_overl(struct strip_rows *need, const struct net *net);
// OverL backward: who owns a row. Each layer's rows are divided where neighbouring strips' needs meet, in
// the middle of their overlap.
void strip_rows_own(struct strip_rows *own, const struct strip_rows *need, const struct net *net);
// 2PS: each layer's rows divided so that a strip ends where the next layer's strip needs it to:
// b_in = (b_out - 1) stride - pad + dilation (kernel - 1) + 1, dilation 1 for pools; the boundaries of the last layer are what an even division of the
// input lets be computed, or even themselves if that gives fewer strips. False if the layers cannot be cut so.
bool strip_rows_2ps(struct strip_rows *table, const struct net *net);
// The same with the strips - 1 boundaries of the last layer given.
bool strip_rows_2ps_at(struct strip_rows *table, const struct net *net, const int *boundaries);

#endif
