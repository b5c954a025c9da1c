// SPDX-License-Identifier: Apache-2.0
//
// What goes in and out of DRAM under `device`: whole beats, a command for each move.
#include "driver/plan/check/device.h"

void check_add_bytes(struct check_state *state, enum wc_class class, bool write, uint64_t bytes)
{
	if (write)
		state->result->write_bytes[class] += bytes;
	else
		state->result->read_bytes[class] += bytes;
}

void check_commands(struct check_state *state, uint64_t commands)
{
	state->result->commands += commands;
	check_add_bytes(state, WC_CLASS_COMMAND, false, commands * CHECK_COMMAND_BYTES);
}

void check_move(struct check_state *state, enum wc_class class, enum check_direction direction, uint64_t bytes, uint64_t times)
{
	check_add_bytes(state, class, direction == CHECK_WRITE, times * check_whole_beats(state, bytes));
	check_commands(state, times);
}

uint64_t check_tiles(uint64_t elements, int size)
{
	return (elements + (uint64_t)size - 1) / (uint64_t)size;
}
