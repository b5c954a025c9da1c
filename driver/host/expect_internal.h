// SPDX-License-Identifier: Apache-2.0
//
// What the parts of the golden run share: expect.c keeps tensors and sums, expect_forward.c and expect_gradient.c run the operators.
#ifndef WC_EXPECT_INTERNAL_H
#define WC_EXPECT_INTERNAL_H

#include "driver/host/expect.h"

// A tensor of a node's shape for the batch; NULL: see err.
uint16_t *expect_allocate(const struct expect *expect, int node, struct wc_error *err);
// Account for a golden operator of `node` on that many samples.
void expect_spent(struct expect *expect, int node, double start_s, double samples);

// Run one operator, its inputs (backward: its output's gradient, and what forward made) being there. 0 or an error.
int expect_run_forward(struct expect *expect, int node, uint16_t *act, struct wc_error *err);
// The part of the gradient of `node` that its consumer makes.
int expect_run_gradient(struct expect *expect, int node, int consumer, uint16_t *part, struct wc_error *err);

// The node whose output the loss reads, or the last node.
int expect_output(const struct expect *expect);

#endif
