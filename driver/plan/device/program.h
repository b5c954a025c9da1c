// SPDX-License-Identifier: Apache-2.0
//
// A schedule expanded: every iteration's statements as a flat list of steps on slabs of the global
// buffer, with addresses. The host lowers each step to commands without deciding anything more
// about memory; the planner counts bytes and tries sizes on it.
#ifndef WC_PROGRAM_H
#define WC_PROGRAM_H

#include <stdint.h>

#include "driver/plan/schedule.h"

enum slab_kind {
	SLAB_ACT, SLAB_GRAD, SLAB_MASK, // feature maps
	SLAB_PART,       // fp16 rows of a gradient: one reader's part, before it is added
	SLAB_WIDE,       // fp32 rows of a gradient: sums over the slices of weights so far
	SLAB_WEIGHT, SLAB_WGRAD,
	SLAB_BIAS, SLAB_BIAS_WIDE, SLAB_BIAS_WGRAD, // output channels lo..hi: fp16; the same in fp32; fp32 gradients
	SLAB_ONES,       // fp16 1.0, the other operand of a bias's gradient
	SLAB_PARAMETERS, // a normalization's gamma, then beta, each padded to the bus; fp16
	SLAB_GAMMA,      // gamma alone
	SLAB_PARAMETERS_WGRAD, // their gradients alike; fp32
	// Of a normalization, vectors of fp32 per channel, each padded to the bus; those of a sample together.
	SLAB_STATISTICS, // mean, reciprocal deviation
	SLAB_SHIFT,      // what forward's partial sums are shifted by
	SLAB_SUMS,       // means of dY gamma and of dY gamma xhat
	SLAB_ROW_STATISTICS, // forward's partial sums of rows lo..hi: of x - shift and of its square
	SLAB_ROW_SUMS,   // backward's: of dY gamma, dY gamma xhat, dY xhat, dY
	// Of the loss, one number for each sample in lo..hi.
	SLAB_LABELS,     // int32
	SLAB_LOSSES,     // fp32
	SLAB_SOFTMAX,    // fp32: the largest logit of each, then the reciprocal of each sum, then the logarithm of each
	// Of the reduction and the update, elements lo..hi of one of the node's arrays; value_is_array() takes what stands between the first and the last.
	SLAB_CORE_GRADIENT,   // fp32: what core `core` has summed
	SLAB_UPDATE_GRADIENT, // fp32: core 0's sums, to which those of the others are added: the gradient of the mini-batch
	SLAB_UPDATE_STATE,    // fp32: masters, then momenta, each padded to the bus
	SLAB_UPDATE_WEIGHT,   // fp16
	SLAB_KIND_COUNT,
};

// The arrays of a node's parameters; each begins on a beat of the bus in DRAM.
enum parameter_array { ARRAY_FILTERS, ARRAY_BIAS, ARRAY_GAMMA, ARRAY_BETA, ARRAY_COUNT };
// Its elements; 0: the node has no such array.
uint64_t program_array_count(const struct net_node *node, enum parameter_array array);

// A piece of the global buffer.
//   feature maps: byte of (sample n, row y, 0, 0) = offset + ((n - sample_first) * (hi - lo) + (y - lo)) * pitch
//   weights:      offset + (k - lo) * C S (tap_hi - tap_lo) * (2 or 4), k the output channel in [lo, hi)
//   vectors of a normalization: offset + ((n - sample_first) * rows + (y - lo)) * pitch, rows 1 and y - lo 0 but for the partial sums of rows
// What works in place has two slabs, input and result, with the same offset; both are live at its step.
struct slab {
	enum slab_kind kind;
	int node;
	int lo, hi;                    // rows; output channels for weights and biases; samples or elements
	enum parameter_array array;    // reduction, update
	int core;                      // SLAB_CORE_GRADIENT
	int tap_lo, tap_hi;            // weights: rows of the kernel, all but for an fc's data gradient; dense
	int sample_first, sample_count; // feature maps and a normalization's vectors
	uint32_t pitch_bytes;          // the same: one row of one sample, a multiple of the bus
	uint32_t offset, bytes;        // in the global buffer; multiples of the bus
	int first_step, last_step;     // steps between which it is live, inclusive
};

