// SPDX-License-Identifier: Apache-2.0
//
// What the parts of the checker share: the state of the symbolic execution, what a statement reads and fills, and the
// geometry of rows. Under `paper` a concatenation has no rows of its own: wherever it is named, its pieces are meant. Under
// `device` it is a tensor like any other, a reader of its pieces, and the only piece of itself.
#ifndef WC_CHECK_INTERNAL_H
#define WC_CHECK_INTERNAL_H

#include <stddef.h>

#include "driver/plan/check/check.h"
#include "driver/plan/check/graph.h"

// Half-open rows of a tensor; empty if hi <= lo.
struct row_range {
	int lo, hi;
};

// What is known of one row of one tensor of the sample that stands for all.
enum row_flag {
	ROW_STORED = 1 << 0, // DRAM holds it
	ROW_FILLED = 1 << 1,      // this strip's slab holds it
	ROW_READ = 1 << 2,        // some statement of the strip has read it from the slab
	ROW_KEPT = 1 << 3,        // this strip has put it into boundary storage
	ROW_KEPT_BEFORE = 1 << 4, // the strip executed before it in this iteration has
	ROW_KEPT_FORWARD = 1 << 5, // a strip of a forward group has
	ROW_COMPUTED = 1 << 6,    // act: in a forward group; grad: in a backward one
	ROW_ACCUMULATED = 1 << 7, // grad of a node with parameters: it has entered their gradient
	ROW_COUNTED = 1 << 8,     // act of a normalization: its input's row has entered the statistics
	ROW_ALIASED = 1 << 9,     // grad: the slab's row is a view of an add's gradient
	ROW_VIEWED = 1 << 10,     // grad: DRAM's row is a view of an add's gradient
	ROW_LOST = 1 << 11,       // grad: the slab is there, but the row has been overwritten by what shares its room
	ROW_KEPT_EVER = 1 << 12,  // some strip has put it into boundary storage
};

// How many readers' parts a row of a gradient is the sum of, wherever it is.
struct check_parts {
	uint16_t slab, stored, kept, kept_before;
	uint16_t computed; // the most that any statement has made
};

enum use_role {
	USE_OPERAND,  // read
	USE_GRADIENT, // read: an output's gradient, complete
	USE_SUM,      // read: the sum so far of a gradient that the statement makes
	USE_STORED,   // read: by keep or store, which name rows of the slab
	USE_RESULT,   // filled
};

// Rows of a tensor that a statement reads or fills; never a concatenation.
struct check_use {
	enum use_role role;
	enum sched_tensor tensor;
	int node;
	struct row_range rows;
	struct row_range stream; // what passes between DRAM and the operator, not through the slab; may exceed `rows`; empty: nothing
	bool passing;            // read as the statement before makes it, on its way to DRAM: neither slab nor stream
	int parts;               // grad: of how many readers the row is the sum, when read or when filled
	int named;               // the tensor's node as the operator names it: `node`, or a concatenation of it
};

struct check_step {
	struct check_use *uses; // owned
	int count, capacity;
	int operators[SCHED_THROUGH_MAX]; // the nodes whose operator runs; none for transfers
	int operator_count;
	bool backward;          // that operator is the data gradient's
	int *remade;            // `using`: the nodes whose output is made on the way from what stands for an operand; owned
	int remade_count, remade_capacity;
	// Filled by check_normalize().
	bool makes_sums[SCHED_THROUGH_MAX]; // the operator's parameter gradient, over all rows or those given
	bool makes_statistics;  // a normalization's forward makes its own
	int passes;             // over what streams of operands and gradient
	// Bit i: nothing in the statement wants, reads or fills what the i-th entry of the list names.
	uint64_t unused_using, unused_from, unused_to;
};

// The slab of a tensor in a strip, from its first filling to its last use or to a `free`. `next` is the tensor's next
// slab behind a `free`, -1 if there is none. The slab of a view has no room of its own: `room` is the slab that has.
struct check_slab {
	enum sched_tensor tensor;
	int node, lo, hi;
	int first, last;
	int room, next;
};

