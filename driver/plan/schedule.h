// SPDX-License-Identifier: Apache-2.0
//
// The schedule: what driver/README.md describes, in memory. Planners build it, the parser reads it,
// the checker proves it, program_expand() turns it into steps.
#ifndef WC_SCHEDULE_H
#define WC_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "driver/net/net.h"
#include "traces/error.h"

enum sched_phase { SCHED_FORWARD, SCHED_BACKWARD };
enum sched_tiling { SCHED_TILING_NONE, SCHED_TILING_OVERL, SCHED_TILING_2PS };
enum sched_accounting { SCHED_DEVICE, SCHED_PAPER };

enum sched_tensor { SCHED_ACT, SCHED_GRAD, SCHED_MASK };

enum sched_op {
	SCHED_LOAD,       // DRAM -> buffer
	SCHED_TAKE,       // boundary storage -> buffer
	SCHED_COMPUTE,
	SCHED_ACCUMULATE, // weight gradient; `node` is the convolution, lo..hi rows of its output
	SCHED_KEEP,       // buffer -> boundary storage
	SCHED_STORE,      // buffer -> DRAM
	SCHED_FREE,       // the slab ends; no rows
	SCHED_STATISTICS, // `node` is a group normalization, lo..hi rows of its output
	SCHED_SPLIT,      // `node` is an add (`device`: or a concatenation), lo..hi rows of its gradient
	SCHED_OP_COUNT,
};

enum sched_with { SCHED_WITH_NONE, SCHED_WITH_MASK, SCHED_WITH_ACT };

// A tensor in a clause. Rows 0:0: those that the statement needs. Small, as every statement holds three lists of these.
struct sched_operand {
	enum sched_tensor tensor : 16;
	int16_t node;
	int16_t lo, hi;
};

_Static_assert(NET_IMAGE_MAX <= INT16_MAX, "rows fit an operand");

// A list of a clause holds so many tensors: enough for the pieces of a large concatenation apart, and not more, as every statement has
// room for three lists.
enum { SCHED_LIST_MAX = 32, SCHED_THROUGH_MAX = 6 };

struct sched_statement {
	enum sched_op op;
	enum sched_tensor tensor; // SCHED_ACCUMULATE, SCHED_SPLIT: SCHED_GRAD of `node`; SCHED_STATISTICS: SCHED_ACT
	int node;
	int lo, hi;               // half-open rows
	enum sched_with with;     // SCHED_COMPUTE of a ReLU, or of the gradient behind one
	int line;                 // where it stands in the text; 0 if a planner made it
	// Clauses; zeroed: none. Those behind `by` belong to `paper` accounting.
	int by;                             // SCHED_COMPUTE of a gradient: the reader; 0: the only one
	int through[SCHED_THROUGH_MAX];     // the chain of readers from `node` on
	int through_count;
	struct sched_operand saved[SCHED_LIST_MAX]; // `using`, without rows
	struct sched_operand from[SCHED_LIST_MAX], to[SCHED_LIST_MAX]; // `to` without rows
	int saved_count, from_count, to_count;
	bool view;                          // SCHED_SPLIT
};

struct sched_strip {
	struct sched_statement *statements;
	int statement_count;
};

// How one convolution's weights, or weight gradients, pass through the buffer in a group.
struct sched_policy {
	bool resident;
	bool blocked; // weights under `paper` accounting
	int slice;    // output channels a slice; 0: all at once. Resident: of these channels alone; 0: of all
};

struct sched_group {
	enum sched_phase phase;
	int first, last;             // node indices, inclusive
	int sub_batch;               // of a core
	enum sched_tiling tiling;
	struct sched_policy *weight; // [net->node_count]
	struct sched_policy *wgrad;  // [net->node_count]
	struct sched_strip *strips;
	int strip_count;
	char *reason;                // NULL: none given
	int line;
};

struct schedule {
	char *net_name;
	int image;                        // height and width of the input; 0: the network's own
	int batch, cores;                 // the batch of all cores, a multiple of them
	int rows, cols;                   // 0: not said, nor is the bus; `paper` accounting has no use for them
	uint32_t buffer_bytes, bus_bytes;
	uint32_t reserve_bytes;           // of the buffer, for streams; `paper` accounting
	enum sched_accounting accounting;
	char *planner; // NULL: written by hand
	char *file_name; // that it was read from; NULL: none
	struct sched_group *groups;
	int group_count;
};

// Parse the text form against a network. Errors name file, line, the word and what was expected;
// intervals outside a tensor, unknown nodes and numbers out of range are errors here, wrong
// schedules of the right form are the checker's business. schedule_release() is safe after failure.
int schedule_read(struct schedule *schedule, const struct net *net, FILE *file, const char *file_name, struct wc_error *err);
// Write the text form; reading it back gives an equal schedule.
int schedule_write(const struct schedule *schedule, const struct net *net, FILE *file, struct wc_error *err);
void schedule_release(struct schedule *schedule);
// What one of its cores executes: the same groups on a core's share of the batch. It borrows everything; not to be released.
struct schedule schedule_of_core(const struct schedule *schedule);
void sched_group_release(struct sched_group *group);

// The words of the text form. Static storage.
const char *sched_tensor_name(enum sched_tensor tensor);
const char *sched_op_name(enum sched_op op);
const char *sched_tiling_name(enum sched_tiling tiling);
const char *sched_phase_name(enum sched_phase phase);

// The network that a schedule's text names, read ahead of parsing: its name, which the caller frees, and the image's
// size (0: not given). The file must be seekable: it is rewound.
int schedule_net_name(FILE *file, const char *file_name, char **name, int *image, struct wc_error *err);

// The node whose backward operator a `compute grad:` statement runs first on the gradient it makes: `by`, or the first of
// `through`, or the only reader. -1: there is none, or several and none is named.
int sched_gradient_reader(const struct net *net, const struct sched_statement *statement);

#endif
