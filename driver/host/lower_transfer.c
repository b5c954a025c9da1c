// SPDX-License-Identifier: Apache-2.0
//
// Transfers: rows of feature maps, slices of weights and of weight gradients, one command each.
#include <assert.h>

#include "driver/host/lower_internal.h"

struct box {
	int64_t dram, gbuf;               // first bytes
	int64_t row_bytes, rows;          // contiguous bytes, and how many such pieces
	int64_t dram_stride, gbuf_stride; // from piece to piece
};

// Rows of a sample are contiguous on both sides; whole samples are so too.
static struct box map_box(const struct lower *lower, const struct step *from, const struct slab *slab, enum layout_store store)
{
	const struct layout_place *place = layout_place(lower->layout, store, slab->node);
	const int rows = from->hi - from->lo;
	struct box box = {
		.dram = (int64_t)layout_address(lower->layout, store, slab->node, from->sample_first, from->lo),
		.gbuf = slab_row(slab, from->sample_first, from->lo),
		.row_bytes = (int64_t)rows * slab->pitch_bytes,
		.rows = from->sample_count,
		.dram_stride = (int64_t)place->sample_bytes,
		.gbuf_stride = (int64_t)(slab->hi - slab->lo) * slab->pitch_bytes,
	};

	assert(place->row_bytes == slab->pitch_bytes && from->lo >= slab->lo && from->hi <= slab->hi);
	assert(from->sample_first >= slab->sample_first &&
	       from->sample_first + from->sample_count <= slab->sample_first + slab->sample_count);
	if (box.rows == 1 || (box.dram_stride == box.row_bytes && box.gbuf_stride == box.row_bytes)) {
		box.row_bytes *= box.rows;
		box.rows = 1;
		box.dram_stride = box.gbuf_stride = 0;
	}
	return box;
}

// Which of several places: the core's gradients of parameters.
static int sums_core(const struct lower *lower, enum layout_store store)
{
	return layout_is_sums(store) ? lower->program->core : 0;
}

// Filters, or some rows of their kernels; biases alike.
static struct box filter_box(const struct lower *lower, const struct step *from, const struct slab *slab, enum layout_store store)
{
	const struct layout_place *place = layout_place(lower->layout, store, slab->node);
	const int64_t taps = slab->tap_hi - slab->tap_lo, kernel = lower->program->net->nodes[slab->node].conv.kernel_h;
	const bool whole = taps == kernel || store == LAYOUT_BIAS || store == LAYOUT_BIAS_WGRAD;
	const int64_t bytes = whole ? place->row_bytes : place->row_bytes / kernel * taps;
	struct box box = {
		.dram = (int64_t)layout_address(lower->layout, store, slab->node, sums_core(lower, store), from->lo),
		.gbuf = slab->offset + (from->lo - slab->lo) * bytes,
		.row_bytes = bytes,
		.rows = from->hi - from->lo,
		.dram_stride = place->row_bytes,
		.gbuf_stride = bytes,
	};

	assert(from->lo >= slab->lo && from->hi <= slab->hi);
	if (!whole) {
		box.dram += place->row_bytes / kernel * slab->tap_lo;
		return box;
	}
	box.row_bytes *= box.rows;
	box.rows = 1;
	box.dram_stride = box.gbuf_stride = 0;
	return box;
}

// A normalization's parameters or their gradients; numbers of samples.
static struct box vector_box(const struct lower *lower, const struct slab *slab, enum layout_store store)
{
	// Of numbers, a row is a sample.
	const int row = slab->kind == SLAB_LABELS || slab->kind == SLAB_LOSSES ? slab->lo : 0;

	return (struct box){.dram = (int64_t)layout_address(lower->layout, store, slab->node, sums_core(lower, store), row), .gbuf = slab->offset, .row_bytes = slab->bytes, .rows = 1};
}

// Elements of an array of parameters: one row, or masters and momenta.
static struct box array_box(const struct lower *lower, const struct slab *slab)
{
	const int64_t element = slab->kind == SLAB_UPDATE_WEIGHT ? 2 : 4, bytes = element * (slab->hi - slab->lo);
	struct box box = {
		.dram = (int64_t)layout_array(lower->layout, slab->kind, slab->node, slab->array, slab->core) + element * slab->lo,
		.gbuf = slab->offset, .row_bytes = bytes, .rows = 1,
	};

	if (slab->kind == SLAB_UPDATE_STATE) {
		box.rows = 2;
		box.dram_stride = (int64_t)layout_momentum_stride(lower->layout, slab->node, slab->array);
		box.gbuf_stride = (int64_t)round_up((uint64_t)bytes, lower->params.bus_bytes);
	}
	return box;
}

