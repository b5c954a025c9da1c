// SPDX-License-Identifier: Apache-2.0
//
// Tensors as the device made them; see collect.h.
#include "driver/host/collect.h"

#include <assert.h>
#include <inttypes.h>

#include "traces/alloc.h"

int collect_init(struct collect *collect, const struct net *net, int batch, struct wc_error *err)
{
	*collect = (struct collect){.net = net, .batch = batch};
	collect->tensors = wc_alloc(COLLECT_KIND_COUNT * (size_t)net->node_count, sizeof(*collect->tensors));
	return collect->tensors ? 0 : wc_fail(err, WC_ERR_SYSTEM, "out of memory for the tensors of %d nodes", net->node_count);
}

void collect_release(struct collect *collect)
{
	const int count = collect->net ? COLLECT_KIND_COUNT * collect->net->node_count : 0;

	for (int i = 0; collect->tensors && i < count; i++) {
		wc_free(collect->tensors[i].values);
		wc_free(collect->tensors[i].seen);
	}
	wc_free(collect->tensors);
	*collect = (struct collect){0};
}

static struct collect_tensor *tensor_at(const struct collect *collect, enum collect_kind kind, int node)
{
	assert(node >= 0 && node < collect->net->node_count);
	return &collect->tensors[(int)kind * collect->net->node_count + node];
}

static struct value_shape shape_of(const struct collect *collect, enum collect_kind kind, int node)
{
	static const enum slab_kind kinds[] = {
		[COLLECT_ACT] = SLAB_ACT,
		[COLLECT_GRAD] = SLAB_GRAD,
		[COLLECT_MASK] = SLAB_MASK,
		[COLLECT_WGRAD] = SLAB_WGRAD,
		[COLLECT_BIAS_WGRAD] = SLAB_BIAS_WGRAD,
		[COLLECT_PARAMETERS_WGRAD] = SLAB_PARAMETERS_WGRAD,
		[COLLECT_STATISTICS] = SLAB_STATISTICS,
		[COLLECT_LOSSES] = SLAB_LOSSES,
	};
	struct value value = {.node = node};

	if (kind < COLLECT_STATE) {
		value.kind = kinds[kind];
	} else {
		value.kind = kind < COLLECT_UPDATED ? SLAB_UPDATE_STATE : SLAB_UPDATE_WEIGHT;
		value.array = (enum parameter_array)(kind - (kind < COLLECT_UPDATED ? COLLECT_STATE : COLLECT_UPDATED));
	}
	return value_shape_of(collect->net, collect->batch, &value);
}

uint64_t collect_rows(const struct collect *collect, enum collect_kind kind, int node)
{
	const struct value_shape shape = shape_of(collect, kind, node);

	return (shape.samples ? (uint64_t)collect->batch : 1) * (uint64_t)shape.rows * (uint64_t)shape.vectors;
}

uint64_t collect_row_bytes(const struct collect *collect, enum collect_kind kind, int node)
{
	const struct value_shape shape = shape_of(collect, kind, node);

	return value_vector_bytes(&shape);
}

uint8_t *collect_row(struct collect *collect, enum collect_kind kind, int node, uint64_t row, struct wc_error *err)
{
	struct collect_tensor *tensor = tensor_at(collect, kind, node);
	const uint64_t rows = collect_rows(collect, kind, node);
	const uint64_t row_bytes = collect_row_bytes(collect, kind, node);

	assert(row < rows);
	if (!tensor->values) {
		tensor->values = wc_alloc(rows, row_bytes);
		tensor->seen = wc_alloc(rows, sizeof(*tensor->seen));
	}
	if (!tensor->values || !tensor->seen) {
		wc_fail(err, WC_ERR_SYSTEM, "out of memory for the results of '%s', %" PRIu64 " bytes", collect->net->nodes[node].name, rows * row_bytes);
		return NULL;
	}
	if (!tensor->seen[row]) {
		tensor->seen[row] = true;
		tensor->seen_count++;
	}
	return (uint8_t *)tensor->values + row * row_bytes;
}

const void *collect_whole(const struct collect *collect, enum collect_kind kind, int node)
{
	const struct collect_tensor *tensor = tensor_at(collect, kind, node);

	return tensor->values && tensor->seen_count == collect_rows(collect, kind, node) ? tensor->values : NULL;
}
