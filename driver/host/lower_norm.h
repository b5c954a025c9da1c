// SPDX-License-Identifier: Apache-2.0
//
// Shared by the lowerings of a normalization.
#ifndef WC_LOWER_NORM_H
#define WC_LOWER_NORM_H

#include "driver/host/lower_internal.h"

// A program of normalization `from->node` over these rows of each sample, `x` pixels each.
struct simd_nest lower_norm_nest(const struct lower *lower, const struct step *from, enum wc_simd_program program, struct rows rows, int x);
// A stream of a slab's rows: a vector of the channels, fp16 or fp32; feature maps pixel by pixel. And that the op reads or writes it.
void lower_norm_read(struct op *op, int index, int type, struct op_rows rows);
void lower_norm_write(struct op *op, int index, int type, struct op_rows rows);
// Rows `rows` of the slab as the value that it holds.
struct op_rows lower_norm_rows(const struct lower *lower, const struct step *from, int slab, struct rows rows);
// 1 / M of a sample's group.
float lower_norm_reciprocal(const struct lower *lower, const struct step *from);

#endif
