// SPDX-License-Identifier: Apache-2.0
//
// GEMM: one tile, wave by wave, then drained row by row.
#include <string.h>

#include "csim/golden/half.h"
#include "csim/golden/wave.h"
#include "csim/model/model.h"
#include "csim/model/operand.h"
#include "traces/alloc.h"

enum { FLAG_PRELOAD = 1, FLAG_FP32 = 2, FLAG_SAME = 4 };

int model_tile_init(struct model_tile *tile, const struct wc_device_params *params, struct wc_error *err)
{
	size_t rows = params->rows, columns = golden_wave_pad(params->cols), acc_rows = params->acc_rows;
	size_t wide = rows > columns ? rows : columns;

	tile->a_runs = wc_alloc(acc_rows + rows, sizeof(*tile->a_runs));
	tile->b_runs = wc_alloc(columns + rows, sizeof(*tile->b_runs));
	tile->a_halves = wc_alloc(acc_rows * rows, sizeof(*tile->a_halves));
	tile->b_halves = wc_alloc(rows * columns, sizeof(*tile->b_halves));
	tile->a = wc_alloc(acc_rows * rows, sizeof(*tile->a));
	tile->b = wc_alloc(rows * columns, sizeof(*tile->b));
	tile->acc = wc_alloc(acc_rows * columns, sizeof(*tile->acc));
	tile->bits = wc_alloc(wide, sizeof(*tile->bits));
	if (!tile->a_runs || !tile->b_runs || !tile->a_halves || !tile->b_halves || !tile->a || !tile->b || !tile->acc || !tile->bits) {
		model_tile_release(tile);
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory for a tile of %d x %d", params->acc_rows, params->cols);
	}
	return 0;
}

void model_tile_release(struct model_tile *tile)
{
	wc_free(tile->a_runs);
	wc_free(tile->b_runs);
	wc_free(tile->a_halves);
	wc_free(tile->b_halves);
	wc_free(tile->a);
	wc_free(tile->b);
	wc_free(tile->acc);
	wc_free(tile->bits);
	memset(tile, 0, sizeof(*tile));
}

// The tile in progress.
struct gemm {
	struct wc_model *model;
	const struct wc_gemm_command *command;
	uint32_t index;
	int rows, cols, padded; // array; columns of the tile as golden_wave_add() wants them
	size_t stride;          // of b and acc
	struct operand a, b;
	struct wc_error *err;
};

static int probe(const struct gemm *gemm, enum wc_probe_kind kind, int wave, int index, int count)
{
	const struct wc_observer *observer = &gemm->model->observer;
	struct wc_probe probe = {
		.kind = kind,
		.core = gemm->model->core,
		.command_index = gemm->index,
		.wave = wave,
		.index = index,
		.count = count,
		.bits = gemm->model->tile.bits,
	};

	if (observer->probe(observer->context, &probe))
		return wc_fail(gemm->err, WC_ERR_STOPPED, "stopped by the observer in GEMM command %u", gemm->index);
	return 0;
}

static int probe_weights(const struct gemm *gemm, int wave)
{
	int result = 0;

	for (int k = 0; !result && k < gemm->rows; k++) {
		for (int n = 0; n < gemm->cols; n++)
			gemm->model->tile.bits[n] = n < gemm->command->n_cols ? operand_at(&gemm->b, n, k) : 0;
		result = probe(gemm, WC_PROBE_OPERAND_B, wave, k, gemm->cols);
	}
	return result;
}

// Vector by vector: the operand, and the probed column's partial sums.
static int probe_vectors(const struct gemm *gemm, int wave)
{
	struct model_tile *tile = &gemm->model->tile;
	int column = gemm->model->observer.probe_column;
	int result = 0;

	for (int m = 0; !result && m < gemm->command->m_rows; m++) {
		float sum = 0;

		for (int k = 0; k < gemm->rows; k++)
			tile->bits[k] = operand_at(&gemm->a, m, k);
		result = probe(gemm, WC_PROBE_OPERAND_A, wave, m, gemm->rows);
		if (result || column < 0 || column >= gemm->cols)
			continue;
		for (int k = 0; k < gemm->rows; k++) {
			sum += tile->a[(size_t)m * gemm->rows + k] * tile->b[k * gemm->stride + column];
			tile->bits[k] = golden_float_bits(sum);
		}
		result = probe(gemm, WC_PROBE_COLUMN, wave, m, gemm->rows);
	}
	return result;
}

