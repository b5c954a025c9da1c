// SPDX-License-Identifier: Apache-2.0
//
// The elements of any value: where they are, or who makes them.
#include <assert.h>

#include "csim/golden/relu.h"
#include "driver/host/expect_internal.h"
#include "traces/alloc.h"

// fp16 1.0.
static const uint16_t ones[VALUE_ONES] = {0x3c00, 0x3c00, 0x3c00, 0x3c00, 0x3c00, 0x3c00, 0x3c00, 0x3c00};

// A gradient, one part of it, or the sum of some.
static const uint16_t *gradient(struct expect *expect, const struct value *value, struct wc_error *err)
{
	const int readers = expect->net->nodes[value->node].consumer_count;
	const uint16_t *grad = expect_grad(expect, value->node, err);
	const struct expect_way *way = &expect->way[value->node];

	assert(value->reader >= 0 && value->reader < (readers ? readers : 1));
	if (!grad || readers < 2 || (value->kind == SLAB_GRAD && value->reader == 0))
		return grad;
	return value->kind == SLAB_PART || value->reader == readers - 1 ? way->parts[value->reader] : way->partial_sums[value->reader];
}

static const uint8_t *relu_mask(struct expect *expect, int node, struct wc_error *err)
{
	const struct net_node *of = &expect->net->nodes[node];
	const size_t rows = (size_t)expect->data->batch * (size_t)of->out.height, elements = (size_t)of->out.width * (size_t)of->out.channels;
	const uint16_t *x = expect_act(expect, of->inputs[0], err);
	uint8_t **mask = &expect->way[node].mask;
	uint16_t *y = NULL; // the result, which is there already

	if (!x || *mask)
		return x ? *mask : NULL;
	*mask = wc_alloc(rows * golden_mask_bytes(elements), 1);
	y = wc_alloc(elements, sizeof(*y));
	if (!*mask || !y) {
		wc_fail(err, WC_ERR_SYSTEM, "out of memory for the mask of '%s'", of->name);
		wc_free(*mask);
		*mask = NULL;
	}
	for (size_t row = 0; *mask && row < rows; row++)
		golden_relu(x + row * elements, elements, y, *mask + row * golden_mask_bytes(elements));
	wc_free(y);
	return *mask;
}

static const uint8_t *mask(struct expect *expect, int node, struct wc_error *err)
{
	if (expect->net->nodes[node].op == NET_RELU)
		return relu_mask(expect, node, err);
	assert(expect->net->nodes[node].op == NET_MAX_POOL);
	return expect_act(expect, node, err) ? expect->index[node] : NULL;
}

static const float *sums(const struct expect *expect, const struct value *value, struct wc_error *err)
{
	const float *sums = expect_sums(expect, value->core, value->node, value->stage);

	if (!sums)
		wc_fail(err, WC_ERR_SYSTEM, "cut %d of '%s' is no longer there to compare with", value->stage, expect->net->nodes[value->node].name);
	return sums && value->kind == SLAB_BIAS_WGRAD ? sums + expect_sums_at(expect, value->node, ARRAY_BIAS) : sums;
}

static const float *losses(struct expect *expect, struct wc_error *err)
{
	return expect_grad(expect, expect_output(expect), err) ? expect->losses : NULL;
}

// What a value's first sample, row and vector begin with, if all of them lie densely one behind the other. NULL: see err.
static const void *dense(struct expect *expect, const struct value *value, struct wc_error *err)
{
	switch (value->kind) {
	case SLAB_ACT:
		return value->stage ? expect_input_sum(expect, value->node, value->stage, err) : expect_act(expect, value->node, err);
	case SLAB_GRAD:
	case SLAB_PART:
		return gradient(expect, value, err);
	case SLAB_MASK:
		return mask(expect, value->node, err);
	case SLAB_WEIGHT:
		return expect->data->weights[value->node];
	case SLAB_BIAS:
		return expect->data->bias[value->node];
	case SLAB_ONES:
		return ones;
	case SLAB_GAMMA:
		return expect->data->gamma[value->node];
	case SLAB_WGRAD:
	case SLAB_BIAS_WGRAD:
	case SLAB_PARAMETERS_WGRAD:
		return sums(expect, value, err);
	case SLAB_LABELS:
		return expect->data->labels;
	case SLAB_LOSSES:
		return losses(expect, err);
	case SLAB_CORE_GRADIENT:
		return expect_core_gradient(expect, value->core, value->node, value->array, err);
	case SLAB_UPDATE_GRADIENT:
		return expect_complete(expect, value->node, value->array, value->stage, err);
	default:
		return expect_vectors(expect, value, err);
	}
}

// Of values whose vectors lie apart: gamma and beta, masters and momenta.
static const void *apart(struct expect *expect, const struct value *value, int vector, struct wc_error *err)
{
	const struct expect_updated *updated;

	if (value->kind == SLAB_PARAMETERS)
		return (vector ? expect->data->beta : expect->data->gamma)[value->node];
	assert(expect->optimizer && (value->kind == SLAB_UPDATE_STATE || value->kind == SLAB_UPDATE_WEIGHT));
	const struct optimizer_array *before = &expect->optimizer->arrays[value->node][value->array];

	if (value->kind == SLAB_UPDATE_STATE && value->stage == 0)
		return vector ? before->momentum : before->master;
	updated = expect_update(expect, value->node, value->array, err);
	if (!updated)
		return NULL;
	return value->kind == SLAB_UPDATE_WEIGHT ? (const void *)updated->weights : updated->state + (vector ? before->count : 0);
}

const void *expect_values(struct expect *expect, const struct value *value, int sample, int row, int vector, struct wc_error *err)
{
	const struct value_shape shape = value_shape_of(expect->net, expect->data->batch, value);
	const uint64_t at = ((uint64_t)(shape.samples ? sample : 0) * (uint64_t)shape.rows + (uint64_t)row) * (uint64_t)shape.vectors + (uint64_t)vector;
	const uint8_t *first;

	assert(!shape.samples || (sample >= 0 && sample < expect->data->batch));
	assert(row >= 0 && row < shape.rows && vector >= 0 && vector < shape.vectors);
	if (value->kind == SLAB_WIDE)
		return expect_wide_row(expect, value, sample, row, err);
	if (value->kind == SLAB_PARAMETERS || value->kind == SLAB_UPDATE_STATE || value->kind == SLAB_UPDATE_WEIGHT)
		return apart(expect, value, vector, err);
	first = dense(expect, value, err);
	// Rows of a mask begin on a byte each; other vectors are whole bytes.
	return first ? first + at * value_vector_bytes(&shape) : NULL;
}
