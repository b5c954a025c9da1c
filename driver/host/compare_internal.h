// SPDX-License-Identifier: Apache-2.0
//
// Shared by the parts of the comparison.
#ifndef WC_COMPARE_INTERNAL_H
#define WC_COMPARE_INTERNAL_H

#include "driver/host/compare.h"

// Start the record of a difference, then fill in an element's value. `op` may be NULL.
void compare_record(struct compare *compare, enum mismatch_kind kind, uint32_t command, const struct op *op, uint64_t cycle);
void compare_record_value(struct compare *compare, enum layout_store store, int node, uint64_t index, uint32_t got, uint32_t expected);

// A GEMM is complete: all rows must have been drained.
int compare_tile_end(struct compare *compare, uint32_t command, const struct op *op, uint64_t cycle);

#endif
