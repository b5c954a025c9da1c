// SPDX-License-Identifier: Apache-2.0
//
// Group normalization: partial sums of rows, and what is made of those of all rows.
#include "driver/host/lower_norm.h"

static const struct rows one = {0, 1};

// Some vectors of each row.
static struct op_rows vectors_of(const struct lower *lower, struct op_rows rows, int first, int count)
{
	rows = lower_vector_of(rows, first);
	rows.vector_count = count;
	rows.step = value_step(lower->program->net, &rows.value, first);
	return rows;
}

// Vectors of the rows to streams from `index` on.
static void put_vectors(struct op *op, int index, const struct op_rows *rows)
{
	for (int i = 0; i < rows->vector_count; i++) {
		const struct op_rows vector = lower_vector_of(*rows, i);

		simd_put_stream(&op->command.simd, index + i, SIMD_FLOAT, lower_stream(&vector, 0));
	}
}

static void write_vectors(struct op *op, int index, struct op_rows rows)
{
	put_vectors(op, index, &rows);
	lower_writes(op, rows);
}

static void read_vectors(struct op *op, int index, struct op_rows rows)
{
	put_vectors(op, index, &rows);
	lower_reads(op, rows);
}

// The parts of a group that is wider than the unit are walked as taps.
static void put_taps(struct op *op, int index, int parts)
{
	if (parts > 1)
		simd_put_tap(&op->command.simd, index, 0, 2 * (int64_t)op->command.simd.block);
}

static struct op *begin(struct lower *lower, int step, const struct simd_nest *nest, int *parts, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	struct op *op = lower_simd(lower, step, err);

	if (op && parts)
		*parts = simd_put_groups(&op->command.simd, nest, lower->program->net->nodes[from->node].group_channels);
	else if (op)
		simd_put_nest(&op->command.simd, nest);
	return op;
}

// The first pixel of each sample, set apart in fp32 for the sums of other rows.
static int lower_shift(struct lower *lower, int step, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct simd_nest nest = lower_norm_nest(lower, from, WC_SIMD_COPY, one, 1);
	struct op *op = begin(lower, step, &nest, NULL, err);

	if (!op)
		return WC_ERR_SYSTEM;
	lower_norm_read(op, 0, SIMD_HALF, lower_norm_rows(lower, from, from->source, one));
	lower_norm_write(op, 1, SIMD_FLOAT, lower_norm_rows(lower, from, from->mask, one));
	return lower_simd_finish(lower, op, err);
}

// What sums are shifted by: set apart, or, where all rows are there at once, where it came from.
static void read_shift(const struct lower *lower, const struct step *from, struct op *op, int index, int x)
{
	if (from->mask >= 0)
		lower_norm_read(op, index, SIMD_FLOAT, lower_norm_rows(lower, from, from->mask, one));
	else
		lower_norm_read(op, index, SIMD_HALF, lower_norm_rows(lower, from, x, one));
}

static bool is_wide(const struct lower *lower, const struct step *from)
{
	return lower->program->net->nodes[from->node].group_channels > (int)wc_device_lanes(&lower->params);
}

// What makes the same sums: of groups that the unit holds, of wider ones, and of those that come one channel at a time.
struct sums_programs {
	enum wc_simd_program whole, wide, single;
};

// Sums over the step's rows; stream 0 reads the normalization's input.
static struct op *begin_sums(struct lower *lower, int step, const struct sums_programs *programs, int *parts, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct rows rows = {from->lo, from->hi};
	const struct simd_nest nest = lower_norm_nest(lower, from, is_wide(lower, from) ? programs->wide : programs->whole, rows,
						      lower->program->net->nodes[from->node].out.width);
	struct op *op = begin(lower, step, &nest, parts, err);

	if (op && op->command.simd.group == 1)
		op->command.simd.program = (uint8_t)programs->single;
	if (op)
		lower_norm_read(op, 0, SIMD_HALF, lower_norm_rows(lower, from, from->source, rows));
	return op;
}