static int probe_accumulator(const struct gemm *gemm, int wave)
{
	int result = 0;

	for (int m = 0; !result && m < gemm->command->m_rows; m++) {
		for (int n = 0; n < gemm->cols; n++)
			gemm->model->tile.bits[n] = golden_float_bits(gemm->model->tile.acc[m * gemm->stride + n]);
		result = probe(gemm, WC_PROBE_ACCUMULATOR, wave, m, gemm->cols);
	}
	return result;
}

// A fault in the register that holds B[row][column] while this wave streams; a column that is not drained shows nothing of it.
static void strike_weight(const struct gemm *gemm, int wave)
{
	struct wc_fault *fault = &gemm->model->fault;

	if (fault->wave != wave || fault->row >= gemm->rows || fault->column >= gemm->cols || !model_fault_strikes(gemm->model, WC_FAULT_WEIGHT, gemm->index))
		return;
	if (fault->column < gemm->command->n_cols)
		gemm->model->tile.b[fault->row * gemm->stride + fault->column] =
			golden_half_to_float(operand_at(&gemm->b, fault->column, fault->row) ^ (uint16_t)(1u << fault->bit % 16));
}

static void strike_accumulator(const struct gemm *gemm, int wave)
{
	struct wc_fault *fault = &gemm->model->fault;
	float *sum = gemm->model->tile.acc + fault->row * gemm->stride + fault->column;

	if (fault->wave != wave || fault->row >= gemm->command->m_rows || fault->column >= gemm->cols ||
	    !model_fault_strikes(gemm->model, WC_FAULT_ACCUMULATOR, gemm->index))
		return;
	*sum = golden_float_of(golden_bits_of(*sum) ^ 1u << fault->bit % 32);
}

static model_result fetch(const struct gemm *gemm, struct operand *operand, int lanes)
{
	return operand_wave(operand, gemm->model->buffer, gemm->model->base.params.buffer_bytes, lanes) == OPERAND_OK ? 0 : WC_STATUS_BUFFER_RANGE;
}

static model_result run_wave(struct gemm *gemm, int wave, int lanes)
{
	struct wc_model *model = gemm->model;
	struct model_tile *tile = &model->tile;
	int m_rows = gemm->command->m_rows;
	model_result result = fetch(gemm, &gemm->a, lanes);

	if (!result)
		result = fetch(gemm, &gemm->b, lanes);
	if (!result && model->observer.waves)
		result = model_event(model, WC_EVENT_WAVE_BEGIN, gemm->index, wave, m_rows, gemm->err);
	if (result)
		return result;
	operand_floats(&gemm->a, tile->a, gemm->rows, 1);
	operand_floats(&gemm->b, tile->b, 1, gemm->stride);
	if (model->observer.probe)
		result = probe_weights(gemm, wave);
	strike_weight(gemm, wave);
	if (!result && model->observer.probe)
		result = probe_vectors(gemm, wave);
	if (result)
		return result;
	golden_wave_add(tile->acc, gemm->stride, tile->a, gemm->rows, tile->b, gemm->stride, m_rows, gemm->padded, gemm->rows);
	strike_accumulator(gemm, wave);
	model->counters[WC_COUNTER_WAVES]++;
	if (model->observer.probe)
		result = probe_accumulator(gemm, wave);
	if (!result && model->observer.waves)
		result = model_event(model, WC_EVENT_WAVE_END, gemm->index, wave, m_rows, gemm->err);
	return result;
}

