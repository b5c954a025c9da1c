// SPDX-License-Identifier: Apache-2.0
//
// Rows of values, in the global buffer or in DRAM, against the golden model.
#include <assert.h>
#include <string.h>

#include "csim/golden/half.h"
#include "driver/host/compare_internal.h"
#include "traces/alloc.h"
#include "traces/wct.h"

void compare_record(struct compare *compare, enum mismatch_kind kind, uint32_t command, const struct op *op, uint64_t cycle)
{
	compare->mismatch = (struct mismatch){.kind = kind, .command = command, .cycle = cycle};
	if (op) {
		compare->mismatch.op = *op;
		compare->mismatch.core = op->core;
	}
}

void compare_record_value(struct compare *compare, const struct mismatch_element *element, int bits, uint32_t got, uint32_t expected)
{
	struct mismatch *mismatch = &compare->mismatch;

	mismatch->element = *element;
	mismatch->bits = bits;
	mismatch->got = got;
	mismatch->expected = expected;
	if (bits >= 16)
		mismatch->ulps = bits == 32 ? golden_float_ulps(got, expected) : golden_half_ulps((uint16_t)got, (uint16_t)expected);
}

// Its bytes, gaps between runs included; in scratch if they come from the buffer.
static const uint8_t *bytes_of(struct compare *compare, const struct compare_source *source, const struct op_rows *rows, uint64_t address)
{
	const uint64_t bytes = (op_rows_runs(rows) - 1) * rows->run_stride + (rows->run * (uint64_t)rows->bits + 7) / 8;

	if (source->in_memory)
		return wc_memory_at(compare->backend->memory, address, bytes);
	if (bytes > compare->scratch_bytes) {
		wc_free(compare->scratch);
		compare->scratch = wc_alloc(bytes, 1);
		compare->scratch_bytes = compare->scratch ? bytes : 0;
	}
	if (compare->scratch)
		compare->backend->ops->buffer_read(compare->backend, (uint32_t)source->op->core * compare->backend->params.buffer_bytes + (uint32_t)address,
						   compare->scratch, (uint32_t)bytes);
	return compare->scratch;
}

// One row's vector.
struct span {
	int sample, row, vector;
	const uint8_t *got, *expected; // the first run's first element; the first element of the dense vector
};

static void differ(struct compare *compare, const struct compare_source *source, const struct op_rows *rows, const struct span *span, uint64_t index, uint32_t got,
		   uint32_t expected)
{
	if (compare->mismatch.kind == MISMATCH_NONE) {
		const struct mismatch_element element =
			mismatch_element_at(compare->net, &rows->value, span->sample, span->row, span->vector, index);

		compare_record(compare, source->kind, source->command, source->op, source->cycle);
		compare_record_value(compare, &element, rows->bits, got, expected);
	}
	compare->mismatch.different++;
}

static void digest(struct compare *compare, const uint8_t *got, const uint8_t *expected, uint64_t bytes)
{
	if (!compare->keep_results)
		return;
	compare->digest_got = wct_digest_bytes(compare->digest_got, got, bytes);
	compare->digest_expected = wct_digest_bytes(compare->digest_expected, expected, bytes);
	compare->digest_bytes += bytes;
}

