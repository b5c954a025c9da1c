// SPDX-License-Identifier: Apache-2.0
//
// Rows of transfers, vector results and DRAM against the golden model; tiles are in compare_tile.c.
#include "driver/host/compare.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "csim/golden/half.h"
#include "csim/golden/relu.h"
#include "driver/host/compare_internal.h"
#include "traces/alloc.h"
#include "traces/wct.h"

int compare_init(struct compare *compare, const struct program *program, const struct layout *layout, struct expect *expect,
		 struct collect *collect, struct wc_backend *backend, bool keep_tile, struct wc_error *err)
{
	const struct net *net = program->net;
	const size_t places = LAYOUT_STORE_COUNT * (size_t)net->node_count;
	const size_t tile = (size_t)backend->params.acc_rows * (size_t)backend->params.cols;
	size_t row_bytes = 0;

	*compare = (struct compare){
		.net = net,
		.layout = layout,
		.program = program,
		.expect = expect,
		.collect = collect,
		.backend = backend,
		.tile_command = UINT32_MAX,
		.tile_complete = UINT32_MAX,
		.keep_tile = keep_tile,
	};
	for (int node = 0; node < net->node_count; node++)
		for (enum collect_kind kind = 0; kind < COLLECT_KIND_COUNT; kind++)
			if (kind != COLLECT_WGRAD || net->nodes[node].op == NET_CONV)
				row_bytes = row_bytes > collect_row_bytes(collect, kind, node) ? row_bytes : collect_row_bytes(collect, kind, node);
	compare->stored = wc_alloc(places, sizeof(*compare->stored));
	compare->row = wc_alloc(row_bytes, 1);
	compare->mask = wc_alloc(row_bytes, 1);
	compare->tile_got = wc_alloc(tile, sizeof(*compare->tile_got));
	compare->tile_expected = wc_alloc(tile, sizeof(*compare->tile_expected));
	compare->tile_cycles = wc_alloc((size_t)backend->params.acc_rows, sizeof(*compare->tile_cycles));
	if (!compare->stored || !compare->row || !compare->mask || !compare->tile_got || !compare->tile_expected || !compare->tile_cycles) {
		compare_release(compare);
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for comparing");
	}
	return 0;
}

void compare_release(struct compare *compare)
{
	if (compare->stored)
		for (int i = 0; i < LAYOUT_STORE_COUNT * compare->net->node_count; i++)
			wc_free(compare->stored[i]);
	wc_free(compare->stored);
	wc_free(compare->row);
	wc_free(compare->mask);
	wc_free(compare->tile_got);
	wc_free(compare->tile_expected);
	wc_free(compare->tile_cycles);
	*compare = (struct compare){0};
}

// Which of the collected tensors a store is a copy of; -1: an input.
static int collected_as(enum layout_store store)
{
	switch (store) {
	case LAYOUT_ACT:
	case LAYOUT_KEPT_ACT:
		return COLLECT_ACT;
	case LAYOUT_GRAD:
	case LAYOUT_KEPT_GRAD:
		return COLLECT_GRAD;
	case LAYOUT_MASK:
	case LAYOUT_KEPT_MASK:
		return COLLECT_MASK;
	case LAYOUT_WGRAD:
		return COLLECT_WGRAD;
	default:
		return -1;
	}
}

// Bytes of a dense row.
static uint64_t row_bytes_of(const struct compare *compare, enum layout_store store, int node)
{
	if (store == LAYOUT_WEIGHT)
		return collect_row_bytes(compare->collect, COLLECT_WGRAD, node) / 2;
	return collect_row_bytes(compare->collect, (enum collect_kind)collected_as(store), node);
}

