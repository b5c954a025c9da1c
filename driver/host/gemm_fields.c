// SPDX-License-Identifier: Apache-2.0
//
// Fields of a GEMM command; see gemm_fields.h.
#include "driver/host/gemm_fields.h"

#include <string.h>

#include "driver/host/field.h"

enum {
	FETCH_A = offsetof(struct wc_gemm_command, a_base),
	FETCH_B = offsetof(struct wc_gemm_command, b_base),
	FETCH_BYTES = FETCH_B - FETCH_A,
};
_Static_assert(offsetof(struct wc_gemm_command, b_run_start) - FETCH_B == offsetof(struct wc_gemm_command, a_run_start) - FETCH_A,
	       "both fetchers have one layout");

// Difference to add when dimension d steps and the lower ones go back to their first position.
static int64_t walk_delta(const struct walk_box *box, int dimension)
{
	int64_t delta = box->stride[dimension];

	for (int i = 0; i < dimension; i++)
		delta -= (box->count[i] - 1) * box->stride[i];
	return delta;
}

void walk_start(const struct walk_box *box, int64_t i, int64_t start[3])
{
	start[0] = i % box->count[0];
	start[1] = i / box->count[0] % box->count[1];
	start[2] = i / box->count[0] / box->count[1];
}

struct gemm_fetch gemm_fetch_plain(int64_t base, enum fetch_mode mode, int64_t channels)
{
	return (struct gemm_fetch){
		.base = base,
		.mode = mode,
		.taps_y = 1,
		.taps_x = 1,
		.box = {.count = {1, 1, 1}},
		.y_size = 1,
		.x_size = 1,
		.chan_delta = 2,
		.chan_total = channels,
		.chan_block = channels,
	};
}

void gemm_fetch_taps(struct gemm_fetch *fetch, int64_t bytes_y, int64_t bytes_x, int64_t bytes_block)
{
	fetch->tap_x_delta = bytes_x;
	fetch->tap_y_delta = bytes_y - (fetch->taps_x - 1) * bytes_x;
	fetch->block_delta = bytes_block - (fetch->taps_y - 1) * bytes_y - (fetch->taps_x - 1) * bytes_x;
}

// A row of taps that is contiguous in memory, wholly inside the image, is walked as one tap.
static bool merges(const struct gemm_fetch *fetch)
{
	return fetch->mode != FETCH_K_OVER_TAPS && fetch->taps_x > 1 && fetch->chan_total <= fetch->chan_block && fetch->tap_x_step == 1 &&
	       fetch->tap_x_delta == 2 * fetch->chan_total && fetch->taps_x * fetch->chan_total <= UINT16_MAX;
}

// Both fetchers have one layout, so that A's fields serve as the form for both.
static void put_fetch(struct wc_gemm_command *command, int offset, const struct gemm_fetch *fetch)
{
	const bool merge = merges(fetch);
	const struct wc_gemm_command form = {
		.a_base = field_difference(fetch->base),
		.a_mode = field_u8(fetch->mode),
		.a_merge = merge,
		.a_taps_y = field_u8(fetch->taps_y),
		.a_taps_x = field_u8(fetch->taps_x),
		.a_count0 = field_u16(fetch->box.count[0]),
		.a_count1 = field_u16(fetch->box.count[1]),
		.a_count2 = field_u16(fetch->box.count[2]),
		.a_start0 = field_u16(fetch->start[0]),
		.a_start1 = field_u16(fetch->start[1]),
		.a_start2 = field_u16(fetch->start[2]),
		.a_delta0 = field_difference(walk_delta(&fetch->box, 0)),
		.a_delta1 = field_difference(walk_delta(&fetch->box, 1)),
		.a_delta2 = field_difference(walk_delta(&fetch->box, 2)),
		.a_y_first = field_i16(fetch->y_first),
		.a_x_first = field_i16(fetch->x_first),
		.a_y_start = field_i16(fetch->y_first + fetch->start[1] * fetch->y_step),
		.a_x_start = field_i16(fetch->x_first + fetch->start[0] * fetch->x_step),
		.a_y_step = field_i16(fetch->y_step),
		.a_x_step = field_i16(fetch->x_step),
		.a_y_size = field_u16(fetch->y_size),
		.a_x_size = field_u16(fetch->x_size),
		.a_tap_y_step = field_i16(fetch->tap_y_step),
		.a_tap_x_step = field_i16(fetch->tap_x_step),
		.a_tap_x_delta = field_difference(fetch->tap_x_delta),
		.a_tap_y_delta = field_difference(fetch->tap_y_delta),
		.a_block_delta = field_difference(fetch->block_delta),
		.a_chan_delta = field_difference(fetch->chan_delta),
		.a_chan_total = field_u16(fetch->chan_total),
		.a_chan_block = field_u16(fetch->chan_block),
		.a_tap_y_start = field_u8(fetch->tap_y_start),
		.a_tap_x_start = field_u8(fetch->tap_x_start),
		.a_chan_start = field_u16(fetch->chan_start),
		.a_tap_y_pos = field_i16(fetch->tap_y_start * fetch->tap_y_step),
		.a_tap_x_pos = field_i16(fetch->tap_x_start * fetch->tap_x_step),
		.a_run_length = field_u16(merge ? fetch->taps_x * fetch->chan_total : 0),
		.a_run_start = field_u16(merge ? fetch->tap_x_start * fetch->chan_total + fetch->chan_start : 0),
	};

	memcpy((uint8_t *)command + offset, (const uint8_t *)&form + FETCH_A, FETCH_BYTES);
}

void gemm_put_a(struct wc_gemm_command *command, const struct gemm_fetch *fetch)
{
	put_fetch(command, FETCH_A, fetch);
}

void gemm_put_b(struct wc_gemm_command *command, const struct gemm_fetch *fetch)
{
	put_fetch(command, FETCH_B, fetch);
}

void gemm_put_out(struct wc_gemm_command *command, const struct gemm_walk *walk)
{
	command->out_base = field_address(walk->base);
	command->out_count0 = field_u16(walk->box.count[0]);
	command->out_count1 = field_u16(walk->box.count[1]);
	command->out_count2 = field_u16(walk->box.count[2]);
	command->out_start0 = field_u16(walk->start[0]);
	command->out_start1 = field_u16(walk->start[1]);
	command->out_start2 = field_u16(walk->start[2]);
	command->out_delta0 = field_difference(walk_delta(&walk->box, 0));
	command->out_delta1 = field_difference(walk_delta(&walk->box, 1));
	command->out_delta2 = field_difference(walk_delta(&walk->box, 2));
}
