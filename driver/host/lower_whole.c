// SPDX-License-Identifier: Apache-2.0
//
// What runs by itself beside the groups: the loss, the reduction of the parameters' gradients over the cores, and the update.
#include "driver/host/lower_internal.h"

static struct op *begin(struct lower *lower, int step, const struct simd_nest *nest, struct wc_error *err)
{
	struct op *op = lower_simd(lower, step, err);

	if (op)
		simd_put_nest(&op->command.simd, nest);
	return op;
}

static void put_numbers(struct op *op, int index, const struct op_rows *rows)
{
	simd_put_stream(&op->command.simd, index, SIMD_SCALAR, (struct simd_stream){(int64_t)rows->base, 4, 0, 0});
}

// The operands and results of the three commands of a loss.
struct loss {
	struct op_rows logits, labels, softmax, gradient, losses;
	struct simd_nest nest;
};

static int lower_max(struct lower *lower, int step, const struct loss *loss, struct wc_error *err)
{
	const struct op_rows largest = lower_vector_of(loss->softmax, 0);
	struct simd_nest nest = loss->nest;
	struct op *op;

	nest.program = WC_SIMD_SOFTMAX_MAX;
	op = begin(lower, step, &nest, err);
	if (!op)
		return WC_ERR_SYSTEM;
	simd_put_stream(&op->command.simd, 0, SIMD_HALF, lower_stream(&loss->logits, 0));
	put_numbers(op, 1, &largest);
	lower_reads(op, loss->logits);
	lower_writes(op, largest);
	return lower_simd_finish(lower, op, err);
}

static int lower_exponentials(struct lower *lower, int step, const struct loss *loss, struct wc_error *err)
{
	const struct op_rows largest = lower_vector_of(loss->softmax, 0), reciprocal = lower_vector_of(loss->softmax, 1),
			     logarithm = lower_vector_of(loss->softmax, 2);
	struct simd_nest nest = loss->nest;
	struct op *op;

	nest.program = WC_SIMD_SOFTMAX_SUM;
	op = begin(lower, step, &nest, err);
	if (!op)
		return WC_ERR_SYSTEM;
	simd_put_stream(&op->command.simd, 0, SIMD_HALF, lower_stream(&loss->logits, 0));
	put_numbers(op, 1, &largest);
	put_numbers(op, 2, &reciprocal);
	put_numbers(op, 3, &logarithm);
	lower_reads(op, loss->logits);
	lower_reads(op, largest);
	lower_writes(op, reciprocal);
	lower_writes(op, logarithm);
	return lower_simd_finish(lower, op, err);
}

static int lower_logits_gradient(struct lower *lower, int step, const struct loss *loss, struct wc_error *err)
{
	struct simd_nest nest = loss->nest;
	struct op *op;

	nest.program = WC_SIMD_SOFTMAX_GRADIENT;
	op = begin(lower, step, &nest, err);
	if (!op)
		return WC_ERR_SYSTEM;
	simd_put_constant(&op->command.simd, 0, lower->loss_scale);
	simd_put_stream(&op->command.simd, 0, SIMD_HALF, lower_stream(&loss->logits, 0));
	for (int i = 0; i < 3; i++) {
		const struct op_rows vector = lower_vector_of(loss->softmax, i);

		put_numbers(op, 1 + i, &vector);
	}
	put_numbers(op, 4, &loss->labels);
	simd_put_stream(&op->command.simd, 5, SIMD_HALF, lower_stream(&loss->gradient, 0));
	put_numbers(op, 6, &loss->losses);
	lower_reads(op, loss->logits);
	lower_reads(op, loss->softmax);
	lower_reads(op, loss->labels);
	lower_writes(op, loss->gradient);
	lower_writes(op, loss->losses);
	return lower_simd_finish(lower, op, err);
}

