// SPDX-License-Identifier: Apache-2.0
//
// What the parts of the checker share: the state of the symbolic execution, and the geometry of rows.
#ifndef WC_CHECK_INTERNAL_H
#define WC_CHECK_INTERNAL_H

#include <stddef.h>

#include "driver/plan/check/check.h"

// Half-open rows of a tensor; empty if hi <= lo.
struct row_range {
	int lo, hi;
};

// What is known of one row of one tensor of the sample that stands for all.
enum row_flag {
	ROW_STORED = 1 << 0,      // DRAM holds it
	ROW_FILLED = 1 << 1,      // this strip's slab holds it
	ROW_FETCHED = 1 << 2,     // ... by load or take
	ROW_READ = 1 << 3,        // ... and some statement of the strip has read it
	ROW_KEPT = 1 << 4,        // this strip has put it into boundary storage
	ROW_KEPT_BEFORE = 1 << 5, // the strip executed before it in this iteration has
	ROW_KEPT_FORWARD = 1 << 6, // a strip of a forward group has
	ROW_COMPUTED = 1 << 7,    // act: in a forward group; grad: in a backward one
	ROW_ACCUMULATED = 1 << 8, // grad of a convolution: it has entered the weight gradient
};

// Rows of a tensor that a statement reads or fills.
struct row_use {
	enum sched_tensor tensor;
	int node;
	struct row_range rows;
};

// One tensor's slab in a strip: the hull of the rows named, and the first and last statement that uses it.
struct check_slab {
	int lo, hi;
	int first, last; // last < first: the strip has no such slab
};

// Rows of the gradient of a node's output computed so far, of one sample; `again` are those computed before.
struct check_work {
	uint64_t rows, again;
};

struct check_state {
	const struct schedule *schedule;
	const struct net *net;
	struct check_result *result;
	struct wc_error *err;
	uint16_t *flags;          // all rows of all tensors; owned
	uint16_t **rows;          // [tensor * node_count + node]: the flags of a tensor's rows; owned
	int *accumulated_in;      // [node]: the last group that has accumulated into it, -1; owned
	struct check_slab *slabs; // [tensor * node_count + node]: of the strip whose occupancy is being counted; owned
	struct check_work *gradients; // [node]; owned
	struct check_place place; // being executed
};

// The group, strip and statement of state->place; NULL where the place is larger.
const struct sched_group *check_group(const struct check_state *state);
const struct sched_statement *check_statement(const struct check_state *state);

static inline uint16_t *check_flags(const struct check_state *state, enum sched_tensor tensor, int node)
{
	return state->rows[(int)tensor * state->net->node_count + node];
}

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

// uses.c: what a statement of sound form means.
enum { CHECK_USES_MAX = 2 };
int check_reads(const struct net *net, const struct sched_statement *statement, struct row_use uses[CHECK_USES_MAX]);
int check_fills(const struct net *net, const struct sched_statement *statement, struct row_use uses[CHECK_USES_MAX]);
// The node whose operator a statement runs: of the output (compute act, accumulate), the consumer (compute grad); -1 for transfers
// and for the gradient of a node that nothing consumes.
int check_operator(const struct net *net, const struct sched_statement *statement);

// form.c: what can be said of header, groups and statements before any is executed.
int check_form_header(struct check_state *state);
int check_form_group(struct check_state *state);
int check_form_statement(struct check_state *state);

// execute.c: one statement, one strip's begin and end, on rows.
int check_execute_statement(struct check_state *state);
void check_begin_group(struct check_state *state);
void check_begin_strip(struct check_state *state);
int check_end_strip(struct check_state *state);

// buffer.c: occupancy of the strip at state->place (statement is used as a cursor).
int check_buffer_strip(struct check_state *state);

// traffic.c: bytes and commands of a whole group, all iterations. Resident sums and weights included.
// Must run before the group's check_execute_statement() calls: it looks at accumulated_in for first cuts.
void check_traffic_group(struct check_state *state);
// Whether an accumulate at (strip, statement) of the group continues sums even in the group's first iteration: an earlier
// group, or an earlier statement of this one, accumulates into the node.
bool check_continues_sums(const struct check_state *state, int strip, int statement, int node);

// rows.c: geometry.
// Rows of the input that rows `out` of a node's output read (a convolution: hull of all taps, cut to the image).
struct row_range check_rows_read(const struct net_node *node, struct row_range out);
// Rows of the output's gradient from which rows `in` of the input's gradient are gathered.
struct row_range check_rows_gathered(const struct net_node *node, struct row_range in);
// Whether any output row reads input row y.
bool check_row_touched(const struct net_node *node, int y);
// Multiply-accumulates of one output row of one sample, forward as for the weight gradient; 0 for a ReLU.
uint64_t check_row_macs(const struct net_node *node);
// Positions of [lo, hi) in the residue class `residue` modulo `stride`.
int64_t check_class_size(int lo, int hi, int stride, int residue);
// Bytes of a row of one sample, rounded up to the bus.
uint64_t check_row_bytes(const struct check_state *state, enum sched_tensor tensor, int node);
// Output channels of slice `index` of a convolution's weights, 0 behind the last; `slice` 0 is all at once.
int check_slice_channels(const struct net_node *node, int slice, int index);
// Bytes of `channels` output channels of fp16 weights (element_bytes 2) or fp32 gradients (4), rounded up to the bus.
uint64_t check_weight_bytes(const struct check_state *state, const struct net_node *node, int channels, int element_bytes);

#endif
