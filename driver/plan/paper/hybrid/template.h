// SPDX-License-Identifier: Apache-2.0
//
// A module's work in one phase, as steps and slabs. Each slab has events, the steps that use it, and between two events a gap:
// bridged, it stays in the buffer; or not, and it is read again, and written first if DRAM has no valid copy. With no bridged gap
// on either side of an event, the slab streams there. Every choice of bridged gaps is a schedule; what it moves and what it
// needs of the buffer follow from the template.
#ifndef WC_HYBRID_TEMPLATE_H
#define WC_HYBRID_TEMPLATE_H

#include "driver/plan/paper/hybrid/view.h"
#include "driver/plan/schedule.h"

struct hybrid_event {
	int step;
	bool makes; // a new version: what DRAM holds is stale
	bool whole; // may not stream: a GEMM or normalization would read it more than once. Without a bridged gap it is loaded for this step
};

enum { HYBRID_NEVER_TURNS = -1, HYBRID_TURNED = -2 }; // the latter: before it came

struct hybrid_slab {
	enum sched_tensor tensor; // SCHED_ACT: the value `node`; SCHED_GRAD: of the leaf `node`, from `turns` on of its value's maker
	int node;
	int turns;                // SCHED_GRAD: the event at which the gradient goes through ReLU and normalization, or one of:
	int64_t bytes;            // one sample
	struct hybrid_event *events; // owned
	int event_count;
	bool loads;  // the first event finds it in DRAM
	bool copied; // DRAM has a copy before the first event
	bool stored; // every version is written for backward; counted with what is stored, not here
	bool leaves; // the last version must be in DRAM at the end
	bool stays;  // the last event is the module's end, where it must be in the buffer
	bool again;  // made again: it stays from then on, as DRAM takes a value once
};

enum hybrid_step_kind {
	HYBRID_ENTRY,    // from the module before
	HYBRID_FORWARD,  // `node` computes
	HYBRID_AGAIN,    // the same in backward
	HYBRID_BACKWARD, // weight gradient and parts of the input's gradient
	HYBRID_SPLIT,    // an add's gradient
	HYBRID_TURN,     // the gradient of leaf `node` goes through its ReLU and normalization
	HYBRID_EXIT,     // to the module behind
};

struct hybrid_step {
	enum hybrid_step_kind kind;
	int node;
};

// At a step, slab `out` may take the place of slab `in`.
struct hybrid_pair {
	int step, in, out;
};

struct hybrid_template {
	struct hybrid_step *steps;
	int step_count;
	struct hybrid_slab *slabs;
	int slab_count;
	struct hybrid_pair *pairs;
	int pair_count;
	bool *again;          // [node]: values made again; NULL in forward
	int64_t again_bytes;  // parameters read once more in each iteration, bytes
	int64_t macs;         // of convolutions made again, one sample
	int64_t stored_bytes; // written in forward for it, one sample
	int64_t mask_bits;    // written in forward and read in backward, one sample
	bool failed;          // out of memory
};

// The edges of a module: whether its neighbours are in the same group. Forward: `in` is the module before it, `out` the one behind;
// backward: `in` is the one behind, whose gradient comes, `out` the one before.
struct hybrid_edges {
	bool in_border, out_border;
};

// stored[value]: forward writes it for backward.
void hybrid_forward(struct hybrid_template *template, const struct hybrid_view *view, int module, struct hybrid_edges edges, const bool *stored);
// again[value]: made again in this module (ownership passes to the template).
void hybrid_backward(struct hybrid_template *template, const struct hybrid_view *view, int module, struct hybrid_edges edges, bool *again);
void hybrid_template_release(struct hybrid_template *template);

// Bytes of one sample that a slab moves. bridged[i]: the gap behind event i.
int64_t hybrid_slab_moves(const struct hybrid_slab *slab, const bool *bridged);

#endif