// Rows of an input's gradient that a node's backward operator has made, of one sample; `again` are those made before.
struct check_work {
	uint64_t rows, again;
};

// A gradient whose slab is a view of that of the add `root`, as long as the latter is there.
struct check_alias {
	int node, root;
	bool root_there;
};

// What DRAM holds of a node beside parameters: its tensors, a normalization's statistics and sums, the rows' partial sums that
// they are made from, and rows kept.
enum check_dram {
	DRAM_ACT = SCHED_ACT, DRAM_GRAD = SCHED_GRAD, DRAM_MASK = SCHED_MASK,
	DRAM_STATISTICS, DRAM_SUMS, DRAM_STATISTICS_ROWS, DRAM_SUMS_ROWS,
	DRAM_KEPT,                 // and two more, by tensor
	DRAM_COUNT = DRAM_KEPT + 3,
};

// Groups in which DRAM holds it; first > last: never.
struct check_life {
	int first, last;
};

struct check_state {
	const struct schedule *schedule; // of one core; check_form_header() alone sees that of all
	int cores;                // that execute it
	const struct net *net;
	struct check_result *result;
	struct wc_error *err;
	struct check_options options;
	bool paper;               // accounting
	struct check_graph graph;
	uint16_t *flags;          // all rows of all tensors; owned
	uint16_t **rows;          // [tensor * node_count + node]: the flags of a tensor's rows; owned
	struct check_parts *parts; // all rows of all gradients; owned
	struct check_parts **part_rows; // [node]; owned
	int *accumulated_in;      // [node]: the last group that has accumulated into it, -1; owned
	int *counted, *summed;    // [node]: rows of a normalization in the statistics of forward, in the sums of backward; owned
	struct check_work *work;  // [node]: as the reader; owned
	struct check_life *lives; // [enum check_dram * node_count + node]; owned
	int *kept_rows;           // [tensor * node_count + node]: of a sample, kept by all strips; owned
	int *viewed;              // [node]: the add whose gradient in DRAM a gradient is a view of, -1; owned
	struct check_step step;   // of the statement at hand
	struct check_slab *slabs; // of the strip at hand; owned
	int slab_count, slab_capacity;
	int *slab_first, *slab_now; // [tensor * node_count + node]: index in slabs, -1; owned
	struct check_alias *aliases; // of the strip at hand; owned
	int alias_count, alias_capacity;
	int64_t *change;          // [statement]: bytes of slabs of a sample that begin there, less those that have ended; owned
	int change_capacity;
	int64_t slab_bytes;       // of a sample, live at the statement at hand
	uint64_t resident_bytes;  // of the group at hand
	uint64_t kept_bytes, kept_here; // of a sample, kept by the strip before and by this one; `paper`
	uint64_t mask_bits[2];    // read, written; `paper`
	double bound;             // of all that has been counted, and the group at hand, from above
	struct check_place place; // being executed
};

// The group, strip and statement of state->place; NULL where the place is larger.
const struct sched_group *check_group(const struct check_state *state);
const struct sched_statement *check_statement(const struct check_state *state);

static inline uint16_t *check_flags(const struct check_state *state, enum sched_tensor tensor, int node)
{
	return state->rows[(int)tensor * state->net->node_count + node];
}

static inline bool row_range_empty(struct row_range range)
{
	return range.lo >= range.hi;
}

// state.c: memory, and what is in DRAM at the start.
int check_state_init(struct check_state *state);
void check_state_release(struct check_state *state);
void check_give_gradient(struct check_state *state);
// Room for `count` elements of an owned array. 0, or WC_ERR_SYSTEM with the error set.
int check_reserve(struct check_state *state, void **array, int *capacity, int count, size_t element_bytes);

