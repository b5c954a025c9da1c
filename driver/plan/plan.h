// SPDX-License-Identifier: Apache-2.0
//
// The planners. For `device` accounting (driver/plan/device), each makes a schedule for forward and backward of a chain
// network that program_expand() places and the checker proves; those for `paper` accounting are in driver/plan/paper/paper.h.
//
//   baseline  layer by layer, the whole mini-batch: every node is a group of its own and goes through DRAM; a
//             layer of which one sample does not fit is cut into row strips
//   mbs       mini-batch serialization: groups of layers run a sub-batch through the buffer; convolution inputs and
//             ReLU masks are stored for backward; forward and backward are grouped apart
//   overl     row-centric: segments cut into strips that carry their halo; backward recomputes what is between
//   2ps       row-centric: strips hand boundary lines on, forward downwards and backward upwards; no halo is recomputed
#ifndef WC_PLAN_H
#define WC_PLAN_H

#include "driver/plan/schedule.h"

enum plan_phases { PLAN_ALL, PLAN_FORWARD };

enum plan_objective { PLAN_TRAFFIC, PLAN_FOOTPRINT, PLAN_TIME };

struct plan_options {
	int batch;     // of all cores
	int cores;     // planners by name split the batch; each planner by itself plans for 1
	int rows, cols, acc_rows;
	uint32_t buffer_bytes, bus_bytes; // the buffer is a core's
	int strips;    // row-centric planners: strips per segment where the layers have the rows; 0: chosen
	enum plan_phases phases; // PLAN_FORWARD: no backward groups, nothing stored for them
	enum sched_accounting accounting;
	int max_extra_percent;   // hybrid: MACs it may spend on recomputation, of the training MACs
	enum plan_objective objective;
	// hybrid: told what it is about to try, the done + 1st of `count`; NULL: nobody is.
	void (*trying)(void *context, const char *what, int done, int count);
	void *trying_context;
};

// What one core's share is planned with: options of one core. WC_ERR_INPUT if the batch cannot be split evenly.
int plan_core_options(struct plan_options *core, const struct plan_options *options, struct wc_error *err);
// Make a schedule of one core's share that of all cores.
void plan_for_cores(struct schedule *schedule, const struct plan_options *options);

// All return 0 and a schedule to release, or an error and nothing. A layer that fits in no way is WC_ERR_INPUT:
// "cannot fit layer 'conv4' ...: needs N bytes, buffer has M".
int plan_baseline(struct schedule *schedule, const struct net *net, const struct plan_options *options, struct wc_error *err);
int plan_mbs(struct schedule *schedule, const struct net *net, const struct plan_options *options, struct wc_error *err);
int plan_overl(struct schedule *schedule, const struct net *net, const struct plan_options *options, struct wc_error *err);
int plan_2ps(struct schedule *schedule, const struct net *net, const struct plan_options *options, struct wc_error *err);

// Any planner's schedule for `paper` accounting, made into one that the device runs, for any network of what the device has (graph.c).
int plan_graph(struct schedule *schedule, const char *name, const struct net *net, const struct plan_options *options, struct wc_error *err);

// The best of plan_graph()'s hybrid and all other planners, within the budget of extra MACs.
int plan_device_hybrid(struct schedule *schedule, const struct net *net, const struct plan_options *options, struct wc_error *err);

// MACs that options->max_extra_percent allows beyond the training MACs, for one sample.
int64_t plan_extra_macs_max(const struct net *net, const struct plan_options *options);

// By name, for options->accounting; WC_ERR_INPUT with the list of names if there is no such planner.
int plan_by_name(struct schedule *schedule, const char *name, const struct net *net, const struct plan_options *options, struct wc_error *err);
// The name of the i-th planner that is the device's own, for chains; NULL past the last. The others' names are those of paper_plan_name().
const char *plan_name(int i);

#endif
