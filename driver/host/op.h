// SPDX-License-Identifier: Apache-2.0
//
// One command together with what the host knows about it: which step it belongs to and which
// elements of which tensor it makes, so that every result can be compared and named.
#ifndef WC_OP_H
#define WC_OP_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/host/depend.h"
#include "driver/host/layout.h"
#include "driver/host/value.h"
#include "wc_commands.h"

enum op_kind {
	OP_LOAD,
	OP_STORE,
	OP_RELU,
	OP_RELU_GRADIENT,
	OP_SIMD,
	OP_FORWARD,         // GEMM tiles from here on
	OP_DATA_GRADIENT,
	OP_WEIGHT_GRADIENT,
	OP_BIAS_GRADIENT,
};

// Where rows of values lie that a command reads or writes: in the global buffer, or in DRAM. Rows lo, lo + row_step, ... of each sample; of each
// row some vectors; of each vector `count` elements in runs: run r is elements first + r run_step .. + run, and lies at base + r run_stride beyond its
// sample's, row's and vector's distance from the first ones.
struct op_rows {
	struct value value;
	int sample_first, sample_count; // 0, 1 where there are no samples
	int lo, hi, row_step;
	int vector_first, vector_count;
	uint64_t first, count, run, run_step; // elements
	int bits;                       // of an element
	int step;                       // only elements at multiples of it mean something
	uint64_t base;                  // byte of the first of all
	uint64_t sample_stride, row_stride, vector_stride, run_stride;
};

static inline int op_rows_count(const struct op_rows *rows)
{
	return (rows->hi - rows->lo + rows->row_step - 1) / rows->row_step;
}

static inline uint64_t op_rows_runs(const struct op_rows *rows)
{
	return (rows->count + rows->run - 1) / rows->run;
}

// Whether they hold an element, and the byte in which it begins.
bool op_rows_hold(const struct op_rows *rows, int sample, int row, int vector, uint64_t element);
uint64_t op_rows_address(const struct op_rows *rows, int sample, int row, int vector, uint64_t element);

enum { OP_ROWS_MAX = 8, OP_RESULTS_MAX = 2 };

union op_command {
	uint8_t bytes[WC_COMMAND_BYTES];
	struct wc_load_command load; // STORE has the same layout
	struct wc_gemm_command gemm;
	struct wc_vector_command vector;
	struct wc_simd_command simd;
};

_Static_assert(sizeof(struct wc_store_command) == sizeof(struct wc_load_command), "one layout for transfers");

struct op {
	enum op_kind kind;
	int step;                // index in the program
	int core;                // that executes it
	int node;                // the operator; transfers: the tensor's node
	struct value value;      // what is made or moved; if several are, the first
	enum layout_store store; // transfers: of which place
	int sample_first, sample_count;
	int lo, hi;              // rows of that tensor; of weights, output channels
	// Tiles. Row m of the tile is pixel m_first + m of the pixels (n, y, x) below in that order, n counted from
	// sample_first; column c is channel n_first + c. Weight gradient: row m is output channel
	// m_first + m, column c is flat (r, s, c) index n_first + c.
	int m_first, m_count, n_first, n_count;
	int y_first, y_step, y_count, x_first, x_step, x_count;
	int64_t k_total;
	// Rows that are read, and those that are written; of tiles neither. A LOAD's results are in the buffer, a STORE's in DRAM.
	struct op_rows operands[OP_ROWS_MAX], results[OP_RESULTS_MAX];
	int operand_count, result_count;
	struct depend_access accesses[DEPEND_ACCESS_MAX];
	int access_count;
	bool done;               // the device has reported its end
	union op_command command;
};

// Ops by index of their command in the run: from the oldest that is not yet complete on. Engines overlap, so that hundreds of later
// ones may be complete before a long transfer is.
struct op_queue {
	struct op *ops;     // op i is ops[i % capacity]
	uint32_t capacity;  // a power of two
	uint32_t first, end; // [first, end) are held
};

int op_queue_init(struct op_queue *queue, struct wc_error *err);
void op_queue_release(struct op_queue *queue);
// Count from 0 again; none may be held.
void op_queue_restart(struct op_queue *queue);
// A zeroed op at index queue->end; valid until the next push. NULL without memory (err says so).
struct op *op_queue_push(struct op_queue *queue, struct wc_error *err);
// The op of a command that is still held; NULL if it is not.
struct op *op_queue_at(const struct op_queue *queue, uint32_t index);
// Forget the ops before the first that is not done.
void op_queue_drop_done(struct op_queue *queue);

static inline bool op_is_tile(const struct op *op)
{
	return op->kind >= OP_FORWARD;
}

// Waves of a tile: chunks of `rows`, at least one.
static inline int64_t op_waves(const struct op *op, int rows)
{
	return op->k_total ? (op->k_total + rows - 1) / rows : 1;
}

// Sample, row and column of row m of a forward or data gradient tile.
struct op_pixel {
	int sample, y, x;
};
struct op_pixel op_pixel(const struct op *op, int m);

// Which tile of its GEMM it is along m and n; of a convolution of several groups, those of one group before those of the next.
int op_tile_m(const struct op *op, const struct net_node *node, int acc_rows);
int op_tile_n(const struct op *op, const struct net_node *node, int cols);

// Of the pixels of its tensor; not of parameters.
static inline bool op_is_map_tile(const struct op *op)
{
	return op->kind == OP_FORWARD || op->kind == OP_DATA_GRADIENT;
}

// Whether a tile's results are 32 bits.
static inline bool op_is_fp32(const struct op *op)
{
	return op->value.kind == SLAB_WIDE || !op_is_map_tile(op);
}

// "forward", "weight_gradient", "load", ...; of a SIMD its program: "max_pool".
const char *op_name(const struct op *op);

#endif
