// SPDX-License-Identifier: Apache-2.0
//
// Shared by the parts of the comparison.
#ifndef WC_COMPARE_INTERNAL_H
#define WC_COMPARE_INTERNAL_H

#include "driver/host/compare.h"

// Start the record of a difference, then fill in an element's value. `op` may be NULL.
void compare_record(struct compare *compare, enum mismatch_kind kind, uint32_t command, const struct op *op, uint64_t cycle);
void compare_record_value(struct compare *compare, const struct mismatch_element *element, int bits, uint32_t got, uint32_t expected);

// Where a comparison comes from.
struct compare_source {
	enum mismatch_kind kind;
	uint32_t command;    // UINT32_MAX: none
	const struct op *op; // NULL: none
	uint64_t cycle;
	bool in_memory;      // the rows lie in DRAM, not in the global buffer
};

// Rows of values (compare_rows.c).
int compare_rows(struct compare *compare, const struct compare_source *source, const struct op_rows *rows, struct wc_error *err);
// Keep what was seen of a tensor's rows.
int compare_collect(struct compare *compare, const struct compare_source *source, const struct op_rows *rows, struct wc_error *err);

// The gradients of parameters move on to the cut that the op adds.
int compare_advance(struct compare *compare, const struct op *op, struct wc_error *err);

// A GEMM is complete: all rows must have been drained.
int compare_tile_end(struct compare *compare, uint32_t command, const struct op *op, uint64_t cycle);

#endif