static int forward_sums(struct lower *lower, int step, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct rows rows = {from->lo, from->hi};
	const struct sums_programs programs = {WC_SIMD_NORM_SUMS, WC_SIMD_NORM_SUMS_WIDE, WC_SIMD_NORM_SUMS_SINGLE};
	int parts;
	struct op *op = begin_sums(lower, step, &programs, &parts, err);

	if (!op)
		return WC_ERR_SYSTEM;
	put_taps(op, 0, parts);
	read_shift(lower, from, op, 1, from->source);
	write_vectors(op, 3, lower_norm_rows(lower, from, from->result, rows));
	return lower_simd_finish(lower, op, err);
}

static int backward_sums(struct lower *lower, int step, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct rows rows = {from->lo, from->hi};
	const struct sums_programs programs = {WC_SIMD_NORM_BACKWARD_SUMS, WC_SIMD_NORM_BACKWARD_SUMS_WIDE, WC_SIMD_NORM_BACKWARD_SUMS_SINGLE};
	int parts;
	struct op *op = begin_sums(lower, step, &programs, &parts, err);

	if (!op)
		return WC_ERR_SYSTEM;
	lower_norm_read(op, 1, SIMD_HALF, lower_norm_rows(lower, from, from->operand, rows));
	lower_norm_read(op, 2, SIMD_HALF, lower_vector_of(lower_norm_rows(lower, from, from->parameters, one), 0));
	for (int i = 0; i < 3; i++)
		put_taps(op, i, parts);
	read_vectors(op, 3, lower_norm_rows(lower, from, from->vectors, one));
	// The same for every row.
	op->command.simd.s3_stride_y = op->command.simd.s4_stride_y = 0;
	write_vectors(op, 5, vectors_of(lower, lower_norm_rows(lower, from, from->result, rows), 0, 2));
	return lower_simd_finish(lower, op, err);
}

static int parameter_sums(struct lower *lower, int step, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct rows rows = {from->lo, from->hi};
	const struct simd_nest nest =
		lower_norm_nest(lower, from, WC_SIMD_NORM_PARAMETER_GRADIENT, rows, lower->program->net->nodes[from->node].out.width);
	struct op *op = begin(lower, step, &nest, NULL, err);

	if (!op)
		return WC_ERR_SYSTEM;
	lower_norm_read(op, 0, SIMD_HALF, lower_norm_rows(lower, from, from->source, rows));
	lower_norm_read(op, 1, SIMD_HALF, lower_norm_rows(lower, from, from->operand, rows));
	read_vectors(op, 2, lower_norm_rows(lower, from, from->vectors, one));
	op->command.simd.s2_stride_y = op->command.simd.s3_stride_y = 0;
	write_vectors(op, 4, vectors_of(lower, lower_norm_rows(lower, from, from->result, rows), 2, 2));
	return lower_simd_finish(lower, op, err);
}

// A wide group's parts are counted as taps.
static int check_parts(const struct lower *lower, const struct step *from, struct wc_error *err)
{
	const int parts = simd_group_parts(lower->program->net->nodes[from->node].group_channels, wc_device_lanes(&lower->params));

	return lower_check(lower, from->node, "parts of a group on the vector unit", parts, 1, UINT8_MAX, err);
}

int lower_row_sums(struct lower *lower, int step, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	int result = check_parts(lower, from, err);

	if (result)
		return result;
	if (from->phase == SCHED_BACKWARD) {
		result = backward_sums(lower, step, err);
		return result ? result : parameter_sums(lower, step, err);
	}
	if (from->mask >= 0 && from->lo == 0)
		result = lower_shift(lower, step, err);
	return result ? result : forward_sums(lower, step, err);
}

