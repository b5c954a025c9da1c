// SPDX-License-Identifier: Apache-2.0
//
// Address walks, one step at a time.
#include "csim/model/walk.h"

#define FETCH_FIELDS(command, p)                                                                                                     \
	{                                                                                                                            \
		.base = (uint32_t)(command)->p##base, .mode = (command)->p##mode, .merge = (command)->p##merge,                      \
		.taps_y = (command)->p##taps_y, .taps_x = (command)->p##taps_x,                                                      \
		.count0 = (command)->p##count0, .count1 = (command)->p##count1, .count2 = (command)->p##count2,                      \
		.start0 = (command)->p##start0, .start1 = (command)->p##start1, .start2 = (command)->p##start2,                      \
		.delta0 = (uint32_t)(command)->p##delta0, .delta1 = (uint32_t)(command)->p##delta1,                                  \
		.delta2 = (uint32_t)(command)->p##delta2,                                                                            \
		.y_first = (command)->p##y_first, .x_first = (command)->p##x_first,                                                  \
		.y_start = (command)->p##y_start, .x_start = (command)->p##x_start,                                                  \
		.y_step = (command)->p##y_step, .x_step = (command)->p##x_step,                                                      \
		.y_size = (command)->p##y_size, .x_size = (command)->p##x_size,                                                      \
		.tap_y_step = (command)->p##tap_y_step, .tap_x_step = (command)->p##tap_x_step,                                      \
		.tap_x_delta = (uint32_t)(command)->p##tap_x_delta, .tap_y_delta = (uint32_t)(command)->p##tap_y_delta,              \
		.block_delta = (uint32_t)(command)->p##block_delta, .chan_delta = (uint32_t)(command)->p##chan_delta,                \
		.chan_total = (command)->p##chan_total, .chan_block = (command)->p##chan_block,                                      \
		.tap_y_start = (command)->p##tap_y_start, .tap_x_start = (command)->p##tap_x_start,                                  \
		.chan_start = (command)->p##chan_start,                                                                              \
		.tap_y_pos = (command)->p##tap_y_pos, .tap_x_pos = (command)->p##tap_x_pos,                                          \
		.run_length = (command)->p##run_length, .run_start = (command)->p##run_start,                                        \
	}

struct fetch_fields fetch_fields_a(const struct wc_gemm_command *command)
{
	return (struct fetch_fields)FETCH_FIELDS(command, a_);
}

struct fetch_fields fetch_fields_b(const struct wc_gemm_command *command)
{
	return (struct fetch_fields)FETCH_FIELDS(command, b_);
}

static int minimum(int a, int b)
{
	return a < b ? a : b;
}

void vector_walk_init(struct vector_walk *walk, const struct fetch_fields *fields)
{
	*walk = (struct vector_walk){
		.fields = fields, .index0 = fields->start0, .index1 = fields->start1, .index2 = fields->start2,
		.address = fields->base, .y = fields->y_start, .x = fields->x_start,
	};
}

void vector_walk_step(struct vector_walk *walk)
{
	const struct fetch_fields *fields = walk->fields;

	if (++walk->index0 < fields->count0) {
		walk->address += fields->delta0;
		walk->x += fields->x_step;
		return;
	}
	walk->index0 = 0;
	walk->x = fields->x_first;
	if (++walk->index1 < fields->count1) {
		walk->address += fields->delta1;
		walk->y += fields->y_step;
		return;
	}
	walk->index1 = 0;
	walk->y = fields->y_first;
	walk->address += fields->delta2;
	if (++walk->index2 >= fields->count2)
		walk->ended = true;
}

static void begin_block(struct tap_walk *walk, int first)
{
	walk->first = first;
	walk->channels = minimum(walk->fields->chan_block, walk->fields->chan_total - first);
}

void tap_walk_init(struct tap_walk *walk, const struct fetch_fields *fields)
{
	*walk = (struct tap_walk){.fields = fields};
	begin_block(walk, 0);
}

void tap_walk_init_start(struct tap_walk *walk, const struct fetch_fields *fields)
{
	tap_walk_init(walk, fields);
	walk->r = fields->tap_y_start;
	walk->s = fields->tap_x_start;
	walk->c = fields->chan_start;
	walk->y = fields->tap_y_pos;
	walk->x = fields->tap_x_pos;
}

void tap_walk_advance(struct tap_walk *walk, int count)
{
	const struct fetch_fields *fields = walk->fields;

	walk->c += count;
	if (walk->c < walk->channels)
		return;
	walk->c = 0;
	if (++walk->s < fields->taps_x) {
		walk->offset += fields->tap_x_delta;
		walk->x += fields->tap_x_step;
		return;
	}
	walk->s = 0;
	walk->x = 0;
	if (++walk->r < fields->taps_y) {
		walk->offset += fields->tap_y_delta;
		walk->y += fields->tap_y_step;
		return;
	}
	walk->r = 0;
	walk->y = 0;
	walk->offset += fields->block_delta;
	if (walk->first + walk->channels < fields->chan_total)
		begin_block(walk, walk->first + walk->channels);
	else
		walk->ended = true;
}

void row_walk_init(struct row_walk *walk, const struct wc_gemm_command *command, uint32_t base)
{
	*walk = (struct row_walk){
		.command = command, .index0 = command->out_start0, .index1 = command->out_start1, .index2 = command->out_start2, .address = base,
	};
}

void row_walk_step(struct row_walk *walk)
{
	const struct wc_gemm_command *command = walk->command;

	if (++walk->index0 < command->out_count0) {
		walk->address += (uint32_t)command->out_delta0;
		return;
	}
	walk->index0 = 0;
	if (++walk->index1 < command->out_count1) {
		walk->address += (uint32_t)command->out_delta1;
		return;
	}
	walk->index1 = 0;
	walk->address += (uint32_t)command->out_delta2;
	if (++walk->index2 >= command->out_count2)
		walk->ended = true;
}
