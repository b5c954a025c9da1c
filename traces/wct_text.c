// SPDX-License-Identifier: Apache-2.0
//
// Both forms come from one list of (name, value) fields, so that they cannot drift apart.
#include "traces/wct_text.h"

#include <inttypes.h>
#include <string.h>

#include "traces/wct_json.h"

enum field_type { FIELD_UNSIGNED, FIELD_SIGNED, FIELD_HEX, FIELD_ADDRESS, FIELD_TEXT };

struct field {
	const char *name;
	enum field_type type;
	uint64_t number;
	const char *text;
};

enum { FIELDS_MAX = 32 };

struct fields {
	struct field list[FIELDS_MAX];
	int count;
};

static void add(struct fields *fields, const char *name, enum field_type type, uint64_t number)
{
	fields->list[fields->count++] = (struct field){ .name = name, .type = type, .number = number };
}

static void add_text(struct fields *fields, const char *name, const char *text)
{
	fields->list[fields->count++] = (struct field){ .name = name, .type = FIELD_TEXT, .text = text };
}

static void add_common(struct fields *fields, const struct wct_event *event)
{
	if (event->has_cycle)
		add(fields, "cycle", FIELD_UNSIGNED, event->cycle);
	if (event->command != WCT_NO_COMMAND)
		add(fields, "command", FIELD_UNSIGNED, event->command);
	if (event->layer >= 0) {
		add(fields, "layer", FIELD_UNSIGNED, (uint64_t)event->layer);
		add_text(fields, "layer_name", event->layer_name);
	}
	if (event->phase != WCT_PHASE_NONE)
		add_text(fields, "phase", wct_phase_name(event->phase));
	for (int i = 0; i < WCT_COORD_COUNT; i++) {
		if (wct_event_has_coord(event, (enum wct_coord)i))
			add(fields, wct_coord_name((enum wct_coord)i), FIELD_SIGNED, (uint64_t)event->coord[i]);
	}
}

// Names differ from those of the coordinates: an object must not have a key twice.
static void add_payload(struct fields *fields, const struct wct_event *event)
{
	switch (event->kind) {
	case WCT_HEADER:
		add_text(fields, "key", event->header.key);
		add_text(fields, "value", event->header.value);
		break;
	case WCT_COMMAND_BEGIN:
	case WCT_COMMAND_END:
		add(fields, "opcode", FIELD_UNSIGNED, event->command_info.opcode);
		add_text(fields, "name", event->command_info.name);
		break;
	case WCT_WAVE_BEGIN:
	case WCT_WAVE_END:
		add(fields, "wave", FIELD_UNSIGNED, event->wave.index);
		add(fields, "wave_rows", FIELD_UNSIGNED, event->wave.rows);
		break;
	case WCT_TILE:
		add(fields, "tile_rows", FIELD_UNSIGNED, event->tile.rows);
		add(fields, "tile_cols", FIELD_UNSIGNED, event->tile.cols);
		add(fields, "waves", FIELD_UNSIGNED, event->tile.waves);
		add_text(fields, "type", event->tile.is_fp32 ? "fp32" : "fp16");
		add(fields, "digest", FIELD_HEX, event->tile.digest);
		break;
	case WCT_RESULT:
		add(fields, "opcode", FIELD_UNSIGNED, event->result.opcode);
		add_text(fields, "name", event->result.name);
		add(fields, "bytes", FIELD_UNSIGNED, event->result.bytes);
		add(fields, "digest", FIELD_HEX, event->result.digest);
		break;
	case WCT_BURST:
		add_text(fields, "direction", event->burst.write ? "write" : "read");
		add(fields, "address", FIELD_ADDRESS, event->burst.address);
		add(fields, "bytes", FIELD_UNSIGNED, event->burst.bytes);
		break;
	case WCT_HIGH_WATER:
		add(fields, "bytes", FIELD_UNSIGNED, event->high_water.bytes);
		add(fields, "capacity_bytes", FIELD_UNSIGNED, event->high_water.capacity_bytes);
		break;
	case WCT_COUNTER:
		add_text(fields, "name", event->counter.name);
		add(fields, "value", FIELD_UNSIGNED, event->counter.value);
		break;
	case WCT_KIND_END:
		break;
	}
}

