// SPDX-License-Identifier: Apache-2.0
//
// Results of commands against the golden model: rows are compared in compare_rows.c, tiles in compare_tile.c, DRAM at the end in compare_memory.c.
#include "driver/host/compare.h"

#include <inttypes.h>

#include "driver/host/compare_internal.h"
#include "traces/alloc.h"

static int init_tile(struct compare_tile *tile, const struct wc_device_params *params, struct wc_error *err)
{
	const size_t elements = (size_t)params->acc_rows * (size_t)params->cols;

	*tile = (struct compare_tile){.command = UINT32_MAX, .complete = UINT32_MAX};
	tile->got = wc_alloc(elements, sizeof(*tile->got));
	tile->expected = wc_alloc(elements, sizeof(*tile->expected));
	tile->cycles = wc_alloc((size_t)params->acc_rows, sizeof(*tile->cycles));
	return tile->got && tile->expected && tile->cycles ? 0 : wc_fail(err, WC_ERR_SYSTEM, "out of memory for a tile to compare");
}

int compare_init(struct compare *compare, const struct layout *layout, struct expect *expect, struct collect *collect, struct wc_backend *backend,
		 bool keep_results, struct wc_error *err)
{
	int result = 0;

	*compare = (struct compare){
		.net = layout->net,
		.layout = layout,
		.expect = expect,
		.collect = collect,
		.backend = backend,
		.keep_results = keep_results,
	};
	compare->stored = wc_alloc(LAYOUT_STORE_COUNT * (size_t)layout->net->node_count, sizeof(*compare->stored));
	if (!compare->stored)
		result = wc_fail(err, WC_ERR_SYSTEM, "out of memory for comparing");
	for (int core = 0; !result && core < WC_CORES_MAX; core++)
		result = init_tile(&compare->tiles[core], &backend->params, err);
	if (result)
		compare_release(compare);
	return result;
}

void compare_new_device(struct compare *compare, struct wc_backend *backend)
{
	compare->backend = backend;
	for (int core = 0; core < WC_CORES_MAX; core++)
		compare->tiles[core].command = compare->tiles[core].complete = UINT32_MAX;
}

void compare_restart(struct compare *compare)
{
	for (int i = 0; i < LAYOUT_STORE_COUNT * compare->net->node_count; i++) {
		wc_free(compare->stored[i]);
		compare->stored[i] = NULL;
	}
	compare->updated = compare->reduced = false;
}

void compare_release(struct compare *compare)
{
	if (compare->stored)
		for (int i = 0; i < LAYOUT_STORE_COUNT * compare->net->node_count; i++)
			wc_free(compare->stored[i]);
	wc_free(compare->stored);
	wc_free(compare->scratch);
	for (int core = 0; core < WC_CORES_MAX; core++) {
		wc_free(compare->tiles[core].got);
		wc_free(compare->tiles[core].expected);
		wc_free(compare->tiles[core].cycles);
	}
	*compare = (struct compare){0};
}

// What the last STORE of each row left; before the first, of no node.
static struct value *stored_rows(struct compare *compare, enum layout_store store, int node, struct wc_error *err)
{
	struct value **stored = &compare->stored[(int)store * compare->net->node_count + node];
	const struct layout_place *place = layout_place(compare->layout, store, node);
	const size_t rows = (size_t)place->rows * (size_t)place->samples;

	if (*stored)
		return *stored;
	*stored = wc_alloc(rows, sizeof(**stored));
	for (size_t i = 0; *stored && i < rows; i++)
		(*stored)[i].node = -1;
	if (!*stored)
		wc_fail(err, WC_ERR_SYSTEM, "out of memory for %zu rows", rows);
	return *stored;
}

static int remember_stored(struct compare *compare, const struct op *op, struct wc_error *err)
{
	const struct op_rows *rows = &op->results[0];
	const struct layout_place *place = layout_place(compare->layout, op->store, rows->value.node);
	// Each core has its own gradients of parameters.
	const int first = layout_is_sums(op->store) ? op->core : rows->sample_first;
	struct value *stored;

	if (value_is_array(rows->value.kind)) {
		*(rows->value.kind == SLAB_UPDATE_GRADIENT ? &compare->reduced : &compare->updated) = true;
		return 0;
	}
	stored = stored_rows(compare, op->store, rows->value.node, err);
	if (!stored)
		return WC_ERR_SYSTEM;
	for (int sample = first; sample < first + rows->sample_count; sample++)
		for (int row = rows->lo; row < rows->hi; row++)
			stored[(size_t)sample * (size_t)place->rows + (size_t)row] = rows->value;
	return 0;
}

static void begin_result(struct compare *compare)
{
	compare->result_elements = 0;
	compare->digest_got = compare->digest_expected = 0;
	compare->digest_bytes = 0;
}

static void count_result(struct compare *compare, const struct op *op)
{
	struct compare_counts *counts = &compare->counts;

	switch (op->kind) {
	case OP_LOAD:
		counts->loads++;
		counts->load_elements += compare->result_elements;
		break;
	case OP_STORE:
		counts->stores++;
		counts->store_elements += compare->result_elements;
		break;
	default:
		counts->vectors++;
		counts->vector_elements += compare->result_elements;
		break;
	}
}

int compare_end(struct compare *compare, uint32_t command, const struct op *op, uint64_t cycle, struct wc_error *err)
{
	const struct compare_source source = {
		.kind = op->kind == OP_LOAD ? MISMATCH_LOAD : op->kind == OP_STORE ? MISMATCH_STORE : MISMATCH_VECTOR,
		.command = command, .op = op, .cycle = cycle, .in_memory = op->kind == OP_STORE,
	};
	int result = 0;

	if (op_is_tile(op))
		return compare_tile_end(compare, command, op, cycle);
	begin_result(compare);
	if (op->kind == OP_SIMD && op->value.kind == SLAB_PARAMETERS_WGRAD)
		result = compare_advance(compare, op, err);
	for (int i = 0; i < op->result_count && (!result || result == WC_ERR_MISMATCH); i++) {
		const int found = compare_rows(compare, &source, &op->results[i], err);
		const int kept = op->kind == OP_LOAD ? 0 : compare_collect(compare, &source, &op->results[i], err);

		result = kept ? kept : found ? found : result;
	}
	if (op->kind == OP_STORE && (!result || result == WC_ERR_MISMATCH)) {
		const int remembered = remember_stored(compare, op, err);

		result = remembered ? remembered : result;
	}
	count_result(compare, op);
	if (result == WC_ERR_MISMATCH && compare->mismatch.command == command)
		compare->mismatch.compared = compare->result_elements;
	if (!result && !compare->result_elements)
		result = wc_fail(err, WC_ERR_SYSTEM, "nothing of command %" PRIu32 ", a %s, was compared", command, op_name(op));
	return result;
}
