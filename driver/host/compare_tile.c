// SPDX-License-Identifier: Apache-2.0
//
// Drained rows of GEMM tiles against the golden model.
#include <assert.h>
#include <string.h>

#include "driver/host/compare_internal.h"

// Dense index of (row m, column 0) of the tile in its tensor.
static uint64_t row_index(const struct compare *compare, const struct op *op, int m)
{
	const struct net_node *conv = &compare->net->nodes[op->node];
	const struct net_shape *shape = &compare->net->nodes[op->tensor].out;
	const struct op_pixel pixel = op_pixel(op, m);

	if (op->kind == OP_WEIGHT_GRADIENT)
		return (uint64_t)(op->m_first + m) * (uint64_t)(net_conv_weights(conv) / conv->out.channels) + (uint64_t)op->n_first;
	return (((uint64_t)pixel.sample * (uint64_t)shape->height + (uint64_t)pixel.y) * (uint64_t)shape->width + (uint64_t)pixel.x) *
		       (uint64_t)shape->channels +
	       (uint64_t)op->n_first;
}

// The golden tensor that the tile is a part of. A weight gradient's first row moves the sums on to this cut.
static const void *golden_tensor(struct compare *compare, const struct op *op, struct wc_error *err)
{
	const struct golden_range range = {
		.sample_lo = op->sample_first,
		.sample_hi = op->sample_first + op->sample_count,
		.row_lo = op->lo,
		.row_hi = op->hi,
	};

	switch (op->kind) {
	case OP_FORWARD:
		return expect_act(compare->expect, op->tensor, err);
	case OP_DATA_GRADIENT:
		return expect_grad(compare->expect, op->tensor, err);
	default:
		if (expect_cut(compare->expect, op->node, op->cut, range, err))
			return NULL;
		return expect_sums(compare->expect, op->node, op->cut);
	}
}

static int wrong_shape(struct compare *compare, uint32_t command, const struct op *op, uint64_t cycle, int row, int count)
{
	if (compare->mismatch.kind == MISMATCH_NONE) {
		compare_record(compare, MISMATCH_SHAPE, command, op, cycle);
		compare->mismatch.row = row;
		compare->mismatch.count = count;
	}
	return WC_ERR_MISMATCH;
}

int compare_tile_row(struct compare *compare, uint32_t command, const struct op *op, const struct wc_tile_row *row, struct wc_error *err)
{
	const uint64_t index = row_index(compare, op, row->row);
	const bool is_fp32 = op->kind == OP_WEIGHT_GRADIENT;
	const void *golden;
	uint8_t *collected = NULL;

	if (compare->tile_command != command) {
		compare->tile_command = command;
		compare->tile_rows = 0;
	}
	if (row->row != compare->tile_rows || row->row >= op->m_count || row->count != op->n_count || row->is_fp32 != is_fp32)
		return wrong_shape(compare, command, op, row->cycle, row->row, row->count);
	golden = golden_tensor(compare, op, err);
	if (!golden)
		return WC_ERR_SYSTEM;
	if (!is_fp32) {
		const struct net_shape *shape = &compare->net->nodes[op->tensor].out;
		const uint64_t elements = (uint64_t)shape->width * (uint64_t)shape->channels;

		collected = collect_row(compare->collect, op->kind == OP_FORWARD ? COLLECT_ACT : COLLECT_GRAD, op->tensor, index / elements, err);
		if (!collected)
			return WC_ERR_SYSTEM;
		collected += index % elements * 2;
	}
	for (int n = 0; n < row->count; n++) {
		const uint32_t got = row->bits[n];
		uint32_t expected = 0;

		if (is_fp32) {
			memcpy(&expected, (const float *)golden + index + (uint64_t)n, 4);
		} else {
			const uint16_t half = (uint16_t)got;

			expected = ((const uint16_t *)golden)[index + (uint64_t)n];
			memcpy(collected + 2 * (size_t)n, &half, 2);
		}
		if (compare->keep_tile) {
			compare->tile_got[row->row * op->n_count + n] = got;
			compare->tile_expected[row->row * op->n_count + n] = expected;
		}
		if (got == expected)
			continue;
		if (compare->mismatch.kind == MISMATCH_NONE) {
			compare_record(compare, MISMATCH_TILE, command, op, row->cycle);
			compare->mismatch.m = row->row;
			compare->mismatch.n = n;
			compare->mismatch.compared = (uint64_t)op->m_count * (uint64_t)op->n_count;
			compare_record_value(compare, op->store, op->tensor, index + (uint64_t)n, got, expected);
		}
		compare->mismatch.different++;
	}
	compare->tile_cycles[row->row] = row->cycle;
	compare->tile_rows++;
	compare->counts.elements += (uint64_t)row->count;
	compare->counts.tile_elements += (uint64_t)row->count;
	if (compare->tile_rows == op->m_count) {
		compare->tile_complete = command;
		compare->counts.tiles++;
	}
	return compare->mismatch.kind == MISMATCH_NONE ? 0 : WC_ERR_MISMATCH;
}

int compare_tile_end(struct compare *compare, uint32_t command, const struct op *op, uint64_t cycle)
{
	if (compare->tile_complete != command)
		return wrong_shape(compare, command, op, cycle, compare->tile_command == command ? compare->tile_rows : 0, op->n_count);
	return 0;
}