static model_result preload(const struct gemm *gemm)
{
	const struct wc_gemm_command *command = gemm->command;
	struct wc_model *model = gemm->model;
	uint32_t bytes = 4 * (uint32_t)command->n_cols;
	struct row_walk walk;

	row_walk_init(&walk, command, command->pre_base);
	for (int m = 0; m < command->m_rows; m++) {
		const bool same = command->flags & FLAG_SAME;
		const uint32_t address = same ? command->pre_base : walk.address;

		if ((walk.ended && !same) || !model_in_buffer(model, address, bytes))
			return WC_STATUS_BUFFER_RANGE;
		memcpy(model->tile.acc + m * gemm->stride, model->buffer + address, bytes);
		row_walk_step(&walk);
	}
	return 0;
}

static model_result drain(const struct gemm *gemm)
{
	const struct wc_gemm_command *command = gemm->command;
	struct wc_model *model = gemm->model;
	const struct wc_observer *observer = &model->observer;
	bool is_fp32 = command->flags & FLAG_FP32;
	uint32_t element_bytes = is_fp32 ? 4 : 2;
	uint32_t *bits = model->tile.bits;
	struct row_walk walk;

	row_walk_init(&walk, command, command->out_base);
	for (int m = 0; m < command->m_rows; m++) {
		const float *sums = model->tile.acc + m * gemm->stride;
		struct wc_tile_row row = {.core = model->core, .command_index = gemm->index, .row = m, .count = command->n_cols, .is_fp32 = is_fp32, .bits = bits};

		if (walk.ended || !model_in_buffer(model, walk.address, (uint64_t)command->n_cols * element_bytes))
			return WC_STATUS_BUFFER_RANGE;
		for (int n = 0; n < command->n_cols; n++)
			bits[n] = is_fp32 ? golden_float_bits(sums[n]) : golden_half_from_float(sums[n]);
		if (observer->tile_row && observer->tile_row(observer->context, &row))
			return wc_fail(gemm->err, WC_ERR_STOPPED, "stopped by the observer at row %d of GEMM command %u", m, gemm->index);
		for (int n = 0; n < command->n_cols; n++)
			memcpy(model->buffer + walk.address + n * element_bytes, &bits[n], element_bytes); // little-endian: the low half first
		row_walk_step(&walk);
	}
	return 0;
}

model_result model_gemm(struct wc_model *model, const struct wc_gemm_command *command, uint32_t index, struct wc_error *err)
{
	const struct wc_device_params *params = &model->base.params;
	struct model_tile *tile = &model->tile;
	struct fetch_fields a = fetch_fields_a(command), b = fetch_fields_b(command);
	// Columns beyond the tile are computed only when somebody looks at them.
	struct gemm gemm = {
		.model = model, .command = command, .index = index, .rows = params->rows, .cols = params->cols,
		.padded = golden_wave_pad(model->observer.probe ? params->cols : command->n_cols), .stride = golden_wave_pad(params->cols), .err = err,
	};
	uint32_t waves = (command->k_total + params->rows - 1) / params->rows;
	model_result result = 0;

	if (operand_init(&gemm.a, &a, command->m_rows, params->rows, command->k_total, tile->a_runs, tile->a_halves) ||
	    operand_init(&gemm.b, &b, command->n_cols, params->rows, command->k_total, tile->b_runs, tile->b_halves))
		return WC_STATUS_BUFFER_RANGE;
	memset(tile->b, 0, params->rows * gemm.stride * sizeof(*tile->b));
	memset(tile->acc, 0, command->m_rows * gemm.stride * sizeof(*tile->acc));
	if (command->flags & FLAG_PRELOAD)
		result = preload(&gemm);
	waves = waves ? waves : 1;
	for (uint32_t wave = 0; !result && wave < waves; wave++) {
		uint32_t left = command->k_total - wave * params->rows;

		result = run_wave(&gemm, (int)wave, left < (uint32_t)params->rows ? (int)left : params->rows);
	}
	if (!result)
		result = drain(&gemm);
	return result;
}
