// SPDX-License-Identifier: Apache-2.0
//
// Adds and concatenations, and their gradients: element by element, rows as they lie.
#include "driver/host/lower_internal.h"

// result = a + b, of rows that lie alike.
static int add(struct lower *lower, int step, struct op_rows a, struct op_rows b, struct op_rows result, struct wc_error *err)
{
	struct op *op = lower_simd(lower, step, err);

	if (!op)
		return WC_ERR_SYSTEM;
	const struct op_rows *const streams[] = {&a, &b, &result};
	struct simd_nest nest = lower_row_nest(lower, WC_SIMD_ADD, &result);
	const bool runs = b.run < b.count;

	if (runs) {
		nest.x = (int64_t)(b.count / b.run);
		nest.channels = (int64_t)b.run;
	}
	simd_put_nest(&op->command.simd, &nest);
	for (int i = 0; i < 3; i++)
		simd_put_stream(&op->command.simd, i, SIMD_HALF,
				lower_stream(streams[i], !runs ? 0 : streams[i]->run < streams[i]->count ? (int64_t)streams[i]->run_stride : 2 * nest.channels));
	lower_reads(op, a);
	lower_reads(op, b);
	lower_writes(op, result);
	return lower_simd_finish(lower, op, err);
}

// The same bits elsewhere; either side may be channels of a wider tensor. `whole`: what is complete with this, or NULL.
static int copy(struct lower *lower, int step, struct op_rows from, struct op_rows to, const struct op_rows *whole, struct wc_error *err)
{
	struct op *op = lower_simd(lower, step, err);

	if (!op)
		return WC_ERR_SYSTEM;
	const uint64_t run = from.run < to.run ? from.run : to.run;
	struct simd_nest nest = lower_row_nest(lower, WC_SIMD_COPY, &to);

	nest.x = (int64_t)(to.count / run);
	nest.channels = (int64_t)run;
	simd_put_nest(&op->command.simd, &nest);
	simd_put_stream(&op->command.simd, 0, SIMD_HALF, lower_stream(&from, from.run < from.count ? (int64_t)from.run_stride : 2 * nest.channels));
	simd_put_stream(&op->command.simd, 1, SIMD_HALF, lower_stream(&to, to.run < to.count ? (int64_t)to.run_stride : 2 * nest.channels));
	lower_reads(op, from);
	lower_writes(op, to);
	if (whole)
		lower_writes(op, *whole);
	return lower_simd_finish(lower, op, err);
}

static struct op_rows step_rows(const struct lower *lower, const struct step *from, int slab, struct value value)
{
	return lower_rows(lower, from, slab, (struct rows){from->lo, from->hi}, value);
}

// Of more than two inputs the sum so far stands where the result will.
int lower_add(struct lower *lower, int step, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const int last = lower->program->net->nodes[from->node].input_count - 1;
	struct value before = lower_value(lower, from, from->source), after = lower_value(lower, from, from->result);

	before.stage = from->part > 1 ? from->part : 0;
	after.stage = from->part < last ? from->part + 1 : 0;
	return add(lower, step, step_rows(lower, from, from->source, before),
		   step_rows(lower, from, from->operand, lower_value(lower, from, from->operand)), step_rows(lower, from, from->result, after), err);
}

// The first channel of an input in its concatenation.
static int first_channel(const struct lower *lower, int concat, int part)
{
	const struct net *net = lower->program->net;
	int first = 0;

	for (int i = 0; i < part; i++)
		first += net->nodes[net->nodes[concat].inputs[i]].out.channels;
	return first;
}

int lower_concat(struct lower *lower, int step, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct net_node *concat = &lower->program->net->nodes[from->node];
	const struct op_rows piece = step_rows(lower, from, from->source, lower_value(lower, from, from->source));
	const struct op_rows whole = step_rows(lower, from, from->result, lower_value(lower, from, from->result));

	return copy(lower, step, piece, lower_channels_of(lower, whole, first_channel(lower, from->node, from->part), piece.value),
		    from->part == concat->input_count - 1 ? &whole : NULL, err);
}

int lower_split(struct lower *lower, int step, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct net_node *node = &lower->program->net->nodes[from->node];
	const int input = node->inputs[from->part], reader = lower_reader(lower, input, from->node);
	const struct value before = lower_sum_so_far(lower, from, from->result);
	const struct value part = {.kind = SLAB_PART, .node = input, .reader = reader}, after = {.kind = SLAB_GRAD, .node = input, .reader = reader};
	struct op_rows source = step_rows(lower, from, from->source, lower_value(lower, from, from->source));

	if (node->op == NET_CONCAT)
		source = lower_channels_of(lower, source, first_channel(lower, from->node, from->part), part);
	lower_add_part(lower, from, input, reader);
	if (from->adds)
		return add(lower, step, step_rows(lower, from, from->result, before), source, step_rows(lower, from, from->result, after), err);
	return copy(lower, step, source, step_rows(lower, from, from->result, after), NULL, err);
}

int lower_sum(struct lower *lower, int step, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct value before = lower_sum_so_far(lower, from, from->result);
	const struct value part = {.kind = SLAB_PART, .node = from->node, .reader = before.reader - 1};
	const struct value after = {.kind = SLAB_GRAD, .node = from->node, .reader = before.reader - 1};

	lower_add_part(lower, from, from->node, after.reader);
	return add(lower, step, step_rows(lower, from, from->result, before), step_rows(lower, from, from->source, part),
		   step_rows(lower, from, from->result, after), err);
}
