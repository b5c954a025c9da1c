// SPDX-License-Identifier: Apache-2.0
//
// The first difference between the device and the golden model.
#ifndef WC_MISMATCH_H
#define WC_MISMATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/host/op.h"

enum mismatch_kind {
	MISMATCH_NONE,
	MISMATCH_TILE,    // a drained row of a GEMM tile
	MISMATCH_VECTOR,  // rows that a VECTOR or SIMD command wrote to the global buffer
	MISMATCH_LOAD,    // rows in the global buffer behind a LOAD
	MISMATCH_STORE,   // rows in DRAM behind a STORE
	MISMATCH_FINAL,   // DRAM at the end of the run
	MISMATCH_SHAPE,   // a tile with too few or too many rows or columns
	MISMATCH_STOPPED, // the device stopped with an error status
};

// An element of a value by its name in the network.
struct mismatch_element {
	struct value value;
	int sample, y, x, c; // feature maps; of a mask's element too
	int k, r, s;         // filters and their gradients, with c; biases: k
	int vector;          // of what has neither: which of a row (y) of a sample, and the element in it
	uint64_t at;
};

struct mismatch {
	enum mismatch_kind kind;
	int core;          // whose command
	uint32_t command;  // index; op is its record (MISMATCH_FINAL: neither)
	struct op op;
	uint64_t cycle;    // 0: the backend has none
	struct mismatch_element element;
	int m, n;          // tiles: row and column of the tile
	uint32_t got, expected; // bits: fp16, fp32, or a mask's field
	int bits;          // of the element: 1 to 8, 16 or 32
	uint32_t ulps;     // UINT32_MAX: one of them is a NaN
	uint64_t compared, different; // elements of this result
	// MISMATCH_STOPPED
	uint32_t status;
	// MISMATCH_SHAPE
	int row, count;
};

// "command 12"; on a device of several cores "command 12 of core 1". The text.
const char *mismatch_command(const struct mismatch *mismatch, int cores, char *text, size_t size);

// Element `index` of a vector of row `row` of a sample, as value.h counts them.
struct mismatch_element mismatch_element_at(const struct net *net, const struct value *value, int sample, int row, int vector, uint64_t index);
// "act:relu2 sample 3 y 5 x 7 channel 2", "weight gradient of conv1 k 2 r 0 s 1 c 3".
void mismatch_element_name(const struct net *net, const struct mismatch_element *element, char *text, size_t size);

#endif
