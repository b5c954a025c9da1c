// SPDX-License-Identifier: Apache-2.0
//
// Planners for `paper` accounting, on any network:
//
//   baseline  each layer by itself over the whole mini-batch, everything through DRAM
//   il        inter-layer reuse: the same, but a tensor stays on the chip between two layers that can both hold theirs for the
//             whole mini-batch
//   mbs-fs    mini-batch serialization with one sub-batch for the whole network
//   mbs1      groups of modules, each with its sub-batch; a tensor stays on the chip for a reader directly behind its producer
//   mbs2      the same; everything that a group makes stays to its last use
//   mbs       mbs2
//   overl     row-centric: the first run of convolutions, ReLUs and pools is cut into strips that carry their halo, as far as that saves;
//             the rest layer by layer
//   2ps       the same, with strips that hand lines on
//   overl-h, 2ps-h  the network is cut into several such segments, with stored tensors between; what cannot be tiled goes layer by layer
//   hybrid    the best of all these and of a search of its own (hybrid/): forward and backward grouped apart, weights pinned in what a
//             sub-batch leaves, normalizations and ReLUs regenerated, saved tensors held, row strips, convolutions recomputed
//             within options->max_extra_percent; best by options->objective
//
// A module that does not fit with one sample streams like the baseline.
#ifndef WC_PLAN_PAPER_H
#define WC_PLAN_PAPER_H

#include "driver/plan/plan.h"

// DRAM bytes that no schedule of a training step can do without, however large the buffer: images and parameters read, the output
// written and its gradient read, parameters' gradients written, each once; parameters and their gradients on each core.
uint64_t paper_lower_bound(const struct net *net, int batch, int cores);

// By name. 0 and a schedule to release, or an error and nothing.
int paper_plan(struct schedule *schedule, const char *name, const struct net *net, const struct plan_options *options, struct wc_error *err);
// The i-th planner's name; NULL past the last.
const char *paper_plan_name(int i);
// 0, or WC_ERR_INPUT with the list of names if there is no such planner.
int paper_plan_require(const char *name, struct wc_error *err);

#endif
