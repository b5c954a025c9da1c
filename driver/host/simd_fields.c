// SPDX-License-Identifier: Apache-2.0
//
// Fields of a SIMD command; see simd_fields.h.
#include "driver/host/simd_fields.h"

#include <stddef.h>
#include <string.h>

#include "driver/host/field.h"

void simd_put_nest(struct wc_simd_command *command, const struct simd_nest *nest)
{
	const uint16_t block = field_u16(nest->channels < nest->lanes ? nest->channels : nest->lanes);

	command->program = field_u8(nest->program);
	command->count_n = field_u16(nest->n);
	command->count_y = field_u16(nest->y);
	command->count_x = field_u16(nest->x);
	command->channels = field_u32(nest->channels);
	command->block = command->groups = block;
	command->group = 1;
	command->block_step = block;
	command->taps_y = command->taps_x = 1;
	command->y_size = command->x_size = 1;
}

int simd_group_parts(int group, int64_t lanes)
{
	int parts = 1;

	while (group % parts || group / parts > lanes)
		parts++;
	return parts;
}

int simd_put_groups(struct wc_simd_command *command, const struct simd_nest *nest, int group)
{
	const int parts = simd_group_parts(group, nest->lanes);

	simd_put_nest(command, nest);
	if (parts == 1) {
		const int64_t groups = nest->channels / group, fit = nest->lanes / group;

		command->groups = field_u16(groups < fit ? groups : fit);
	} else {
		command->groups = 1;
		command->taps_x = field_u8(parts);
		command->x_size = command->taps_x;
		command->tap_x_step = 1;
	}
	command->group = field_u16(group / parts);
	command->block = field_u16(command->group * command->groups);
	command->block_step = parts == 1 ? command->block : (uint32_t)group;
	return parts;
}

void simd_put_windows(struct wc_simd_command *command, const struct simd_window *y, const struct simd_window *x, int64_t first_number)
{
	command->taps_y = field_u8(y->taps);
	command->taps_x = field_u8(x->taps);
	command->y_first = field_i16(y->first);
	command->x_first = field_i16(x->first);
	command->y_step = field_i16(y->step);
	command->x_step = field_i16(x->step);
	command->y_size = field_u16(y->size);
	command->x_size = field_u16(x->size);
	command->tap_y_step = field_i16(y->tap_step);
	command->tap_x_step = field_i16(x->tap_step);
	command->tap_first = field_i16(first_number);
	command->tap_y_number = field_i16(y->number);
	command->tap_x_number = field_i16(x->number);
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
	const struct stream_fields fields = {
		field_address(stream.base), field_difference(stream.n), field_difference(stream.y), field_difference(stream.x),
	};
	uint8_t *bytes = (uint8_t *)command;

	bytes[offsetof(struct wc_simd_command, type0) + (size_t)index] = field_u8(type);
	memcpy(bytes + offsetof(struct wc_simd_command, s0_base) + (size_t)index * sizeof(fields), &fields, sizeof(fields));
}

void simd_put_tap(struct wc_simd_command *command, int index, int64_t y, int64_t x)
{
	const struct tap_fields fields = {field_difference(y), field_difference(x)};

	memcpy((uint8_t *)command + offsetof(struct wc_simd_command, s0_tap_y) + (size_t)index * sizeof(fields), &fields, sizeof(fields));
}

void simd_put_constant(struct wc_simd_command *command, int index, float value)
{
	memcpy((uint8_t *)command + offsetof(struct wc_simd_command, constant0) + (size_t)index * sizeof(value), &value, sizeof(value));
}
