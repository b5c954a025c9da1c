// SPDX-License-Identifier: Apache-2.0
//
// What the device must produce: tensors of the golden model, computed when they are first asked for.
//
// Forward outputs and data gradients do not depend on the schedule, so they are computed for the whole batch at
// once and may be shared by several runs. Weight gradients follow the run, cut by cut.
#ifndef WC_EXPECT_H
#define WC_EXPECT_H

#include <stdint.h>

#include "csim/golden/conv.h"
#include "csim/golden/norm.h"
#include "csim/golden/pool.h"
#include "driver/host/data.h"

struct expect {
	const struct data *data; // borrowed, as everything in it
	const struct net *net;
	int rows;                // of the array: they decide the order of sums
	uint16_t **act;          // [node_count] dense NHWC, owned but for the image; NULL: not computed yet
	uint16_t **grad;         // [node_count] gradient of each node's output, owned but for one that the data give; NULL as above
	uint8_t **index;         // [node_count] a max pool's indices (csim/golden/pool.h), owned
	struct golden_norm_statistics **statistics; // [node_count] of a normalization, per (sample, group), owned
	float *losses;           // [batch] of a network that ends with a loss, owned; NULL as above
	float **sums;            // [node_count] weight gradients after cut[node], owned
	float **sums_before;     // ... after the cut before it
	int *cut;                // [node_count] -1: none yet
	struct golden_range *range; // [node_count] samples and output rows of cut[node]
	double cpu_s;            // processor time spent in golden operators
	uint64_t macs;           // multiply-accumulates of their convolutions
};

int expect_init(struct expect *expect, const struct data *data, int rows, struct wc_error *err);
void expect_release(struct expect *expect);

// Shapes for the golden operators. A fully connected layer is a convolution whose kernel is the image; its data gradient is that of a 1x1
// convolution over the image's elements.
struct golden_conv expect_conv(const struct expect *expect, int node);
struct golden_conv expect_gradient_conv(const struct expect *expect, int node);
struct golden_pool expect_pool(const struct expect *expect, int node);
struct golden_norm expect_norm(const struct expect *expect, int node);

// The output of a node; its gradient (of what has one). Dense NHWC, valid until release. NULL: see err. WC_ERR_INPUT for what the golden
// model of a run has not: groups of a convolution.
const uint16_t *expect_act(struct expect *expect, int node, struct wc_error *err);
const uint16_t *expect_grad(struct expect *expect, int node, struct wc_error *err);
// Bring the sums of a convolution to cut `cut`, which is the present one or the next.
int expect_cut(struct expect *expect, int node, int cut, struct golden_range range, struct wc_error *err);
// The sums after cut `cut`, which is the present one or the one before. NULL: neither.
const float *expect_sums(const struct expect *expect, int node, int cut);
// Forget all sums: another run begins.
void expect_restart(struct expect *expect);

#endif
