// SPDX-License-Identifier: Apache-2.0
//
// The inside of the expansion: statements become steps and slabs (expand.c, expand_strip.c), slabs get
// addresses (program.c), loads move ahead (hoist.c). For use by these files alone.
#ifndef WC_PLAN_EXPAND_H
#define WC_PLAN_EXPAND_H

#include "driver/plan/device/place.h"
#include "driver/plan/device/program.h"
#include "driver/plan/device/use.h"
#include "driver/plan/rows.h"

enum { EXPAND_TENSOR_KINDS = 3 };

// A tensor's slab in the present strip: from the first statement that uses it to the last, or to a `free`.
struct expand_life {
	struct rows hull;
	int first, last; // statements
	int slab;        // -1 until its first use
	int next;        // the tensor's life behind a `free`, -1: none
};

struct expansion {
	struct program *program;
	const struct schedule *schedule;
	const struct net *net;
	struct wc_error *err;
	int step_capacity, slab_capacity;
	int core_first, core_samples; // the core's samples
	bool holds; // a statement's slabs live from its first step to its last; chains do without, and have more room for early loads

	// Per slab.
	int *root;      // the slab whose place it shares: itself, an input that is worked on in place, or an earlier slice
	int *free_from; // of a root: the first step before which nothing else uses its bytes

	// Per node, over the whole program.
	int *cuts;       // statements so far that added to the sums of the parameters' gradients
	int *cuts_group; // the group that made them

	// The present group and strip.
	const struct sched_group *group;
	const char *whole; // what runs beside the groups, for messages; NULL: a group does
	int group_index, iteration, strip, sample_first, sample_count;
	int *resident_weight, *resident_sums; // per node: slab or -1. A normalization's: of its parameters and their gradients
	int *resident_bias, *resident_bias_sums; // per node: slab of the bias in fp32, of its gradient, or -1
	int *has_statistics;                  // per node: use_has_statistics() in this group
	int *counted;                         // per node: rows of a normalization whose sums have been made in the present iteration
	struct expand_life *lives;
	int life_count, life_capacity;
	int *current;                         // per kind and node: the life that is on, or the next one; -1: none
	struct use_list uses;                 // of the statement at hand
};

// Both return 0 or WC_ERR_SYSTEM. The program must outlive the expansion.
int expand_init(struct expansion *x, struct program *program, const struct schedule *schedule, const struct net *net, struct wc_error *err);
void expand_release(struct expansion *x);
// The program is that of core `core`; else it is core 0's.
void expand_set_core(struct expansion *x, int core);

// WC_ERR_INPUT if the schedule's statements alone make more steps than a program may have; expand_step() holds slices to the same limit.
int expand_check_length(struct expansion *x);

// Enter a group: slabs for what is resident, and the loads of resident weights. Not placed yet.
int expand_begin_group(struct expansion *x, const struct sched_group *group, int group_index);
// The stores of resident sums.
int expand_end_group(struct expansion *x);
// Begin what runs beside the groups, over the core's samples. `frame` has its phase and nothing else, and must stay; `what` is its name.
void expand_begin_whole(struct expansion *x, const struct sched_group *frame, const char *what);
// Append the steps and slabs of strip x->strip for the samples and iteration in x. Not placed yet.
int expand_strip(struct expansion *x);

// Append a slab of `bytes`, not used by any step yet: its index or a negative error.
int expand_slab(struct expansion *x, const struct slab *slab, uint64_t bytes);
// A slab for output channels [lo, hi) of a convolution's weights, bias or their sums.
int expand_weight_slab(struct expansion *x, enum slab_kind kind, int node, int lo, int hi);
// The same for some rows of the kernel.
int expand_filter_slab(struct expansion *x, enum slab_kind kind, int node, struct rows channels, struct rows taps);
// A slab for a normalization's parameters or their gradients.
int expand_vector_slab(struct expansion *x, enum slab_kind kind, int node);
// A slab for rows [lo, hi) of a map of the present samples; a normalization's vectors of a sample are row 0:1.
int expand_map_slab(struct expansion *x, enum slab_kind kind, int node, struct rows rows);
// Extend a slab's life to a step; nothing if slab is -1.
void expand_touch(struct expansion *x, int slab, int step);
// ... to all steps first..last.
void expand_hold(struct expansion *x, int slab, int first, int last);
// Append a step of the present strip and extend the lives of its slabs.
int expand_step(struct expansion *x, struct step step);
// The load or store of a slab of weights or sums, or of all rows of another, or of some.
int expand_weight_transfer(struct expansion *x, enum step_op op, int slab);
int expand_slab_transfer(struct expansion *x, enum step_op op, int slab);
int expand_rows_transfer(struct expansion *x, enum step_op op, int slab, struct rows rows);

// One more cut of a node's sums: step->cut and first_cut. WC_ERR_INPUT if another group has accumulated into them.
int expand_count_cut(struct expansion *x, int node, struct step *step);

// expand_life.c: the lives of a strip's tensors, each at its first; the life of a tensor that is on or comes next, NULL: none; its index in
// x->lives, to be changed.
int expand_survey(struct expansion *x, const struct sched_strip *strip);
struct expand_life *expand_life(struct expansion *x, enum sched_tensor tensor, int node);
int *expand_current(struct expansion *x, enum sched_tensor tensor, int node);
// The slab of a tensor whose life is on, made on its first use, or a negative error; and the one from which
// `rows` are read, -1 if rows are empty, *rc an error if it does not hold them.
int expand_tensor(struct expansion *x, enum sched_tensor tensor, int node);
int expand_read(struct expansion *x, enum sched_tensor tensor, int node, struct rows rows, int *rc);

// expand_conv.c: convolutions and fully connected layers. `step` has rows, source and result.
int expand_conv_forward(struct expansion *x, struct step step);
int expand_conv_gradient(struct expansion *x, struct step step);
int expand_accumulate(struct expansion *x, const struct sched_statement *statement);
// Load the bias of the output channels of `wide`, a slab of kind SLAB_BIAS_WIDE, and make it fp32.
int expand_bias(struct expansion *x, int wide);

// expand_norm.c: what the operators of a normalization read beside their operands, put into the step; and `statistics`.
int expand_norm_forward(struct expansion *x, const struct sched_statement *statement, struct step step);
int expand_norm_gradient(struct expansion *x, const struct sched_statement *statement, struct step step);
int expand_statistics(struct expansion *x, int node, struct rows rows);

// expand_loss.c, expand_update.c, behind expand_begin_whole(): the steps and slabs of the loss; of the reduction and, if asked, the update of some
// elements of an array. Not placed yet.
int expand_loss(struct expansion *x, int loss);
int expand_update(struct expansion *x, int node, enum parameter_array array, struct rows elements, bool update);
// How many elements they take at a time: what the buffer holds fits.
int expand_update_block(const struct schedule *schedule);

// The pieces to place among the slabs from `slab_first` on, one per root, in order of their index. The caller
// frees. `roots` gets their slab indices.
int expand_pieces(const struct expansion *x, int slab_first, struct piece **pieces, int **roots, int *count);

// The layer at work at a step: that of the first step from there on that computes, so that a load is told as part
// of the layer it is for.
int expand_layer_at(const struct expansion *x, int step);

// "group 2 (backward conv1..relu2)", or "a backward group conv1..relu2" if the schedule does not have it yet, or what runs
// beside the groups, for messages; `text` has `bytes`.
const char *expand_group_text(const struct expansion *x, char *text, size_t bytes);

// Reorder the steps of the placed program (hoist.c).
int hoist_loads(struct expansion *x);

#endif