// One run of `count` elements from `index` on, whose bytes begin at `got`.
static int compare_run(struct compare *compare, const struct compare_source *source, const struct op_rows *rows, const struct span *span, uint64_t index,
		       const uint8_t *got, uint64_t count)
{
	const uint64_t bytes = (count * (uint64_t)rows->bits + 7) / 8;
	const uint8_t *expected = span->expected + index * (uint64_t)rows->bits / 8;
	bool any = false;

	assert(rows->bits >= 16 || index == 0);
	if (rows->step == 1) {
		digest(compare, got, expected, bytes);
		if (!memcmp(got, expected, bytes))
			return 0;
	}
	for (uint64_t i = (uint64_t)rows->step - 1 - (index + (uint64_t)rows->step - 1) % (uint64_t)rows->step; i < count; i += (uint64_t)rows->step) {
		const uint32_t g = value_bits(got, rows->bits, i), e = value_bits(expected, rows->bits, i);

		if (rows->step > 1)
			digest(compare, (const uint8_t *)&g, (const uint8_t *)&e, sizeof(g));
		if (g == e)
			continue;
		any = true;
		differ(compare, source, rows, span, index + i, g, e);
	}
	// Bits behind a row's last field are written as zero, so they too must agree; name the last element then.
	if (rows->step == 1 && !any)
		differ(compare, source, rows, span, index + count - 1, got[bytes - 1], expected[bytes - 1]);
	return any || rows->step == 1 ? WC_ERR_MISMATCH : 0;
}

static int worse(int a, int b)
{
	return a && a != WC_ERR_MISMATCH ? a : b ? b : a;
}

static int compare_vector(struct compare *compare, const struct compare_source *source, const struct op_rows *rows, struct span *span, struct wc_error *err)
{
	const uint64_t compared = (rows->count + (uint64_t)rows->step - 1) / (uint64_t)rows->step;
	int result = 0;

	span->got = bytes_of(compare, source, rows, op_rows_address(rows, span->sample, span->row, span->vector, rows->first));
	if (!span->got)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for a row of '%s'", compare->net->nodes[rows->value.node].name);
	span->expected = expect_values(compare->expect, &rows->value, span->sample, span->row, span->vector, err);
	if (!span->expected)
		return WC_ERR_SYSTEM;
	compare->counts.elements += compared;
	compare->result_elements += compared;
	for (uint64_t run = 0; run < op_rows_runs(rows); run++) {
		const uint64_t done = run * rows->run, count = rows->count - done < rows->run ? rows->count - done : rows->run;

		result = worse(result, compare_run(compare, source, rows, span, rows->first + run * rows->run_step, span->got + run * rows->run_stride, count));
	}
	return result;
}

int compare_rows(struct compare *compare, const struct compare_source *source, const struct op_rows *rows, struct wc_error *err)
{
	int result = 0;

	for (int sample = rows->sample_first; sample < rows->sample_first + rows->sample_count; sample++)
		for (int row = rows->lo; row < rows->hi; row += rows->row_step)
			for (int i = 0; i < rows->vector_count && (!result || result == WC_ERR_MISMATCH); i++) {
				struct span span = {.sample = sample, .row = row, .vector = rows->vector_first + i};

				result = worse(result, compare_vector(compare, source, rows, &span, err));
			}
	return result;
}

// The tensor that complete rows of a value are kept as; -1: they are not.
static int collected_as(const struct compare_source *source, const struct value *value, int cores)
{
	switch (value->kind) {
	case SLAB_ACT:
		return value->stage ? -1 : COLLECT_ACT;
	case SLAB_GRAD:
		return value->reader ? -1 : COLLECT_GRAD;
	case SLAB_MASK:
		return COLLECT_MASK;
	// Sums that leave the chip for the last time stay; those of several cores are collected when they have been added up.
	case SLAB_WGRAD:
		return source->in_memory && cores == 1 ? COLLECT_WGRAD : -1;
	case SLAB_BIAS_WGRAD:
		return source->in_memory && cores == 1 ? COLLECT_BIAS_WGRAD : -1;
	case SLAB_PARAMETERS_WGRAD:
		return source->in_memory && cores == 1 ? COLLECT_PARAMETERS_WGRAD : -1;
	case SLAB_STATISTICS:
		return COLLECT_STATISTICS;
	case SLAB_LOSSES:
		return COLLECT_LOSSES;
	case SLAB_UPDATE_STATE:
		return value->stage ? COLLECT_STATE + (int)value->array : -1;
	case SLAB_UPDATE_WEIGHT:
		return COLLECT_UPDATED + (int)value->array;
	default:
		return -1;
	}
}