// The golden bytes of a dense row (sample, y) of a feature map or of output channel y of weights; sums: after `cut`. NULL: see err.
static const void *expected_row(struct compare *compare, enum layout_store store, int node, int sample, int y, int cut, struct wc_error *err)
{
	const struct net_node *of = &compare->net->nodes[node];
	const size_t elements = (size_t)of->out.width * (size_t)of->out.channels;
	const size_t at = ((size_t)sample * (size_t)of->out.height + (size_t)y) * elements;

	switch (store) {
	case LAYOUT_ACT:
	case LAYOUT_KEPT_ACT: {
		const uint16_t *act = expect_act(compare->expect, node, err);

		return act ? act + at : NULL;
	}
	case LAYOUT_GRAD:
	case LAYOUT_KEPT_GRAD: {
		const uint16_t *grad = expect_grad(compare->expect, node, err);

		return grad ? grad + at : NULL;
	}
	case LAYOUT_MASK:
	case LAYOUT_KEPT_MASK: {
		const uint16_t *act = expect_act(compare->expect, of->inputs[0], err);

		if (!act)
			return NULL;
		// The outputs are not needed; the scratch row holds them.
		golden_relu(act + at, elements, (uint16_t *)compare->row, compare->mask);
		return compare->mask;
	}
	case LAYOUT_WEIGHT:
		return compare->expect->data->weights[node] + (size_t)y * (row_bytes_of(compare, store, node) / 2);
	default: {
		const float *sums = expect_sums(compare->expect, node, cut);

		if (!sums)
			wc_fail(err, WC_ERR_SYSTEM, "cut %d of '%s' is no longer there to compare with", cut, of->name);
		return sums ? sums + (size_t)y * (row_bytes_of(compare, store, node) / 4) : NULL;
	}
	}
}

void compare_record(struct compare *compare, enum mismatch_kind kind, uint32_t command, const struct op *op, uint64_t cycle)
{
	compare->mismatch = (struct mismatch){.kind = kind, .command = command, .cycle = cycle};
	if (op)
		compare->mismatch.op = *op;
}

void compare_record_value(struct compare *compare, enum layout_store store, int node, uint64_t index, uint32_t got, uint32_t expected)
{
	struct mismatch *mismatch = &compare->mismatch;

	mismatch->element = mismatch_element_at(compare->net, store, node, index);
	mismatch->got = got;
	mismatch->expected = expected;
	mismatch->is_fp32 = store == LAYOUT_WGRAD;
	mismatch->is_bit = store == LAYOUT_MASK || store == LAYOUT_KEPT_MASK;
	if (!mismatch->is_bit)
		mismatch->ulps = mismatch->is_fp32 ? golden_float_ulps(got, expected) : golden_half_ulps((uint16_t)got, (uint16_t)expected);
}

// Value `i` of a dense row.
static uint32_t value_at(enum layout_store store, const uint8_t *row, uint64_t i)
{
	uint32_t value = 0;

	if (store == LAYOUT_MASK || store == LAYOUT_KEPT_MASK)
		return row[i / 8] >> i % 8 & 1;
	if (store == LAYOUT_WGRAD)
		memcpy(&value, row + 4 * i, 4);
	else
		memcpy(&value, row + 2 * i, 2);
	return value;
}

// Elements of a dense row.
static uint64_t row_elements(const struct compare *compare, enum layout_store store, int node)
{
	const struct net_node *of = &compare->net->nodes[node];

	if (store == LAYOUT_WEIGHT || store == LAYOUT_WGRAD)
		return (uint64_t)(net_conv_weights(of) / of->out.channels);
	return (uint64_t)of->out.width * (uint64_t)of->out.channels;
}

// One dense row; the first difference of all is recorded, all are counted.
static int compare_row(struct compare *compare, enum mismatch_kind kind, uint32_t command, const struct op *op, uint64_t cycle, enum layout_store store,
		       int node, int sample, int y, int cut, const uint8_t *got, struct wc_error *err)
{
	const uint64_t bytes = row_bytes_of(compare, store, node);
	const uint64_t elements = row_elements(compare, store, node);
	const uint8_t *expected = expected_row(compare, store, node, sample, y, cut, err);
	bool any = false;

	if (!expected)
		return WC_ERR_SYSTEM;
	compare->counts.elements += elements;
	if (compare->keep_tile) {
		compare->digest_got = wct_digest_bytes(compare->digest_got, got, bytes);
		compare->digest_expected = wct_digest_bytes(compare->digest_expected, expected, bytes);
		compare->digest_bytes += bytes;
	}
	compare->result_elements += elements;
	if (!memcmp(got, expected, bytes))
		return 0;
	for (uint64_t i = 0; i < elements; i++) {
		const uint32_t g = value_at(store, got, i), e = value_at(store, expected, i);

		if (g == e)
			continue;
		any = true;
		if (compare->mismatch.kind == MISMATCH_NONE) {
			const uint64_t row = store == LAYOUT_WEIGHT || store == LAYOUT_WGRAD
						     ? (uint64_t)y
						     : (uint64_t)sample * (uint64_t)compare->net->nodes[node].out.height + (uint64_t)y;

			compare_record(compare, kind, command, op, cycle);
			compare_record_value(compare, store, node, row * elements + i, g, e);
		}
		compare->mismatch.different++;
	}
	// Bits behind a mask row's last element are written as zero, so they too must agree; name the last element then.
	if (!any && compare->mismatch.kind == MISMATCH_NONE) {
		compare_record(compare, kind, command, op, cycle);
		compare_record_value(compare, store, node, 0, got[bytes - 1], expected[bytes - 1]);
		compare->mismatch.element = mismatch_element_at(compare->net, store, node,
								((uint64_t)sample * (uint64_t)compare->net->nodes[node].out.height + (uint64_t)y + 1) *
										elements - 1);
		compare->mismatch.different = 1;
	}
	return WC_ERR_MISMATCH;
}