int lower_loss(struct lower *lower, int step, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct rows samples = {from->lo, from->hi}, one = {0, 1};
	const struct loss loss = {
		.logits = lower_rows(lower, from, from->source, one, lower_value(lower, from, from->source)),
		.labels = lower_rows(lower, from, from->operand, samples, lower_value(lower, from, from->operand)),
		.softmax = lower_rows(lower, from, from->vectors, one, lower_value(lower, from, from->vectors)),
		.gradient = lower_rows(lower, from, from->result, one, lower_made_gradient(lower, from)),
		.losses = lower_rows(lower, from, from->sums, samples, lower_value(lower, from, from->sums)),
		.nest = {
			.n = from->sample_count, .y = 1, .x = 1, .channels = lower->program->net->nodes[from->node].in.channels,
			.lanes = wc_device_lanes(&lower->params),
		},
	};
	int result = lower_max(lower, step, &loss, err);

	if (!result)
		result = lower_exponentials(lower, step, &loss, err);
	return result ? result : lower_logits_gradient(lower, step, &loss, err);
}

int lower_reduce(struct lower *lower, int step, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct rows one = {0, 1};
	const struct value added = lower_value(lower, from, from->source);
	const int cores = added.core + 1;
	const struct simd_nest nest = {WC_SIMD_ADD, 1, 1, 1, from->hi - from->lo, wc_device_lanes(&lower->params)};
	const struct op_rows operand = lower_rows(lower, from, from->source, one, added);
	struct value sum = lower_value(lower, from, from->result);
	struct op *op = begin(lower, step, &nest, err);

	if (!op)
		return WC_ERR_SYSTEM;
	sum.stage = added.core;
	const struct op_rows before = lower_rows(lower, from, from->result, one, sum);

	sum.stage = cores == lower->program->schedule->cores ? 0 : cores;
	const struct op_rows after = lower_rows(lower, from, from->result, one, sum);

	simd_put_stream(&op->command.simd, 0, SIMD_FLOAT, lower_stream(&before, 0));
	simd_put_stream(&op->command.simd, 1, SIMD_FLOAT, lower_stream(&operand, 0));
	simd_put_stream(&op->command.simd, 2, SIMD_FLOAT, lower_stream(&after, 0));
	lower_reads(op, before);
	lower_reads(op, operand);
	lower_writes(op, after);
	return lower_simd_finish(lower, op, err);
}

int lower_update(struct lower *lower, int step, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct rows one = {0, 1};
	const struct op_rows gradient = lower_rows(lower, from, from->source, one, lower_value(lower, from, from->source));
	const struct op_rows before = lower_rows(lower, from, from->operand, one, lower_value(lower, from, from->operand));
	const struct op_rows weights = lower_rows(lower, from, from->result, one, lower_value(lower, from, from->result));
	const struct simd_nest nest = {WC_SIMD_SGD, 1, 1, 1, from->hi - from->lo, wc_device_lanes(&lower->params)};
	struct op_rows after = before;
	struct op *op = begin(lower, step, &nest, err);

	if (!op)
		return WC_ERR_SYSTEM;
	after.value.stage = 1;
	simd_put_constant(&op->command.simd, 0, lower->sgd.inv_scale);
	simd_put_constant(&op->command.simd, 1, lower->sgd.decay);
	simd_put_constant(&op->command.simd, 2, lower->sgd.mu);
	simd_put_constant(&op->command.simd, 3, lower->sgd.lr);
	simd_put_stream(&op->command.simd, 0, SIMD_FLOAT, lower_stream(&gradient, 0));
	for (int i = 0; i < 2; i++) {
		const struct op_rows vector = lower_vector_of(before, i);

		simd_put_stream(&op->command.simd, 1 + i, SIMD_FLOAT, lower_stream(&vector, 0));
	}
	simd_put_stream(&op->command.simd, 3, SIMD_HALF, lower_stream(&weights, 0));
	lower_reads(op, gradient);
	lower_reads(op, before);
	lower_writes(op, after);
	lower_writes(op, weights);
	return lower_simd_finish(lower, op, err);
}
