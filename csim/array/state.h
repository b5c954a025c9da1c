// SPDX-License-Identifier: Apache-2.0
//
// The array macro's state, private to csim/array. Everything in it is plain data: the head is saved as it stands, the arrays
// lie in one arena whose layout follows from the head, and the pointers are set again after a restore.
#ifndef WC_ARRAY_STATE_H
#define WC_ARRAY_STATE_H

#include "csim/array/array_macro.h"

struct array_head {
	char name[ARRAY_MACRO_NAME_BYTES];
	int32_t rows, cols, stages;
	int32_t ring;       // entries of a ring
	int32_t at;         // column 0's place in the rings of activations
	int32_t load_at;    // column 0's place in the ring of weight enables
	int32_t busy;       // steps until no valid operand is in flight
	int32_t loading;    // steps until no weight enable is in flight
	int32_t window_row; // -1: no window
	int32_t window_col;
};

struct array_macro {
	struct array_head head;
	size_t arena_bytes;
	void *arena;

	float *w[2];       // [rows][cols]
	float *psum;       // [rows][cols]
	float *product;    // [rows][cols], two stages only
	float *addend;     // [rows][cols], two stages only
	float *zeros;      // [cols], the sums that enter row 0
	float *a;          // [rows][ring]
	uint32_t *valid;   // [rows][ring], masks
	uint32_t *use1;    // [rows][ring], masks; zero where not valid
	int32_t *load;     // [ring], 2 * row + sel, or -1
	int32_t *n_valid;  // [rows], valid operands in the row
	int32_t *n_use1;   // [rows], valid operands that use w1
	int32_t *quiet;    // [rows], steps since the row had a valid operand, at most `stages`
	float *bus;        // [cols], scratch of a step
};

// Set the arena's size from the head, allocate it zeroed and set the pointers. Returns 0 or WC_ERR_SYSTEM.
int array_state_alloc(struct array_macro *m, struct wc_error *err);

#endif