static int worse(int a, int b)
{
	return a && a != WC_ERR_MISMATCH ? a : b ? b : a;
}

static int collect_from(struct compare *compare, enum layout_store store, int node, int sample, int y, const uint8_t *got, struct wc_error *err)
{
	const int kind = collected_as(store);
	uint8_t *row;

	if (kind < 0 || node == 0)
		return 0;
	row = collect_row(compare->collect, (enum collect_kind)kind, node,
			  kind == COLLECT_WGRAD ? (uint64_t)y : (uint64_t)sample * (uint64_t)compare->net->nodes[node].out.height + (uint64_t)y, err);
	if (!row)
		return WC_ERR_SYSTEM;
	memcpy(row, got, row_bytes_of(compare, store, node));
	return 0;
}

static void begin_result(struct compare *compare)
{
	compare->result_elements = 0;
	compare->digest_got = compare->digest_expected = 0;
	compare->digest_bytes = 0;
}

// Rows of a tensor in the global buffer, from `base` on.
static int compare_buffer(struct compare *compare, enum mismatch_kind kind, uint32_t command, const struct op *op, uint64_t cycle,
			  enum layout_store store, int node, uint32_t base, uint32_t row_stride, uint32_t sample_stride, bool collect, struct wc_error *err)
{
	const bool weights = store == LAYOUT_WEIGHT || store == LAYOUT_WGRAD;
	const int samples = weights ? 1 : op->sample_count;
	const uint32_t bytes = (uint32_t)row_bytes_of(compare, store, node);
	uint8_t *got = wc_alloc(bytes, 1);
	int result = 0;

	if (!got)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for a row of %" PRIu32 " bytes", bytes);
	for (int sample = 0; sample < samples; sample++)
		for (int y = op->lo; y < op->hi && (!result || result == WC_ERR_MISMATCH); y++) {
			compare->backend->ops->buffer_read(compare->backend,
							   base + (uint32_t)sample * sample_stride + (uint32_t)(y - op->lo) * row_stride, got, bytes);
			result = worse(result, compare_row(compare, kind, command, op, cycle, store, node, op->sample_first + sample, y, op->cut, got, err));
			if (collect)
				result = worse(result, collect_from(compare, store, node, op->sample_first + sample, y, got, err));
		}
	wc_free(got);
	return result;
}

static bool *stored_rows(struct compare *compare, enum layout_store store, int node, struct wc_error *err)
{
	bool **stored = &compare->stored[(int)store * compare->net->node_count + node];
	const struct layout_place *place = layout_place(compare->layout, store, node);
	const size_t rows = (size_t)place->rows * (place->sample_bytes ? (size_t)compare->layout->batch : 1);

	if (!*stored)
		*stored = wc_alloc(rows, sizeof(**stored));
	if (!*stored)
		wc_fail(err, WC_ERR_SYSTEM, "out of memory for %zu rows", rows);
	return *stored;
}

static int compare_stored(struct compare *compare, uint32_t command, const struct op *op, uint64_t cycle, struct wc_error *err)
{
	const bool weights = op->store == LAYOUT_WGRAD;
	const struct layout_place *place = layout_place(compare->layout, op->store, op->tensor);
	bool *stored = stored_rows(compare, op->store, op->tensor, err);
	int result = stored ? 0 : WC_ERR_SYSTEM;

	for (int sample = weights ? 0 : op->sample_first; sample < (weights ? 1 : op->sample_first + op->sample_count); sample++)
		for (int y = op->lo; y < op->hi && (!result || result == WC_ERR_MISMATCH); y++) {
			const uint8_t *got = wc_memory_at(compare->backend->memory, layout_address(compare->layout, op->store, op->tensor, sample, y),
							  row_bytes_of(compare, op->store, op->tensor));

			result = worse(result, compare_row(compare, MISMATCH_STORE, command, op, cycle, op->store, op->tensor, sample, y, op->cut, got, err));
			result = worse(result, collect_from(compare, op->store, op->tensor, sample, y, got, err));
			stored[(size_t)sample * (size_t)place->rows + (size_t)y] = true;
		}
	return result;
}

