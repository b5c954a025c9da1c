// SPDX-License-Identifier: Apache-2.0
//
// The encoder: the room an event can need at most is made first, then the bytes are put without further checks.
#include "traces/wct_encode.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "traces/alloc.h"
#include "traces/wct_layout.h"

enum { VARINT_BYTES_MAX = 10, FIELDS_MAX = 32 };

void wct_encoder_clear(struct wct_encoder *encoder)
{
	encoder->length = 0;
	string_table_clear(&encoder->strings);
	encoder->cycle = 0;
	encoder->command = 0;
	encoder->events = 0;
	encoder->kinds = 0;
	encoder->cycle_min = UINT64_MAX;
	encoder->cycle_max = 0;
}

void wct_encoder_release(struct wct_encoder *encoder)
{
	wc_free(encoder->bytes);
	string_table_release(&encoder->strings);
	memset(encoder, 0, sizeof(*encoder));
}

static void put_byte(struct wct_encoder *encoder, uint8_t byte)
{
	encoder->bytes[encoder->length++] = byte;
}

static void put_varint(struct wct_encoder *encoder, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		put_byte(encoder, (uint8_t)(value | 0x80));
	put_byte(encoder, (uint8_t)value);
}

static void put_svarint(struct wct_encoder *encoder, int64_t value)
{
	put_varint(encoder, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

static void put_word(struct wct_encoder *encoder, uint32_t value)
{
	wct_put_u32(encoder->bytes + encoder->length, value);
	encoder->length += 4;
}

static int put_string(struct wct_encoder *encoder, const char *text)
{
	uint32_t known = encoder->strings.count;
	size_t length = strlen(text);
	uint32_t number = string_table_intern(&encoder->strings, text, length);

	if (number == STRINGS_NONE)
		return -1;
	put_varint(encoder, number);
	if (number == known) {
		put_varint(encoder, length);
		memcpy(encoder->bytes + encoder->length, text, length);
		encoder->length += length;
	}
	return 0;
}

// The strings an event carries besides the layer's name; NULL where there is none.
static void event_strings(const struct wct_event *event, const char *strings[2])
{
	strings[0] = strings[1] = NULL;
	switch (event->kind) {
	case WCT_HEADER:
		strings[0] = event->header.key;
		strings[1] = event->header.value;
		break;
	case WCT_COMMAND_BEGIN:
	case WCT_COMMAND_END:
		strings[0] = event->command_info.name;
		break;
	case WCT_RESULT:
		strings[0] = event->result.name;
		break;
	case WCT_COUNTER:
		strings[0] = event->counter.name;
		break;
	default:
		break;
	}
}

static int check_string(const char *text, const struct wct_event *event, struct wc_error *err)
{
	size_t length = strlen(text);

	if (length > WCT_TEXT_BYTES_MAX)
		return wc_fail(err, WC_ERR_INPUT, "trace event '%s': a text of %zu bytes, the limit is %d", wct_kind_name(event->kind),
			       length, WCT_TEXT_BYTES_MAX);
	for (size_t i = 0; i < length; i++) {
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			return wc_fail(err, WC_ERR_INPUT, "trace event '%s': control character 0x%02x in a text",
				       wct_kind_name(event->kind), (unsigned char)text[i]);
	}
	return 0;
}

static int check_event(const struct wct_event *event, const char *strings[2], struct wc_error *err)
{
	int ret = 0;

	if (event->layer >= 0)
		ret = check_string(event->layer_name, event, err);
	for (int i = 0; i < 2 && !ret; i++) {
		if (strings[i])
			ret = check_string(strings[i], event, err);
	}
	if (ret || event->kind != WCT_TILE)
		return ret;
	if (!event->tile.rows || event->tile.rows > WCT_TILE_ROWS_MAX || !event->tile.cols || event->tile.cols > WCT_TILE_COLS_MAX ||
	    event->tile.rows * event->tile.cols > WCT_TILE_BYTES_MAX / (event->tile.is_fp32 ? 4u : 2u))
		return wc_fail(err, WC_ERR_INPUT, "trace event 'tile': %" PRIu32 " x %" PRIu32 " values, the limit is %d x %d and %d bytes",
			       event->tile.rows, event->tile.cols, WCT_TILE_ROWS_MAX, WCT_TILE_COLS_MAX, WCT_TILE_BYTES_MAX);
	return 0;
}

static int make_room(struct wct_encoder *encoder, const struct wct_event *event, const char *strings[2])
{
	size_t need = FIELDS_MAX * VARINT_BYTES_MAX, capacity;
	uint8_t *bytes;

	need += event->layer >= 0 ? strlen(event->layer_name) : 0;
	for (int i = 0; i < 2; i++)
		need += strings[i] ? strlen(strings[i]) : 0;
	if (event->kind == WCT_TILE)
		need += (size_t)event->tile.rows * (VARINT_BYTES_MAX + 4 * (size_t)event->tile.cols);
	if (encoder->capacity - encoder->length >= need)
		return 0;
	capacity = encoder->capacity + need + WCT_CHUNK_TARGET_BYTES;
	bytes = wc_realloc(encoder->bytes, capacity, 1);
	if (!bytes)
		return -1;
	encoder->bytes = bytes;
	encoder->capacity = capacity;
	return 0;
}

static void put_tile(struct wct_encoder *encoder, const struct wct_event *event, bool with_data)
{
	size_t count = (size_t)event->tile.rows * event->tile.cols;
	size_t value_bytes = event->tile.is_fp32 ? 4 : 2;
	const uint32_t *bits = event->tile.bits;
	uint64_t cycle = event->cycle;
	uint8_t *at;

	put_varint(encoder, event->tile.rows);
	put_varint(encoder, event->tile.cols);
	put_varint(encoder, event->tile.waves);
	put_word(encoder, bits ? wct_digest_values(bits, count, event->tile.is_fp32) : event->tile.digest);
	if (!with_data)
		return;
	put_byte(encoder, event->tile.row_cycles != NULL);
	for (uint32_t m = 0; event->tile.row_cycles && m < event->tile.rows; m++) {
		put_svarint(encoder, (int64_t)(event->tile.row_cycles[m] - cycle));
		cycle = event->tile.row_cycles[m];
	}
	at = encoder->bytes + encoder->length;
	for (size_t i = 0; i < count; i++) {
		for (size_t b = 0; b < value_bytes; b++)
			*at++ = (uint8_t)(bits[i] >> 8 * b);
	}
	encoder->length += count * value_bytes;
}

static void put_payload(struct wct_encoder *encoder, const struct wct_event *event, bool with_data)
{
	switch (event->kind) {
	case WCT_WAVE_BEGIN:
	case WCT_WAVE_END:
		put_varint(encoder, event->wave.index);
		put_varint(encoder, event->wave.rows);
		break;
	case WCT_TILE:
		put_tile(encoder, event, with_data);
		break;
	case WCT_RESULT:
		put_varint(encoder, event->result.bytes);
		put_word(encoder, event->result.digest);
		break;
	case WCT_BURST:
		put_varint(encoder, event->burst.address);
		put_varint(encoder, event->burst.bytes);
		break;
	case WCT_HIGH_WATER:
		put_varint(encoder, event->high_water.bytes);
		put_varint(encoder, event->high_water.capacity_bytes);
		break;
	case WCT_COUNTER:
		put_varint(encoder, event->counter.value);
		break;
	default: // strings alone
		break;
	}
}

static uint8_t flags_of(const struct wct_event *event, bool with_data)
{
	uint8_t flags = 0;

	if (event->has_cycle)
		flags |= WCT_FLAG_CYCLE;
	if (event->command != WCT_NO_COMMAND)
		flags |= WCT_FLAG_COMMAND;
	if (event->layer >= 0)
		flags |= WCT_FLAG_LAYER;
	if (event->coords_present)
		flags |= WCT_FLAG_COORDS;
	if (event->kind == WCT_TILE)
		flags |= (with_data ? WCT_FLAG_DATA : 0) | (event->tile.is_fp32 ? WCT_FLAG_FP32 : 0);
	if (event->kind == WCT_BURST && event->burst.write)
		flags |= WCT_FLAG_WRITE;
	return flags;
}

// Fields common to all kinds, then the opcode, which stands before the strings.
static int put_common(struct wct_encoder *encoder, const struct wct_event *event, uint8_t flags)
{
	put_byte(encoder, (uint8_t)event->kind);
	put_byte(encoder, flags);
	put_byte(encoder, (uint8_t)(event->level | event->phase << 4));
	if (flags & WCT_FLAG_CYCLE) {
		put_svarint(encoder, (int64_t)(event->cycle - encoder->cycle));
		encoder->cycle = event->cycle;
		if (event->cycle < encoder->cycle_min)
			encoder->cycle_min = event->cycle;
		if (event->cycle > encoder->cycle_max)
			encoder->cycle_max = event->cycle;
	}
	if (flags & WCT_FLAG_COMMAND) {
		put_svarint(encoder, (int64_t)event->command - encoder->command);
		encoder->command = event->command;
	}
	if (flags & WCT_FLAG_LAYER) {
		put_varint(encoder, (uint64_t)event->layer);
		if (put_string(encoder, event->layer_name))
			return -1;
	}
	if (flags & WCT_FLAG_COORDS) {
		put_varint(encoder, event->coords_present);
		for (int i = 0; i < WCT_COORD_COUNT; i++) {
			if (wct_event_has_coord(event, (enum wct_coord)i))
				put_svarint(encoder, event->coord[i]);
		}
	}
	if (event->kind == WCT_COMMAND_BEGIN || event->kind == WCT_COMMAND_END)
		put_varint(encoder, event->command_info.opcode);
	if (event->kind == WCT_RESULT)
		put_varint(encoder, event->result.opcode);
	return 0;
}

int wct_encode(struct wct_encoder *encoder, const struct wct_event *event, bool with_data, struct wc_error *err)
{
	const char *strings[2];
	int ret;

	assert(event->kind >= WCT_HEADER && event->kind < WCT_KIND_END);
	assert(event->level < WCT_LEVEL_COUNT && event->phase < WCT_PHASE_COUNT);
	assert(!(event->coords_present >> WCT_COORD_COUNT));
	with_data = with_data && event->kind == WCT_TILE && event->tile.bits;
	assert(!with_data || !event->tile.row_cycles || event->has_cycle);
	event_strings(event, strings);
	ret = check_event(event, strings, err);
	if (ret)
		return ret;
	if (make_room(encoder, event, strings) || put_common(encoder, event, flags_of(event, with_data)))
		goto no_memory;
	for (int i = 0; i < 2; i++) {
		if (strings[i] && put_string(encoder, strings[i]))
			goto no_memory;
	}
	put_payload(encoder, event, with_data);
	encoder->events++;
	encoder->kinds |= UINT32_C(1) << event->kind;
	return 0;

no_memory:
	return wc_fail(err, WC_ERR_SYSTEM, "trace: out of memory for an event of kind '%s'", wct_kind_name(event->kind));
}
