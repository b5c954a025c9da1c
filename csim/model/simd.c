// SPDX-License-Identifier: Apache-2.0
//
// SIMD: the loop nest.
#include "csim/model/simd.h"

static bool has(const struct simd_run *run, enum wc_simd_part part)
{
	return run->text->count[part] > 0;
}

static bool has_pixels(const struct simd_run *run)
{
	return has(run, WC_SIMD_PART_PIXEL) || has(run, WC_SIMD_PART_TAP) || has(run, WC_SIMD_PART_PIXEL_END);
}

static bool has_rows(const struct simd_run *run)
{
	return has(run, WC_SIMD_PART_ROW) || has(run, WC_SIMD_PART_ROW_END) || has_pixels(run);
}

static void enter_block(struct simd_run *run, uint32_t block)
{
	uint32_t left;

	run->channel = block * run->command->block_step;
	left = run->command->channels - run->channel;
	run->active = left < run->command->block ? left : run->command->block;
}

static uint32_t block_count(const struct wc_simd_command *command)
{
	return command->channels / command->block_step + (command->channels % command->block_step != 0);
}

static model_result walk_taps(struct simd_run *run)
{
	const struct wc_simd_command *c = run->command;

	for (uint32_t r = 0; r < c->taps_y; r++)
		for (uint32_t s = 0; s < c->taps_x; s++) {
			uint32_t y = (uint32_t)c->y_first + run->place.y * (uint32_t)c->y_step + r * (uint32_t)c->tap_y_step;
			uint32_t x = (uint32_t)c->x_first + run->place.x * (uint32_t)c->x_step + s * (uint32_t)c->tap_x_step;
			model_result result;

			if (y >= c->y_size || x >= c->x_size)
				continue;
			run->place.tap_y = r;
			run->place.tap_x = s;
			run->tap = (uint16_t)((uint32_t)c->tap_first + r * (uint32_t)c->tap_y_number + s * (uint32_t)c->tap_x_number);
			if ((result = simd_execute(run, WC_SIMD_PART_TAP)))
				return result;
		}
	return 0;
}

static model_result walk_row(struct simd_run *run)
{
	uint32_t count = run->text->is_flat ? block_count(run->command) : run->command->count_x;

	for (uint32_t x = 0; has_pixels(run) && x < count; x++) {
		model_result result;

		run->place.x = x;
		if (run->text->is_flat)
			enter_block(run, x);
		if ((result = simd_execute(run, WC_SIMD_PART_PIXEL)) || (has(run, WC_SIMD_PART_TAP) && (result = walk_taps(run))) ||
		    (result = simd_execute(run, WC_SIMD_PART_PIXEL_END)))
			return result;
	}
	return 0;
}

static model_result walk_block(struct simd_run *run)
{
	model_result result = simd_execute(run, WC_SIMD_PART_PROLOGUE);

	for (uint32_t y = 0; !result && has_rows(run) && y < run->command->count_y; y++) {
		run->place.y = y;
		if (!(result = simd_execute(run, WC_SIMD_PART_ROW)) && !(result = walk_row(run)))
			result = simd_execute(run, WC_SIMD_PART_ROW_END);
	}
	return result ? result : simd_execute(run, WC_SIMD_PART_EPILOGUE);
}

model_result model_simd(struct wc_model *model, const struct wc_simd_command *command, uint32_t index)
{
	struct simd_run run = {
		.model = model,
		.command = command,
		.index = index,
		.text = &wc_simd_texts[command->program],
		.constants = {command->constant0, command->constant1, command->constant2, command->constant3},
		.lanes = wc_device_lanes(&model->base.params),
	};
	uint32_t blocks = run.text->is_flat ? 1 : block_count(command);

	simd_streams_init(&run);
	for (uint32_t lane = 0; lane < run.lanes; lane++)
		run.first[lane] = lane % command->group == 0 ? UINT32_MAX : 0;
	for (uint32_t n = 0; n < command->count_n; n++)
		for (uint32_t block = 0; block < blocks; block++) {
			model_result result;

			run.place = (struct simd_place){.n = n, .block = block};
			enter_block(&run, block);
			if ((result = walk_block(&run)))
				return result;
		}
	return 0;
}