static void list_fields(struct fields *fields, const struct wct_event *event)
{
	fields->count = 0;
	add_common(fields, event);
	add_payload(fields, event);
}

// Quoted where it would not read as one word.
static void print_text(const char *text, FILE *out)
{
	if (*text && !strpbrk(text, " \"\\=")) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static void print_data(const struct wct_event *event, FILE *out)
{
	int digits = event->tile.is_fp32 ? 8 : 4;

	for (uint32_t m = 0; m < event->tile.rows; m++) {
		fprintf(out, "  m=%" PRIu32, m);
		if (event->tile.row_cycles)
			fprintf(out, " cycle=%" PRIu64, event->tile.row_cycles[m]);
		for (uint32_t n = 0; n < event->tile.cols; n++)
			fprintf(out, " %0*" PRIx32, digits, event->tile.bits[(size_t)m * event->tile.cols + n]);
		fputc('\n', out);
	}
}

void wct_event_print(const struct wct_event *event, bool data, FILE *out)
{
	struct fields fields;

	list_fields(&fields, event);
	fputs(wct_kind_name(event->kind), out);
	for (int i = 0; i < fields.count; i++) {
		const struct field *field = &fields.list[i];

		fprintf(out, " %s=", field->name);
		switch (field->type) {
		case FIELD_UNSIGNED:
			fprintf(out, "%" PRIu64, field->number);
			break;
		case FIELD_SIGNED:
			fprintf(out, "%" PRId64, (int64_t)field->number);
			break;
		case FIELD_HEX:
			fprintf(out, "0x%08" PRIx64, field->number);
			break;
		case FIELD_ADDRESS:
			fprintf(out, "0x%" PRIx64, field->number);
			break;
		case FIELD_TEXT:
			print_text(field->text, out);
			break;
		}
	}
	fputc('\n', out);
	if (data && event->kind == WCT_TILE && event->tile.bits)
		print_data(event, out);
}

static json_t *field_json(const struct field *field)
{
	switch (field->type) {
	case FIELD_SIGNED:
		return json_integer((int64_t)field->number);
	case FIELD_TEXT:
		return wct_json_text(field->text);
	default:
		return wct_json_u64(field->number);
	}
}

// An array of numbers, or NULL.
static json_t *numbers_json(const uint32_t *words, const uint64_t *doublewords, size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++) {
		if (json_array_append_new(array, wct_json_u64(words ? words[i] : doublewords[i]))) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

static bool set_data(json_t *object, const struct wct_event *event)
{
	json_t *rows = json_array();

	if (event->tile.row_cycles && !wct_json_set(object, "row_cycles", numbers_json(NULL, event->tile.row_cycles, event->tile.rows))) {
		json_decref(rows);
		return false;
	}
	for (uint32_t m = 0; m < event->tile.rows; m++) {
		if (json_array_append_new(rows, numbers_json(event->tile.bits + (size_t)m * event->tile.cols, NULL, event->tile.cols))) {
			json_decref(rows);
			return false;
		}
	}
	return wct_json_set(object, "bits", rows);
}

json_t *wct_event_json(const struct wct_event *event, bool data)
{
	json_t *object = json_object();
	struct fields fields;
	bool complete;

	list_fields(&fields, event);
	complete = wct_json_set(object, "event", json_string(wct_kind_name(event->kind))) &&
		   wct_json_set(object, "level", json_string(wct_level_name(event->level)));
	for (int i = 0; i < fields.count && complete; i++)
		complete = wct_json_set(object, fields.list[i].name, field_json(&fields.list[i]));
	if (complete && data && event->kind == WCT_TILE && event->tile.bits)
		complete = set_data(object, event);
	if (complete)
		return object;
	json_decref(object);
	return NULL;
}
