// SPDX-License-Identifier: Apache-2.0
//
// Which rows depend on which, and what tensors weigh: the formulas of driver/README.md. Shared by
// the planners, the expansion and the accounting; the checker has its own.
#ifndef WC_PLAN_ROWS_H
#define WC_PLAN_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/plan/schedule.h"

struct rows {
	int lo, hi; // half-open; lo >= hi: empty
};

static inline bool rows_empty(struct rows rows)
{
	return rows.lo >= rows.hi;
}

static inline int rows_count(struct rows rows)
{
	return rows_empty(rows) ? 0 : rows.hi - rows.lo;
}

// The smallest interval that holds both; an empty one adds nothing.
struct rows rows_hull(struct rows a, struct rows b);
// Whether `outer` holds all of `inner`.
bool rows_contain(struct rows outer, struct rows inner);

// The taps of an operator that slides over the rows: a convolution or a pool with a kernel.
struct row_window {
	int span, stride, pad; // span: from the first tap's row to behind the last one's
};

// False, and one row for one row, if the operator is none of these.
bool rows_window(const struct net_node *node, struct row_window *window);

// Rows of a node's input that its output rows read, cut to the image.
struct rows rows_of_input(const struct net_node *node, struct rows out);
// Rows of a node's output on which these input rows' gradient depends, cut to the tensor; may be empty.
struct rows rows_of_gradient(const struct net_node *node, struct rows in);

// Bytes of one row of one sample, without and with rounding up to the bus.
uint32_t rows_payload_bytes(const struct net *net, enum sched_tensor tensor, int node);
uint32_t rows_pitch_bytes(const struct net *net, enum sched_tensor tensor, int node, uint32_t bus_bytes);

uint64_t round_up(uint64_t value, uint64_t unit);
int64_t div_up(int64_t a, int64_t b);

#endif