static int compare_loaded(struct compare *compare, uint32_t command, const struct op *op, uint64_t cycle, struct wc_error *err)
{
	const struct layout_place *place = layout_place(compare->layout, op->store, op->tensor);
	const struct wc_load_command *load = &op->command.load;
	const uint32_t sample_stride = load->count1 > 1 ? (uint32_t)load->gbuf_stride1 : place->row_bytes * (uint32_t)(op->hi - op->lo);

	return compare_buffer(compare, MISMATCH_LOAD, command, op, cycle, op->store, op->tensor, load->gbuf_addr, place->row_bytes, sample_stride, false,
			      err);
}

static int compare_vector(struct compare *compare, uint32_t command, const struct op *op, uint64_t cycle, struct wc_error *err)
{
	const struct wc_vector_command *vector = &op->command.vector;
	int result = compare_buffer(compare, MISMATCH_VECTOR, command, op, cycle, op->store, op->tensor, vector->dst_base, vector->dst_stride1,
				    vector->dst_stride2, true, err);

	if (op->kind == OP_RELU && vector->flags)
		result = worse(result, compare_buffer(compare, MISMATCH_VECTOR, command, op, cycle, LAYOUT_MASK, op->tensor, vector->aux_base,
						      vector->aux_stride1, vector->aux_stride2, true, err));
	return result;
}

int compare_end(struct compare *compare, uint32_t command, const struct op *op, uint64_t cycle, struct wc_error *err)
{
	struct compare_counts *counts = &compare->counts;
	int result;

	if (op_is_tile(op))
		return compare_tile_end(compare, command, op, cycle);
	begin_result(compare);
	switch (op->kind) {
	case OP_LOAD:
		result = compare_loaded(compare, command, op, cycle, err);
		counts->loads++;
		counts->load_elements += compare->result_elements;
		break;
	case OP_STORE:
		result = compare_stored(compare, command, op, cycle, err);
		counts->stores++;
		counts->store_elements += compare->result_elements;
		break;
	default:
		result = compare_vector(compare, command, op, cycle, err);
		counts->vectors++;
		counts->vector_elements += compare->result_elements;
		break;
	}
	if (result == WC_ERR_MISMATCH && compare->mismatch.command == command)
		compare->mismatch.compared = compare->result_elements;
	if (!result && !compare->result_elements)
		result = wc_fail(err, WC_ERR_SYSTEM, "nothing of command %" PRIu32 ", a %s, was compared", command, op_kind_name(op->kind));
	return result;
}

int compare_memory(struct compare *compare, struct wc_error *err)
{
	int result = 0;

	begin_result(compare);
	for (enum layout_store store = 0; store < LAYOUT_STORE_COUNT; store++)
		for (int node = 0; node < compare->net->node_count; node++) {
			const struct layout_place *place = layout_place(compare->layout, store, node);
			const bool *stored = compare->stored[(int)store * compare->net->node_count + node];
			const bool input = store == LAYOUT_WEIGHT || (store == LAYOUT_ACT && node == 0) ||
					   (store == LAYOUT_GRAD && node == compare->net->node_count - 1);
			const int samples = place->sample_bytes ? compare->layout->batch : 1;

			for (int row = 0; place->bytes && row < samples * place->rows && (!result || result == WC_ERR_MISMATCH); row++) {
				const int sample = row / place->rows, y = row % place->rows;

				if (!input && !(stored && stored[row]))
					continue;
				result = worse(result, compare_row(compare, MISMATCH_FINAL, UINT32_MAX, NULL, 0, store, node, sample, y,
								   store == LAYOUT_WGRAD ? compare->expect->cut[node] : 0,
								   wc_memory_at(compare->backend->memory, layout_address(compare->layout, store, node, sample, y),
										row_bytes_of(compare, store, node)),
								   err));
			}
		}
	compare->mismatch.compared = compare->result_elements;
	return result;
}
