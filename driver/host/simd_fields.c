// SPDX-License-Identifier: Apache-2.0
//
// Fields of a SIMD command; see simd_fields.h.
#include "driver/host/simd_fields.h"

#include <stddef.h>
#include <string.h>

void simd_put_nest(struct wc_simd_command *command, const struct simd_nest *nest)
{
	const uint16_t block = (uint16_t)(nest->channels < nest->lanes ? nest->channels : nest->lanes);

	command->program = (uint8_t)nest->program;
	command->count_n = (uint16_t)nest->n;
	command->count_y = (uint16_t)nest->y;
	command->count_x = (uint16_t)nest->x;
	command->channels = (uint32_t)nest->channels;
	command->block = command->groups = block;
	command->group = 1;
	command->block_step = block;
	command->taps_y = command->taps_x = 1;
	command->y_size = command->x_size = 1;
}

int simd_put_groups(struct wc_simd_command *command, const struct simd_nest *nest, int group)
{
	int parts = 1;

	simd_put_nest(command, nest);
	while (group % parts || group / parts > nest->lanes)
		parts++;
	if (parts == 1) {
		const int64_t groups = nest->channels / group, fit = nest->lanes / group;

		command->groups = (uint16_t)(groups < fit ? groups : fit);
	} else {
		command->groups = 1;
		command->taps_x = command->x_size = (uint8_t)parts;
		command->tap_x_step = 1;
	}
	command->group = (uint16_t)(group / parts);
	command->block = (uint16_t)(command->group * command->groups);
	command->block_step = parts == 1 ? command->block : (uint32_t)group;
	return parts;
}

void simd_put_windows(struct wc_simd_command *command, const struct simd_window *y, const struct simd_window *x, int64_t first_number)
{
	command->taps_y = (uint8_t)y->taps;
	command->taps_x = (uint8_t)x->taps;
	command->y_first = (int16_t)y->first;
	command->x_first = (int16_t)x->first;
	command->y_step = (int16_t)y->step;
	command->x_step = (int16_t)x->step;
	command->y_size = (uint16_t)y->size;
	command->x_size = (uint16_t)x->size;
	command->tap_y_step = (int16_t)y->tap_step;
	command->tap_x_step = (int16_t)x->tap_step;
	command->tap_first = (int16_t)first_number;
	command->tap_y_number = (int16_t)y->number;
	command->tap_x_number = (int16_t)x->number;
}

// The fields of a stream, of which all have one layout.
struct stream_fields {
	uint32_t base;
	int32_t stride_n, stride_y, stride_x;
};

struct tap_fields {
	int32_t y, x;
};

_Static_assert(offsetof(struct wc_simd_command, s7_base) == offsetof(struct wc_simd_command, s0_base) + 7 * sizeof(struct stream_fields),
	       "streams one after another");
_Static_assert(offsetof(struct wc_simd_command, s3_tap_y) == offsetof(struct wc_simd_command, s0_tap_y) + 3 * sizeof(struct tap_fields),
	       "taps one after another");
_Static_assert(offsetof(struct wc_simd_command, type7) == offsetof(struct wc_simd_command, type0) + 7, "types one after another");
_Static_assert(offsetof(struct wc_simd_command, constant3) == offsetof(struct wc_simd_command, constant0) + 12, "constants one after another");

void simd_put_stream(struct wc_simd_command *command, int index, int type, struct simd_stream stream)
{
	const struct stream_fields fields = {(uint32_t)stream.base, (int32_t)stream.n, (int32_t)stream.y, (int32_t)stream.x};
	uint8_t *bytes = (uint8_t *)command;

	bytes[offsetof(struct wc_simd_command, type0) + (size_t)index] = (uint8_t)type;
	memcpy(bytes + offsetof(struct wc_simd_command, s0_base) + (size_t)index * sizeof(fields), &fields, sizeof(fields));
}

void simd_put_tap(struct wc_simd_command *command, int index, int64_t y, int64_t x)
{
	const struct tap_fields fields = {(int32_t)y, (int32_t)x};

	memcpy((uint8_t *)command + offsetof(struct wc_simd_command, s0_tap_y) + (size_t)index * sizeof(fields), &fields, sizeof(fields));
}

void simd_put_constant(struct wc_simd_command *command, int index, float value)
{
	memcpy((uint8_t *)command + offsetof(struct wc_simd_command, constant0) + (size_t)index * sizeof(value), &value, sizeof(value));
}
