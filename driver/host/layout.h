// SPDX-License-Identifier: Apache-2.0
//
// Where everything lies in DRAM: one region per traffic class (csim/memory.h), in each a place per
// tensor, and the command ring.
//
// Feature maps are NHWC, every (sample, row) on a bus boundary, samples one after another. Weights
// are KRSC fp16, weight gradients KRSC fp32, dense. Boundary storage is a second copy of a kept
// tensor: a row has the same bits whichever strip keeps it, so that one place per row serves all
// strips. Only tensors that the schedule moves get a place.
//
// Each core has a ring and gradients of parameters of its own. Labels and losses of a core begin on a beat.
#ifndef WC_LAYOUT_H
#define WC_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "csim/memory.h"
#include "driver/plan/device/program.h"

enum layout_store {
	LAYOUT_ACT,
	LAYOUT_GRAD,
	LAYOUT_MASK,
	LAYOUT_WEIGHT,
	LAYOUT_WGRAD,
	LAYOUT_KEPT_ACT,
	LAYOUT_KEPT_GRAD,
	LAYOUT_KEPT_MASK,
	LAYOUT_BIAS,
	LAYOUT_BIAS_WGRAD,
	LAYOUT_PARAMETERS,       // of a normalization: gamma, then beta, each padded to the bus
	LAYOUT_PARAMETERS_WGRAD,
	LAYOUT_STATISTICS,       // of a normalization: vectors per sample, see enum slab_kind
	LAYOUT_SHIFT,
	LAYOUT_SUMS,
	LAYOUT_ROW_STATISTICS,   // per sample and row
	LAYOUT_ROW_SUMS,
	LAYOUT_LABELS,           // of a loss: a number for each sample
	LAYOUT_LOSSES,
	LAYOUT_OPTIMIZER,        // of a node: masters and momenta of each of its arrays, see layout_array()
	LAYOUT_STORE_COUNT
};

struct layout_place {
	enum wc_class class;
	uint64_t base;         // offset in the class's region; absolute after layout_bind()
	uint64_t bytes;        // 0: the tensor has no place
	int samples;           // feature maps and vectors of samples: how many; gradients of parameters: cores; else 1
	uint64_t sample_bytes; // from one to the next
	uint32_t row_bytes;    // feature maps and vectors of samples: from row to row; weights: one output channel
	int rows;              // the same: rows of a sample; weights: output channels
};

struct layout {
	const struct net *net; // borrowed
	int batch, cores;
	uint32_t bus_bytes;
	struct layout_place *places; // [LAYOUT_STORE_COUNT * node_count]
	uint64_t ring_base; // of core 0
	uint32_t ring_entries;
	uint64_t region_bytes[WC_CLASS_COUNT];
};

// Sizes and offsets for what `schedule` loads, stores, keeps and takes, and the loss and the update if they run. WC_ERR_SYSTEM without memory.
int layout_init(struct layout *layout, const struct schedule *schedule, const struct net *net, struct program_whole whole, uint32_t ring_entries,
		struct wc_error *err);
void layout_release(struct layout *layout);

// Weights, their gradients and biases: rows are output channels, dense.
bool layout_is_filters(enum layout_store store);
// Gradients of parameters: there is one for each core, which takes the place of a sample.
bool layout_is_sums(enum layout_store store);

// Turn offsets into addresses of `memory`, which was laid out with region_bytes.
void layout_bind(struct layout *layout, const struct wc_memory *memory);

const struct layout_place *layout_place(const struct layout *layout, enum layout_store store, int node);
// Address of (sample, row) of a feature map, or of output channel `row` of weights (sample 0) or of core `sample`'s gradients.
uint64_t layout_address(const struct layout *layout, enum layout_store store, int node, int sample, int row);

// Address of the first element of one of a node's arrays of parameters, by the kind of slab that its elements are moved to: gradients of core `core`
// (that of the mini-batch takes core 0's place), masters, or fp16 weights, core 0. And bytes from a master to its momentum.
uint64_t layout_array(const struct layout *layout, enum slab_kind kind, int node, enum parameter_array array, int core);
uint64_t layout_momentum_stride(const struct layout *layout, int node, enum parameter_array array);

// Where a core's command ring begins.
uint64_t layout_ring(const struct layout *layout, int core);

// The store in DRAM that a slab's rows are loaded from and stored to; `kept`: boundary storage.
enum layout_store layout_store_of(enum slab_kind kind, bool kept);

// What lies in a store.
enum slab_kind layout_kind_of(enum layout_store store);

// "act:relu2", "kept act:relu2", "weight gradient of conv3".
void layout_store_name(const struct net *net, enum layout_store store, int node, char *text, size_t size);
// What lies at a byte of DRAM: tensor, sample, row, column, channel; or that nothing does.
void layout_describe(const struct layout *layout, uint64_t address, char *text, size_t size);

#endif