// What stands in a wide group's first part goes into the others. Both vectors of a sample lie as far apart as samples do, halved.
static int spread(struct lower *lower, int step, int parts, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct net_node *norm = &lower->program->net->nodes[from->node];
	struct op_rows whole = lower_norm_rows(lower, from, from->result, one), first = whole;
	struct simd_nest nest = lower_norm_nest(lower, from, WC_SIMD_COPY, one, parts - 1);
	struct simd_stream stream = {(int64_t)whole.base, (int64_t)whole.vector_stride, 0, 0};
	struct op *op;
	int result;

	nest.n *= 2;
	result = lower_check(lower, from->node, "statistics of all samples", nest.n, 1, UINT16_MAX, err);
	if (result)
		return result;
	op = begin(lower, step, &nest, &parts, err);
	if (!op)
		return WC_ERR_SYSTEM;
	first.step = norm->group_channels;
	simd_put_stream(&op->command.simd, 0, SIMD_FLOAT, stream);
	stream.x = 4 * (int64_t)op->command.simd.block;
	stream.base += stream.x;
	simd_put_stream(&op->command.simd, 1, SIMD_FLOAT, stream);
	lower_reads(op, first);
	lower_writes(op, whole);
	return lower_simd_finish(lower, op, err);
}

static int combine(struct lower *lower, int step, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const bool forward = from->phase == SCHED_FORWARD;
	const struct net_node *norm = &lower->program->net->nodes[from->node];
	const struct simd_nest nest = lower_norm_nest(lower, from, forward ? WC_SIMD_NORM_STATS : WC_SIMD_NORM_BACKWARD_STATS,
						      (struct rows){0, norm->out.height}, 1);
	struct op_rows made = lower_norm_rows(lower, from, from->result, one);
	int parts, result;
	struct op *op = begin(lower, step, &nest, &parts, err);

	if (!op)
		return WC_ERR_SYSTEM;
	read_vectors(op, 0, vectors_of(lower, lower_norm_rows(lower, from, from->source, (struct rows){0, norm->out.height}), 0, 2));
	// From zero on, and the running sums go nowhere.
	op->command.simd.zero = op->command.simd.off = 1 << 2 | 1 << 3;
	op->command.simd.type2 = op->command.simd.type3 = SIMD_FLOAT;
	simd_put_constant(&op->command.simd, 0, lower_norm_reciprocal(lower, from));
	if (forward) {
		simd_put_constant(&op->command.simd, 1, NET_GN_EPSILON);
		read_shift(lower, from, op, 4, from->operand);
	}
	if (parts > 1)
		made.step = norm->group_channels;
	write_vectors(op, forward ? 5 : 4, made);
	result = lower_simd_finish(lower, op, err);
	return result || parts == 1 ? result : spread(lower, step, parts, err);
}

// Gradients of gamma or beta: rows of all samples, one after another, added to those of the cuts before.
static int combine_parameters(struct lower *lower, int step, int which, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct net_node *norm = &lower->program->net->nodes[from->node];
	const struct op_rows sums = lower_norm_rows(lower, from, from->source, (struct rows){0, norm->out.height});
	struct op_rows made = lower_vector_of(lower_norm_rows(lower, from, from->parameters, one), which), before = made;
	struct simd_nest nest = lower_norm_nest(lower, from, WC_SIMD_SUM_ROWS, (struct rows){0, norm->out.height}, 1);
	struct op *op;
	int result;

	nest.y *= nest.n;
	nest.n = 1;
	result = lower_check(lower, from->node, "rows of all samples", nest.y, 1, UINT16_MAX, err);
	if (result)
		return result;
	op = begin(lower, step, &nest, NULL, err);
	if (!op)
		return WC_ERR_SYSTEM;
	read_vectors(op, 0, vectors_of(lower, sums, 2 + which, 1));
	made.value.stage = from->cut;
	before.value.stage = from->cut - 1;
	if (from->first_cut)
		op->command.simd.zero = 1 << 1;
	else
		lower_reads(op, before);
	write_vectors(op, 1, made);
	return lower_simd_finish(lower, op, err);
}

int lower_combine(struct lower *lower, int step, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	int result = check_parts(lower, from, err);

	if (!result)
		result = combine(lower, step, err);
	for (int which = 0; !result && from->phase == SCHED_BACKWARD && which < 2; which++)
		result = combine_parameters(lower, step, which, err);
	if (from->phase == SCHED_BACKWARD)
		lower->cuts[from->node][0] = from->cut;
	return result;
}