static struct box box_of(const struct lower *lower, const struct step *from, const struct slab *slab, enum layout_store store)
{
	if (value_is_array(slab->kind))
		return array_box(lower, slab);
	if (layout_is_filters(store))
		return filter_box(lower, from, slab, store);
	return slab->sample_count ? map_box(lower, from, slab, store) : vector_box(lower, slab, store);
}

// The same rows in DRAM as in the buffer.
static struct op_rows rows_in_memory(const struct lower *lower, struct op_rows rows, const struct box *box, enum layout_store store)
{
	const struct layout_place *place = layout_place(lower->layout, store, rows.value.node);

	rows.base = (uint64_t)box->dram;
	if (value_is_array(rows.value.kind)) {
		rows.vector_stride = (uint64_t)box->dram_stride;
	} else {
		rows.row_stride = place->row_bytes;
		rows.sample_stride = place->sample_bytes;
	}
	return rows;
}

// What the slab holds of the rows that are moved.
static struct op_rows rows_in_buffer(const struct lower *lower, const struct step *from)
{
	const struct slab *slab = lower_slab(lower, from->source);
	const bool moves_part = slab->kind == SLAB_GRAD;
	const struct value value = moves_part ? lower_sum_so_far(lower, from, from->source) : lower_value(lower, from, from->source);

	return lower_rows(lower, from, from->source, value_is_array(slab->kind) ? (struct rows){0, 1} : (struct rows){from->lo, from->hi}, value);
}

int lower_transfer(struct lower *lower, int step, struct wc_error *err)
{
	const struct step *from = &lower->program->steps[step];
	const struct slab *slab = lower_slab(lower, from->source);
	const bool kept = from->op == STEP_TAKE || from->op == STEP_KEEP;
	const bool store = from->op == STEP_STORE || from->op == STEP_KEEP;
	const enum layout_store place = value_is_array(slab->kind) ? LAYOUT_WEIGHT : layout_store_of(slab->kind, kept);
	const struct box box = box_of(lower, from, slab, place);
	const struct op_rows in_buffer = rows_in_buffer(lower, from), in_memory = rows_in_memory(lower, in_buffer, &box, place);
	const int64_t bus = lower->params.bus_bytes;
	const int64_t dram_span = (box.rows - 1) * box.dram_stride + (box.row_bytes + bus - 1) / bus * bus;
	const int64_t gbuf_span = (box.rows - 1) * box.gbuf_stride + box.row_bytes;
	struct wc_load_command *command;
	struct op *op;
	int result;

	if ((result = lower_check(lower, slab->node, "samples of a transfer", box.rows, 1, UINT16_MAX, err)) ||
	    (result = lower_check(lower, slab->node, "bytes from sample to sample", box.dram_stride, 0, INT32_MAX, err)) ||
	    (result = lower_check(lower, slab->node, "bytes in a row of a transfer", box.row_bytes, 1, lower->params.buffer_bytes, err)) ||
	    (result = lower_check(lower, slab->node, "misaligned bytes of a slice's start", (box.dram | box.gbuf) % bus, 0, 0, err)))
		return result;
	op = lower_push(lower, step, store ? OP_STORE : OP_LOAD, err);
	if (!op)
		return WC_ERR_SYSTEM;
	op->store = place;
	op->value = in_buffer.value;
	op->operands[op->operand_count++] = store ? in_buffer : in_memory;
	op->results[op->result_count++] = store ? in_memory : in_buffer;
	// Masters and momenta are read as they were and written as they become.
	op->results[0].value.stage = op->value.stage = store && slab->kind == SLAB_UPDATE_STATE ? 1 : op->value.stage;

	command = &op->command.load;
	command->dram_addr = (uint64_t)box.dram;
	command->gbuf_addr = (uint32_t)box.gbuf;
	command->row_bytes = (uint32_t)box.row_bytes;
	command->count1 = (uint16_t)box.rows;
	command->count2 = 1;
	command->dram_stride1 = (int32_t)box.dram_stride;
	command->gbuf_stride1 = (int32_t)box.gbuf_stride;
	lower_access(op, DEPEND_MEMORY, store, box.dram, box.dram + dram_span);
	lower_access(op, DEPEND_BUFFER, !store, box.gbuf, box.gbuf + gbuf_span);
	return lower_finish(lower, op, store ? WC_OP_STORE : WC_OP_LOAD, err);
}
