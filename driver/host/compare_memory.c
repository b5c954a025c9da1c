// SPDX-License-Identifier: Apache-2.0
//
// All of DRAM at the end of a run: what was placed in it, and what the last store of each row left.
#include <string.h>

#include "driver/host/compare_internal.h"
#include "driver/plan/rows.h"

static int worse(int a, int b)
{
	return a && a != WC_ERR_MISMATCH ? a : b ? b : a;
}

// What the host placed before the run.
static bool is_input(const struct compare *compare, enum layout_store store, int node)
{
	if (store == LAYOUT_WEIGHT || store == LAYOUT_BIAS || store == LAYOUT_PARAMETERS)
		return !compare->updated;
	return store == LAYOUT_LABELS || (store == LAYOUT_ACT && node == 0) ||
	       (store == LAYOUT_GRAD && node == compare->net->node_count - 1 && compare->net->nodes[node].op != NET_LOSS);
}

static int compare_place(struct compare *compare, const struct compare_source *source, enum layout_store store, int node, struct wc_error *err)
{
	const struct layout_place *place = layout_place(compare->layout, store, node);
	const struct value *stored = compare->stored[(int)store * compare->net->node_count + node];
	int result = 0;

	for (int i = 0; i < place->samples * place->rows && (!result || result == WC_ERR_MISMATCH); i++) {
		const bool written = stored && stored[i].node >= 0;
		const struct value value = written ? stored[i] : (struct value){.kind = layout_kind_of(store), .node = node};
		const struct value_shape shape = value_shape_of(compare->net, compare->layout->batch, &value);
		struct op_rows rows = {
			.value = value, .sample_first = layout_is_sums(store) ? 0 : i / place->rows, .sample_count = 1, .lo = i % place->rows, .hi = i % place->rows + 1, .row_step = 1,
			.vector_count = 1, .count = shape.count, .run = shape.count, .bits = shape.bits,
		};

		// Core 0's gradients have become those of the mini-batch: see compare_array().
		if ((!written && !is_input(compare, store, node)) || (compare->reduced && layout_is_sums(store) && i < place->rows))
			continue;
		for (int vector = 0; vector < shape.vectors; vector++) {
			rows.vector_first = vector;
			rows.step = value_step(compare->net, &value, vector);
			rows.base = layout_address(compare->layout, store, node, i / place->rows, rows.lo) +
				    (uint64_t)vector * round_up(value_vector_bytes(&shape), compare->layout->bus_bytes);
			result = worse(result, compare_rows(compare, source, &rows, err));
		}
	}
	return result;
}

// Masters, momenta and fp16 values of an array behind the update; its gradient summed over the cores.
static int compare_array(struct compare *compare, const struct compare_source *source, int node, enum parameter_array array, struct wc_error *err)
{
	static const enum slab_kind kinds[] = {SLAB_UPDATE_STATE, SLAB_UPDATE_WEIGHT, SLAB_UPDATE_GRADIENT};
	int result = 0;

	for (int i = 0; i < 3; i++) {
		const struct value value = {.kind = kinds[i], .node = node, .array = array, .stage = kinds[i] == SLAB_UPDATE_STATE};
		const struct value_shape shape = value_shape_of(compare->net, compare->layout->batch, &value);
		const struct op_rows rows = {
			.value = value, .sample_count = 1, .hi = 1, .row_step = 1, .vector_count = shape.vectors, .count = shape.count, .run = shape.count,
			.bits = shape.bits, .step = 1, .base = layout_array(compare->layout, kinds[i], node, array, 0),
			.vector_stride = layout_momentum_stride(compare->layout, node, array),
		};

		if (shape.count && (kinds[i] == SLAB_UPDATE_GRADIENT ? compare->reduced : compare->updated))
			result = worse(result, compare_rows(compare, source, &rows, err));
	}
	return result;
}

int compare_memory(struct compare *compare, struct wc_error *err)
{
	const struct compare_source source = {.kind = MISMATCH_FINAL, .command = UINT32_MAX, .in_memory = true};
	int result = 0;

	compare->result_elements = 0;
	for (enum layout_store store = 0; store < LAYOUT_OPTIMIZER; store++)
		for (int node = 0; node < compare->net->node_count; node++)
			if (layout_place(compare->layout, store, node)->bytes)
				result = worse(result, compare_place(compare, &source, store, node, err));
	for (int node = 0; node < compare->net->node_count; node++)
		for (enum parameter_array array = 0; array < ARRAY_COUNT; array++)
			result = worse(result, compare_array(compare, &source, node, array, err));
	compare->mismatch.compared = compare->result_elements;
	return result;
}