enum step_op {
	STEP_LOAD,     // DRAM -> slab; rows of a tensor, output channels of weights, sums so far, a normalization's vectors
	STEP_STORE,    // slab -> DRAM
	STEP_TAKE,     // boundary -> slab
	STEP_KEEP,     // slab -> boundary
	STEP_FORWARD,  // operator `node`: act rows from input slab. An add: source + operand. A concatenation: input `part` to its place
	STEP_DATA_GRADIENT, // backward operator of `node`: gradient of its input
	STEP_WEIGHT_GRADIENT,
	STEP_SUM,      // result = result + source, rows of grad:`node`
	STEP_ROUND,    // fp32 source -> fp16 result, rows of grad:`node`
	STEP_SPLIT,    // result (+)= the part of input `part` of source = grad:`node`
	STEP_BIAS,     // fp16 source -> fp32 result
	STEP_ONES,     // fill result
	STEP_BIAS_GRADIENT,  // source = grad:`node`, operand the ones, result the sums
	STEP_ROW_SUMS, // partial sums of rows lo..hi of normalization `node`; forward makes the shift too, with row 0
	STEP_COMBINE,  // partial sums of all rows -> statistics, or sums and the parameters' gradients
	STEP_LOSS,     // of samples lo..hi, `node` the loss
	STEP_REDUCE,   // elements lo..hi of an array: result = result + source
	STEP_UPDATE,   // elements lo..hi of array `part` of `node`
	STEP_OP_COUNT,
};

// Slabs, -1 where there is none:
//                  source        operand             result         mask            vectors          parameters
// transfers        the slab
// FORWARD          act           weights; 2nd input  act:node       mask written    statistics       bias in fp32; gamma, beta
// DATA_GRADIENT    grad:node(1)  weights; saved(2)   grad of input                  statistics       gamma           sums
// WEIGHT_GRADIENT  grad:node     input act           the sums
// ROW_SUMS         act           grad:node           row sums       shift           statistics       gamma
// COMBINE          row sums       act (3)            statistics, or                 shift            parameters' gradients
//                                                    sums
// LOSS             act            labels             grad                           the softmax's                   losses
// REDUCE           core's gradient                   gradient
// UPDATE           gradient       masters, momenta   weights
// (1) -1 if these rows depend on none of it and are zero. (2) the mask or stored output of a ReLU; the mask of a max pool; the input of a
// normalization. (3) forward, if all rows were summed at once: its first pixels are the shift, which has no slab then.
struct step {
	enum step_op op;
	enum sched_phase phase;
	int group, iteration, strip; // resident weights and sums are moved outside of any iteration and strip: -1, -1; the loss, the reduction and
				     // the update belong to no group: schedule->group_count, -1, -1, with all samples of the core
	int node;                 // the operator's node; transfers, SUM, ROUND: the tensor's node
	int sample_first, sample_count;
	int lo, hi;               // rows of the result (WEIGHT_GRADIENT: rows of grad:node); weight transfers: output channels
	int channel_lo, channel_hi; // output channels worked on (FORWARD, WEIGHT_GRADIENT slices, DATA_GRADIENT slices)
	int part;                 // FORWARD of a concatenation, SPLIT: which input
	enum sched_with with;     // ReLU
	bool first_cut;           // sums start from zero: WEIGHT_GRADIENT, BIAS_GRADIENT; COMBINE's parameters' gradients; DATA_GRADIENT into fp32
	bool adds;                // SPLIT: to the sum that is there
	int cut;                  // WEIGHT_GRADIENT: number of the cut of this node, from 0
	int source, operand, result, mask, vectors, parameters, sums;
};

enum { STEP_SLABS = 7 };
// A step without slabs.
struct step step_make(enum step_op op, int node, int lo, int hi);
// Its slabs, -1 where there is none.
void step_slabs(const struct step *step, int slabs[STEP_SLABS]);

// What one core does. Samples are numbered over the whole mini-batch.
struct program {
	const struct schedule *schedule; // borrowed
	const struct net *net;           // borrowed
	int core;
	struct step *steps;
	int step_count;
	int exchange;                    // the steps from this one on read what other cores have stored, or replace what they read; step_count: there are none
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
// What runs beside the groups, over a core's samples (driver/README.md, "Graphs on the device").
struct program_whole {
	bool loss;   // behind the last forward group, if the network has a loss node
	bool update; // behind the last backward group, if there is one. With several cores the reduction comes before it, asked or not
};
int program_expand_whole(struct program *program, const struct schedule *schedule, const struct net *net, struct program_whole whole,
			 struct wc_error *err);
// The same for core `core` of the schedule's; program_expand() and program_expand_whole() do it for core 0, and of several cores have the reduction.
int program_expand_core(struct program *program, const struct schedule *schedule, const struct net *net, struct program_whole whole, int core,
			struct wc_error *err);
void program_release(struct program *program);

// Bytes of one row of one sample of a feature map or of one sample's or row's vectors of a normalization, rounded up to the bus.
uint32_t program_row_bytes(const struct net *net, enum slab_kind kind, int node, uint32_t bus_bytes);

#endif
