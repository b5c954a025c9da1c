// SPDX-License-Identifier: Apache-2.0
//
// Group normalization: the operator and its gradient with respect to the input. Statistics and sums: lower_statistics.c.
#include "driver/host/lower_norm.h"

struct simd_nest lower_norm_nest(const struct lower *lower, const struct step *from, enum wc_simd_program program, struct rows rows, int x)
{
	return (struct simd_nest){
		program, from->sample_count, rows_count(rows), x, lower->program->net->nodes[from->node].out.channels, wc_device_lanes(&lower->params),
	};
}

struct op_rows lower_norm_rows(const struct lower *lower, const struct step *from, int slab, struct rows rows)
{
	return lower_rows(lower, from, slab, rows, lower_value(lower, from, slab));
}

float lower_norm_reciprocal(const struct lower *lower, const struct step *from)
{
	const struct net_node *norm = &lower->program->net->nodes[from->node];

	return (float)(1.0 / ((double)norm->out.height * norm->out.width * norm->group_channels));
}

// A pixel of a map; vectors of a sample or row stand still along it.
static struct simd_stream stream_of(const struct wc_simd_command *command, const struct op_rows *rows)
{
	const bool map = value_is_map(rows->value.kind);
	struct simd_stream stream = lower_stream(rows, map ? 2 * (int64_t)command->channels : 0);

	// One row for all.
	if (op_rows_count(rows) == 1 && command->count_y > 1)
		stream.y = 0;
	return stream;
}

void lower_norm_read(struct op *op, int index, int type, struct op_rows rows)
{
	simd_put_stream(&op->command.simd, index, type, stream_of(&op->command.simd, &rows));
	lower_reads(op, rows);
}

void lower_norm_write(struct op *op, int index, int type, struct op_rows rows)
{
	simd_put_stream(&op->command.simd, index, type, stream_of(&op->command.simd, &rows));
	lower_writes(op, rows);
}

int lower_norm(struct lower *lower, int step, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct rows rows = {from->lo, from->hi}, one = {0, 1};
	const struct simd_nest nest = lower_norm_nest(lower, from, WC_SIMD_NORM_APPLY, rows, lower->program->net->nodes[from->node].out.width);
	const struct op_rows statistics = lower_norm_rows(lower, from, from->vectors, one), parameters = lower_norm_rows(lower, from, from->parameters, one);
	struct op *op = lower_simd(lower, step, err);

	if (!op)
		return WC_ERR_SYSTEM;
	simd_put_nest(&op->command.simd, &nest);
	lower_norm_read(op, 0, SIMD_HALF, lower_norm_rows(lower, from, from->source, rows));
	lower_norm_read(op, 1, SIMD_FLOAT, lower_vector_of(statistics, 0));
	lower_norm_read(op, 2, SIMD_FLOAT, lower_vector_of(statistics, 1));
	lower_norm_read(op, 3, SIMD_HALF, lower_vector_of(parameters, 0));
	lower_norm_read(op, 4, SIMD_HALF, lower_vector_of(parameters, 1));
	lower_norm_write(op, 5, SIMD_HALF, lower_norm_rows(lower, from, from->result, rows));
	return lower_simd_finish(lower, op, err);
}

int lower_norm_gradient(struct lower *lower, int step, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct rows rows = {from->lo, from->hi}, one = {0, 1};
	const struct simd_nest nest =
		lower_norm_nest(lower, from, WC_SIMD_NORM_INPUT_GRADIENT, rows, lower->program->net->nodes[from->node].out.width);
	const struct op_rows statistics = lower_norm_rows(lower, from, from->vectors, one), sums = lower_norm_rows(lower, from, from->sums, one);
	const struct value value = lower_made_gradient(lower, from);
	struct op *op = lower_simd(lower, step, err);

	if (!op)
		return WC_ERR_SYSTEM;
	simd_put_nest(&op->command.simd, &nest);
	lower_norm_read(op, 0, SIMD_HALF, lower_norm_rows(lower, from, from->operand, rows));
	lower_norm_read(op, 1, SIMD_HALF, lower_norm_rows(lower, from, from->source, rows));
	lower_norm_read(op, 2, SIMD_HALF, lower_vector_of(lower_norm_rows(lower, from, from->parameters, one), 0));
	lower_norm_read(op, 3, SIMD_FLOAT, lower_vector_of(statistics, 0));
	lower_norm_read(op, 4, SIMD_FLOAT, lower_vector_of(statistics, 1));
	lower_norm_read(op, 5, SIMD_FLOAT, lower_vector_of(sums, 0));
	lower_norm_read(op, 6, SIMD_FLOAT, lower_vector_of(sums, 1));
	lower_norm_write(op, 7, SIMD_HALF, lower_rows(lower, from, from->result, rows, value));
	return lower_simd_finish(lower, op, err);
}
