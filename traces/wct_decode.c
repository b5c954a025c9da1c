// SPDX-License-Identifier: Apache-2.0
//
// The decoder. A fault is noted once, in `fault`, and the getters give 0 from then on, so that the code reads like the format.
#include "traces/wct_decode.h"

#include <string.h>

#include "traces/alloc.h"
#include "traces/wct_layout.h"

struct cursor {
	struct wct_decoder *decoder;
	const char *fault;    // the first one, or NULL
	bool is_out_of_memory;
};

void wct_decoder_start(struct wct_decoder *decoder, const uint8_t *payload, size_t bytes, enum wct_level level)
{
	decoder->at = payload;
	decoder->end = payload + bytes;
	string_table_clear(&decoder->strings);
	decoder->cycle = 0;
	decoder->command = 0;
	decoder->level = level;
	decoder->events = 0;
	decoder->kinds = 0;
	decoder->cycle_min = UINT64_MAX;
	decoder->cycle_max = 0;
}

void wct_decoder_release(struct wct_decoder *decoder)
{
	string_table_release(&decoder->strings);
	wc_free(decoder->bits);
	wc_free(decoder->row_cycles);
	memset(decoder, 0, sizeof(*decoder));
}

static void set_fault(struct cursor *cursor, const char *fault)
{
	if (!cursor->fault)
		cursor->fault = fault;
}

static void set_out_of_memory(struct cursor *cursor)
{
	cursor->is_out_of_memory = !cursor->fault;
	set_fault(cursor, "out of memory");
}

// The next `count` bytes, or NULL.
static const uint8_t *take(struct cursor *cursor, size_t count)
{
	const uint8_t *bytes = cursor->decoder->at;

	if (cursor->fault)
		return NULL;
	if ((size_t)(cursor->decoder->end - bytes) < count) {
		set_fault(cursor, "an event goes on beyond its chunk");
		return NULL;
	}
	cursor->decoder->at += count;
	return bytes;
}

static uint8_t get_byte(struct cursor *cursor)
{
	const uint8_t *byte = take(cursor, 1);

	return byte ? *byte : 0;
}

