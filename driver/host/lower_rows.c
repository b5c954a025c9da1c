// SPDX-License-Identifier: Apache-2.0
//
// Rows of values in the global buffer: where they lie, as streams, and as what an op reads and writes.
#include "driver/host/lower_internal.h"

// Bytes of a filter's, a bias's or a sample's row in a slab.
static uint64_t row_stride(const struct slab *slab, const struct value_shape *shape, const struct net_node *node)
{
	const uint64_t bytes = value_vector_bytes(shape);

	if (slab->pitch_bytes)
		return slab->pitch_bytes;
	// Some rows of the kernel alone.
	return slab->kind == SLAB_WEIGHT ? bytes / (uint64_t)node->conv.kernel_h * (uint64_t)(slab->tap_hi - slab->tap_lo) : bytes;
}

struct op_rows lower_rows(const struct lower *lower, const struct step *from, int slab, struct rows rows, struct value value)
{
	const struct slab *of = lower_slab(lower, slab);
	const struct net_node *node = &lower->program->net->nodes[of->node];
	const struct value_shape shape = value_shape_of(lower->program->net, lower->layout->batch, &value);
	struct op_rows made = {
		.value = value, .sample_count = 1, .lo = rows.lo, .hi = rows.hi, .row_step = 1, .vector_count = shape.vectors, .count = shape.count, .bits = shape.bits,
		.row_stride = row_stride(of, &shape, node),
	};

	made.base = of->offset;
	made.vector_stride = value_vector_bytes(&shape);
	if (value_is_array(of->kind)) {
		made.first = (uint64_t)of->lo;
		made.count = (uint64_t)(of->hi - of->lo);
		made.vector_stride = made.count * (uint64_t)shape.bits / 8;
	} else if (of->kind == SLAB_SOFTMAX) {
		// One behind the other, and not padded.
		made.first = (uint64_t)from->sample_first;
		made.count = (uint64_t)from->sample_count;
		made.vector_stride = made.count * (uint64_t)shape.bits / 8;
	} else {
		assert(rows.lo >= of->lo && rows.hi <= of->hi);
		made.base += (uint64_t)(rows.lo - of->lo) * made.row_stride;
	}
	if (of->kind != SLAB_SOFTMAX)
		made.vector_stride = round_up(made.vector_stride, lower->params.bus_bytes);
	if (shape.samples) {
		made.sample_first = from->sample_first;
		made.sample_count = from->sample_count;
		made.sample_stride = (uint64_t)(of->hi - of->lo) * made.row_stride;
		made.base += (uint64_t)(from->sample_first - of->sample_first) * made.sample_stride;
	}
	if (of->kind == SLAB_WEIGHT) {
		made.count = made.count / (uint64_t)node->conv.kernel_h * (uint64_t)(of->tap_hi - of->tap_lo);
		made.first = shape.count / (uint64_t)node->conv.kernel_h * (uint64_t)of->tap_lo;
	}
	made.step = value_step(lower->program->net, &value, 0);
	made.run = made.count;
	return made;
}

struct op_rows lower_vector_of(struct op_rows rows, int vector)
{
	rows.base += (uint64_t)vector * rows.vector_stride;
	rows.vector_first += vector;
	rows.vector_count = 1;
	return rows;
}

struct op_rows lower_channels_of(const struct lower *lower, struct op_rows rows, int first, struct value value)
{
	const struct net_shape *whole = &lower->program->net->nodes[rows.value.node].out, *piece = &lower->program->net->nodes[value.node].out;

	rows.value = value;
	rows.base += 2 * (uint64_t)first;
	rows.count = (uint64_t)piece->width * (uint64_t)piece->channels;
	rows.run = rows.run_step = (uint64_t)piece->channels;
	rows.run_stride = 2 * (uint64_t)whole->channels;
	return rows;
}

struct op_rows lower_class_of(const struct lower *lower, struct op_rows rows, const struct lower_axis *y, const struct lower_axis *x)
{
	const uint64_t channels = (uint64_t)lower->program->net->nodes[rows.value.node].out.channels;

	rows.base += (uint64_t)(y->first - rows.lo) * rows.row_stride + 2 * (uint64_t)x->first * channels;
	rows.lo = (int)y->first;
	rows.row_step = (int)y->step;
	rows.row_stride *= (uint64_t)y->step;
	rows.first = (uint64_t)x->first * channels;
	rows.count = (uint64_t)x->count * channels;
	rows.run = channels;
	rows.run_step = (uint64_t)x->step * channels;
	rows.run_stride = 2 * rows.run_step;
	return rows;
}

struct simd_stream lower_stream(const struct op_rows *rows, int64_t pixel_bytes)
{
	return (struct simd_stream){(int64_t)rows->base, (int64_t)rows->sample_stride, (int64_t)rows->row_stride, pixel_bytes};
}

static void access_rows(struct op *op, bool write, const struct op_rows *rows)
{
	const uint64_t last = (op_rows_runs(rows) - 1) * rows->run_stride + (rows->run * (uint64_t)rows->bits + 7) / 8;
	const uint64_t end = rows->base + (uint64_t)(rows->sample_count - 1) * rows->sample_stride +
			     (uint64_t)(op_rows_count(rows) - 1) * rows->row_stride + (uint64_t)(rows->vector_count - 1) * rows->vector_stride + last;

	lower_access(op, DEPEND_BUFFER, write, (int64_t)rows->base, (int64_t)end);
}

void lower_reads(struct op *op, struct op_rows rows)
{
	assert(op->operand_count < OP_ROWS_MAX);
	op->operands[op->operand_count++] = rows;
	access_rows(op, false, &rows);
}

void lower_writes(struct op *op, struct op_rows rows)
{
	assert(op->result_count < OP_RESULTS_MAX);
	op->results[op->result_count++] = rows;
	access_rows(op, true, &rows);
}
