// SPDX-License-Identifier: Apache-2.0
//
// What the device must produce: tensors of the golden model, computed when they are first asked for.
//
// Forward outputs and data gradients, and what operators make on the way to them, do not depend on the schedule, so they are computed for the whole
// batch at once and may be shared by several runs. The gradients of parameters follow the run, cut by cut.
//
// Training: expect_next_step() updates the parameters by the gradients that the run has come to, and forgets all tensors. Then images and labels
// may be overwritten, in place, and the next step is asked for.
#ifndef WC_EXPECT_H
#define WC_EXPECT_H

#include <stdint.h>

#include "csim/backend.h"
#include "csim/golden/conv.h"
#include "csim/golden/norm.h"
#include "csim/golden/pool.h"
#include "driver/host/data.h"
#include "driver/host/optimizer.h"
#include "driver/host/value.h"

struct expect_way;
struct expect_updated;

// Gradients of a node's parameters that a core has summed: filters, then bias; gamma, then beta. Owned.
struct expect_sums {
	float *now, *before;       // after the present cut, and after the one before it
	int cut;                   // -1: none yet
	struct golden_range range; // samples and output rows of the present cut
	uint64_t covered;          // rows of samples in the cuts so far
};

struct expect {
	const struct data *data; // borrowed, as everything in it
	const struct net *net;
	int rows;                // of the array: they decide the order of sums
	uint16_t **act;          // [node_count] dense NHWC, owned but for the image; NULL: not computed yet
	uint16_t **grad;         // [node_count] gradient of each node's output, owned but for one that the data give; NULL as above
	uint8_t **index;         // [node_count] a max pool's indices (csim/golden/pool.h), owned
	struct golden_norm_statistics **statistics; // [node_count] of a normalization, per (sample, group), owned
	float *losses;           // [batch] of a network that ends with a loss, owned; NULL as above
	struct expect_way *way;  // [node_count] what a node's operators make on the way, owned
	struct optimizer *optimizer;     // borrowed, of the same data; NULL: there is no update. Set behind expect_init()
	struct expect_updated *updated;  // one array behind the update, owned
	int cores;               // of the device, 1 until expect_restart() says otherwise
	struct expect_sums *sums; // [WC_CORES_MAX * node_count]; expect_sums_of()
	float **reduced;         // [node_count] their sum over several cores; owned; NULL: not computed yet
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

// The output of a node; its gradient (of what has one). Dense NHWC, valid until release. NULL: see err.
const uint16_t *expect_act(struct expect *expect, int node, struct wc_error *err);
const uint16_t *expect_grad(struct expect *expect, int node, struct wc_error *err);
// Bring a core's gradients of a node's parameters to cut `cut`, which is the present one or the next: of filters and bias, or gamma and beta.
// `range`: the samples and rows of the node's output that the cut adds; a normalization's are added in ascending order of (sample, row).
int expect_advance(struct expect *expect, int core, int node, int cut, struct golden_range range, struct wc_error *err);
const struct expect_sums *expect_sums_of(const struct expect *expect, int core, int node);
// The sums after cut `cut`, which is the present one or the one before. NULL: neither.
const float *expect_sums(const struct expect *expect, int core, int node, int cut);
// Forget all sums: another run begins, on a device of `cores` cores.
void expect_restart(struct expect *expect, int cores);

// The elements of vector `vector` of row `row` (of `sample`, if the value has samples), dense; value_shape_of() says how they are counted.
// Elements that value_step() leaves out are +0. Valid until the next call of any of these functions. NULL: see err. WC_ERR_SYSTEM: a cut that is
// neither the present one nor the one before; a reduction or an update of gradients that do not cover the batch yet.
const void *expect_values(struct expect *expect, const struct value *value, int sample, int row, int vector, struct wc_error *err);

// Begin the next step: update the optimizer's masters and momenta and the data's parameters, if there is an optimizer; forget every tensor and
// sum. An error (a gradient that does not cover the batch) changes nothing.
int expect_next_step(struct expect *expect, struct wc_error *err);

#endif
