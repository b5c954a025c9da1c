// SPDX-License-Identifier: Apache-2.0
//
// One operand of a GEMM, wave by wave: what its fetcher reads from the global buffer.
#ifndef WC_MODEL_OPERAND_H
#define WC_MODEL_OPERAND_H

#include <stdint.h>

#include "csim/model/walk.h"

// A run of elements inside one tap's channels, relative to the vector.
struct operand_run {
	uint32_t offset;
	int y, x;        // image position of the tap relative to the vector's
	int at, count;   // elements of the vector
};

struct operand {
	struct fetch_fields fields;
	int elements; // m_rows or n_cols: how many vectors in mode 0, elements of each in modes 1 and 2
	int rows;     // K elements of a whole wave
	struct vector_walk vectors;
	struct tap_walk taps;
	struct operand_run *runs; // borrowed: room for max(elements, rows)
	int run_count;
	uint16_t *halves;         // borrowed: the present wave, elements x rows; see operand_at()
};

enum operand_result {
	OPERAND_OK,
	OPERAND_RANGE, // an element outside the global buffer, or beyond the end of a walk
};

// `k_total`: 0 fetches nothing.
enum operand_result operand_init(struct operand *operand, const struct fetch_fields *fields, int elements, int rows, uint32_t k_total,
                                 struct operand_run *runs, uint16_t *halves);
// Fetch the next wave's `lanes` <= rows K elements (the rest is +0). Waves come in order.
enum operand_result operand_wave(struct operand *operand, const uint8_t *buffer, uint32_t buffer_bytes, int lanes);

// K element `lane` of m or n `element` in the present wave.
static inline uint16_t operand_at(const struct operand *operand, int element, int lane)
{
	return operand->halves[operand->fields.mode == 0 ? (size_t)element * operand->rows + lane : (size_t)lane * operand->elements + element];
}

// The present wave as float: floats[element * element_stride + lane * lane_stride].
void operand_floats(const struct operand *operand, float *floats, size_t element_stride, size_t lane_stride);

#endif