static uint64_t get_varint(struct cursor *cursor)
{
	uint64_t value = 0;

	for (int shift = 0; shift < 64; shift += 7) {
		uint8_t byte = get_byte(cursor);

		if (shift == 63 && byte > 1)
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	set_fault(cursor, "a number beyond 64 bits");
	return 0;
}

static uint32_t get_varint32(struct cursor *cursor)
{
	uint64_t value = get_varint(cursor);

	if (value > UINT32_MAX)
		set_fault(cursor, "a number beyond 32 bits");
	return cursor->fault ? 0 : (uint32_t)value;
}

static int64_t get_svarint(struct cursor *cursor)
{
	uint64_t value = get_varint(cursor);

	return (int64_t)(value >> 1 ^ (value & 1 ? UINT64_MAX : 0));
}

static uint32_t get_word(struct cursor *cursor)
{
	const uint8_t *bytes = take(cursor, 4);

	return bytes ? wct_get_u32(bytes) : 0;
}

static const char *get_string(struct cursor *cursor)
{
	struct string_table *strings = &cursor->decoder->strings;
	uint64_t number = get_varint(cursor);
	const uint8_t *text;
	uint64_t length;
	uint32_t interned;

	if (cursor->fault)
		return "";
	if (number < strings->count)
		return string_table_get(strings, (uint32_t)number);
	if (number > strings->count) {
		set_fault(cursor, "a string that was not introduced");
		return "";
	}
	length = get_varint(cursor);
	if (length > WCT_TEXT_BYTES_MAX)
		set_fault(cursor, "a string beyond its limit");
	text = take(cursor, length);
	for (uint64_t i = 0; text && i < length; i++) {
		if (text[i] < ' ' || text[i] == 0x7f)
			set_fault(cursor, "a control character in a string");
	}
	if (cursor->fault)
		return "";
	interned = string_table_intern(strings, (const char *)text, length);
	if (interned == STRINGS_NONE) {
		set_out_of_memory(cursor);
		return "";
	}
	if (interned != number) {
		set_fault(cursor, "a string introduced twice");
		return "";
	}
	return string_table_get(strings, interned);
}

static void get_row_cycles(struct cursor *cursor, struct wct_event *event)
{
	struct wct_decoder *decoder = cursor->decoder;
	uint64_t cycle = event->cycle;

	if (!event->has_cycle) {
		set_fault(cursor, "a tile whose rows have cycles and itself none");
		return;
	}
	if (!decoder->row_cycles)
		decoder->row_cycles = wc_alloc(WCT_TILE_ROWS_MAX, sizeof(*decoder->row_cycles));
	if (!decoder->row_cycles) {
		set_out_of_memory(cursor);
		return;
	}
	for (uint32_t m = 0; m < event->tile.rows; m++) {
		cycle += (uint64_t)get_svarint(cursor);
		decoder->row_cycles[m] = cycle;
	}
	event->tile.row_cycles = decoder->row_cycles;
}

static void get_tile_data(struct cursor *cursor, struct wct_event *event)
{
	struct wct_decoder *decoder = cursor->decoder;
	size_t count = (size_t)event->tile.rows * event->tile.cols;
	uint8_t row_cycles_present = get_byte(cursor);
	const uint8_t *bytes;

	if (row_cycles_present > 1)
		set_fault(cursor, "an unknown form of row cycles");
	else if (row_cycles_present)
		get_row_cycles(cursor, event);
	if (!decoder->bits)
		decoder->bits = wc_alloc(WCT_TILE_BYTES_MAX / 2, sizeof(*decoder->bits));
	if (!decoder->bits)
		set_out_of_memory(cursor);
	bytes = take(cursor, count * (event->tile.is_fp32 ? 4 : 2));
	if (!bytes)
		return;
	for (size_t i = 0; i < count; i++)
		decoder->bits[i] = event->tile.is_fp32 ? wct_get_u32(bytes + 4 * i) : (uint32_t)(bytes[2 * i] | bytes[2 * i + 1] << 8);
	event->tile.bits = decoder->bits;
	if (wct_digest_values(decoder->bits, count, event->tile.is_fp32) != event->tile.digest)
		set_fault(cursor, "a tile whose digest is not that of its data");
}

static void get_tile(struct cursor *cursor, struct wct_event *event, uint8_t flags)
{
	event->tile.rows = get_varint32(cursor);
	event->tile.cols = get_varint32(cursor);
	event->tile.waves = get_varint32(cursor);
	event->tile.digest = get_word(cursor);
	event->tile.is_fp32 = flags & WCT_FLAG_FP32;
	if (!event->tile.rows || event->tile.rows > WCT_TILE_ROWS_MAX || !event->tile.cols || event->tile.cols > WCT_TILE_COLS_MAX ||
	    event->tile.rows * event->tile.cols > WCT_TILE_BYTES_MAX / (event->tile.is_fp32 ? 4u : 2u))
		set_fault(cursor, "a tile outside its limits");
	if (!cursor->fault && flags & WCT_FLAG_DATA)
		get_tile_data(cursor, event);
}

static void get_payload(struct cursor *cursor, struct wct_event *event, uint8_t flags)
{
	switch (event->kind) {
	case WCT_HEADER:
		event->header.key = get_string(cursor);
		event->header.value = get_string(cursor);
		break;
	case WCT_COMMAND_BEGIN:
	case WCT_COMMAND_END:
		event->command_info.opcode = get_varint32(cursor);
		event->command_info.name = get_string(cursor);
		break;
	case WCT_WAVE_BEGIN:
	case WCT_WAVE_END:
		event->wave.index = get_varint32(cursor);
		event->wave.rows = get_varint32(cursor);
		break;
	case WCT_TILE:
		get_tile(cursor, event, flags);
		break;
	case WCT_RESULT:
		event->result.opcode = get_varint32(cursor);
		event->result.name = get_string(cursor);
		event->result.bytes = get_varint(cursor);
		event->result.digest = get_word(cursor);
		break;
	case WCT_BURST:
		event->burst.address = get_varint(cursor);
		event->burst.bytes = get_varint(cursor);
		event->burst.write = flags & WCT_FLAG_WRITE;
		break;
	case WCT_HIGH_WATER:
		event->high_water.bytes = get_varint(cursor);
		event->high_water.capacity_bytes = get_varint(cursor);
		break;
	case WCT_COUNTER:
		event->counter.name = get_string(cursor);
		event->counter.value = get_varint(cursor);
		break;
	case WCT_KIND_END:
		break;
	}
}

static void get_coords(struct cursor *cursor, struct wct_event *event)
{
	uint32_t present = get_varint32(cursor);

	if (!present || present >> WCT_COORD_COUNT) {
		set_fault(cursor, "an unknown coordinate");
		return;
	}
	for (int i = 0; i < WCT_COORD_COUNT; i++) {
		if (present >> i & 1)
			wct_event_set_coord(event, (enum wct_coord)i, get_svarint(cursor));
	}
}

static void get_cycle(struct cursor *cursor, struct wct_event *event)
{
	struct wct_decoder *decoder = cursor->decoder;

	decoder->cycle += (uint64_t)get_svarint(cursor);
	event->has_cycle = true;
	event->cycle = decoder->cycle;
	if (event->cycle < decoder->cycle_min)
		decoder->cycle_min = event->cycle;
	if (event->cycle > decoder->cycle_max)
		decoder->cycle_max = event->cycle;
}

static void get_command(struct cursor *cursor, struct wct_event *event)
{
	int64_t delta = get_svarint(cursor);

	if (delta < -(int64_t)UINT32_MAX || delta > (int64_t)UINT32_MAX || delta + cursor->decoder->command < 0 ||
	    delta + cursor->decoder->command >= WCT_NO_COMMAND) {
		set_fault(cursor, "a command index beyond 32 bits");
		return;
	}
	cursor->decoder->command += (uint32_t)delta;
	event->command = cursor->decoder->command;
}

// Which flags a kind may have.
static uint8_t flags_allowed(enum wct_kind kind)
{
	uint8_t common = WCT_FLAG_CYCLE | WCT_FLAG_COMMAND | WCT_FLAG_LAYER | WCT_FLAG_COORDS;

	return kind == WCT_TILE ? common | WCT_FLAG_DATA | WCT_FLAG_FP32 : kind == WCT_BURST ? common | WCT_FLAG_WRITE : common;
}

static void get_event(struct cursor *cursor, struct wct_event *event)
{
	uint8_t kind = get_byte(cursor), flags = get_byte(cursor), level_phase = get_byte(cursor);

	if (cursor->fault)
		return;
	if (kind < WCT_HEADER || kind >= WCT_KIND_END) {
		set_fault(cursor, "an event of an unknown kind");
		return;
	}
	wct_event_init(event, (enum wct_kind)kind);
	if (flags & ~flags_allowed(event->kind))
		set_fault(cursor, "an event with unknown flags");
	if ((level_phase & 0xf) > (uint8_t)cursor->decoder->level)
		set_fault(cursor, "an event above the level of its file");
	if (level_phase >> 4 >= WCT_PHASE_COUNT)
		set_fault(cursor, "an event of an unknown phase");
	event->level = (enum wct_level)(level_phase & 0xf);
	event->phase = (enum wct_phase)(level_phase >> 4);
	if (flags & WCT_FLAG_CYCLE)
		get_cycle(cursor, event);
	if (flags & WCT_FLAG_COMMAND)
		get_command(cursor, event);
	if (flags & WCT_FLAG_LAYER) {
		uint64_t layer = get_varint(cursor);

		if (layer > INT32_MAX)
			set_fault(cursor, "a layer index beyond 31 bits");
		event->layer = (int32_t)(layer & INT32_MAX);
		event->layer_name = get_string(cursor);
	}
	if (flags & WCT_FLAG_COORDS)
		get_coords(cursor, event);
	if (!cursor->fault)
		get_payload(cursor, event, flags);
}

int wct_decode(struct wct_decoder *decoder, struct wct_event *event, const char **fault)
{
	struct cursor cursor = { .decoder = decoder };

	get_event(&cursor, event);
	if (cursor.fault) {
		*fault = cursor.fault;
		return cursor.is_out_of_memory ? WC_ERR_SYSTEM : WC_ERR_INPUT;
	}
	decoder->events++;
	decoder->kinds |= UINT32_C(1) << event->kind;
	return 0;
}
