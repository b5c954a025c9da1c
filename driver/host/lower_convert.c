// SPDX-License-Identifier: Apache-2.0
//
// Between fp16 and fp32, and constants.
#include "driver/host/lower_internal.h"

static int convert(struct lower *lower, int step, struct op_rows from, int from_type, struct op_rows to, int to_type, struct wc_error *err)
{
	struct op *op = lower_simd(lower, step, err);

	if (!op)
		return WC_ERR_SYSTEM;
	const struct simd_nest nest = lower_row_nest(lower, WC_SIMD_COPY, &to);

	simd_put_nest(&op->command.simd, &nest);
	simd_put_stream(&op->command.simd, 0, from_type, lower_stream(&from, 0));
	simd_put_stream(&op->command.simd, 1, to_type, lower_stream(&to, 0));
	lower_reads(op, from);
	lower_writes(op, to);
	return lower_simd_finish(lower, op, err);
}

int lower_round(struct lower *lower, int step, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct rows rows = {from->lo, from->hi};
	const struct slab *made = lower_slab(lower, from->result);
	const struct net_node *of = &lower->program->net->nodes[from->node];
	// A part is made apart if it is not the first.
	const int reader = made->kind == SLAB_PART ? lower_sum_so_far(lower, from, from->result).reader - 1 : of->consumer_count - 1;
	const int channels = lower->program->net->nodes[of->consumers[reader]].out.channels;
	const struct value wide = {.kind = SLAB_WIDE, .node = from->node, .reader = reader, .stage = channels};
	const struct value value = {.kind = made->kind, .node = from->node, .reader = reader};

	if (made->kind == SLAB_GRAD)
		lower_add_part(lower, from, from->node, reader);
	return convert(lower, step, lower_rows(lower, from, from->source, rows, wide), SIMD_FLOAT,
		       lower_rows(lower, from, from->result, rows, value), SIMD_HALF, err);
}

// A row of one channel each: one after another, they are as good as a row of all.
static struct op_rows as_row(const struct lower *lower, const struct step *from, int slab)
{
	return lower_rows(lower, from, slab, (struct rows){from->lo, from->hi}, lower_value(lower, from, slab));
}

int lower_bias(struct lower *lower, int step, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct op_rows halves = as_row(lower, from, from->source), floats = as_row(lower, from, from->result);
	struct op *op = lower_simd(lower, step, err);

	if (!op)
		return WC_ERR_SYSTEM;
	const struct simd_nest nest = {WC_SIMD_COPY, 1, 1, 1, from->hi - from->lo, wc_device_lanes(&lower->params)};

	simd_put_nest(&op->command.simd, &nest);
	simd_put_stream(&op->command.simd, 0, SIMD_HALF, lower_stream(&halves, 0));
	simd_put_stream(&op->command.simd, 1, SIMD_FLOAT, lower_stream(&floats, 0));
	lower_reads(op, halves);
	lower_writes(op, floats);
	return lower_simd_finish(lower, op, err);
}

int lower_ones(struct lower *lower, int step, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct op_rows ones = as_row(lower, from, from->result);
	struct op *op = lower_simd(lower, step, err);

	if (!op)
		return WC_ERR_SYSTEM;
	const struct simd_nest nest = lower_row_nest(lower, WC_SIMD_FILL, &ones);

	simd_put_nest(&op->command.simd, &nest);
	simd_put_constant(&op->command.simd, 0, 1);
	simd_put_stream(&op->command.simd, 0, SIMD_HALF, lower_stream(&ones, 0));
	lower_writes(op, ones);
	return lower_simd_finish(lower, op, err);
}
