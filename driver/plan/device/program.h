// SPDX-License-Identifier: Apache-2.0
//
// A schedule expanded: every iteration's statements as a flat list of steps on slabs of the global
// buffer, with addresses. The host lowers each step to commands without deciding anything more
// about memory; the planner counts bytes and tries sizes on it.
#ifndef WC_PROGRAM_H
#define WC_PROGRAM_H

#include <stdint.h>

#include "driver/plan/schedule.h"

enum slab_kind { SLAB_ACT, SLAB_GRAD, SLAB_MASK, SLAB_WEIGHT, SLAB_WGRAD };

// A piece of the global buffer that holds rows of a tensor, or a slice of weights.
//   feature maps: byte of (sample n, row y, 0, 0) = offset + ((n - sample_first) * (hi - lo) + (y - lo)) * pitch
//   weights:      offset + (k - lo) * C R S * (2 or 4), k the output channel in [lo, hi)
// A ReLU in place has two slabs, input and result, with the same offset; both are live at its step.
struct slab {
	enum slab_kind kind;
	int node;
	int lo, hi;                    // rows; output channels for weights
	int sample_first, sample_count; // feature maps
	uint32_t pitch_bytes;          // feature maps: one row of one sample, a multiple of the bus
	uint32_t offset, bytes;        // in the global buffer; multiples of the bus
	int first_step, last_step;     // steps between which it is live, inclusive
};

enum step_op {
	STEP_LOAD,     // DRAM -> slab; feature map rows or a weight slice, or weight gradient sums so far
	STEP_STORE,    // slab -> DRAM
	STEP_TAKE,     // boundary -> slab
	STEP_KEEP,     // slab -> boundary
	STEP_FORWARD,  // convolution or ReLU `node`: act rows from input slab
	STEP_DATA_GRADIENT, // backward operator of `node`: gradient of its input
	STEP_WEIGHT_GRADIENT,
};

struct step {
	enum step_op op;
	enum sched_phase phase;
	int group, iteration, strip; // resident weights and sums are moved outside of any iteration and strip: -1, -1
	int node;                 // the operator's node; transfers: the tensor's node
	int sample_first, sample_count;
	int lo, hi;               // rows of the result (WEIGHT_GRADIENT: rows of grad:node); weight transfers: output channels
	int channel_lo, channel_hi; // output channels worked on (FORWARD, WEIGHT_GRADIENT slices)
	enum sched_with with;     // ReLU
	bool first_cut;           // WEIGHT_GRADIENT: sums start from zero
	int cut;                  // WEIGHT_GRADIENT: number of the cut of this node, from 0
	// Slabs, -1 where there is none.
	int source;  // transfers: the slab itself. FORWARD: input act. DATA_GRADIENT: gradient of the node's output,
		     // -1 if these rows depend on none of it and are zero. WEIGHT_GRADIENT: grad:node
	int operand; // weights (FORWARD, DATA_GRADIENT of a convolution); the mask or stored output (ReLU gradient); input act (WEIGHT_GRADIENT)
	int result;  // FORWARD: act:node. DATA_GRADIENT: grad of the input. WEIGHT_GRADIENT: the sums
	int mask;    // FORWARD of a ReLU: mask slab written, or -1
};

struct program {
	const struct schedule *schedule; // borrowed
	const struct net *net;           // borrowed
	struct step *steps;
	int step_count;
	struct slab *slabs;
	int slab_count;
	uint32_t peak_bytes;             // highest end of any slab
	uint32_t live_bytes;             // largest sum of the slabs live at one step, an in-place pair counted once
};

// Expand and place. WC_ERR_INPUT if it cannot be placed; the message names group, layer, bytes needed and
// the buffer's size. Weight slices are loaded one ahead of their use, and loads and takes move ahead of earlier
// steps where the buffer has room and nothing stores what they read, so that DMA overlaps compute. Steps that
// compute or store stay in the schedule's order.
int program_expand(struct program *program, const struct schedule *schedule, const struct net *net, struct wc_error *err);
void program_release(struct program *program);

// Bytes of one row of one sample, rounded up to the bus.
uint32_t program_row_bytes(const struct net *net, enum slab_kind kind, int node, uint32_t bus_bytes);

#endif