static int collect_vector(struct compare *compare, const struct compare_source *source, const struct op_rows *rows, const struct span *span,
			  enum collect_kind kind, struct wc_error *err)
{
	const struct value_shape shape = value_shape_of(compare->net, compare->layout->batch, &rows->value);
	const uint64_t row = (uint64_t)(shape.samples ? span->sample : 0) * (uint64_t)shape.rows + (uint64_t)span->row;
	const uint8_t *got = bytes_of(compare, source, rows, op_rows_address(rows, span->sample, span->row, span->vector, rows->first));
	uint8_t *kept = collect_row(compare->collect, kind, rows->value.node, row * (uint64_t)shape.vectors + (uint64_t)span->vector, err);

	if (!got)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for a row of '%s'", compare->net->nodes[rows->value.node].name);
	if (!kept)
		return WC_ERR_SYSTEM;
	for (uint64_t run = 0; run < op_rows_runs(rows); run++)
		memcpy(kept + (rows->first + run * rows->run_step) * (uint64_t)rows->bits / 8, got + run * rows->run_stride,
		       (rows->run * (uint64_t)rows->bits + 7) / 8);
	return 0;
}

// Elements of a gradient that has been summed over the cores, as rows of the parameters' gradients.
static int collect_gradient(struct compare *compare, const struct compare_source *source, const struct op_rows *rows, struct wc_error *err)
{
	static const enum collect_kind kinds[ARRAY_COUNT] = {COLLECT_WGRAD, COLLECT_BIAS_WGRAD, COLLECT_PARAMETERS_WGRAD, COLLECT_PARAMETERS_WGRAD};
	const enum collect_kind kind = kinds[rows->value.array];
	const uint64_t row_bytes = collect_row_bytes(compare->collect, kind, rows->value.node), first_row = rows->value.array == ARRAY_BETA;
	const uint64_t end = 4 * (rows->first + rows->count);
	const uint8_t *got = bytes_of(compare, source, rows, rows->base);

	if (!got)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for a gradient of '%s'", compare->net->nodes[rows->value.node].name);
	for (uint64_t at = 4 * rows->first, bytes; at < end; at += bytes, got += bytes) {
		uint8_t *kept = collect_row(compare->collect, kind, rows->value.node, first_row + at / row_bytes, err);

		if (!kept)
			return WC_ERR_SYSTEM;
		bytes = row_bytes - at % row_bytes < end - at ? row_bytes - at % row_bytes : end - at;
		memcpy(kept + at % row_bytes, got, bytes);
	}
	return 0;
}

int compare_collect(struct compare *compare, const struct compare_source *source, const struct op_rows *rows, struct wc_error *err)
{
	const int kind = collected_as(source, &rows->value, compare->layout->cores);
	int result = 0;

	if (compare->layout->cores > 1 && rows->value.kind == SLAB_UPDATE_GRADIENT && !rows->value.stage && !source->in_memory)
		return collect_gradient(compare, source, rows, err);

	if (kind < 0 || rows->value.node == 0)
		return 0;
	for (int sample = rows->sample_first; sample < rows->sample_first + rows->sample_count; sample++)
		for (int row = rows->lo; row < rows->hi; row += rows->row_step)
			for (int i = 0; !result && i < rows->vector_count; i++) {
				const struct span span = {.sample = sample, .row = row, .vector = rows->vector_first + i};

				result = collect_vector(compare, source, rows, &span, (enum collect_kind)kind, err);
			}
	return result;
}

int compare_advance(struct compare *compare, const struct op *op, struct wc_error *err)
{
	const bool norm = op->value.kind == SLAB_PARAMETERS_WGRAD;
	const struct golden_range range = {
		.sample_lo = op->sample_first,
		.sample_hi = op->sample_first + op->sample_count,
		.row_lo = norm ? 0 : op->lo,
		.row_hi = norm ? compare->net->nodes[op->node].out.height : op->hi,
	};

	return expect_advance(compare->expect, op->core, op->node, op->value.stage, range, err);
}
