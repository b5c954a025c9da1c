// SPDX-License-Identifier: Apache-2.0
//
// Shared by the parts of the lowering.
#ifndef WC_LOWER_INTERNAL_H
#define WC_LOWER_INTERNAL_H

#include <assert.h>

#include "driver/host/lower.h"

// A slab that a step must have.
static inline const struct slab *lower_slab(const struct lower *lower, int index)
{
	assert(index >= 0 && index < lower->program->slab_count);
	return &lower->program->slabs[index];
}

// The global buffer as a feature map: byte of (sample, row, 0, 0).
int64_t slab_row(const struct slab *slab, int sample, int row);
// Byte of output channel k of weights or sums, `element_bytes` each.
int64_t slab_channel(const struct slab *slab, int k, int64_t filter_elements, int element_bytes);

// A new op of `step`, without its command. NULL without memory.
struct op *lower_push(struct lower *lower, int step, enum op_kind kind, struct wc_error *err);
void lower_access(struct op *op, enum depend_space space, bool write, int64_t lo, int64_t hi);
// Header and waits, from the op's accesses: the last thing to do for a command.
int lower_finish(struct lower *lower, struct op *op, enum wc_opcode opcode, struct wc_error *err);

// Whether `value` fits [min, max] of a field; the error names layer and field.
int lower_check(const struct lower *lower, int node, const char *field, int64_t value, int64_t min, int64_t max,
		struct wc_error *err);

int lower_transfer(struct lower *lower, int step, struct wc_error *err);
int lower_relu(struct lower *lower, int step, struct wc_error *err);
int lower_relu_gradient(struct lower *lower, int step, struct wc_error *err);
int lower_forward(struct lower *lower, int step, struct wc_error *err);
int lower_data_gradient(struct lower *lower, int step, struct wc_error *err);
int lower_weight_gradient(struct lower *lower, int step, struct wc_error *err);

#endif
