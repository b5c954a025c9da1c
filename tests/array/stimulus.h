// SPDX-License-Identifier: Apache-2.0
//
// A program of waves for the array, as a correct feeder would play it, and what must come out.
//
// Time is counted in enabled cycles. Wave i occupies cycles [start, start + length) at row 0, uses weight register i & 1 and has
// its weight row k on the bus in cycle load + k * stages. Starts and loads are as early as the protocol of rtl/array.v allows, or
// a random bit later.
#ifndef WC_TESTS_ARRAY_STIMULUS_H
#define WC_TESTS_ARRAY_STIMULUS_H

#include "tests/array/models.h"
#include "tests/array/random.h"

struct wave {
	int start, length; // cycles, bubbles included
	int load;
	uint16_t w[MAX_LANES][MAX_LANES]; // [row][col]
};

struct program {
	int rows, cols, stages;
	int cycles;         // until everything has left
	int waves;
	struct wave *wave;
	int *vector_wave;   // [cycles]: wave of the vector that enters row 0 in this cycle, -1 for a bubble
	int *load_wave;     // [cycles]: wave whose weight row is on the bus, -1 for none
	int *load_row;      // [cycles]
	uint16_t (*a)[MAX_LANES];    // [cycles][row]: the vector that enters in this cycle
	uint32_t (*sum)[MAX_LANES];  // [cycles][col]: its result
};

// `wild`: operands of all kinds instead of tame ones. `bubbles`: some cycles without a vector, some late starts.
struct program *program_create(struct rng *rng, int rows, int cols, int stages, int waves, bool wild, bool bubbles);
void program_free(struct program *p);

// The ports in enabled cycle t. Lanes that are not valid carry random values.
void program_inputs(const struct program *p, int t, struct rng *rng, struct trio_inputs *in);

// Whether the ports show a sum for column `col` in cycle t, and which: the cycle in which its vector entered, or -1.
int program_vector_at(const struct program *p, int t, int col);

// Partial sum of the vector that entered in cycle `vector`, after rows 0..row of column col.
uint32_t program_partial(const struct program *p, int vector, int row, int col);

#endif
