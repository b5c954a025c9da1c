// SPDX-License-Identifier: Apache-2.0
//
// Drained rows of GEMM tiles against the golden model.
#include <assert.h>
#include <string.h>

#include "driver/host/compare_internal.h"

// Where row m of a tile is: of which row of which sample its value is, and from which element on.
struct tile_row {
	int sample, row;
	uint64_t first;
};

static struct tile_row tile_row_of(const struct compare *compare, const struct op *op, int m)
{
	const struct op_pixel pixel = op_pixel(op, m);

	if (!op_is_map_tile(op))
		return (struct tile_row){0, op->m_first + m, (uint64_t)op->n_first};
	return (struct tile_row){pixel.sample, pixel.y,
				 (uint64_t)pixel.x * (uint64_t)compare->net->nodes[op->value.node].out.channels + (uint64_t)op->n_first};
}

// The golden row; the first row of a parameters' gradient moves the sums on to this cut. NULL: see err.
static const uint8_t *golden_row(struct compare *compare, const struct op *op, const struct tile_row *at, struct wc_error *err)
{
	if (!op_is_map_tile(op) && compare_advance(compare, op, err))
		return NULL;
	return expect_values(compare->expect, &op->value, at->sample, at->row, 0, err);
}

// Of a tensor that is kept: where the row's elements go. NULL: it is not kept, or see *result.
static uint8_t *kept_row(struct compare *compare, const struct op *op, const struct tile_row *at, int *result, struct wc_error *err)
{
	const bool act = op->value.kind == SLAB_ACT;
	const int height = compare->net->nodes[op->value.node].out.height;
	uint8_t *row;

	if (!act && (op->value.kind != SLAB_GRAD || op->value.reader))
		return NULL;
	row = collect_row(compare->collect, act ? COLLECT_ACT : COLLECT_GRAD, op->value.node, (uint64_t)at->sample * (uint64_t)height + (uint64_t)at->row, err);
	*result = row ? 0 : WC_ERR_SYSTEM;
	return row ? row + 2 * at->first : NULL;
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

// Element n of the row as it was drained.
static void compare_element(struct compare *compare, uint32_t command, const struct op *op, const struct wc_tile_row *row, const struct tile_row *at, int n,
			    uint32_t expected)
{
	struct compare_tile *tile = &compare->tiles[op->core];
	const uint32_t got = row->bits[n];

	if (compare->keep_results) {
		tile->got[row->row * op->n_count + n] = got;
		tile->expected[row->row * op->n_count + n] = expected;
	}
	if (got == expected)
		return;
	if (compare->mismatch.kind == MISMATCH_NONE) {
		const struct mismatch_element element =
			mismatch_element_at(compare->net, &op->value, at->sample, at->row, 0, at->first + (uint64_t)n);

		compare_record(compare, MISMATCH_TILE, command, op, row->cycle);
		compare->mismatch.m = row->row;
		compare->mismatch.n = n;
		compare->mismatch.compared = (uint64_t)op->m_count * (uint64_t)op->n_count;
		compare_record_value(compare, &element, op_is_fp32(op) ? 32 : 16, got, expected);
	}
	compare->mismatch.different++;
}

int compare_tile_row(struct compare *compare, uint32_t command, const struct op *op, const struct wc_tile_row *row, struct wc_error *err)
{
	const bool is_fp32 = op_is_fp32(op);
	const size_t bytes = is_fp32 ? 4 : 2;
	struct compare_tile *tile = &compare->tiles[op->core];
	struct tile_row at;
	const uint8_t *golden;
	uint8_t *kept;
	int result = 0;

	if (tile->command != command) {
		tile->command = command;
		tile->rows = 0;
	}
	if (row->row != tile->rows || row->row >= op->m_count || row->count != op->n_count || row->is_fp32 != is_fp32)
		return wrong_shape(compare, command, op, row->cycle, row->row, row->count);
	at = tile_row_of(compare, op, row->row);
	golden = golden_row(compare, op, &at, err);
	if (!golden)
		return WC_ERR_SYSTEM;
	golden += at.first * bytes;
	kept = kept_row(compare, op, &at, &result, err);
	if (result)
		return result;
	for (int n = 0; n < row->count; n++) {
		uint32_t expected = 0;

		memcpy(&expected, golden + (size_t)n * bytes, bytes);
		if (kept)
			memcpy(kept + 2 * (size_t)n, &(uint16_t){(uint16_t)row->bits[n]}, 2);
		compare_element(compare, command, op, row, &at, n, expected);
	}
	tile->cycles[row->row] = row->cycle;
	tile->rows++;
	compare->counts.elements += (uint64_t)row->count;
	compare->counts.tile_elements += (uint64_t)row->count;
	if (tile->rows == op->m_count) {
		tile->complete = command;
		compare->counts.tiles++;
	}
	return compare->mismatch.kind == MISMATCH_NONE ? 0 : WC_ERR_MISMATCH;
}

int compare_tile_end(struct compare *compare, uint32_t command, const struct op *op, uint64_t cycle)
{
	const struct compare_tile *tile = &compare->tiles[op->core];

	if (tile->complete != command)
		return wrong_shape(compare, command, op, cycle, tile->command == command ? tile->rows : 0, op->n_count);
	return 0;
}