// graph.c, see graph.h.
// Whether the schedule has a gradient of that tensor.
bool check_has_gradient(const struct check_state *state, int node);
// Parts of a tensor's gradient that are there before, and behind, the one of `reader`.
int check_parts_before(const struct check_state *state, int node, int reader);
int check_parts_with(const struct check_state *state, int node, int reader);
static inline int check_parts_all(const struct check_state *state, int node)
{
	return state->graph.readers[node].count;
}
bool check_is_leaf(const struct check_state *state, int concat, int leaf);
// Whether act:`node`, no concatenation, follows from act:`from` through normalizations and ReLUs alone.
bool check_follows(const struct check_state *state, int node, int from);

// fault.c: record the violation at state->place, fill the error, return WC_ERR_INPUT.
// `needed` has the fault in [fault.lo, fault.hi); `shown` are the flags of which any makes a row "present".
// The text is place, statement, then the printf-style message, then "; `holder` has <present rows>".
struct check_rows_fault {
	enum sched_tensor tensor;
	int node;
	struct row_range needed, fault;
	unsigned shown;
	const char *holder;
};
int check_fail_rows(struct check_state *state, enum check_kind kind, const struct check_rows_fault *rows, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
int check_fail(struct check_state *state, enum check_kind kind, int node, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
// "act", "grad", "mask"; "load act:conv1=0:14"; "group 1 (forward conv1..conv3), strip 0, line 12".
const char *check_tensor_name(enum sched_tensor tensor);
void check_statement_text(char *text, size_t bytes, const struct net *net, const struct sched_statement *statement);
void check_place_text(char *text, size_t bytes, const struct schedule *schedule, const struct net *net, const struct check_place *place);

// uses.c: what a statement of sound form means, in state->step. 0 or WC_ERR_SYSTEM.
int check_derive(struct check_state *state, const struct sched_statement *statement);
// The node whose operator a statement runs, on the tensor named: of the output (compute act, accumulate, statistics, split), the
// reader (compute grad); -1 for transfers and for a gradient without a reader.
int check_operator(const struct net *net, const struct sched_statement *statement);

// form.c, form_statement.c: what can be said of header, groups and statements before any is executed.
int check_form_header(struct check_state *state);
int check_form_group(struct check_state *state);
int check_form_statement(struct check_state *state);

// size.c: behind the form, that the numbers of the statement and all before it can be counted.
int check_size(struct check_state *state);

// execute.c: one statement, one strip's begin and end, on rows.
int check_execute_statement(struct check_state *state);
int check_end_strip(struct check_state *state);
// Behind a group: nothing kept by its last strip is handed on.
int check_forget_kept(struct check_state *state);

// compute.c: rows of an activation, or of a gradient (`work`: NULL, or where to count rows).
int check_compute_activation(struct check_state *state, const struct check_use *use);
int check_compute_gradient(struct check_state *state, const struct check_use *use, struct check_work *work);

// fill.c: what a statement fills.
int check_fill(struct check_state *state, const struct check_use *use);
// A slab's rows go to DRAM, or, with a use that streams, results of the operator.
int check_store(struct check_state *state, const struct check_use *use, struct row_range rows);
int check_view(struct check_state *state);
int check_free(struct check_state *state);

// Of the vector unit, for the schedule's array and bus.
int check_lanes(const struct check_state *state);

// rowset.c: rules of rows, the first row that breaks one being the violation.
// The first run of rows in `rows` that have one of `flags` (wanted) or none of them (!wanted); empty if there is none.
struct row_range check_find_rows(const uint16_t *flags, struct row_range rows, unsigned any, bool wanted);
void check_set_flags(uint16_t *flags, struct row_range rows, unsigned set);
void check_clear_flags(uint16_t *flags, struct row_range rows, unsigned clear);
// Every row must have one of `flags`.
int check_require(struct check_state *state, enum check_kind kind, const struct check_use *use, struct row_range rows, unsigned flags,
		  const char *holder);
// No row may have `flag`; then all get it.
int check_mark_once(struct check_state *state, enum sched_tensor tensor, int node, struct row_range rows, unsigned flag, const char *done,
		    const char *holder);
// The rows of a use that pass through the slab: two ranges, each perhaps empty.
void check_slab_rows(const struct check_use *use, struct row_range rows[2]);

// norm.c: what normalizations and parameter gradients ask of all rows together. check_normalize() fills in the
// step; check_count() then marks what the statement has added.
int check_normalize(struct check_state *state);
int check_count(struct check_state *state);
// Behind a group of a `device` schedule: it has all rows of a normalization or none.
int check_whole_norms(struct check_state *state);

// slabs.c: lay out the slabs of the strip at state->place; uses place.statement as a cursor. 0 or WC_ERR_SYSTEM.
int check_lay_out(struct check_state *state);
// Behind the strip: forget them.
void check_clear_slabs(struct check_state *state);

// buffer.c: occupancy. Before a strip is executed, and before each of its statements, with what those before have left.
int check_buffer_strip(struct check_state *state);
int check_buffer_statement(struct check_state *state);
// `bytes` are live at state->place: CHECK_BUFFER, about `node`, unless they fit; `who` needs them.
int check_occupy(struct check_state *state, int node, const char *who, uint64_t bytes);

// traffic.c: bytes and commands of the statement at state->place in all iterations, before check_count(): it looks at
// what has been counted and accumulated before. Of a group: resident sums and weights.
void check_traffic_group(struct check_state *state);
void check_traffic_statement(struct check_state *state);
void check_add_bytes(struct check_state *state, enum wc_class class, bool write, uint64_t bytes);

// paper.c: the same under `paper` accounting.
void check_paper_group(struct check_state *state);
void check_paper_statement(struct check_state *state);
// Bytes of a node's parameters, or of their gradient, that a policy keeps in the buffer.
uint64_t check_resident_bytes(const struct check_state *state, int node, const struct sched_policy *policy);
// Masks, of which only the sum is rounded to bytes.
void check_paper_masks(struct check_state *state);

// footprint.c: when DRAM holds what. The group at hand stores or reads some of it there.
void check_touch_dram(struct check_state *state, enum check_dram what, int node);
// Behind the last group: result->footprint_bytes. 0 or WC_ERR_SYSTEM.
int check_footprint(struct check_state *state);

// rows.c: geometry.
// Rows of the input that rows `out` of a node's output read (a convolution: hull of all taps, cut to the image).
struct row_range check_rows_read(const struct net_node *node, struct row_range out);
// Rows of the output's gradient from which rows `in` of the input's gradient are gathered.
struct row_range check_rows_gathered(const struct net_node *node, struct row_range in);
// Whether any output row reads input row y.
bool check_row_touched(const struct net_node *node, int y);
// Multiply-accumulates of one output row of one sample, forward as for the weight gradient; 0 without weights.
uint64_t check_row_macs(const struct net_node *node);
// Positions of [lo, hi) in the residue class `residue` modulo `stride`.
int64_t check_class_size(int lo, int hi, int stride, int residue);
// Bytes of a row of one sample in the buffer, rounded up to the bus under `device`.
uint64_t check_row_bytes(const struct check_state *state, enum sched_tensor tensor, int node);
// Bits of a row of a mask.
uint64_t check_mask_bits(const struct net_node *node);
// Bytes rounded up to the bus, which `paper` schedules have none of.
uint64_t check_whole_beats(const struct check_state *state, uint64_t bytes);
// Output channels of slice `index` of a convolution's or fully connected layer's weights, 0 behind the last; `slice` 0 is all at once.
int check_slice_channels(const struct net_node *node, int slice, int index);
// Weights of one output channel.
uint64_t check_filter(const struct net_node *node);
// Bytes of `channels` output channels of fp16 weights (element_bytes 2) or fp32 gradients (4), rounded up to the bus.
uint64_t check_weight_bytes(const struct check_state *state, const struct net_node *node, int channels, int element_bytes);

#endif
