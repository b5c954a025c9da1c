// SPDX-License-Identifier: Apache-2.0
//
// The inside of the expansion: statements become steps and slabs (expand.c, expand_strip.c), slabs get
// addresses (program.c), loads move ahead (hoist.c). For use by these files alone.
#ifndef WC_PLAN_EXPAND_H
#define WC_PLAN_EXPAND_H

#include "driver/plan/device/place.h"
#include "driver/plan/device/program.h"
#include "driver/plan/rows.h"

enum { EXPAND_TENSOR_KINDS = 3 };

struct expansion {
	struct program *program;
	const struct schedule *schedule;
	const struct net *net;
	struct wc_error *err;
	int step_capacity, slab_capacity;

	// Per slab.
	int *root;      // the slab whose place it shares: itself, an in-place ReLU's input, or an earlier slice
	int *free_from; // of a root: the first step before which nothing else uses its bytes

	// Per node, over the whole program.
	int *cuts;       // accumulate statements so far
	int *cuts_group; // the group that made them

	// The present group and strip.
	const struct sched_group *group;
	int group_index, iteration, strip, sample_first, sample_count;
	int *resident_weight, *resident_sums; // per node: slab or -1
	struct expand_tensor *tensors;        // per kind and node
};

// A tensor in the present strip.
struct expand_tensor {
	struct rows hull;
	int first, last; // statements that use it; first -1: none
	int slab;        // -1 until its first use
};

// Both return 0 or WC_ERR_SYSTEM. The program must outlive the expansion.
int expand_init(struct expansion *x, struct program *program, const struct schedule *schedule, const struct net *net, struct wc_error *err);
void expand_release(struct expansion *x);

// WC_ERR_INPUT if the schedule's statements alone make more steps than a program may have; expand_step() holds slices to the same limit.
int expand_check_length(struct expansion *x);

// Enter a group: slabs for what is resident, and the loads of resident weights. Not placed yet.
int expand_begin_group(struct expansion *x, const struct sched_group *group, int group_index);
// The stores of resident sums.
int expand_end_group(struct expansion *x);
// Append the steps and slabs of strip x->strip for the samples and iteration in x. Not placed yet.
int expand_strip(struct expansion *x);

// Append a slab of `bytes`, not used by any step yet: its index or a negative error.
int expand_slab(struct expansion *x, const struct slab *slab, uint64_t bytes);
// A slab for output channels [lo, hi) of a convolution's weights or sums.
int expand_weight_slab(struct expansion *x, enum slab_kind kind, int node, int lo, int hi);
// Extend a slab's life to a step; nothing if slab is -1.
void expand_touch(struct expansion *x, int slab, int step);
// Append a step of the present strip and extend the lives of its slabs.
int expand_step(struct expansion *x, struct step step);
// The load or store of a slab of weights or sums.
int expand_weight_transfer(struct expansion *x, enum step_op op, int slab);

// The pieces to place among the slabs from `slab_first` on, one per root, in order of their index. The caller
// frees. `roots` gets their slab indices.
int expand_pieces(const struct expansion *x, int slab_first, struct piece **pieces, int **roots, int *count);

// The layer at work at a step: that of the first step from there on that computes, so that a load is told as part
// of the layer it is for.
int expand_layer_at(const struct expansion *x, int step);

// "group 2 (backward conv1..relu2)", or "a backward group conv1..relu2" if the schedule does not have it yet, for
// messages; `text` has `bytes`.
const char *expand_group_text(const struct expansion *x, char *text, size_t bytes);

// Reorder the steps of the placed program (hoist.c).
int hoist_loads(struct expansion *x);

#endif
