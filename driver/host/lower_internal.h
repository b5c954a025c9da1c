// SPDX-License-Identifier: Apache-2.0
//
// Shared by the parts of the lowering.
#ifndef WC_LOWER_INTERNAL_H
#define WC_LOWER_INTERNAL_H

#include <assert.h>

#include "driver/host/lower.h"
#include "driver/host/lower_axis.h"
#include "driver/host/simd_fields.h"
#include "driver/plan/rows.h"

// A slab that a step must have.
static inline const struct slab *lower_slab(const struct lower *lower, int index)
{
	assert(index >= 0 && index < lower->program->slab_count);
	return &lower->program->slabs[index];
}

static inline const struct step *lower_from(const struct lower *lower, const struct op *op)
{
	return &lower->program->steps[op->step];
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

// What a slab's bytes stand for (lower_value.c). Gradients: complete ones, parts and sums in fp32 those of the step's operator.
struct value lower_value(const struct lower *lower, const struct step *from, int slab);
// A gradient's sum of parts so far; and that one reader's part has been added to it in the step's rows.
struct value lower_sum_so_far(const struct lower *lower, const struct step *from, int slab);
void lower_add_part(struct lower *lower, const struct step *from, int node, int reader);
// What a data gradient makes: a reader's part, or its sums in fp32, or the gradient with this part as its first.
struct value lower_made_gradient(struct lower *lower, const struct step *from);
// Index in `node`'s consumers.
int lower_reader(const struct lower *lower, int node, int consumer);

// Rows of a slab, of the step's samples if it has samples, all vectors and elements; op_rows to be narrowed by the caller (lower_rows.c).
struct op_rows lower_rows(const struct lower *lower, const struct step *from, int slab, struct rows rows, struct value value);
// One vector of them; the channels from `first` on of each pixel of a feature map, which are those of a tensor with fewer, `value`'s.
struct op_rows lower_vector_of(struct op_rows rows, int vector);
struct op_rows lower_channels_of(const struct lower *lower, struct op_rows rows, int first, struct value value);
// Pixels of one residue class of a gradient in fp16.
struct op_rows lower_class_of(const struct lower *lower, struct op_rows rows, const struct lower_axis *y, const struct lower_axis *x);
// The same rows as a stream; rows of a feature map pixel by pixel if `pixel_bytes` is not 0.
struct simd_stream lower_stream(const struct op_rows *rows, int64_t pixel_bytes);
// The op reads them, or writes them: for dependences, and for who compares.
void lower_reads(struct op *op, struct op_rows rows);
void lower_writes(struct op *op, struct op_rows rows);

// A SIMD op of a step, to be filled and finished. NULL without memory.
struct op *lower_simd(struct lower *lower, int step, struct wc_error *err);
// The nest of a program over rows whose pixels are of no interest: every row a pixel of W C channels.
struct simd_nest lower_row_nest(const struct lower *lower, enum wc_simd_program program, const struct op_rows *rows);
// The first result is the op's value; lower_finish().
int lower_simd_finish(struct lower *lower, struct op *op, struct wc_error *err);

int lower_transfer(struct lower *lower, int step, struct wc_error *err);
int lower_relu(struct lower *lower, int step, struct wc_error *err);
int lower_relu_gradient(struct lower *lower, int step, struct wc_error *err);
int lower_forward(struct lower *lower, int step, struct wc_error *err);
int lower_data_gradient(struct lower *lower, int step, struct wc_error *err);
int lower_fc_gradient(struct lower *lower, int step, struct wc_error *err);
int lower_weight_gradient(struct lower *lower, int step, struct wc_error *err);
int lower_bias_gradient(struct lower *lower, int step, struct wc_error *err);
int lower_add(struct lower *lower, int step, struct wc_error *err);
int lower_concat(struct lower *lower, int step, struct wc_error *err);
int lower_split(struct lower *lower, int step, struct wc_error *err);
int lower_sum(struct lower *lower, int step, struct wc_error *err);
int lower_round(struct lower *lower, int step, struct wc_error *err);
int lower_bias(struct lower *lower, int step, struct wc_error *err);
int lower_ones(struct lower *lower, int step, struct wc_error *err);
int lower_pool(struct lower *lower, int step, struct wc_error *err);
int lower_pool_gradient(struct lower *lower, int step, struct wc_error *err);
int lower_norm(struct lower *lower, int step, struct wc_error *err);
int lower_norm_gradient(struct lower *lower, int step, struct wc_error *err);
int lower_row_sums(struct lower *lower, int step, struct wc_error *err);
int lower_combine(struct lower *lower, int step, struct wc_error *err);
int lower_loss(struct lower *lower, int step, struct wc_error *err);
int lower_reduce(struct lower *lower, int step, struct wc_error *err);
int lower_update(struct lower *lower, int step, struct wc_error *err);

#endif
